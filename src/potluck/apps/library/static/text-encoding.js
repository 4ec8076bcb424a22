// Decodes a text file in UTF-8, UTF-16 or Windows-1252, with or without a byte order mark.

// Without a mark, UTF-16 is recognized by its zeros: every other byte of Latin letters is zero.
const SAMPLE_BYTES = 4000;

/** @param {Uint8Array} bytes */
function encodingOf(bytes) {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  const zeros = [0, 0];
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  sample.forEach((byte, place) => {
    if (byte === 0) zeros[place % 2] += 1;
  });
  if (zeros[1] > sample.length / 4) return "utf-16le";
  if (zeros[0] > sample.length / 4) return "utf-16be";
  return "utf-8";
}

/** @param {Uint8Array} bytes */
export function decode(bytes) {
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
  } catch {
    // Not UTF-8, but the encoding of Excel in western countries, in which every byte is a letter.
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

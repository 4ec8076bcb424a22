// The text of a file, whatever program wrote it: UTF-8, UTF-16 or Windows-1252, with or without a byte order mark.

// A mark decides. Without one, text in UTF-16 has a zero in every other byte, wherever its letters are Latin.
const LOOKED_AT = 4000;

/** @param {Uint8Array} bytes */
function encodingOf(bytes) {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  const zeros = [0, 0];
  const some = bytes.subarray(0, LOOKED_AT);
  some.forEach((byte, place) => {
    if (byte === 0) zeros[place % 2] += 1;
  });
  if (zeros[1] > some.length / 4) return "utf-16le";
  if (zeros[0] > some.length / 4) return "utf-16be";
  return "utf-8";
}

/** @param {Uint8Array} bytes */
export function decode(bytes) {
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
  } catch {
    // Not UTF-8: what Excel writes in western countries. Every byte is a letter there.
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

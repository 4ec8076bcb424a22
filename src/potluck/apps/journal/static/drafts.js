// Drafts: what somebody has typed but not saved, kept on this device for them alone.
//
// A draft is encrypted with a key that the server gives only to its author, so the next person at this device cannot read
// it, even if nobody signed out. Browsers offer no encryption on pages served over plain http: there a draft is kept
// unencrypted, in this tab, until the tab is closed. Signing out deletes both: see js/leaving.js.

const PREFIX = `potluck-draft-journal-${document.body.dataset.person}-`;
const sealing = Boolean(globalThis.crypto?.subtle);
const NONCE = 12;

export const lasting = sealing;

// Storage can be forbidden, or full; then there is no draft.
function store() {
  try {
    return sealing ? localStorage : sessionStorage;
  } catch {
    return null;
  }
}

const bytesOf = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
const textOf = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

const imported = (key) => crypto.subtle.importKey("raw", bytesOf(key), "AES-GCM", false, ["encrypt", "decrypt"]);

export async function keep(name, draft, key) {
  const said = JSON.stringify(draft);
  let kept = said;
  if (sealing) {
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE));
    const cipher = { name: "AES-GCM", iv: nonce, additionalData: new TextEncoder().encode(PREFIX + name) };
    const sealed = await crypto.subtle.encrypt(cipher, await imported(key), new TextEncoder().encode(said));
    kept = textOf([...nonce, ...new Uint8Array(sealed)]);
  }
  try {
    store()?.setItem(PREFIX + name, kept);
    return true;
  } catch {
    return false;
  }
}

// Null if there is no draft, or none that can be decrypted.
export async function found(name, key) {
  const kept = store()?.getItem(PREFIX + name);
  if (!kept) return null;
  try {
    if (!sealing) return JSON.parse(kept);
    const raw = bytesOf(kept);
    const cipher = { name: "AES-GCM", iv: raw.slice(0, NONCE), additionalData: new TextEncoder().encode(PREFIX + name) };
    const opened = await crypto.subtle.decrypt(cipher, await imported(key), raw.slice(NONCE));
    return JSON.parse(new TextDecoder().decode(opened));
  } catch {
    drop(name);
    return null;
  }
}

export const drop = (name) => store()?.removeItem(PREFIX + name);

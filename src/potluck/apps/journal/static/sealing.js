// Encrypts what a person writes, for them alone, with the key that the server gives only to its author.
//
// The key is also stored on the device, as one that no script can read, for pages that are opened offline: those are saved
// without it. worker.js deletes it as soon as their session may be over.

import { store } from "./outbox-store.js";

const NONCE = 12;

export const isSealed = Boolean(globalThis.crypto?.subtle);

/** @param {string} text */
const bytesOf = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
/** @param {number[]} bytes */
const textOf = (bytes) => btoa(bytes.map((byte) => String.fromCharCode(byte)).join(""));
/** @param {string} name @param {BufferSource} iv */
const cipher = (name, iv) => ({ name: "AES-GCM", iv, additionalData: new TextEncoder().encode(name) });

/** The key that is stored here for who is there, if any. @returns {Promise<CryptoKey | null>} */
export const storedKey = () =>
  store
    .transact("readonly", async ({ about }) => ((await store.present(about)) ? await about.get("key") : null))
    .then((key) => key ?? null)
    .catch(() => null);

/** The key from a page, or the stored one on a page that was saved without it. @param {string | undefined} text */
export async function keyOf(text) {
  if (!isSealed) return null;
  if (!text) return storedKey();
  const key = await crypto.subtle.importKey("raw", bytesOf(text), "AES-GCM", false, ["encrypt", "decrypt"]);
  const { person: id = "" } = document.body.dataset;
  // Without storage it is only used here.
  if (navigator.serviceWorker)
    await store
      .belongsTo({ id })
      .then(() => store.transact("readwrite", ({ about }) => about.put(key, "key")))
      .catch(() => {});
  return key;
}

/** @param {string} name what it is, which is authenticated @param {unknown} value @param {CryptoKey} key */
export async function seal(name, value, key) {
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE));
  const plain = new TextEncoder().encode(JSON.stringify(value));
  return textOf([...nonce, ...new Uint8Array(await crypto.subtle.encrypt(cipher(name, nonce), key, plain))]);
}

/** An error if it was sealed with another key, or as something else. @param {string} name @param {string} text @param {CryptoKey} key */
export async function unsealed(name, text, key) {
  const bytes = bytesOf(text);
  const plain = await crypto.subtle.decrypt(cipher(name, bytes.slice(0, NONCE)), key, bytes.slice(NONCE));
  return JSON.parse(new TextDecoder().decode(plain));
}

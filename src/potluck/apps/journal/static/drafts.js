// Drafts: what somebody has typed but not saved, kept on this device for them alone.
//
// A draft is encrypted with a key that the server gives only to its author, so the next person at this device cannot read
// it, even if nobody signed out. Browsers offer no encryption on pages served over plain http: there a draft is kept
// unencrypted, in this tab, until the tab is closed. Signing out deletes both: see js/leaving.js.

const PREFIX = `potluck-draft-journal-${document.body.dataset.person}-`;
const sealing = Boolean(globalThis.crypto?.subtle);
const NONCE = 12;

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

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

async function keep(name, draft, key) {
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

// Keeps what is typed into a form until a page says that it was saved, and restores it when the form is opened again.
//
//   version     of what is edited; "" for something new
//   refused     the form holds what was just sent and refused
//   filledIn    what the form holds, as name and value pairs
//   fill        puts such pairs into the form
//   said        where the page says so
//   older       called with the version that a restored draft was typed onto, if that is an older one
//
// Returns the function to call whenever something was typed.
export async function drafted({ name, version = "", key, refused, filledIn, fill, said, older = () => {} }) {
  const untouched = JSON.stringify(filledIn());
  let waiting = null;

  // One at a time, so that the last save wins.
  async function save() {
    if (waiting) return (waiting.again = true);
    waiting = { again: true };
    while (waiting.again) {
      waiting.again = false;
      const values = filledIn();
      // What was refused is saved nowhere else, even if nothing was typed since.
      if (!refused && JSON.stringify(values) === untouched) {
        drop(name);
        said.textContent = "";
      } else if (await keep(name, { values, version, at: Date.now(), onto: refused ? untouched : "" }, key)) {
        said.textContent = sealing ? "Draft kept on this device" : "Draft kept while this tab is open";
      }
    }
    waiting = null;
    return undefined;
  }

  function restore({ values, at, version: onto = "" }) {
    fill(values);
    const isOlder = onto !== version;
    if (isOlder) older(onto);
    const away = document.createElement("button");
    away.type = "button";
    away.className = "bare small";
    away.textContent = "Start over";
    away.addEventListener("click", () => {
      fill(JSON.parse(untouched));
      if (isOlder) older(version);
      save();
    });
    const about = isOlder ? " It was changed elsewhere since: when you save, you see both versions." : "";
    said.replaceChildren(`Draft from ${clock.format(new Date(at))}.${about} `, away);
  }

  const draft = await found(name, key);
  // After a refusal, the draft is newer only if it was typed onto this same page: a reload sends the form again.
  if (draft && (!refused || draft.onto === untouched)) restore(draft);
  else if (refused) await save();
  return save;
}

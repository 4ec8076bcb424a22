// The page for what is not saved on this device: shows what is, and opens the page as soon as the server answers again.

import { all, element, maybe, one } from "./kit/elements.js";
import { isAbout, isShown, UNKNOWN } from "./kit/saved-pages.js";
import { request } from "./kit/send.js";
import { openExisting } from "./kit/store.js";
import { short } from "./kit/time.js";
import { retries } from "./kit/turns.js";
import { _ } from "./kit/words.js";

/** @typedef {import("./kit/saved-pages.js").SavedPage} SavedPage */

const places = one(document, "#places", HTMLTemplateElement).content;
/** @param {Element} row */
const linkOf = (row) => one(row, "a");

// The row of the app that an address is in; that of the home page is the first.
/** @param {string} address */
function rowFor(address) {
  const rows = all(places, "li");
  const place = rows.slice(1).find((row) => isAbout(address, linkOf(row).getAttribute("href") ?? "")) ?? rows[0];
  return /** @type {HTMLElement} */ (document.importNode(place, true));
}

/** @param {SavedPage} page */
function savedRow({ address, at, title, heading }) {
  const row = rowFor(address);
  const isMain = linkOf(row).getAttribute("href") === address;
  linkOf(row).setAttribute("href", address);
  one(row, ".row-note").textContent = _("Saved %(time)s", { time: short(new Date(at)) });
  if (isMain) return row;
  // Saved as markup. Some titles say only which app it is.
  const text = element("textarea");
  const name = title.replace(/ · .*$/, "");
  const app = one(row, ".row-name");
  text.innerHTML = name === app.textContent && heading ? heading : name;
  app.textContent = text.textContent;
  return row;
}

async function show() {
  const database = await openExisting("potluck-pages");
  const device = (await database?.get("device", "state").catch(() => null)) ?? UNKNOWN;
  /** @type {SavedPage[]} */
  const pages = (await database?.getAll("pages").catch(() => [])) ?? [];
  database?.close();
  const shown = pages.filter((page) => isShown(page, device, Date.now()));
  shown.sort((one, other) => one.address.localeCompare(other.address));
  if (device.leaving) {
    one(document, "h1").textContent = _("You’re signed out");
    one(document, "[data-why]").textContent = _("Nothing of yours is left on this device. Go online to sign in again.");
  }
  // The account page is not saved, and people leave a shared device offline too.
  if (device.who && !device.leaving) {
    const leaving = one(document, "[data-leaving-here]");
    one(leaving, "form").dataset.leaving = device.who;
    leaving.hidden = false;
  }
  const whole = device.who ? all(places, "[data-works]").map((row) => document.importNode(row, true)) : [];
  const rows = [...shown.map(savedRow), ...whole];
  one(document, "[data-saved] ul").replaceChildren(...rows);
  one(document, "[data-saved]").hidden = rows.length === 0;
}

// Only if there is an answer, so that the page stays readable meanwhile.
async function reload() {
  if (await request("/livez")) location.reload();
  else attempts.soon();
}

const attempts = retries(reload);
addEventListener("online", reload);
maybe(document, "[data-again]")?.addEventListener("click", () => location.reload());
show();
attempts.soon();

// Adding items: scanned, typed one after another, pasted, or entered in a form, with a preview of how they will look.

import "./file-field.js";
import { element, field, one, stamp } from "../../../web/static/js/kit/elements.js";
import { fetchPage } from "../../../web/static/js/kit/page-parts.js";
import { newId, send } from "../../../web/static/js/kit/send.js";
import { _ } from "../../../web/static/js/kit/words.js";

const library = `/api/v1/libraries/${one(document, "[data-adding]").dataset.adding}`;

/** Draws the item as it will look on the shelf. @param {HTMLElement} place @param {Record<string, string>} item */
async function draw(place, item) {
  const answer = await fetchPage(`/library/spine?${new URLSearchParams(item)}`);
  if (answer?.ok) place.replaceChildren(...answer.page.body.childNodes);
}

// --- the preview ---

const hand = one(document, "[data-hand]", HTMLFormElement);
const PAUSE = 200;
let drawing = 0;

hand.addEventListener("input", ({ target }) => {
  if (!["title", "people", "kind"].includes(/** @type {HTMLInputElement} */ (target).name)) return;
  clearTimeout(drawing);
  drawing = setTimeout(() => {
    const [title, by, kind] = ["title", "people", "kind"].map((name) => field(hand, name).value);
    draw(one(document, "[data-spine]"), { title, by, kind });
  }, PAUSE);
});

// --- one after another, each added at once ---

const rows = one(document, "[data-came-in]");
// A book stays in front of the camera for a while, but is added once. A number that is typed again is added again.
/** @type {Set<string>} */
const scanned = new Set();
const TRY_AGAIN = 15_000;

/** Resolves when the device may be online again. */
const backOnline = () =>
  new Promise((resolve) => {
    addEventListener("online", resolve, { once: true });
    setTimeout(resolve, TRY_AGAIN);
  });

/** @param {string} isbn */
async function add(isbn) {
  scanned.add(isbn);
  const row = stamp("came-in");
  const [title, note, undo] = ["title", "note", "undo"].map((part) => one(row, `[data-${part}]`));
  title.textContent = isbn;
  undo.hidden = true;
  rows.prepend(row);
  rows.hidden = false;
  const key = newId();
  let answer;
  for (;;) {
    note.textContent = _("Looking up…");
    answer = await send(`${library}/import`, { json: { text: isbn, format: "isbns", apply: true }, key });
    if (answer.outcome !== "no-signal") break;
    note.textContent = _("You’re offline. It’ll be added when you’re back online.");
    await backOnline();
  }
  if (answer.outcome !== "done") {
    note.textContent = answer.message;
    return;
  }
  const { first, leftOut } = answer.body;
  const [book] = first;
  if (leftOut.length) {
    note.textContent = leftOut[0].reason;
    undo.replaceWith(element("a", { href: `?hand=yes&isbn=${encodeURIComponent(isbn)}#by-hand` }, _("Enter title")));
  } else if (!book) note.textContent = _("Already on the shelf");
  else {
    title.textContent = book.title;
    note.textContent = book.awaited ? _("Title missing") : book.by.join(", ");
    await draw(one(row, "[data-pic]"), { title: book.title, by: book.by[0] ?? "" });
    undo.hidden = false;
    undo.setAttribute("aria-label", _("Undo: %(title)s", { title: book.title }));
    undo.addEventListener("click", async () => {
      const { outcome, message } = await send(`${library}/items/${book.itemId}`, { method: "DELETE" });
      note.textContent = outcome === "done" ? _("Removed") : message;
      undo.hidden = outcome === "done";
    });
  }
}

const typing = one(document, "[data-isbn]", HTMLFormElement);
const atOnce = one(document, "[data-at-once]", HTMLInputElement);

typing.addEventListener("submit", (event) => {
  if (!atOnce.checked) return;
  event.preventDefault();
  const number = field(typing, "isbn");
  const isbn = number.value.trim();
  number.value = "";
  number.focus();
  if (isbn) add(isbn);
});

// --- by camera, if the browser can read barcodes ---

/** Not in every browser. @type {any} */
const BarcodeDetector = Reflect.get(window, "BarcodeDetector");
const viewfinder = one(document, "[data-viewfinder]");
const video = one(viewfinder, "video", HTMLVideoElement);
const scan = one(document, "[data-scan]");
const words = one(scan, "span");
const startWords = words.textContent;
/** @type {MediaStream | null} */
let stream = null;
/** @type {any} */
let detector = null;

async function canScan() {
  if (!BarcodeDetector || !navigator.mediaDevices?.getUserMedia) return false;
  const formats = await BarcodeDetector.getSupportedFormats().catch(() => []);
  return formats.includes("ean_13");
}

function stop() {
  for (const track of stream?.getTracks() ?? []) track.stop();
  stream = null;
  viewfinder.hidden = true;
  words.textContent = startWords;
}

async function detect() {
  if (!stream) return;
  for (const { rawValue } of await detector.detect(video).catch(() => [])) {
    if (!/^97[89]\d{10}$/.test(rawValue) || scanned.has(rawValue)) continue;
    navigator.vibrate?.(60);
    viewfinder.classList.add("caught");
    setTimeout(() => viewfinder.classList.remove("caught"), 350);
    add(rawValue);
  }
  setTimeout(detect, 120);
}

async function start() {
  detector ??= new BarcodeDetector({ formats: ["ean_13"] });
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  } catch {
    one(document, "[data-scanner-hint]").textContent = _(
      "This page can’t use the camera. Allow it in your browser’s settings, or type the ISBN.",
    );
    return;
  }
  video.srcObject = stream;
  viewfinder.hidden = false;
  words.textContent = _("Stop scanning");
  await video.play();
  detect();
}

if (await canScan()) {
  one(document, "[data-scanner]").hidden = false;
  scan.addEventListener("click", () => (stream ? stop() : start()));
  addEventListener("pagehide", stop);
}

// Adding items: scanned, typed one after another, pasted, or by hand with a preview of how it will look on the shelf.

import "./files.js";

const part = document.querySelector("[data-adding]");
const library = `/api/v1/libraries/${part.dataset.adding}`;

// --- by hand: the preview ---

const hand = document.querySelector("[data-hand]");
const spine = document.querySelector("[data-spine]");
let drawing = 0;

function draw() {
  clearTimeout(drawing);
  drawing = setTimeout(async () => {
    const said = new URLSearchParams({ title: hand.elements.title.value, by: hand.elements.people.value, kind: hand.elements.kind.value });
    const answer = await fetch(`/library/spine?${said}`).catch(() => null);
    if (!answer?.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    spine.replaceChildren(...page.body.childNodes);
  }, 200);
}

hand.addEventListener("input", (event) => {
  if (["title", "people", "kind"].includes(event.target.name)) draw();
});

// --- one after another, each put on the shelf at once ---

const rows = document.querySelector("[data-came-in]");
const ready = document.getElementById("came-in");
// A book stays in front of the camera for a while and is added once; a number that is typed again is sent again.
const seen = new Set();
const TRY_AGAIN = 15_000;

async function api(path, options = {}) {
  const answer = await fetch(library + path, {
    headers: { "content-type": "application/json", accept: "application/json" },
    ...options,
  }).catch(() => null);
  if (!answer) return { words: "You’re offline. It is added when you’re back.", offline: true };
  const said = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
  return answer.ok ? { said } : { words: said.errors?.[0]?.message ?? said.detail ?? "It was not taken." };
}

/** Resolves when there may be a signal again. */
const backOnline = () =>
  new Promise((resolve) => {
    const timer = setTimeout(go, TRY_AGAIN);
    function go() {
      clearTimeout(timer);
      removeEventListener("online", go);
      resolve();
    }
    addEventListener("online", go);
  });

async function putOn(isbn) {
  seen.add(isbn);
  const row = ready.content.firstElementChild.cloneNode(true);
  const [title, note, undo] = ["title", "note", "undo"].map((each) => row.querySelector(`[data-${each}]`));
  title.textContent = isbn;
  undo.hidden = true;
  rows.prepend(row);
  rows.hidden = false;
  const key = crypto.randomUUID();
  const send = () => {
    note.textContent = "Looking…";
    return api("/import", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", "idempotency-key": key },
      body: JSON.stringify({ text: isbn, format: "isbns", apply: true }),
    });
  };
  let { said, words, offline } = await send();
  while (offline) {
    note.textContent = words;
    await backOnline();
    ({ said, words, offline } = await send());
  }
  if (!said) {
    note.textContent = words;
    return;
  }
  const [book] = said.first;
  if (said.leftOut.length) {
    note.textContent = said.leftOut[0].reason;
    const byHand = document.createElement("a");
    byHand.href = `?hand=yes&isbn=${encodeURIComponent(isbn)}#by-hand`;
    byHand.textContent = "Type its title";
    undo.replaceWith(byHand);
  } else if (!book) note.textContent = "On the shelf already";
  else {
    title.textContent = book.title;
    note.textContent = book.awaited ? "Waiting for its title" : book.by.join(", ");
    const pic = await fetch(`/library/spine?${new URLSearchParams({ title: book.title, by: book.by[0] ?? "" })}`).catch(() => null);
    if (pic?.ok) {
      const page = new DOMParser().parseFromString(await pic.text(), "text/html");
      row.querySelector("[data-pic]").replaceChildren(...page.body.childNodes);
    }
    undo.hidden = false;
    undo.setAttribute("aria-label", `Undo: ${book.title}`);
    undo.addEventListener("click", async () => {
      const taken = await api(`/items/${book.itemId}`, { method: "DELETE" });
      note.textContent = taken.said ? "Taken back" : taken.words;
      undo.hidden = Boolean(taken.said);
    });
  }
}

const typing = document.querySelector("[data-isbn]");
const atOnce = document.querySelector("[data-at-once]");

typing.addEventListener("submit", (event) => {
  if (!atOnce.checked) return;
  event.preventDefault();
  const isbn = typing.elements.isbn.value.trim();
  typing.elements.isbn.value = "";
  typing.elements.isbn.focus();
  if (isbn) putOn(isbn);
});

// --- by camera, where the browser reads barcodes ---

const scanner = document.querySelector("[data-scanner]");
const viewfinder = document.querySelector("[data-viewfinder]");
const video = viewfinder.querySelector("video");
const scan = document.querySelector("[data-scan]");
const hint = document.querySelector("[data-scanner-hint]");
const startWords = scan.lastChild.textContent;
let stream = null;
let detector = null;

async function mayScan() {
  if (!("BarcodeDetector" in window) || !navigator.mediaDevices?.getUserMedia) return false;
  const formats = await BarcodeDetector.getSupportedFormats().catch(() => []);
  return formats.includes("ean_13");
}

function stop() {
  for (const track of stream?.getTracks() ?? []) track.stop();
  stream = null;
  viewfinder.hidden = true;
  scan.lastChild.textContent = startWords;
}

async function look() {
  if (!stream) return;
  const found = await detector.detect(video).catch(() => []);
  for (const { rawValue } of found) {
    if (!/^97[89]\d{10}$/.test(rawValue) || seen.has(rawValue)) continue;
    navigator.vibrate?.(60);
    viewfinder.classList.add("caught");
    setTimeout(() => viewfinder.classList.remove("caught"), 350);
    putOn(rawValue);
  }
  setTimeout(look, 120);
}

async function start() {
  detector ??= new BarcodeDetector({ formats: ["ean_13"] });
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  } catch {
    hint.textContent = "The camera is not open to this page. Allow it in the browser, or type the number.";
    return;
  }
  video.srcObject = stream;
  viewfinder.hidden = false;
  scan.lastChild.textContent = "Stop";
  await video.play();
  look();
}

if (await mayScan()) {
  scanner.hidden = false;
  scan.addEventListener("click", () => (stream ? stop() : start()));
  addEventListener("pagehide", stop);
}

// Looks up the title of a book that waits for it, once when its page is opened. Live updates then show the title.

const form = document.querySelector("[data-look-up]");

await fetch(form.dataset.lookUp, { method: "POST", headers: { accept: "application/json" } }).catch(() => null);

// Says when there is no signal, and when it is back. A form with data-needs-signal is not sent meanwhile, into a page of the
// browser's that has nothing of what was typed.

const region = document.getElementById("banners");
const ready = document.getElementById("no-signal");

function tell() {
  const shown = region.querySelector("[data-no-signal]");
  if (navigator.onLine) shown?.remove();
  else if (!shown) region.append(ready.content.cloneNode(true));
}

if (region && ready) {
  addEventListener("offline", tell);
  addEventListener("online", tell);
  tell();
}

// Before any other script of the page takes it for sent.
document.addEventListener(
  "submit",
  (event) => {
    if (navigator.onLine || !event.target.matches("[data-needs-signal]")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const said = "No signal. Nothing was sent, and what you typed stays here.";
    document.dispatchEvent(new CustomEvent("potluck:toast", { detail: said }));
  },
  true,
);

// Toasts disappear after eight seconds, but not while they have the pointer or the focus. The server may put them into the
// region; a script requests one with: document.dispatchEvent(new CustomEvent("potluck:toast", { detail: "Copied." })).

const STAYS = 8000;
const region = document.getElementById("toasts");

function attend(toast) {
  let timer = 0;
  let pointed = false;
  const leave = () => {
    toast.classList.add("leaving");
    const gone = () => toast.remove();
    toast.addEventListener("transitionend", gone, { once: true });
    setTimeout(gone, 400);
  };
  const wait = () => {
    clearTimeout(timer);
    if (!pointed && !toast.contains(document.activeElement)) timer = setTimeout(leave, STAYS);
  };
  // A finger is a pointer too: it enters when it touches, and leaves when it is lifted.
  for (const event of ["pointerenter", "pointerleave"])
    toast.addEventListener(event, () => {
      pointed = event === "pointerenter";
      wait();
    });
  toast.addEventListener("focusin", wait);
  // After the focus has moved on.
  toast.addEventListener("focusout", () => setTimeout(wait));
  toast.addEventListener("keydown", (event) => event.key === "Escape" && toast.remove());
  wait();
}

if (region) {
  for (const toast of region.querySelectorAll(".toast")) attend(toast);
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes) if (node.nodeType === Node.ELEMENT_NODE && node.matches(".toast")) attend(node);
  }).observe(region, { childList: true });

  document.addEventListener("potluck:toast", (event) => {
    const toast = document.createElement("div");
    toast.className = "toast";
    const text = document.createElement("p");
    text.textContent = event.detail;
    toast.append(text);
    // One at a time: people wait for the newest.
    region.replaceChildren(toast);
  });

  // A button may show a toast that the page has prepared in a template.
  document.addEventListener("click", (event) => {
    const ready = document.getElementById(event.target.closest("[data-toast]")?.dataset.toast ?? "");
    if (ready) region.replaceChildren(ready.content.cloneNode(true));
  });
}

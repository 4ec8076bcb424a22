// What is forgotten in one window disappears from the others too, and the back/forward cache does not bring it back.
//
//   <div data-shareable="kfm-tre-40718">   on every page about one
//   <div data-forgotten="left">            on the page after it was forgotten; "all": everything that was opened here

const shown = document.querySelector("[data-shareable]");

if ("BroadcastChannel" in window) {
  const windows = new BroadcastChannel("potluck-shareables");
  const forgotten = document.querySelector("[data-forgotten]");
  if (forgotten) windows.postMessage(forgotten.dataset.forgotten);
  windows.addEventListener("message", ({ data }) => {
    if (!shown) return;
    // Of one that was left, the server knows whether it is this one.
    if (data === "left") location.reload();
    else location.replace("/shareables");
  });
}

addEventListener("pageshow", (event) => event.persisted && shown && location.reload());

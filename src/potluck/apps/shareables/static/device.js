// What is forgotten in one window disappears from the others too, and the back/forward cache does not bring it back.
//
//   <div data-shareable="kfm-tre-40718">   on every page about one
//   <div data-forgotten="left">            on the page after it was forgotten; "all": everything that was opened here

import { maybe } from "../../../web/static/js/kit/elements.js";
import { on, onReturn } from "../../../web/static/js/kit/events.js";

const shown = maybe(document, "[data-shareable]");

if ("BroadcastChannel" in window) {
  const windows = new BroadcastChannel("potluck-shareables");
  const forgotten = maybe(document, "[data-forgotten]");
  if (forgotten) windows.postMessage(forgotten.dataset.forgotten);
  windows.addEventListener("message", ({ data }) => {
    if (!shown) return;
    // Of one that was left, the server knows whether it is this one.
    if (data === "left") location.reload();
    else location.replace("/shareables");
  });
}

onReturn(() => shown && location.reload());

// Neither does it open offline, nor is anything sent for it.
on(document, "submit", 'form[action$="/leave"], form[action$="/forget"]', () => {
  const path = shown ? location.pathname : "/shareables";
  navigator.serviceWorker?.controller?.postMessage({ act: "over", path });
});
if (maybe(document, '[data-forgotten="all"]'))
  import("./outbox.js")
    .then(async ({ store }) => {
      for (const place of await store.waitingPlaces()) await store.forgetPlace(place);
    })
    .catch(() => {});

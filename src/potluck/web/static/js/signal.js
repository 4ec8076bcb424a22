// Says when there is no signal, and when it is back.

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

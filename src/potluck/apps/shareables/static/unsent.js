// A notice above the list of changes that did not reach the server, with a retry. They last as long as the page is open.

const place = document.querySelector("[data-unsent]");
const ready = document.getElementById("try-again");
// Each has: count() and again(); words(count) when there is only that kind.
const kinds = [];

export const waits = (kind) => kinds.push(kind);

export function tell() {
  const all = kinds.filter((kind) => kind.count() > 0);
  if (!all.length) return place.replaceChildren();
  const count = all.reduce((sum, kind) => sum + kind.count(), 0);
  const fact = all.length === 1 ? all[0].words(count) : `${count} changes are not sent yet.`;
  if (!place.firstElementChild) place.append(ready.content.cloneNode(true));
  const [strong, more] = place.querySelectorAll("strong, strong + span");
  if (strong.textContent !== fact) strong.textContent = fact;
  more.textContent = navigator.onLine ? "The table did not answer." : "No signal. They wait here while this page is open.";
  return undefined;
}

const tryAgain = () => kinds.forEach((kind) => kind.count() > 0 && kind.again());

place.addEventListener("click", (event) => event.target.closest("[data-again]") && tryAgain());
addEventListener("online", tryAgain);
addEventListener("offline", tell);
document.addEventListener("htmx:sse:after:connection", tryAgain);
// Leaving the page now would lose them.
addEventListener("beforeunload", (event) => kinds.some((kind) => kind.count() > 0) && event.preventDefault());

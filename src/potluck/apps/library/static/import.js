// Shows the progress of a running import.

import "./files.js";

const form = document.querySelector("[data-apply]");
const EVERY = 400;

form?.addEventListener("submit", async (event) => {
  const button = event.submitter;
  if (!button?.matches("[data-add]")) return;
  event.preventDefault();
  const told = form.querySelector("[data-progress]");
  button.setAttribute("aria-disabled", true);
  const all = Number(form.dataset.new);
  let done = false;
  const watching = setInterval(async () => {
    const answer = await fetch(`/api/v1/libraries/${form.dataset.apply}`).catch(() => null);
    if (!answer?.ok || done) return;
    const added = (await answer.json()).totalItems - Number(form.dataset.before);
    told.textContent = `${Math.max(0, Math.min(added, all))} of ${all} are on the shelf.`;
  }, EVERY);
  const answer = await fetch(button.formAction, { method: "POST", body: new URLSearchParams(new FormData(form)) }).catch(() => null);
  done = true;
  clearInterval(watching);
  if (answer?.ok && answer.redirected) location.assign(answer.url);
  else {
    told.textContent = "It stopped on the way. What was added stays, and a second try adds only the rest.";
    button.removeAttribute("aria-disabled");
  }
});

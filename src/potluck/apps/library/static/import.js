// Shows the progress of a running import.

import "./file-field.js";
import { enable, one } from "../../../web/static/js/kit/elements.js";
import { on } from "../../../web/static/js/kit/events.js";
import { request, send } from "../../../web/static/js/kit/send.js";
import { _, ngettext } from "../../../web/static/js/kit/words.js";

const EVERY = 400;
// In milliseconds: thousands of rows take minutes.
const PATIENCE = 10 * 60_000;

on(document, "submit", "form[data-apply]", async (form, event) => {
  const button = event.submitter;
  if (!button?.matches("[data-add]")) return;
  event.preventDefault();
  const status = one(form, "[data-progress]");
  enable(button, false);
  const total = Number(form.dataset.new);
  let done = false;
  const watching = setInterval(async () => {
    const { body } = await send(`/api/v1/libraries/${form.dataset.apply}`, { method: "GET" });
    if (!body || done) return;
    const added = Math.max(0, Math.min(body.totalItems - Number(form.dataset.before), total));
    status.textContent = ngettext("%(num)s of %(total)s added", "%(num)s of %(total)s added", added, { total });
  }, EVERY);
  const fields = new URLSearchParams(/** @type {any} */ (new FormData(/** @type {HTMLFormElement} */ (form))));
  const response = await request(button.formAction, { method: "POST", body: fields, wait: PATIENCE });
  done = true;
  clearInterval(watching);
  if (response?.ok && response.redirected) location.assign(response.url);
  else {
    status.textContent = _("The import was interrupted. Try again to add the rest. Nothing is added twice.");
    enable(button, true);
  }
});

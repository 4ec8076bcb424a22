// Lets people see the passcode while they type it, and counts down a pause.

import { enable, maybe, one } from "../../../web/static/js/kit/elements.js";
import { _, ngettext } from "../../../web/static/js/kit/words.js";

const field = one(document, "#passcode", HTMLInputElement);
const form = /** @type {HTMLFormElement} */ (field.form);
const shows = one(document, "[data-show]", HTMLInputElement);
const pause = maybe(document, "[data-pause]");

shows.addEventListener("change", () => {
  field.type = shows.checked ? "text" : "password";
});
// Keeps the browser from remembering the passcode as ordinary text.
form.addEventListener("submit", () => {
  field.type = "password";
});

if (pause) {
  const button = one(form, "button");
  const ends = Date.now() + Number(pause.dataset.pause) * 1000;
  const counting = setInterval(() => {
    const seconds = Math.ceil((ends - Date.now()) / 1000);
    one(pause, "[data-pause-left]").textContent =
      seconds > 0
        ? ngettext("Try again in %(num)s second.", "Try again in %(num)s seconds.", seconds)
        : _("You can try again now.");
    if (seconds <= 0) {
      clearInterval(counting);
      enable(button, true);
    }
  }, 1000);
  enable(button, false);
  form.addEventListener("submit", (event) => Date.now() < ends && event.preventDefault());
}

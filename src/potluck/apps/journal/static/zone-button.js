// Offers the device's own time zone.

import { one } from "../../../web/static/js/kit/elements.js";
import { timeZone } from "../../../web/static/js/kit/time.js";
import { _ } from "../../../web/static/js/kit/words.js";

const field = one(document, "#time-zone", HTMLInputElement);
const button = one(document, "[data-this-zone]");

if (timeZone() && timeZone() !== field.value) {
  button.textContent = _("Use this device’s: %(zone)s", { zone: timeZone() });
  button.hidden = false;
  button.addEventListener("click", () => {
    field.value = timeZone();
    field.form?.requestSubmit();
  });
}

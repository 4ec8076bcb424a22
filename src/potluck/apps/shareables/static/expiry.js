// When it expires: the end of a day in the person's own time zone, which the server cannot know.

import { all, maybe, one } from "../../../web/static/js/kit/elements.js";
import { onEach } from "../../../web/static/js/kit/events.js";
import { asLocal, day } from "../../../web/static/js/kit/time.js";
import { followTime, isTime } from "../../../web/static/js/kit/time-field.js";
import { _ } from "../../../web/static/js/kit/words.js";

const DAY = 86_400_000;

// The second before the next day begins: where clocks go back at midnight, the last hour of a day comes twice.
/** @param {string} date */
function endOf(date) {
  const next = new Date(`${date}T00:00`);
  next.setDate(next.getDate() + 1);
  next.setHours(0, 0, 0, 0);
  return new Date(Number(next) - 1000);
}

/** @param {HTMLElement} part */
function say(part) {
  const chosen = one(part, "[name=days]:checked", HTMLInputElement).value;
  const until = one(part, "[type=date]", HTMLInputElement).value;
  const end = chosen === "until" ? new Date(`${until}T12:00`) : new Date(Date.now() + Number(chosen) * DAY);
  const words = isTime(end) ? _("Until %(day)s.", { day: day(end) }) : "";
  one(part, "[data-lasts]").textContent = `${words} `;
}

// The form is replaced when another admin changes the settings.
onEach("[data-day]", (part) => {
  const [date, moment] = all(part, "input", HTMLInputElement);
  followTime(date, moment, (at) => asLocal(at).slice(0, 10), endOf);
});

for (const part of all(document, "[data-lasting]")) {
  if (!maybe(part, "[data-lasts]")) continue;
  part.addEventListener("input", () => say(part));
  say(part);
}

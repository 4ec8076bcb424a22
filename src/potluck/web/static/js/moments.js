// Times in the person's own time zone. The server's text, in UTC, stays as the title.
//
//   <time datetime="…" data-moment>          13 December 2026 at 17:42
//   <time datetime="…" data-moment="day">    Sunday 13 December; Sunday, 13 December 2026 if it is not this year
//   <time datetime="…" data-moment="short">  17:42 if it is today, Mon within a week, otherwise 13 Dec

import { onEach } from "./kit/events.js";
import { day, moment, short } from "./kit/time.js";

/** @type {Record<string, (at: Date) => string>} */
const WORDS = { "": moment, day, short };

onEach("time[data-moment]:not([title])", (time) => {
  time.title = time.textContent ?? "";
  time.textContent = WORDS[time.dataset.moment ?? ""](new Date(/** @type {HTMLTimeElement} */ (time).dateTime));
});

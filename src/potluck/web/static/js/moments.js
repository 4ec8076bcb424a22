// Times in the person's own time zone. The server's text, in UTC, stays as the title.
//
//   <time datetime="…" data-moment>          13 December 2026 at 17:42
//   <time datetime="…" data-moment="day">    Sunday 13 December, with the year if it is not this one
//   <time datetime="…" data-moment="short">  17:42 if it is today, Mon within a week, otherwise 13 Dec

const format = (options) => new Intl.DateTimeFormat("en-GB", options);
const whole = format({ dateStyle: "long", timeStyle: "short" });
const day = format({ weekday: "long", day: "numeric", month: "long" });
const year = format({ year: "numeric" });
const clock = format({ hour: "2-digit", minute: "2-digit" });
const weekday = format({ weekday: "short" });
const date = format({ day: "numeric", month: "short" });
const WEEK = 6 * 24 * 3600 * 1000;

const said = {
  "": (at) => whole.format(at),
  day: (at, now) => day.format(at) + (at.getFullYear() === now.getFullYear() ? "" : ` ${year.format(at)}`),
  short: (at, now) =>
    (at.toDateString() === now.toDateString() ? clock : Math.abs(now - at) < WEEK ? weekday : date).format(at),
};

function tell(within) {
  for (const time of within.querySelectorAll("time[data-moment]:not([title])")) {
    time.title = time.textContent;
    time.textContent = said[time.dataset.moment](new Date(time.dateTime), new Date());
  }
}

tell(document);
// Elements that are inserted later, by any script.
new MutationObserver((changes) => {
  for (const { addedNodes } of changes)
    for (const node of addedNodes) if (node.nodeType === Node.ELEMENT_NODE) tell(node.parentNode ?? node);
}).observe(document.body, { childList: true, subtree: true });

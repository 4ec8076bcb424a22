// Marks what a person has looked at as seen; and leaves the page once they may no longer see it.
//
//   <div data-looked="/api/v1/…/seen" data-until="…">   seen up to that time, once the page is visible
//   data-looked-list="said"                             what is added to this list while the page is visible
//   <div data-over="/journal/athletes">                 where to go when live updates end for good; if empty, the
//                                                       page is reloaded, and says why

import { all, maybe, one } from "../../../web/static/js/kit/elements.js";
import { onChildren } from "../../../web/static/js/kit/events.js";
import { send } from "../../../web/static/js/kit/send.js";

const reported = new Set();

function look() {
  if (document.hidden) return;
  for (const { dataset } of all(document, "[data-looked]")) {
    const { looked = "", until } = dataset;
    if (!until || reported.has(until)) continue;
    reported.add(until);
    send(looked, { json: { until } });
  }
}

document.addEventListener("visibilitychange", look);
onChildren(one(document, "main"), look, true);
for (const { dataset } of all(document, "[data-looked]")) {
  const { looked = "", lookedList = "" } = dataset;
  const list = document.getElementById(lookedList);
  if (list) onChildren(list, () => document.hidden || send(looked, { json: {} }));
}
look();

const away = maybe(document, "[data-over]")?.dataset.over;
if (away !== undefined)
  document.addEventListener("potluck:over", () => (away ? location.replace(away) : location.reload()));

// Says what somebody has looked at, so that it is not new any more; and leads away from what is not theirs to see any more.
//
//   <div data-looked="/api/v1/…/seen" data-until="…">   what was there at that time, once the page is in front of somebody
//   data-looked-list="said"                             what comes into this list while they look
//   <div data-over="/journal/athletes">                 where to go when nothing will be heard any more; nowhere: the page
//                                                       is asked for again, and says what is so

const told = new Set();
const looks = () => document.querySelectorAll("[data-looked]");

function tell(address, said) {
  fetch(address, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(said) }).catch(() => {});
}

function look() {
  if (document.hidden) return;
  for (const { dataset } of looks()) {
    const { looked, until } = dataset;
    if (!until || told.has(until)) continue;
    told.add(until);
    tell(looked, { until });
  }
}

document.addEventListener("visibilitychange", look);
new MutationObserver(look).observe(document.querySelector("main"), { childList: true, subtree: true });
for (const { dataset } of looks()) {
  const list = document.getElementById(dataset.lookedList);
  if (list) new MutationObserver(() => document.hidden || tell(dataset.looked, {})).observe(list, { childList: true });
}
look();

const away = document.querySelector("[data-over]")?.dataset.over;
if (away !== undefined)
  document.addEventListener("potluck:over", () => (away ? location.replace(away) : location.reload()));

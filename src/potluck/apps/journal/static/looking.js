// Marks what somebody has looked at as seen; and leaves the page once they may no longer see it.
//
//   <div data-looked="/api/v1/…/seen" data-until="…">   seen up to that time, once the page is visible
//   data-looked-list="said"                             what is added to this list while the page is visible
//   <div data-over="/journal/athletes">                 where to go when live updates end for good; if empty, the
//                                                       page is reloaded, and says why

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

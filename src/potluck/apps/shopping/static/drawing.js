// Renders the page: groups, purchased items, suggestions, freshness and pending changes.

import { UNDER_WAY, banner, bannerOf, putBanner } from "./banner.js";
import { changeInWords, groups, lately, nameOf, withChanges } from "./changes.js";
import { element, icon, part, root, set, things, time } from "./elements.js";
import { fold } from "./lines.js";
import { drawNotices, titleOf } from "./notices.js";
import { lingering, page } from "./page.js";
import { afterPress } from "./pressing.js";
import { arrange, rowOf, rows } from "./rows.js";

const OFFERS = 12;

function groupOf(group, several) {
  const id = `store-${group.store}`;
  let section = root.querySelector(`section[data-store="${CSS.escape(group.store)}"]`);
  if (!section) {
    const head = element("div", { class: "group-head" }, element("h2", { id }), element("span", { class: "soft num" }));
    section = element("section", { class: "group", "data-store": group.store, "aria-labelledby": id }, head);
    section.append(element("ul", { class: "rows", "aria-labelledby": id }));
  }
  set(section.querySelector("h2"), group.name);
  set(section.querySelector(".num"), String(group.count));
  let only = section.querySelector(".only");
  if (!page.filter && !several) only?.remove();
  else {
    if (!only) section.querySelector(".group-head").append((only = element("a", { class: "only" })));
    only.href = page.filter ? page.home : `${page.home}?store=${group.store}`;
    set(only, page.filter ? "All stores" : "Only here");
    if (page.filter) only.removeAttribute("aria-label");
    else only.setAttribute("aria-label", `Only here: ${group.name}`);
  }
  return section;
}

// Another window's message can have loaded a change after it was stored and before it was removed from here.
const unkept = () => [...page.unkept].filter(({ key }) => !page.changes.some((each) => each.key === key));

export function draw() {
  if (!page.kept || afterPress(draw)) return;
  const now = Date.now();
  const focused = document.activeElement;
  const { all, waiting } = withChanges(page.items, [...page.changes, ...unkept()], page.kept.person);
  page.shown = all;
  const held = page.state !== "ok";
  const waits = (id) => waiting.has(id) && (held || now - waiting.get(id) > UNDER_WAY);
  const there = [...all.values()].filter((item) => !(item.status === "purchased" && item.ttl && item.ttl * 1000 <= now));
  const open = there.filter((item) => item.status === "pending");
  const inSight = there.filter((item) => item.status === "pending" || lingering.has(item.shoppingItemId));
  const found = groups(inSight, page.storeNames);
  const drawn = [];
  for (const group of found) {
    if (page.filter && page.filter !== group.store) continue;
    group.count = group.items.filter((item) => item.status === "pending").length;
    const section = groupOf(group, found.length > 1);
    arrange(
      section.querySelector("ul"),
      group.items.map((item) => rowOf(item, waits(item.shoppingItemId))),
    );
    drawn.push(section);
  }
  if (page.filter && drawn.length === 0 && open.length > 0)
    drawn.push(
      root.querySelector("[data-done-here]") ??
        element(
          "p",
          { class: "done", "data-done-here": true },
          icon("check"),
          element("span", {}, "Nothing more here. ", element("a", { class: "only-all", href: page.home }, "All stores")),
        ),
    );
  arrange(part("groups"), drawn);
  const bought = lately(there.filter((item) => item.status === "purchased" && !lingering.has(item.shoppingItemId)));
  arrange(
    part("purchased-rows"),
    bought.map((item) => rowOf(item, waits(item.shoppingItemId))),
  );
  set(part("purchased-count"), String(bought.length));
  part("purchased").hidden = bought.length === 0;
  part("empty").hidden = open.length > 0 || lingering.size > 0;
  const shown = open.filter((item) => drawn.some((section) => section.contains(rows.get(item.shoppingItemId)))).length;
  set(part("count"), page.filter ? `${shown} of ${things(open.length)}` : things(open.length));
  drawLow(open);
  // Before the store has been read, the number of pending changes is not known.
  if ("ready" in root.dataset) root.dataset.waiting = page.changes.length + unkept().length;
  drawOffers(open);
  drawBanner();
  drawNotices();
  drawAsks();
  drawFresh();
  // Moving an element loses the focus.
  if (document.activeElement !== focused && root.contains(focused)) focused.focus({ preventScroll: true });
  for (const id of rows.keys()) if (!all.has(id)) rows.delete(id);
}

// Low-stock things show whether they are on the list, including those just added.
function drawLow(open) {
  const wanted = new Set(open.map((item) => item.itemId));
  const lows = [...root.querySelectorAll("[data-low-item]")];
  const missing = lows.filter((each) => !wanted.has(each.dataset.lowItem));
  for (const each of lows) each.querySelector("[data-on-list]").hidden = missing.includes(each);
  const form = root.querySelector("[data-low] form");
  if (form) form.hidden = missing.length === 0 && !("more" in form.dataset);
}

// A line that links to the questions above the list, while those are scrolled out of sight.
let askedInSight = true;

function drawAsks() {
  const [first] = page.notices;
  const more = page.notices.length > 1 ? `And ${page.notices.length - 1} more.` : "";
  const link = first && element("a", { href: "#asked" }, "Look");
  putBanner(part("asks"), first && !askedInSight ? banner("triangle-alert", titleOf(first), more, link) : null);
}

new IntersectionObserver(([seen]) => {
  askedInSight = seen.isIntersecting;
  if (page.kept) drawAsks();
}).observe(part("notices"));

export function drawFresh() {
  const badge = part("fresh");
  const said = page.live && page.state === "ok" ? "Live" : `Last fresh at ${time(page.fresh)}`;
  badge.classList.toggle("off", said !== "Live");
  set(badge, said);
}

// The same fields as in the server's markup, because the form submits them where nothing can be stored.
const sentFor = ({ name, itemId }) => (itemId ? { name: "itemId", value: itemId } : { name: "lines", value: name });

function drawOffers(open) {
  const typed = fold(document.getElementById("add").value.split("\n").at(-1));
  const taken = new Set(open.map((item) => fold(item.name)));
  const offers = page.kept.suggestions
    .filter((each) => !taken.has(fold(each.name)) && (!typed || fold(each.name).includes(typed)))
    .slice(0, OFFERS);
  const place = part("offers");
  const told = JSON.stringify(offers.map((each) => [each.name, each.itemId]));
  if (place.dataset.told === told) return;
  place.dataset.told = told;
  place.replaceChildren(
    ...offers.map((each) =>
      element("li", {}, element("button", { class: "chip", ...sentFor(each) }, icon("plus"), each.name)),
    ),
  );
}

export function drawBanner() {
  const count = page.changes.length;
  const open = page.showsWaiting && count > 0;
  const button = element("button", { type: "button", "data-do": "show", "aria-expanded": String(open) }, open ? "Hide" : "Show");
  const made = bannerOf(page.state, page.changes, "list", count ? button : null);
  const lines = page.changes.map((each) => element("li", {}, changeInWords(each, nameOf(each), page.storeNames)));
  if (open && made?.contains(button)) made.append(element("ul", { class: "waiting-list" }, ...lines));
  putBanner(part("banner"), made);
}

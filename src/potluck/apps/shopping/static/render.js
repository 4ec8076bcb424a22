// Renders the page: groups, purchased items, suggestions, freshness and pending changes.

import { all, element, field, maybe, one, setText } from "../../../web/static/js/kit/elements.js";
import { afterPress } from "../../../web/static/js/kit/press-guard.js";
import { clock } from "../../../web/static/js/kit/time.js";
import { _, ngettext, numbered } from "../../../web/static/js/kit/words.js";
import { banner, bannerOf, putBanner, UNDER_WAY } from "./banner.js";
import { changeInWords, groups, lately } from "./changes.js";
import { icon } from "./elements.js";
import { fold } from "./line-parser.js";
import { drawNotices, titleOf } from "./notices.js";
import { arrange, rowOf, rows } from "./rows.js";
import { lingering, list, page, part, root, unstored } from "./state.js";

/** @typedef {import("./changes.js").Item} Item */

const OFFERS = 12;

/** @param {{ store: string, name: string, items: Item[] }} group @param {boolean} several */
function groupOf({ store, name, items }, several) {
  const id = `store-${store}`;
  let section = maybe(root, `section[data-store="${CSS.escape(store)}"]`);
  if (!section) {
    const head = element("div", { class: "group-head" }, element("h2", { id }), element("span", { class: "soft num" }));
    const place = element("ul", { class: "rows", "aria-labelledby": id });
    section = element("section", { class: "group", "data-store": store, "aria-labelledby": id }, head, place);
  }
  setText(one(section, "h2"), name);
  setText(one(section, ".num"), numbered(items.filter((item) => item.status === "pending").length));
  // Without stores there is nothing to tell apart.
  section.classList.toggle("lone", store === "unassigned" && !several && !page.filter);
  let only = maybe(section, ".only", HTMLAnchorElement);
  if (!page.filter && !several) only?.remove();
  else {
    if (!only) {
      only = /** @type {HTMLAnchorElement} */ (element("a", { class: "only" }));
      one(section, ".group-head").append(only);
    }
    only.href = page.filter ? page.home : `${page.home}?store=${store}`;
    setText(only, page.filter ? _("Show all stores") : _("Show only this store"));
    if (page.filter) only.removeAttribute("aria-label");
    else only.setAttribute("aria-label", _("Show only this store: %(name)s", { name }));
  }
  return section;
}

/** Shows the state of the page, but moves nothing under a finger. */
export const draw = () => afterPress(paint);

function paint() {
  if (!page.list) return;
  const now = Date.now();
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  const isHeld = page.state !== "ok";
  /** @param {Item} item */
  const rowFor = (item) => {
    const since = page.waiting.get(item.shoppingItemId);
    return rowOf(item, since !== undefined && (isHeld || now - since > UNDER_WAY));
  };
  const isLingering = (/** @type {Item} */ item) => lingering.has(item.shoppingItemId);
  const items = [...page.shown.values()].filter(
    (item) => !(item.status === "purchased" && item.ttl && item.ttl * 1000 <= now),
  );
  const open = items.filter((item) => item.status === "pending");
  const grouped = groups(
    items.filter((item) => item.status === "pending" || isLingering(item)),
    page.storeNames,
  );
  /** @type {HTMLElement[]} */
  const drawn = [];
  for (const group of grouped) {
    if (page.filter && page.filter !== group.store) continue;
    const section = groupOf(group, grouped.length > 1);
    arrange(one(section, "ul"), group.items.map(rowFor));
    drawn.push(section);
  }
  if (page.filter && drawn.length === 0 && open.length > 0) drawn.push(maybe(root, "[data-done-here]") ?? doneHere());
  arrange(part("groups"), drawn);
  const bought = lately(items.filter((item) => item.status === "purchased" && !isLingering(item)));
  arrange(part("purchased-rows"), bought.map(rowFor));
  setText(part("purchased-count"), numbered(bought.length));
  part("purchased").hidden = bought.length === 0;
  part("empty").hidden = open.length > 0 || lingering.size > 0;
  const isDrawn = (/** @type {Item} */ { shoppingItemId: id }) =>
    drawn.some((section) => section.contains(rows.get(id) ?? null));
  setText(part("count"), countInWords(open.length, page.filter ? open.filter(isDrawn).length : null));
  // Before the store has been read, the number of pending changes is not known.
  if ("ready" in root.dataset) root.dataset.waiting = String(page.changes.length + unstored().length);
  drawLow(open);
  drawOffers(open);
  drawBanner();
  drawNotices();
  drawAsks();
  drawFresh();
  // Moving an element loses the focus.
  if (document.activeElement !== focused && root.contains(focused)) focused.focus({ preventScroll: true });
  for (const id of rows.keys()) if (!page.shown.has(id)) rows.delete(id);
}

/** @param {number} count @param {number | null} here how many of them are shown, if not all */
function countInWords(count, here) {
  if (count === 0) return _("Nothing to buy");
  if (here === null) return ngettext("%(num)s item", "%(num)s items", count);
  return ngettext("%(here)s of %(num)s item", "%(here)s of %(num)s items", count, { here: numbered(here) });
}

const doneHere = () =>
  element(
    "p",
    { class: "done", "data-done-here": true },
    icon("check"),
    element(
      "span",
      {},
      _("Nothing left to buy here."),
      " ",
      element("a", { class: "only-all", href: page.home }, _("Show all stores")),
    ),
  );

/** Low-stock things show whether they are on the list, including those just added. @param {Item[]} open */
function drawLow(open) {
  const wanted = new Set(open.map((item) => item.itemId));
  let missing = 0;
  for (const low of all(root, "[data-low-item]")) {
    const isWanted = wanted.has(low.dataset.lowItem);
    one(low, "[data-on-list]").hidden = !isWanted;
    if (!isWanted) missing += 1;
  }
  const form = maybe(root, "[data-low] form");
  if (form) form.hidden = missing === 0 && !("more" in form.dataset);
}

// A line that links to the questions above the list, while those are scrolled out of sight.
let isAskedInSight = true;

function drawAsks() {
  const [first] = page.notices;
  const others = page.notices.length - 1;
  const more = others > 0 ? ngettext("and %(num)s more", "and %(num)s more", others) : "";
  const link = first && element("a", { href: "#asked" }, _("Review"));
  putBanner(part("asks"), first && !isAskedInSight ? banner("triangle-alert", titleOf(first), more, link) : null);
}

new IntersectionObserver(([seen]) => {
  isAskedInSight = seen.isIntersecting;
  if (page.list) drawAsks();
}).observe(part("notices"));

function drawFresh() {
  // Empty it is as wide as "Live", so that nothing moves when it says so.
  if (page.live === null && page.state === "ok") return;
  const badge = part("fresh");
  const isFresh = page.live && page.state === "ok";
  badge.classList.toggle("off", !isFresh);
  setText(badge, isFresh ? _("Live") : _("Updated %(time)s", { time: clock(page.fresh) }));
}

/** @param {Item[]} open */
function drawOffers(open) {
  const adding = one(document, "#adding", HTMLFormElement);
  const typed = fold(field(adding, "lines").value.split("\n").at(-1) ?? "");
  const taken = new Set(open.map((item) => fold(item.name)));
  const offers = list()
    .suggestions.filter(({ name }) => !taken.has(fold(name)) && (!typed || fold(name).includes(typed)))
    .slice(0, OFFERS);
  const place = part("offers");
  const names = JSON.stringify(offers.map(({ name, itemId }) => [name, itemId]));
  if (place.dataset.drawn === names) return;
  place.dataset.drawn = names;
  place.replaceChildren(
    ...offers.map(({ name, itemId }) => {
      // The same fields as in the server's markup, because the form submits them where nothing can be stored.
      const sent = itemId ? { name: "itemId", value: itemId } : { name: "lines", value: name };
      return element("li", {}, element("button", { class: "chip", ...sent }, icon("plus"), name));
    }),
  );
}

export function drawBanner() {
  const { changes } = page;
  const isOpen = page.showsWaiting && changes.length > 0;
  const attributes = { type: "button", "data-do": "show", "aria-expanded": String(isOpen) };
  const button = changes.length ? element("button", attributes, isOpen ? _("Hide changes") : _("Show changes")) : null;
  const shown = bannerOf(page.state, changes, button);
  const lines = changes.map((change) => element("li", {}, changeInWords(change, page.storeNames)));
  if (isOpen && shown?.contains(button)) shown.append(element("ul", { class: "waiting-list" }, ...lines));
  putBanner(part("banner"), shown);
}

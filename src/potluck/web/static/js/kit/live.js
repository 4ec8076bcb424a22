// Lists that are updated live.
//
//   <ul id="notes" data-live="/notes/7/events?since=POSITION">
//     <li id="note-3" data-version="2" data-order="…"> … </li>
//   </ul>
//
// An event is named created, updated or deleted, and its data is the whole row, rendered by the same template as the page.
// A row is identified by its id: it replaces the row that is shown, and never appears twice, however often it is sent.
// A row with an older data-version than the one shown is ignored. New rows are sorted by data-order, compared as text
// (descending with data-live-order="descending"); without it they go last.
//
// A list that is one part of a longer one gives its range of data-order in data-live-from and data-live-to: rows before or
// after that belong to another part.
//
// If rows depend on each other, the list has data-live-whole: its page is fetched again on every event, and rows that differ
// in a data- attribute are replaced. data-live-page is the URL to fetch then, if it is not the page's own.
//
// A page may also have, for a list with the id "notes":
//   data-live-badge="notes"   says "Live", or the text in data-live-said; otherwise "Updated 17:42"
//   data-live-count="notes"   has the number of rows
//   data-live-empty="notes"   is shown while there are none
//   data-live-with="notes"    has an id, and is updated whenever the page is fetched again
//
// After a reset, or if no stream can be opened, the page is fetched again and the list is updated from it. An event of any
// other name is dispatched on the list as potluck:heard, with its name and data; potluck:live says that the stream is open, and
// potluck:over that the viewer has lost access. Of two rows with the same version, the one that just arrived counts as a
// change if its data- attributes differ.

import { all, childrenOf, maybe, setText } from "./elements.js";
import { listen } from "./event-stream.js";
import { onEach } from "./events.js";
import { fetchPage, isTypedInto, swap, TYPING } from "./page-parts.js";
import { afterPress } from "./press-guard.js";
import { clock } from "./time.js";
import { coalesced } from "./turns.js";
import { _ } from "./words.js";

const ROW_EVENTS = new Set(["created", "updated", "deleted"]);
const GONE_REMEMBERED = 500;
// How long, in milliseconds, a list may do without a stream before its page is fetched again.
const PATIENCE = 20_000;

/** @param {HTMLElement} row */
const versionOf = (row) => Number(row.dataset.version ?? 0);

/** @param {HTMLElement} row @param {HTMLElement | null} shown */
const isNews = (row, shown) =>
  !shown ||
  versionOf(shown) < versionOf(row) ||
  (versionOf(shown) === versionOf(row) &&
    Object.entries(row.dataset).some(([name, value]) => shown.dataset[name] !== value));

class LiveList {
  live = false;
  isOver = false;
  fresh = new Date();
  tried = Date.now();
  /** Newer rows, for rows that the person is typing in. @type {Map<string, HTMLElement>} */
  waiting = new Map();
  /** Ids of deleted rows. @type {Set<string>} */
  gone = new Set();
  /** Elements outside the list that were not updated because the person was editing them. */
  behind = new WeakSet();

  /** @param {HTMLElement} list */
  constructor(list) {
    this.list = list;
    this.stream = this.open(list.dataset.live ?? "");
  }

  // --- elements that belong to the list ---

  /** @param {string} role */
  around(role) {
    return all(document, `[data-live-${role}="${CSS.escape(this.list.id)}"]`);
  }

  /** @param {boolean} live */
  tell(live) {
    if (live || this.live) this.fresh = new Date();
    this.live = live;
    this.label();
  }

  // Also sets badges that were just inserted.
  label() {
    for (const badge of this.around("badge")) {
      badge.classList.toggle("off", !this.live);
      setText(
        badge,
        this.live ? (badge.dataset.liveSaid ?? _("Live")) : _("Updated %(time)s", { time: clock(this.fresh) }),
      );
    }
  }

  count() {
    const rows = this.list.children.length;
    for (const number of this.around("count")) setText(number, String(rows));
    for (const empty of this.around("empty")) empty.hidden = rows > 0;
  }

  /** @param {string} name @param {unknown} detail */
  dispatch(name, detail) {
    this.list.dispatchEvent(new CustomEvent(`potluck:${name}`, { bubbles: true, detail }));
  }

  // --- rows and their places ---

  /** @param {string} id */
  shown(id) {
    return maybe(this.list, `:scope > #${CSS.escape(id)}`);
  }

  /** @param {HTMLElement} row */
  isElsewhere({ dataset: { order = "" } }) {
    const { liveFrom = "", liveTo } = this.list.dataset;
    return order < liveFrom || (liveTo !== undefined && order > liveTo);
  }

  /** @param {HTMLElement} row */
  place(row) {
    const { order } = row.dataset;
    const isAfter = (/** @type {string} */ other, /** @type {string} */ own) =>
      this.list.dataset.liveOrder === "descending" ? other < own : other > own;
    const next = order && childrenOf(this.list).find((other) => isAfter(other.dataset.order ?? "", order));
    this.list.insertBefore(row, next || null);
  }

  /**
   * Puts a row in its place. `own` is an answer to this window, which may arrive after the event that deleted the row.
   * @param {HTMLElement} row
   * @param {boolean} [own]
   */
  put(row, own = false) {
    const shown = this.shown(row.id);
    if (own && this.gone.has(row.id)) return;
    this.gone.delete(row.id);
    if (this.isElsewhere(row)) shown?.remove();
    else if (!shown) this.place(row);
    else {
      // A row that is shown already, such as one that this window sent itself, is not replaced.
      if (versionOf(row) < versionOf(shown) || (!own && !isNews(row, shown))) return;
      if (!own && shown.contains(document.activeElement) && document.activeElement?.matches(TYPING)) {
        // Never replace a field that is being typed in; the change waits.
        this.waiting.set(row.id, row);
        return;
      }
      swap(shown, row);
      if (shown.dataset.order !== row.dataset.order) this.place(row);
    }
    if (!own) row.classList.add("changed");
    this.count();
    this.label();
  }

  /** @param {HTMLElement} row */
  take({ id }) {
    this.waiting.delete(id);
    this.gone.add(id);
    if (this.gone.size > GONE_REMEMBERED) this.gone.delete([...this.gone][0]);
    this.shown(id)?.remove();
    this.count();
  }

  /** The focus has left a row, or an element outside the list: shows what waited for that. @param {FocusEvent} event */
  leave({ target, relatedTarget }) {
    if (!(target instanceof Element)) return;
    const row = childrenOf(this.list).find((other) => other.contains(target));
    const outside = this.around("with").find((other) => other.contains(target));
    const left = row ?? outside;
    if (!left || left.contains(/** @type {Node | null} */ (relatedTarget))) return;
    // If the focus left because a button in the same row was pressed, that button is submitted first.
    setTimeout(() => {
      if (outside && this.behind.has(outside)) this.refresh();
      const news = row && this.waiting.get(row.id);
      // Unsent text stays; once it is sent, the server reports the conflict and both versions are shown.
      if (!news || (row.isConnected && isTypedInto(row))) return;
      this.waiting.delete(row.id);
      const shown = this.shown(row.id);
      if (shown && versionOf(shown) < versionOf(news)) afterPress(() => this.put(news));
    });
  }

  // --- the page, fetched again ---

  // If several resets arrive while the page is fetched, one more fetch is enough.
  refresh = coalesced(() => this.read());

  /** Updates the list from its page; resolves to the URL of its stream. */
  async read() {
    const answer = await fetchPage(this.list.dataset.livePage ?? location.href, {
      signal: AbortSignal.timeout(PATIENCE),
    });
    const fresh = answer?.ok ? answer.page.getElementById(this.list.id) : null;
    if (!answer || !fresh) return null;
    const address = fresh.dataset.live ?? null;
    afterPress(() => this.merge(answer.page));
    return address;
  }

  /** @param {Document} page @param {string} [own] the id of the row that this page answers */
  merge(page, own) {
    const rows = childrenOf(/** @type {HTMLElement} */ (page.getElementById(this.list.id)));
    for (const row of all(this.list, ":scope > [id]")) if (!rows.some(({ id }) => id === row.id)) this.take(row);
    for (const row of rows) {
      const isOwn = row.id === own;
      if (isOwn || isNews(row, this.shown(row.id))) this.put(document.adoptNode(row), isOwn);
    }
    for (const outside of this.around("with")) {
      const fresh = page.getElementById(outside.id);
      if (!fresh || outside.isEqualNode(fresh)) continue;
      if (isTypedInto(outside) || outside.contains(document.activeElement)) this.behind.add(outside);
      else swap(outside, fresh);
    }
    // The list is up to date now, even without a stream.
    this.fresh = new Date();
    this.label();
  }

  // --- the stream ---

  /** @param {string} address */
  open(address) {
    this.tried = Date.now();
    return listen(address, {
      opened: () => {
        this.tell(true);
        this.dispatch("live", null);
      },
      heard: (message) => this.hear(message),
      lost: () => this.tell(false),
      over: () => {
        this.isOver = true;
        this.tell(false);
        sayOver();
        this.dispatch("over", null);
      },
    });
  }

  /** @param {import("./event-stream.js").Message} message */
  hear({ name, data }) {
    // The stream continues from now; reading the list again covers what came before.
    if (name === "reset" || (ROW_EVENTS.has(name) && this.list.dataset.liveWhole !== undefined)) this.refresh();
    else if (!ROW_EVENTS.has(name)) this.dispatch("heard", { name, data });
    else
      afterPress(() => {
        const holder = document.createElement("template");
        holder.innerHTML = data;
        for (const row of childrenOf(holder.content)) name === "deleted" ? this.take(row) : this.put(row);
      });
    this.tell(true);
  }

  // For a stream that never opened, or that hangs: reads the list again, and opens a new stream from there.
  async beginAgain() {
    if (this.live || this.isOver || Date.now() - this.tried < PATIENCE) return;
    this.tried = Date.now();
    const address = await this.refresh();
    if (!address || this.live || !this.list.isConnected) return;
    this.stream.close();
    this.stream = this.open(address);
  }
}

function sayOver() {
  const region = document.getElementById("banners");
  const ready = maybe(document, "#not-yours", HTMLTemplateElement);
  if (region && ready && !maybe(region, "[data-not-yours]")) region.append(ready.content.cloneNode(true));
}

// --- all lists of the page ---

/** @type {Map<Element, LiveList>} */
const lists = new Map();

/** Fetches the page of a live list again, and updates it. @param {Element} list */
export const refresh = (list) => lists.get(list)?.refresh();

// Updates a live list from the page that answers a form of one of its rows, or of none.
/** @param {Element} list @param {Document} page @param {string} [row] */
export const mergePage = (list, page, row) => lists.get(list)?.merge(page, row);

// By then every script of the page has run.
if (document.readyState === "complete") begin();
else addEventListener("DOMContentLoaded", begin);

function begin() {
  onEach("[data-live]", (list) => lists.set(list, new LiveList(list)));
}

document.addEventListener("focusout", (event) => {
  for (const list of lists.values()) list.leave(event);
});

addEventListener("offline", () => {
  for (const list of lists.values()) list.tell(false);
});

setInterval(() => {
  for (const [element, list] of lists) {
    if (!element.isConnected) {
      list.stream.close();
      lists.delete(element);
    } else if (navigator.onLine && !document.hidden) list.beginAgain();
  }
}, PATIENCE / 2);

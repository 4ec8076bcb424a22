// Listening to elements that are there, and to those that come later.

/**
 * Calls `act` with the element that matches and the event, wherever in it the event happened.
 * @param {EventTarget} within
 * @param {string} type
 * @param {string} selector
 * @param {(element: HTMLElement, event: any) => void} act
 */
export function on(within, type, selector, act) {
  within.addEventListener(type, (event) => {
    const element = event.target instanceof Element ? event.target.closest(selector) : null;
    if (element) act(/** @type {HTMLElement} */ (element), event);
  });
}

/**
 * Calls `begin` once with every element that matches, now or when any script inserts it.
 * @param {string} selector
 * @param {(element: HTMLElement) => void} begin
 */
export function onEach(selector, begin) {
  const begun = new WeakSet();
  const beginAll = () => {
    for (const element of document.querySelectorAll(selector)) {
      if (begun.has(element)) continue;
      begun.add(element);
      begin(/** @type {HTMLElement} */ (element));
    }
  };
  beginAll();
  onChildren(document.body, beginAll, true);
}

/**
 * Calls `act` whenever elements below a parent come or go.
 * @param {Node} parent
 * @param {MutationCallback} act
 * @param {boolean} [subtree]
 */
export function onChildren(parent, act, subtree = false) {
  new MutationObserver(act).observe(parent, { childList: true, subtree });
}

/** Calls `act` if the page comes from the back/forward cache, where it may be out of date. @param {() => void} act */
export const onReturn = (act) => addEventListener("pageshow", (event) => event.persisted && act());

/** Whether a click is to open a link elsewhere. @param {MouseEvent} event */
export const opensElsewhere = (event) => event.ctrlKey || event.metaKey || event.shiftKey;

// Finding, making and changing elements.

/**
 * The element that matches, of this class; an error if there is none.
 * @template {Element} [E=HTMLElement]
 * @param {ParentNode} within
 * @param {string} selector
 * @param {new () => E} [type]
 * @returns {E}
 */
export function one(within, selector, type) {
  const match = maybe(within, selector, type);
  if (!match) throw new Error(`nothing matches ${selector}`);
  return match;
}

/**
 * The element that matches, if there is one of this class.
 * @template {Element} [E=HTMLElement]
 * @param {ParentNode} within
 * @param {string} selector
 * @param {new () => E} [type]
 * @returns {E | null}
 */
export function maybe(within, selector, type) {
  const match = within.querySelector(selector);
  return match instanceof (type ?? Element) ? /** @type {E} */ (match) : null;
}

/**
 * Every element that matches.
 * @template {Element} [E=HTMLElement]
 * @param {ParentNode} within
 * @param {string} selector
 * @param {new () => E} [_type]
 * @returns {E[]}
 */
export const all = (within, selector, _type) => [.../** @type {NodeListOf<E>} */ (within.querySelectorAll(selector))];

/** @param {ParentNode} parent */
export const childrenOf = (parent) => /** @type {HTMLElement[]} */ ([...parent.children]);

/**
 * A field of a form by its name.
 * @param {HTMLFormElement} form
 * @param {string} name
 */
export const field = (form, name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));

/** A copy of what is in a template. @param {string} id */
export const contentOf = (id) =>
  document.importNode(one(document, `template#${id}`, HTMLTemplateElement).content, true);

/** A copy of the element in a template. @param {string} id */
export const stamp = (id) => /** @type {HTMLElement} */ (contentOf(id).firstElementChild);

/**
 * A new element. Attributes named `on…` are listeners; true means an empty attribute, false and null none.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null | undefined)} children
 */
export function element(tag, attributes = {}, ...children) {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) created.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) created.setAttribute(name, value === true ? "" : value);
  for (const child of children) if (child) created.append(child);
  return created;
}

// Writes only if the text differs, because a screen reader reads out every change.
/** @param {Element} target @param {string} text */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

// By aria-disabled, not disabled: disabling the button that has the focus would lose the focus.
/** @param {Element} button @param {boolean} can */
export const enable = (button, can) => button.setAttribute("aria-disabled", String(!can));

/** @param {Element | null | undefined} button */
export const isEnabled = (button) => button?.getAttribute("aria-disabled") !== "true";

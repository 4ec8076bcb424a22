// The offline app shell: fills the page with the stored list of the person who is signed in here.

import { all, element, maybe, one, setText } from "../../../web/static/js/kit/elements.js";
import { _ } from "../../../web/static/js/kit/words.js";
import * as store from "./offline-store.js";
import { list, page, part, root } from "./state.js";

/** @param {string} family */
function fillIn(family) {
  /** @param {string} text */
  const named = (text) => text.replace("/shopping/FAMILY", `/shopping/${family}`);
  for (const within of [document, one(document, "#row", HTMLTemplateElement).content])
    for (const name of ["href", "action"])
      for (const link of all(within, `[${name}*="/shopping/FAMILY"]`))
        link.setAttribute(name, named(link.getAttribute(name) ?? ""));
  page.home = named(page.home);
  const me = one(document, ".me");
  if (me.children.length) return;
  const { initials, name } = list().person;
  const avatar = element("span", { class: "avatar" }, initials);
  const label = element("span", { class: "hidden-text" }, _("%(name)s, your account", { name }));
  me.append(element("a", { href: "/account" }, avatar, label));
}

/** @param {string} title @param {string} text */
function showNothing(title, text) {
  for (const name of ["banner", "offers", "groups", "purchased", "low", "notices"])
    maybe(root, `[data-${name}]`)?.remove();
  one(document, "#adding").remove();
  for (const name of ["count", "fresh"]) part(name).hidden = true;
  // Without a family, its links lead nowhere.
  if (!page.list) one(document, "nav.sections").remove();
  const box = part("empty");
  box.hidden = false;
  setText(one(box, ".empty-name"), title);
  setText(one(box, ".empty-name + p"), text);
  addEventListener("online", () => location.reload());
  return box;
}

/** Resolves to whether a list is shown. */
export async function showStored() {
  const person = await store.owner();
  const family = /^\/shopping\/([0-9a-f-]{36})(\/|$)/.exec(location.pathname)?.[1] ?? (await store.lastFamily());
  const stored = person && family && (await store.storedList(family));
  if (!stored) {
    showNothing(
      _("No list on this device yet"),
      _("Open your list here once while you’re online. After that it opens without a connection."),
    );
    return false;
  }
  page.list = stored;
  document.body.dataset.person = person.id.slice(0, 8);
  fillIn(family);
  if (!/^\/shopping\/?([0-9a-f-]{36}\/?)?$/.test(location.pathname)) {
    const box = showNothing(_("This page isn’t available offline"), _("Your shopping list is."));
    const link = element("a", { class: "button soft-button", href: page.home }, _("Open shopping list"));
    one(box, ".empty").append(element("div", { class: "actions" }, link));
    return false;
  }
  page.fresh = stored.at;
  page.state = "no-signal";
  return true;
}

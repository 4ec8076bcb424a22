// The offline app shell: fills the page with the stored list of whoever is signed in here.

import { element, part, set } from "./elements.js";
import * as keeping from "./keeping.js";
import { page } from "./page.js";

function put(family) {
  const named = (text) => text.replace("/shopping/FAMILY", `/shopping/${family}`);
  for (const within of [document, document.getElementById("row").content]) {
    for (const name of ["href", "action"])
      for (const each of within.querySelectorAll(`[${name}*="/shopping/FAMILY"]`))
        each.setAttribute(name, named(each.getAttribute(name)));
  }
  page.home = named(page.home);
  const me = document.querySelector(".me");
  if (!me.children.length)
    me.append(
      element(
        "a",
        { href: "/account" },
        element("span", { class: "avatar" }, page.kept.person.initials),
        element("span", { class: "hidden-text" }, `${page.kept.person.name}, your account`),
      ),
    );
}

function nothing(title, text) {
  for (const name of ["banner", "offers", "groups", "purchased", "low", "notices"]) part(name)?.remove();
  document.getElementById("adding").remove();
  for (const name of ["count", "fresh"]) part(name).hidden = true;
  // Without a family, its links lead nowhere.
  if (!page.kept) document.querySelector("nav.sections").remove();
  const box = part("empty");
  box.hidden = false;
  set(box.querySelector(".empty-name"), title);
  set(box.querySelector(".empty-name + p"), text);
  addEventListener("online", () => location.reload());
  return box;
}

export async function fromKept() {
  const person = await keeping.whose();
  const family = /^\/shopping\/([0-9a-f-]{36})(\/|$)/.exec(location.pathname)?.[1] ?? (await keeping.lastFamily());
  const list = person && family && (await keeping.keptList(family));
  if (!list) {
    nothing(
      "Nothing is kept here",
      "The list opens without signal once you have opened it with signal, signed in, on this device.",
    );
    return null;
  }
  page.kept = list;
  document.body.dataset.person = person.id.slice(0, 8);
  put(family);
  if (!/^\/shopping\/?([0-9a-f-]{36}\/?)?$/.test(location.pathname)) {
    const box = nothing("This page needs signal", "The list works without.");
    const link = element("a", { class: "button soft-button", href: page.home }, "To the list");
    box.querySelector(".empty").append(element("div", { class: "actions" }, link));
    return null;
  }
  page.fresh = list.at;
  page.state = "no-signal";
  return list;
}

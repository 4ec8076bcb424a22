// Forms and links that update parts of the page in place; without this script they load a page.
//
//   <form method="post" action="/account/name" data-parts="name me">   the ids of what the page that answers has anew
//   data-confirm="Revoke it?"                                         asked first
//   <a href="?page=2" data-parts="things-more" data-adds="things">    the rows of this list are added to those shown

import { maybe, one } from "./kit/elements.js";
import { on, opensElsewhere } from "./kit/events.js";
import { fetchPage, swap } from "./kit/page-parts.js";
import { afterPress } from "./kit/press-guard.js";
import { toast } from "./kit/toast.js";
import { _ } from "./kit/words.js";

/** @param {HTMLElement} source @param {Document} page */
async function show(source, page, isTypedInto = () => false) {
  const { parts = "", adds = "" } = source.dataset;
  one(document, "#banners").replaceChildren(...one(page, "#banners").children);
  // Signed out, or refused: another page answers.
  const ids = parts.split(" ").every((id) => page.getElementById(id)) ? parts.split(" ") : ["main"];
  const rows = [...(page.getElementById(adds)?.children ?? [])];
  document.getElementById(adds)?.append(...rows);
  for (const id of ids) {
    const [shown, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (!shown || !fresh) continue;
    if (shown.dataset.live)
      (await import("./kit/live.js")).mergePage(shown, page, source.closest(`#${CSS.escape(id)} > *`)?.id);
    // What was typed since stays.
    else if (!(shown.contains(source) && isTypedInto())) {
      swap(shown, fresh);
      maybe(fresh, "[autofocus]")?.focus();
    }
  }
}

/** @param {HTMLElement} source @param {string} address @param {RequestInit} [options] @param {() => boolean} [isTypedInto] */
async function load(source, address, options, isTypedInto) {
  const { confirm: question } = source.dataset;
  if (source.hasAttribute("aria-busy") || (question && !confirm(question))) return;
  source.setAttribute("aria-busy", "true");
  const answer = await fetchPage(address, { ...options, headers: { "potluck-in-place": "yes" } });
  source.removeAttribute("aria-busy");
  if (answer) afterPress(() => show(source, answer.page, isTypedInto));
  else toast(_("You’re offline. Nothing was sent, and what you typed is still here."));
}

on(document, "submit", "form[data-parts]", (element, event) => {
  const form = /** @type {HTMLFormElement} */ (element);
  event.preventDefault();
  const fields = () => new URLSearchParams(/** @type {any} */ (new FormData(form, event.submitter)));
  const body = fields();
  load(form, form.action, { method: "POST", body }, () => String(fields()) !== String(body));
});

on(document, "click", "a[data-parts]", (link, event) => {
  if (opensElsewhere(event)) return;
  event.preventDefault();
  load(link, /** @type {HTMLAnchorElement} */ (link).href);
});

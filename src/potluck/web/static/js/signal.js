// Says when there is no signal, and when it is back; of a page that was saved at an earlier visit, since when. Meanwhile
// forms are not submitted, because the browser's error page would replace everything that was typed. Scripts that send by
// themselves are not affected; a form whose script only takes note of the submission has data-needs-signal, and is held
// before that script sees the event.

import { all, maybe, one } from "./kit/elements.js";
import { isTypedInto } from "./kit/page-parts.js";
import { request } from "./kit/send.js";
import { short } from "./kit/time.js";
import { toast } from "./kit/toast.js";
import { retries } from "./kit/turns.js";
import { _ } from "./kit/words.js";

const region = document.getElementById("banners");
const ready = maybe(document, "#no-signal", HTMLTemplateElement);
// When the service worker saved this page; not set if it comes from the server.
const { savedAt } = document.body.dataset;

// A page with a place for a banner of its own says it there.
if (region && ready && !maybe(document, "[data-banner]")) {
  const tell = () => {
    const shown = maybe(region, "[data-no-signal]");
    if (navigator.onLine && !savedAt) shown?.remove();
    else if (!shown) {
      region.append(ready.content.cloneNode(true));
      if (!savedAt) return;
      const time = short(new Date(Number(savedAt)));
      one(region, "[data-no-signal] strong + span").textContent = _("Showing what was saved at %(time)s.", { time });
    }
  };
  addEventListener("offline", tell);
  addEventListener("online", tell);
  tell();
}

if (savedAt) {
  // What was said once, at the visit when it was saved.
  document.getElementById("toasts")?.replaceChildren();
  const attempts = retries(renew);
  addEventListener("online", renew);
  attempts.soon();

  async function renew() {
    const typed = all(document, "form").some(isTypedInto);
    if (!typed && (await request("/livez"))) location.reload();
    else attempts.soon();
  }
}

// Forms that are sent after all: a machine without any network still reaches a server that runs on itself.
const reached = new WeakSet();

/** @param {SubmitEvent} event */
async function hold(event) {
  const form = /** @type {HTMLFormElement} */ (event.target);
  event.preventDefault();
  event.stopImmediatePropagation();
  if (!(await request("/livez"))) {
    toast(_("You’re offline. Nothing was sent, and what you typed is still here."));
    return;
  }
  reached.add(form);
  form.requestSubmit(event.submitter);
}

// Reads the attribute, because a field that is named "method" would shadow the property.
/** @param {HTMLFormElement} form */
const isHeld = (form) => (!navigator.onLine || savedAt) && !reached.has(form) && form.getAttribute("method") === "post";

document.addEventListener(
  "submit",
  (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (form.dataset.needsSignal !== undefined && isHeld(form)) hold(event);
  },
  true,
);

// Runs after every other script of the page.
addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (!event.defaultPrevented && isHeld(form)) hold(event);
  else reached.delete(form);
});

// A live page has lost access: it does not open offline either.
document.addEventListener("potluck:over", () => {
  navigator.serviceWorker?.controller?.postMessage({ act: "over", path: location.pathname });
});

// For people with an account, and for pages that others may open again. Nothing of it delays the page.
const { person, opensOffline } = document.body.dataset;
if ("serviceWorker" in navigator && (person || opensOffline !== undefined)) {
  const install = () =>
    setTimeout(() => import("./offline.js").then((module) => module.install()).catch(() => {}), 500);
  if (document.readyState === "complete") install();
  else addEventListener("load", install);
}

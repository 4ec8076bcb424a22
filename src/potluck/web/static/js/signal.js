// Says when there is no signal, and when it is back. Meanwhile forms are not submitted, because the browser's error page
// would replace everything that was typed. Scripts that send by themselves are not affected; a form whose script only takes
// note of the submission has data-needs-signal, and is held before that script sees the event.

import { maybe } from "./kit/elements.js";
import { request } from "./kit/send.js";
import { toast } from "./kit/toast.js";
import { _ } from "./kit/words.js";

const region = document.getElementById("banners");
const ready = maybe(document, "#no-signal", HTMLTemplateElement);

if (region && ready) {
  const tell = () => {
    const shown = maybe(region, "[data-no-signal]");
    if (navigator.onLine) shown?.remove();
    else if (!shown) region.append(ready.content.cloneNode(true));
  };
  addEventListener("offline", tell);
  addEventListener("online", tell);
  tell();
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
const isHeld = (form) => !navigator.onLine && !reached.has(form) && form.getAttribute("method") === "post";

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

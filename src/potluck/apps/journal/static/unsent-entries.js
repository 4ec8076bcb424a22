// Entries written offline: how many wait on this device, and those that the server refused.

import { maybe, one, setText, stamp } from "../../../web/static/js/kit/elements.js";
import { on } from "../../../web/static/js/kit/events.js";
import { clock } from "../../../web/static/js/kit/time.js";
import { toast } from "../../../web/static/js/kit/toast.js";
import { retries } from "../../../web/static/js/kit/turns.js";
import { _, ngettext } from "../../../web/static/js/kit/words.js";
import { fieldsOf, outbox, PLACE } from "./outbox.js";
import { store } from "./outbox-store.js";

/** @typedef {import("./outbox.js").Fields} Fields */

const region = () => one(document, "[data-unsent-entries]");

/** Shows them again. */
export async function showUnsent() {
  const changes = await store.waiting(PLACE).catch(() => []);
  const notices = await store.notices(PLACE).catch(() => []);
  const rows = [];
  if (changes.length) {
    const banner = stamp("unsent-entry");
    setText(
      one(banner, "strong"),
      ngettext("%(num)s entry isn’t sent yet.", "%(num)s entries aren’t sent yet.", changes.length),
    );
    setText(one(banner, "strong + span"), _("Saved on this device. It will sync when you’re back online."));
    rows.push(banner);
  }
  for (const { number, message, writtenAt } of notices) {
    const banner = stamp("refused-entry");
    banner.dataset.notice = String(number);
    setText(one(banner, "strong"), _("The entry from %(time)s couldn’t be saved", { time: clock(writtenAt) }));
    setText(one(banner, "strong + span"), `${message}.`.replace("..", "."));
    rows.push(banner);
  }
  region().replaceChildren(...rows);
}

/**
 * Sends what waits now and whenever there is a network again. A refused entry is opened in the form with `fill`, if `isEmpty`.
 * @param {CryptoKey} key
 * @param {{ fill: (fields: Fields) => void, isEmpty: () => boolean }} form
 */
export async function sendUnsent(key, { fill, isEmpty }) {
  const sendStored = outbox(() => {
    toast(_("Entry saved."));
    showUnsent();
  });
  const attempts = retries(sendNow);

  async function sendNow() {
    attempts.cancel();
    const outcome = await sendStored().catch(() => "nothing");
    if (outcome === "no-signal" || outcome === "later") attempts.soon();
    await showUnsent();
  }

  on(region(), "click", "[data-open]", async (button) => {
    const number = Number(button.closest("[data-notice]")?.getAttribute("data-notice"));
    const notice = (await store.notices(PLACE)).find((other) => other.number === number);
    if (!notice) return;
    if (!isEmpty()) {
      toast(_("Save or discard what you’ve written first."));
      return;
    }
    fill(await fieldsOf(notice, key));
    await store.dropNotice(number);
    await showUnsent();
    /** @type {HTMLElement | null} */ (maybe(document, "#entry-form textarea"))?.focus();
  });
  addEventListener("online", sendNow);
  document.addEventListener("visibilitychange", () => !document.hidden && sendNow());
  await sendNow();
}

// The list: ticking for everyone, adding and reordering for admins. Without a script, forms do all of it.

import "./ticks.js";
import "./viewers.js";
import { childrenOf, field, maybe, one } from "../../../web/static/js/kit/elements.js";
import { refresh } from "../../../web/static/js/kit/live.js";
import { newId } from "../../../web/static/js/kit/send.js";
import { toast } from "../../../web/static/js/kit/toast.js";
import { coalesced } from "../../../web/static/js/kit/turns.js";
import { _, linesOf } from "../../../web/static/js/kit/words.js";
import { begin, make, sendForm, tell, watch } from "./unsent-changes.js";

const list = one(document, "#contents");

// --- reordering ---

const { sorting } = list.dataset;

if (sorting) {
  let failed = false;

  const push = coalesced(async () => {
    failed = false;
    const ids = childrenOf(list).map((row) => ["itemIds", row.id.replace("item-", "")]);
    const { outcome, status, message, waits } = await sendForm(sorting, ids);
    failed = waits;
    if (outcome === "refused") {
      // Another admin added or deleted an item meanwhile.
      toast(status === 409 ? _("Someone else changed the list. Move the item again.") : message);
      refresh(list);
    }
    tell();
  });

  list.addEventListener("potluck:moved", () => {
    // As the server does: the same order numbers are dealt out again, so that its events move nothing.
    const rows = childrenOf(list);
    const numbers = rows.map((row) => row.dataset.order).sort();
    rows.forEach((row, place) => {
      row.dataset.order = numbers[place];
    });
    push();
  });
  watch({ count: () => Number(failed), words: () => _("The new order isn’t sent yet."), again: push });
}

// --- adding ---

const adding = maybe(document, "[data-add]", HTMLFormElement);

if (adding) {
  const name = field(adding, "name");

  /** @param {string} text */
  const add = (text) => {
    for (const line of linesOf(text)) make("add", newId(), { name: line });
    name.value = "";
  };

  adding.addEventListener("submit", (event) => {
    event.preventDefault();
    add(name.value);
    name.focus();
  });
  name.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text") ?? "";
    if (!text.trim().includes("\n")) return;
    event.preventDefault();
    add(name.value + text);
  });
}

begin();

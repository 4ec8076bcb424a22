// The list: ticking for everybody, adding and reordering for admins. Without a script, forms do all of it.

import "./people.js";
import "./ticking.js";
import { send, toast } from "./sending.js";
import { tell, waits } from "./unsent.js";

const list = document.getElementById("contents");
const refresh = () => list.dispatchEvent(new Event("potluck:refresh", { bubbles: true }));

// --- reordering ---

if (list.dataset.sorting) {
  const order = { wanted: false, sending: false, failed: false };

  async function push() {
    if (order.sending) return;
    order.sending = true;
    let went = { how: "done" };
    while (order.wanted && went.how === "done") {
      order.wanted = false;
      const ids = [...list.children].map((row) => ["itemIds", row.id.replace("item-", "")]);
      went = await send(list.dataset.sorting, ids);
    }
    order.sending = false;
    order.failed = went.how === "no-signal" || went.how === "later";
    if (went.how === "refused") {
      // Somebody added or deleted an item meanwhile.
      toast(went.status === 409 ? "The order changed meanwhile. Move yours again." : went.words);
      refresh();
    }
    tell();
  }

  list.addEventListener("potluck:moved", () => {
    // As the server does: the same order numbers are dealt out again, so that its events move nothing.
    const rows = [...list.children];
    const numbers = rows.map((row) => row.dataset.order).sort();
    rows.forEach((row, place) => (row.dataset.order = numbers[place]));
    order.wanted = true;
    push();
  });
  waits({
    count: () => Number(order.failed && !order.sending),
    words: () => "The new order is not saved yet.",
    again() {
      order.wanted = true;
      push();
    },
  });
}

// --- adding ---

const adding = document.querySelector("[data-add]");

if (adding) {
  const field = adding.elements.name;
  const lines = [];
  let busy = false;
  let failed = false;

  async function push() {
    if (busy) return;
    busy = true;
    failed = false;
    while (lines.length && !failed) {
      const went = await send(adding.action, { name: lines[0] });
      failed = went.how === "no-signal" || went.how === "later";
      if (failed) continue;
      const [line] = lines.splice(0, 1);
      if (went.how === "refused") {
        toast(went.words);
        if (!field.value) field.value = line;
      }
    }
    busy = false;
    if (document.querySelector("[data-live-badge].off")) refresh();
    tell();
  }

  const add = (text) => {
    lines.push(...text.split("\n").map((line) => line.trim()).filter(Boolean));
    push();
  };

  adding.addEventListener("submit", (event) => {
    event.preventDefault();
    add(field.value);
    field.value = "";
    field.focus();
  });
  field.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text");
    if (!text.trim().includes("\n")) return;
    event.preventDefault();
    add(field.value + text);
    field.value = "";
  });
  waits({
    count: () => (failed && !busy ? lines.length : 0),
    words: (number) => (number === 1 ? `${lines[0]} is not on the list yet.` : `${number} rows are not on the list yet.`),
    again: push,
  });
}

// Buttons that copy: data-copy has the text, data-copied the confirmation. Also buttons that print or share.

import { all, element } from "./kit/elements.js";
import { on } from "./kit/events.js";
import { toast } from "./kit/toast.js";
import { _ } from "./kit/words.js";

/** @param {string} text */
async function copy(text) {
  // A server at home is often reached over plain HTTP, where browsers offer no clipboard.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = /** @type {HTMLTextAreaElement} */ (element("textarea", { class: "hidden-text" }, text));
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("refused");
}

on(document, "click", "[data-copy]", async (button) => {
  const { copy: text = "", copied = _("Copied.") } = button.dataset;
  try {
    await copy(text);
    toast(copied);
  } catch {
    toast(_("This browser can’t copy for you. Select the text and copy it yourself."));
  }
  button.focus();
});

on(document, "click", "[data-print]", () => print());

// data-share has a link and data-share-title its title, which are passed to the device's share dialog where there is one.
if ("share" in navigator) {
  for (const button of all(document, "[data-share]")) button.hidden = false;
  on(document, "click", "[data-share]", ({ dataset }) => {
    // Cancelling the dialog is not an error.
    navigator.share({ title: dataset.shareTitle, url: dataset.share }).catch(() => {});
  });
}

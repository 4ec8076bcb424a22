// Reads a file into the text field, as if its content had been pasted.

import { all, field, one } from "../../../web/static/js/kit/elements.js";
import { _, linesOf, ngettext } from "../../../web/static/js/kit/words.js";
import { decode } from "./text-encoding.js";

const MEGABYTE = 1_000_000;

for (const form of all(document, "[data-many]", HTMLFormElement)) {
  const largest = Number(form.dataset.many);
  const area = field(form, "text");
  const preview = one(form, "[data-preview]");
  const refusal = one(form, "[data-too-large]");
  /** @param {number} size */
  const fits = (size) => {
    refusal.hidden = size <= largest;
    if (size > largest)
      one(refusal, "span").textContent = _(
        "This list has %(size)s MB, more than the %(most)s MB that can be read. Split it, and import the parts one after another.",
        { size: Math.ceil(size / MEGABYTE), most: largest / MEGABYTE },
      );
    return size <= largest;
  };
  const follow = () => {
    if (!fits(area.value.length)) return;
    const lines = linesOf(area.value).length;
    preview.textContent =
      lines > 1 ? ngettext("Preview %(num)s row", "Preview %(num)s rows", lines) : _("Preview list");
  };
  area.addEventListener("input", () => {
    field(form, "name").value = "";
    follow();
  });
  const fileInput = one(form, "[data-file]", HTMLInputElement);
  fileInput.addEventListener("change", async () => {
    const [file] = fileInput.files ?? [];
    // UTF-16 has two bytes per letter. A larger file is not read: the page would freeze for seconds.
    if (!file || !fits(file.size / 2)) return;
    const text = decode(new Uint8Array(await file.arrayBuffer()));
    if (!fits(text.length)) return;
    area.value = text;
    field(form, "name").value = file.name;
    preview.textContent = _("Reading the list…");
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    if (!fits(area.value.length)) event.preventDefault();
    else preview.textContent = _("Reading the list…");
  });
  // After returning from the preview with the browser's back button.
  addEventListener("pageshow", follow);
}

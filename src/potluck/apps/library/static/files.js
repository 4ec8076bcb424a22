// Reads a file into the field as text; the form is then sent as if it had been pasted.

import { decoded } from "./decoding.js";

const MEGABYTE = 1_000_000;

for (const form of document.querySelectorAll("[data-many]")) {
  const largest = Number(form.dataset.many);
  const area = form.elements.text;
  const preview = form.querySelector("[data-preview]");
  const refusal = form.querySelector("[data-too-large]");
  const fits = (size, what) => {
    refusal.hidden = size <= largest;
    if (size > largest)
      refusal.querySelector("span").textContent =
        `${what} is ${Math.ceil(size / MEGABYTE)} MB. The most is ${largest / MEGABYTE} MB: split it, and import the parts one after another.`;
    return size <= largest;
  };
  const follow = () => {
    if (!fits(area.value.length, "The list")) return;
    const lines = area.value.split("\n").filter((line) => line.trim()).length;
    preview.textContent = lines > 1 ? `Preview ${lines}` : "Preview";
  };
  area.addEventListener("input", () => {
    form.elements.name.value = "";
    follow();
  });
  form.querySelector("[data-file]").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    // UTF-16 has two bytes for a letter. A larger file is not even read: the page would stop for seconds.
    if (!file || !fits(file.size / 2, "The file")) return;
    const text = decoded(new Uint8Array(await file.arrayBuffer()));
    if (!fits(text.length, "The file")) return;
    area.value = text;
    form.elements.name.value = file.name;
    preview.textContent = "Looking…";
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    if (!fits(area.value.length, "The list")) event.preventDefault();
    else preview.textContent = "Looking…";
  });
  // After returning from the preview with the browser's back button.
  addEventListener("pageshow", follow);
}

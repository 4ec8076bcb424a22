// The choice between the device's theme, light and dark; stored in this browser only.

import { all } from "./kit/elements.js";

const root = document.documentElement;
/** @type {[HTMLMetaElement, string][]} */
const bars = all(document, 'meta[name="theme-color"]', HTMLMetaElement).map((meta) => [meta, meta.media]);
const choices = all(document, 'input[name="theme"]', HTMLInputElement);

/** @param {string} theme */
function show(theme) {
  if (theme === "device") delete root.dataset.theme;
  else root.dataset.theme = theme;
  // A browser takes the first colour whose condition holds.
  for (const [meta, media] of bars) meta.media = theme === "device" ? media : media.includes(theme) ? "all" : "not all";
  for (const choice of choices) choice.checked = choice.value === theme;
}

/** @param {string} theme */
function save(theme) {
  try {
    if (theme === "device") localStorage.removeItem("theme");
    else localStorage.setItem("theme", theme);
  } catch {
    // Storage can be forbidden; the theme then applies to this page only.
  }
}

for (const choice of choices)
  choice.addEventListener("change", () => {
    show(choice.value);
    save(choice.value);
  });
show(root.dataset.theme ?? "device");

// Another tab changed the theme.
addEventListener("storage", ({ key, newValue }) => {
  if (key === "theme") show(newValue === "light" || newValue === "dark" ? newValue : "device");
});

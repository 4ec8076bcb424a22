// The choice between the device's theme, light and dark; stored in this browser only.

const root = document.documentElement;
const bars = [...document.querySelectorAll('meta[name="theme-color"]')].map((meta) => [meta, meta.media]);

function show(theme) {
  if (theme === "device") delete root.dataset.theme;
  else root.dataset.theme = theme;
  // A browser takes the first colour whose condition holds.
  for (const [meta, media] of bars) {
    if (theme === "device") meta.media = media;
    else meta.media = media.includes(theme) ? "all" : "not all";
  }
}

function keep(theme) {
  try {
    if (theme === "device") localStorage.removeItem("theme");
    else localStorage.setItem("theme", theme);
  } catch {
    // Storage can be forbidden; the theme then applies to this page only.
  }
}

const choices = document.querySelectorAll('input[name="theme"]');
const now = root.dataset.theme ?? "device";
for (const choice of choices) {
  choice.checked = choice.value === now;
  choice.addEventListener("change", () => {
    show(choice.value);
    keep(choice.value);
  });
}
show(now);

// Another tab changed the theme.
addEventListener("storage", (event) => {
  if (event.key !== "theme") return;
  const theme = ["light", "dark"].includes(event.newValue) ? event.newValue : "device";
  show(theme);
  for (const choice of choices) choice.checked = choice.value === theme;
});

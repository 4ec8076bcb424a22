// Runs before the page is drawn, so that a chosen theme never flashes. The only script that is not a module.
{
  const root = document.documentElement;
  root.dataset.scripted = "";
  let chosen = null;
  try {
    chosen = localStorage.getItem("theme");
  } catch {
    // Storage can be forbidden; the device's own theme is then as good as any.
  }
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
}

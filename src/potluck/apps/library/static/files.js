// Reads a file into the field as text; the form is then sent as if it had been pasted.

for (const form of document.querySelectorAll("[data-many]")) {
  const area = form.elements.text;
  const preview = form.querySelector("[data-preview]");
  const follow = () => {
    const lines = area.value.split("\n").filter((line) => line.trim()).length;
    preview.textContent = lines > 1 ? `Preview ${lines}` : "Preview";
  };
  area.addEventListener("input", () => {
    form.elements.name.value = "";
    follow();
  });
  form.querySelector("[data-file]").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    area.value = await file.text();
    form.elements.name.value = file.name;
    preview.textContent = "Looking…";
    form.requestSubmit();
  });
  form.addEventListener("submit", () => (preview.textContent = "Looking…"));
  // After returning from the preview with the browser's back button.
  addEventListener("pageshow", follow);
}

// Buttons that copy: data-copy has the text, data-copied the confirmation. Also buttons that print or share.

async function copy(text) {
  // A server at home is often reached over plain HTTP, where browsers offer no clipboard.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "hidden-text";
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("refused");
  return undefined;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  let said = button.dataset.copied || "Copied.";
  try {
    await copy(button.dataset.copy);
  } catch {
    said = "This browser does not let us copy. Select the text and copy it by hand.";
  }
  button.focus();
  document.dispatchEvent(new CustomEvent("potluck:toast", { detail: said }));
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) print();
});

// data-share has a link and data-share-title its title, which are passed to the device's share dialog where there is one.
if (navigator.share) {
  for (const button of document.querySelectorAll("[data-share]")) button.hidden = false;
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-share]");
    // Cancelling the dialog is not an error.
    if (button) navigator.share({ title: button.dataset.shareTitle, url: button.dataset.share }).catch(() => {});
  });
}

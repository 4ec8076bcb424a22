// A button that passes a link on, where the device has a way to: data-share has the link.

for (const button of document.querySelectorAll("[data-share]")) {
  if (!navigator.share) continue;
  button.hidden = false;
  button.addEventListener("click", () =>
    // Whoever changes their mind has said enough.
    navigator.share({ title: button.dataset.shareTitle, url: button.dataset.share }).catch(() => {}),
  );
}

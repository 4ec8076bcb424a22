// A button that shares a link, where the device has a share dialog: data-share has the link.

for (const button of document.querySelectorAll("[data-share]")) {
  if (!navigator.share) continue;
  button.hidden = false;
  button.addEventListener("click", () =>
    // Cancelling the dialog is not an error.
    navigator.share({ title: button.dataset.shareTitle, url: button.dataset.share }).catch(() => {}),
  );
}

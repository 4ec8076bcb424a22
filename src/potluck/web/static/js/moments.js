// Moments by the person's own clock. What the server wrote, in UTC, stays as the title.

const words = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short" });

function tell(within) {
  for (const time of within.querySelectorAll('time[data-moment=""]')) {
    time.title = time.textContent;
    time.textContent = words.format(new Date(time.dateTime));
    time.dataset.moment = "told";
  }
}

tell(document);
// What arrives later, by whatever way it comes.
new MutationObserver((changes) => {
  for (const { addedNodes } of changes)
    for (const node of addedNodes) if (node.nodeType === Node.ELEMENT_NODE) tell(node.parentNode ?? node);
}).observe(document.body, { childList: true, subtree: true });

// Weeks that are shown stay shown: after “Show September”, refreshes reach that far back.

const weeks = document.getElementById("weeks");

if (weeks)
  new MutationObserver(() => {
    const last = weeks.lastElementChild?.dataset.order;
    if (!last) return;
    const address = new URL(location.href);
    address.searchParams.set("downTo", last);
    weeks.dataset.livePage = address.href;
  }).observe(weeks, { childList: true });

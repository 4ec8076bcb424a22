// A touched day of a heat map opens in the timeline. Whoever has no pointer finds days by “Only some days”, or in the table.
//
//   <div data-timeline="/journal/athletes/ID">   whose timeline it is; else one's own

const timeline = document.querySelector("[data-timeline]")?.dataset.timeline ?? "/journal/entries";

document.addEventListener("click", (event) => {
  const { day } = event.target.closest("[data-days] [data-day]")?.dataset ?? {};
  if (day) location.assign(`${timeline}?from=${day}&to=${day}`);
});

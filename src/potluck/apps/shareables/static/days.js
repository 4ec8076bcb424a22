// When it expires: the end of a day in the person's own time zone, which the server cannot know.

const two = (number) => String(number).padStart(2, "0");
const asDay = (date) => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
const words = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long" });
const year = (date) => (date.getFullYear() === new Date().getFullYear() ? "" : ` ${date.getFullYear()}`);

// The second before the next day begins: where clocks go back at midnight, the last hour of a day comes twice.
function endOf(day) {
  const next = new Date(`${day}T00:00`);
  next.setDate(next.getDate() + 1);
  next.setHours(0, 0, 0, 0);
  return new Date(next - 1000);
}

function follow(part) {
  const [day, moment] = part.querySelectorAll("input");
  const known = new Date(moment.value);
  if (!Number.isNaN(known.valueOf())) day.value = day.defaultValue = asDay(known);
  // Without a script it is not sent at all, and the day is taken in UTC.
  moment.disabled = false;
  // An expiry that nobody has touched stays as it is, to the second.
  let shown = day.value;
  const told = () => {
    if (day.value === shown) return;
    shown = day.value;
    const end = endOf(day.value);
    moment.value = Number.isNaN(end.valueOf()) ? "" : end.toISOString();
    if (!moment.value) moment.disabled = true;
  };
  day.addEventListener("input", told);
  day.form.addEventListener("submit", told);
}

function say(part) {
  const said = part.querySelector("[data-lasts]");
  const chosen = part.querySelector("[name=days]:checked")?.value;
  const day = part.querySelector("[type=date]");
  const end = chosen === "until" ? new Date(`${day.value}T12:00`) : new Date(Date.now() + Number(chosen) * 86_400_000);
  if (said) said.textContent = Number.isNaN(end.valueOf()) ? "" : `Until ${words.format(end)}${year(end)}. `;
}

const begin = (within) => {
  for (const part of within.querySelectorAll('[data-day=""]')) {
    part.dataset.day = "followed";
    follow(part);
  }
};

begin(document);
for (const part of document.querySelectorAll("[data-lasting]")) {
  part.addEventListener("input", () => say(part));
  say(part);
}
// The form is replaced when another admin changes the settings.
new MutationObserver(() => begin(document)).observe(document.body, { childList: true, subtree: true });

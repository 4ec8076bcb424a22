// When a poll closes, in the person's own time zone: the offset is sent too, so that the server need not guess.

const part = document.querySelector("[data-closing]");

if (part) {
  const [local, sent] = part.querySelectorAll("input");
  const two = (number) => String(number).padStart(2, "0");
  const asLocal = (date) =>
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;

  // Without a script it is not sent at all, and what was typed is taken as UTC.
  sent.disabled = false;
  const known = new Date(sent.value);
  if (!Number.isNaN(known.valueOf())) local.value = asLocal(known);
  const clock = part.querySelector("[data-clock]");
  if (clock) clock.textContent = "By your own clock.";

  // A time that nobody has changed stays as it is, to the second.
  let shown = local.value;
  const follow = () => {
    if (local.value === shown) return;
    shown = local.value;
    const date = new Date(local.value);
    sent.value = Number.isNaN(date.valueOf()) ? "" : date.toISOString();
  };
  local.addEventListener("input", follow);
  local.form.addEventListener("submit", follow);
}

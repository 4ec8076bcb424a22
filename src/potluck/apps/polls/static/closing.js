// When a poll closes, by the person's own clock: what is sent has its offset, so that the server need not guess.

const part = document.querySelector("[data-closing]");

if (part) {
  const [local, sent] = part.querySelectorAll("input");
  const two = (number) => String(number).padStart(2, "0");
  const asLocal = (date) =>
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;

  const known = new Date(sent.value);
  if (!Number.isNaN(known.valueOf())) local.value = asLocal(known);
  const clock = part.querySelector("[data-clock]");
  if (clock) clock.textContent = "By your own clock.";

  const follow = () => {
    const date = new Date(local.value);
    sent.value = Number.isNaN(date.valueOf()) ? "" : date.toISOString();
  };
  local.addEventListener("input", follow);
  local.form.addEventListener("submit", follow);
}

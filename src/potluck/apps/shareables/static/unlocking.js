// The passcode can be looked at while it is typed, and a pause counts down.

const field = document.getElementById("passcode");
const shows = document.querySelector("[data-show]");
const pause = document.querySelector("[data-pause]");

shows.addEventListener("change", () => (field.type = shows.checked ? "text" : "password"));
// No browser is to keep it as what was typed here last.
field.form.addEventListener("submit", () => (field.type = "password"));

if (pause) {
  const go = field.form.querySelector("button");
  const ends = Date.now() + Number(pause.dataset.pause) * 1000;
  if (Number(pause.dataset.pause) <= 60) pause.querySelector("[data-pause-name]").textContent = "A minute’s pause";
  const left = pause.querySelector("[data-pause-left]");
  const tick = () => {
    const seconds = Math.ceil((ends - Date.now()) / 1000);
    if (seconds > 0) left.textContent = seconds;
    else {
      clearInterval(counting);
      pause.querySelector("strong").textContent = "You can try again";
      go.removeAttribute("aria-disabled");
    }
  };
  const counting = setInterval(tick, 1000);
  go.setAttribute("aria-disabled", true);
  field.form.addEventListener("submit", (event) => Date.now() < ends && event.preventDefault());
}

// Lets people see the passcode while they type it, and counts down a pause.

const field = document.getElementById("passcode");
const shows = document.querySelector("[data-show]");
const pause = document.querySelector("[data-pause]");

shows.addEventListener("change", () => (field.type = shows.checked ? "text" : "password"));
// Keeps the browser from remembering the passcode as ordinary text.
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

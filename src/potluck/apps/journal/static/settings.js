// Offers the device's own time zone.

const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
const field = document.getElementById("time-zone");
const button = document.querySelector("[data-this-zone]");

if (here && here !== field.value) {
  button.textContent = `As this device: ${here}`;
  button.hidden = false;
  button.addEventListener("click", () => {
    field.value = here;
    field.form.requestSubmit();
  });
}

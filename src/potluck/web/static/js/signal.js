// Says when there is no signal, and when it is back. A form is not sent meanwhile, into a page of the browser's that has
// nothing of what was typed. Scripts that send by themselves go on; where one only notes that a form was sent, the form has
// data-needs-signal, and is held before that one hears of it.

const region = document.getElementById("banners");
const ready = document.getElementById("no-signal");

function tell() {
  const shown = region.querySelector("[data-no-signal]");
  if (navigator.onLine) shown?.remove();
  else if (!shown) region.append(ready.content.cloneNode(true));
}

if (region && ready) {
  addEventListener("offline", tell);
  addEventListener("online", tell);
  tell();
}

// Forms that are on their way after all: a machine without any network still reaches what runs on itself.
const reached = new WeakSet();

async function hold(event) {
  const { submitter, target: form } = event;
  event.preventDefault();
  event.stopImmediatePropagation();
  try {
    await fetch("/healthz", { cache: "no-store" });
  } catch {
    const said = "No signal. Nothing was sent, and what you typed stays here.";
    document.dispatchEvent(new CustomEvent("potluck:toast", { detail: said }));
    return;
  }
  reached.add(form);
  form.requestSubmit(submitter);
}

// By its attribute: a field may be called "method", and stands for the property then.
const held = (form) => !navigator.onLine && !reached.has(form) && form.getAttribute("method") === "post";

document.addEventListener(
  "submit",
  (event) => {
    if (event.target.matches("[data-needs-signal]") && held(event.target)) hold(event);
  },
  true,
);

// After every other script of the page.
addEventListener("submit", (event) => {
  if (!event.defaultPrevented && held(event.target)) hold(event);
  else reached.delete(event.target);
});

// Says when there is no signal, and when it is back. Meanwhile forms are not submitted, because the browser's error page
// would replace everything that was typed. Scripts that send by themselves are not affected; a form whose script only takes
// note of the submission has data-needs-signal, and is held before that script sees the event.

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

// Forms that are sent after all: a machine without any network still reaches a server that runs on itself.
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

// Reads the attribute, because a field that is named "method" would shadow the property.
const held = (form) => !navigator.onLine && !reached.has(form) && form.getAttribute("method") === "post";

document.addEventListener(
  "submit",
  (event) => {
    if (event.target.matches("[data-needs-signal]") && held(event.target)) hold(event);
  },
  true,
);

// Runs after every other script of the page.
addEventListener("submit", (event) => {
  if (!event.defaultPrevented && held(event.target)) hold(event);
  else reached.delete(event.target);
});

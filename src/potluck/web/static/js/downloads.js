// A form whose response is a file: data-download has the file's name. It is fetched here, so that the page can show progress;
// without this script the browser downloads it by itself.

const kilobytes = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

async function received(answer, said) {
  const pieces = [];
  let bytes = 0;
  for (const reader = answer.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return new Blob(pieces, { type: answer.headers.get("content-type") ?? "" });
    pieces.push(value);
    bytes += value.length;
    said.textContent = `Coming in: ${kilobytes(bytes)} so far …`;
  }
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-download]");
  if (!form) return;
  event.preventDefault();
  const said = form.querySelector("[data-download-said]");
  // aria-disabled, not disabled: disabling the button that has the focus would lose the focus.
  const button = form.querySelector("button");
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  said.textContent = "Putting it together …";
  try {
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if (answer.status === 401) said.textContent = "You are signed out. Sign in again, then try once more.";
    else if (!answer.ok) said.textContent = "It could not be put together just now. Try again in a moment.";
    else {
      const named = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "")?.[1];
      const blob = await received(answer, said);
      save(blob, named ?? form.dataset.download);
      said.textContent = `Here it is, ${kilobytes(blob.size)}: look among your downloads.`;
    }
  } catch {
    said.textContent = "The connection broke off. Try again when there is signal.";
  }
  button.removeAttribute("aria-disabled");
});

// Importing a journal: choose the file, see a preview, and only then write anything.

const LARGEST = 10_000_000;
const form = document.querySelector("[data-import]");
const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

const send = (path, body) =>
  fetch(`/api/v1/journal/import${path}`, { method: "POST", body, headers: { "content-type": "application/json" } });

async function refusal(answer) {
  if (answer.status === 401) return "You are signed out. Sign in again, then try once more.";
  if (answer.status === 413) return "The file is larger than 10 MB.";
  const said = await answer.json().catch(() => ({}));
  if (answer.status === 400) return "This file is cut off, or it isn’t journal.json. Download it again, then choose it here.";
  if (answer.status === 422) {
    const wrong = (said.errors ?? []).slice(0, 3).map(({ field, message }) => `${field}: ${message}`);
    return ["This is not the export of a journal.", ...wrong].join(" ");
  }
  return said.detail ?? "It could not be taken in just now. Try again in a moment.";
}

function numbers(list, of) {
  const said = [["new entries", of.entries], ["comments", of.comments], ["threads", of.threads], ["already here", of.alreadyHere]];
  list.replaceChildren(
    ...said.map(([name, count]) => {
      const [box, term, number] = ["div", "dt", "dd"].map((tag) => document.createElement(tag));
      [term.textContent, number.textContent] = [name, count];
      box.append(term, number);
      return box;
    }),
  );
}

function shown(file, body) {
  const part = document.getElementById("import-preview").content.cloneNode(true);
  const [section, head, list, bar, take] = ["section", "[data-whose]", "[data-numbers]", "progress", "[data-take]"].map((each) =>
    part.querySelector(each),
  );
  const span = file.first ? `, ${days.format(new Date(file.first))} to ${days.format(new Date(file.last))}` : "";
  head.textContent = `${file.name}’s journal${span}`;
  numbers(list, file);
  take.addEventListener("click", async () => {
    take.setAttribute("aria-disabled", true);
    bar.hidden = false;
    const answer = await send("", body).catch(() => null);
    bar.hidden = true;
    if (!answer?.ok) {
      take.removeAttribute("aria-disabled");
      const said = document.createElement("p");
      said.className = "error";
      said.role = "alert";
      said.textContent = answer ? await refusal(answer) : "The connection broke off. What came in stays; try again.";
      section.querySelector(".error")?.remove();
      take.closest(".actions").before(said);
      return;
    }
    head.textContent = "It is all here";
    numbers(list, await answer.json());
    const on = document.createElement("a");
    [on.className, on.href, on.textContent] = ["button", "/journal/entries", "To the timeline"];
    section.querySelector(".actions").replaceChildren(on);
    head.focus();
  });
  form.replaceWith(part);
  head.focus();
}

if (form) {
  const said = form.querySelector("[data-import-said]");
  for (const each of form.querySelectorAll("[data-pasted]")) each.hidden = true;
  form.querySelector("[data-chosen]").hidden = false;
  form.querySelector("[type=file]").addEventListener("change", async ({ target }) => {
    const [file] = target.files;
    if (!file) return;
    if (file.size > LARGEST) return (said.textContent = "The file is larger than 10 MB.");
    said.textContent = "Looking at it …";
    const body = await file.text();
    const answer = await send("/preview", body).catch(() => null);
    if (answer?.ok) shown(await answer.json(), body);
    else said.textContent = answer ? await refusal(answer) : "The connection broke off. Try again when there is signal.";
    return undefined;
  });
}

// Importing a journal: choose the file, see a preview, and only then write anything.

const LARGEST = 10_000_000;
const MOST_WRONG = 20;
const form = document.querySelector("[data-import]");
const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

const send = (path, body) =>
  fetch(`/api/v1/journal/import${path}`, { method: "POST", body, headers: { "content-type": "application/json" } });

// What to say about a refusal, and everything that is wrong in the file.
async function refusal(answer) {
  if (answer.status === 401) return ["You are signed out. Sign in again, then try once more."];
  if (answer.status === 413) return ["The file is larger than 10 MB."];
  const said = await answer.json().catch(() => ({}));
  if (answer.status === 422) {
    const errors = said.errors ?? [];
    // An error in a part of a journal: then the file is one.
    if (!errors.some(({ field }) => /^(profiles?|entries|threads|links)[.[]/.test(field))) return ["This is not the export of a journal."];
    const wrong = errors.map(({ message }) => message);
    const more = wrong.length - MOST_WRONG;
    return ["Nothing was imported, because the file has errors.", ...wrong.slice(0, MOST_WRONG), ...(more > 0 ? [`and ${more} more`] : [])];
  }
  return [said.detail ?? "It could not be taken in just now. Try again in a moment."];
}

// Says it in the element, with a list of what is wrong below.
function say(element, [text, ...wrong]) {
  if (element.nextElementSibling?.matches("ul.wrong")) element.nextElementSibling.remove();
  element.textContent = text;
  if (!wrong.length) return;
  const list = document.createElement("ul");
  list.className = "wrong";
  list.setAttribute("aria-label", "What is wrong");
  list.append(...wrong.map((each) => Object.assign(document.createElement("li"), { textContent: each })));
  element.after(list);
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
      for (const each of section.querySelectorAll(".error, ul.wrong")) each.remove();
      take.closest(".actions").before(said);
      say(said, answer ? await refusal(answer) : ["The connection broke off. What came in stays; try again."]);
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
    if (file.size > LARGEST) return say(said, ["The file is larger than 10 MB."]);
    say(said, ["Looking at it …"]);
    const body = await file.text();
    if (body.startsWith("PK")) return say(said, ["This is a zip file. Unpack it, then choose journal.json."]);
    const answer = await send("/preview", body).catch(() => null);
    if (answer?.ok) shown(await answer.json(), body);
    else say(said, answer ? await refusal(answer) : ["The connection broke off. Try again when there is signal."]);
    return undefined;
  });
}

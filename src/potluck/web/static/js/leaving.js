// Signing out or deleting an account leaves nothing on this device, with a warning before unsent changes are lost.
//
//   <form action="/sign-out" data-leaving="THEIR ID" data-apps="shopping journal">
//   <p data-left="/account/delete" data-apps="shopping journal">   on the page that follows a successful deletion
//
// An app stores its data on a device in a database named "potluck-" and its id; changes waiting to be sent are in its object
// store "changes", those waiting for a person's decision in "notices", each with the id of its `person`. A notice of the
// kind "refused" only informs. Unsaved text is in the browser's storage, under a name that begins with "potluck-draft-",
// the app and the beginning of the person's id. Browsers that support Clear-Site-Data delete all of it when the server says
// so; this script does it for those that do not, or that use plain http.

// How long, in milliseconds, to wait for the device's storage: it must not prevent anybody from leaving.
const PATIENCE = 3000;

// Null if the app stores nothing here.
const opened = (app) =>
  new Promise((resolve) => {
    const asking = indexedDB.open(`potluck-${app}`);
    asking.onupgradeneeded = () => asking.transaction.abort();
    asking.onerror = asking.onblocked = () => resolve(null);
    asking.onsuccess = () => resolve(asking.result);
  });

async function inEach(apps, work) {
  const found = [];
  for (const app of apps) {
    const database = await opened(app);
    if (!database) continue;
    if (database.objectStoreNames.length) found.push([app, await work(database)]);
    database.close();
  }
  return found;
}

const rows = (database, name) =>
  new Promise((resolve) => {
    if (!database.objectStoreNames.contains(name)) return resolve([]);
    const asking = database.transaction(name).objectStore(name).getAll();
    asking.onsuccess = () => resolve(asking.result);
    asking.onerror = () => resolve([]);
    return undefined;
  });

const waiting = (apps, person) =>
  inEach(apps, async (database) => {
    const all = [...(await rows(database, "changes")), ...(await rows(database, "notices"))];
    return all.filter((each) => each.person === person && each.kind !== "refused").length;
  });

// Needs no waiting: a slow database must not hide them.
const drafts = (apps, person) => {
  const names = storages().flatMap((storage) => Object.keys(storage));
  const of = (app) => names.filter((name) => name.startsWith(`potluck-draft-${app}-${person.slice(0, 8)}`)).length;
  return apps.map((app) => [app, of(app)]);
};

// Storage can be forbidden; then nothing is stored there.
function storages() {
  try {
    return [localStorage, sessionStorage];
  } catch {
    return [];
  }
}

function forgetDrafts() {
  for (const storage of storages())
    for (const name of Object.keys(storage)) if (name.startsWith("potluck-draft-")) storage.removeItem(name);
}

// Cleared, not deleted: another window may have it open.
const forget = (apps) =>
  inEach(
    apps,
    (database) =>
      new Promise((resolve) => {
        const transaction = database.transaction([...database.objectStoreNames], "readwrite");
        for (const name of database.objectStoreNames) transaction.objectStore(name).clear();
        transaction.oncomplete = transaction.onabort = () => resolve();
      }),
  );

const inTime = (work, otherwise = null) =>
  Promise.race([work.catch(() => otherwise), new Promise((resolve) => setTimeout(resolve, PATIENCE, otherwise))]);

const appsOf = (element) => element.dataset.apps.split(" ").filter(Boolean);

function ask([app], count) {
  const box = document.getElementById("unsent");
  const [one, them] = count === 1 ? ["1 change waits", "it"] : [`${count} changes wait`, "them"];
  const head = box.querySelector("h2");
  head.textContent = `${one} here, unsent`;
  box.querySelector("[data-unsent-text]").textContent = `Sign out now, and ${count === 1 ? "it is" : "they are"} lost.`;
  const link = box.querySelector("[data-unsent-app]");
  link.href = `/${app}`;
  link.textContent = `Send ${them} first`;
  box.hidden = false;
  head.focus();
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-leaving]");
  if (!form || !("indexedDB" in window)) return;
  event.preventDefault();
  const { leaving: person } = form.dataset;
  if (person !== "sure") {
    const apps = appsOf(form);
    const all = [...(await inTime(waiting(apps, person), [])), ...drafts(apps, person)];
    const found = all.filter(([, count]) => count > 0);
    const count = found.reduce((sum, [, each]) => sum + each, 0);
    if (count) return ask(found[0], count);
  }
  forgetDrafts();
  await inTime(forget(appsOf(form)));
  return form.submit();
});

// This referrer means that the server has just redirected here after a successful deletion.
const left = document.querySelector("[data-left]");
if (left && "indexedDB" in window && document.referrer === location.origin + left.dataset.left) {
  forgetDrafts();
  inTime(forget(appsOf(left)));
}

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

import { maybe, one } from "./kit/elements.js";
import { on } from "./kit/events.js";
import { isSamePerson } from "./kit/saved-pages.js";
import { request } from "./kit/send.js";
import { openExisting } from "./kit/store.js";
import { toast } from "./kit/toast.js";
import { _, ngettext } from "./kit/words.js";

// How long, in milliseconds, to wait for the device's storage: it must not prevent a person from leaving.
const PATIENCE = 3000;

/** The databases of these apps, one after another. @param {string[]} apps */
async function* databases(apps) {
  for (const app of apps) {
    const database = await openExisting(`potluck-${app}`);
    if (database?.objectStoreNames.length) yield { app, database };
    database?.close();
  }
}

/** How many changes wait in each app. @param {string[]} apps @param {string} person */
async function waiting(apps, person) {
  /** @type {[string, number][]} */
  const counts = [];
  for await (const { app, database } of databases(apps)) {
    const stores = ["changes", "notices"].filter((name) => database.objectStoreNames.contains(name));
    const rows = (await Promise.all(stores.map((name) => database.getAll(name)))).flat();
    counts.push([
      app,
      rows.filter((row) => (row.person === "" || isSamePerson(row.person, person)) && row.kind !== "refused").length,
    ]);
  }
  return counts;
}

// How many drafts there are of each app: without waiting, so that a slow database hides none.
/** @param {string[]} apps @param {string} person */
function drafts(apps, person) {
  const names = storages().flatMap((storage) => Object.keys(storage));
  return apps.map((app) => {
    const prefix = `potluck-draft-${app}-${person.slice(0, 8)}`;
    return /** @type {[string, number]} */ ([app, names.filter((name) => name.startsWith(prefix)).length]);
  });
}

// Storage can be forbidden; then nothing is stored there.
function storages() {
  try {
    return [localStorage, sessionStorage];
  } catch {
    return [];
  }
}

/** @param {HTMLElement} element */
const appsOf = (element) => (element.dataset.apps ?? "").split(" ").filter(Boolean);

/** Deletes everything that these apps store here. @param {HTMLElement} element */
async function forget(element) {
  for (const storage of storages())
    for (const name of Object.keys(storage)) if (name.startsWith("potluck-draft-")) storage.removeItem(name);
  const clear = async () => {
    // Cleared, not deleted: another window may have it open.
    for await (const { database } of databases([...appsOf(element), "pages"]))
      await Promise.all([...database.objectStoreNames].map((name) => database.clear(name)));
  };
  await inTime(clear(), undefined);
}

/** @template T @param {Promise<T>} work @param {T} otherwise @returns {Promise<T>} */
const inTime = (work, otherwise) =>
  Promise.race([work.catch(() => otherwise), new Promise((resolve) => setTimeout(resolve, PATIENCE, otherwise))]);

/** @param {string} app @param {number} count */
function ask(app, count) {
  const box = one(document, "#unsent");
  const head = one(box, "h2");
  head.textContent = ngettext("%(num)s change isn’t sent yet", "%(num)s changes aren’t sent yet", count);
  one(box, "[data-unsent-text]").textContent = ngettext(
    "If you sign out now, it is lost.",
    "If you sign out now, they are lost.",
    count,
  );
  const link = one(box, "[data-unsent-app]", HTMLAnchorElement);
  link.href = `/${app}`;
  link.textContent = _("Send first");
  box.hidden = false;
  head.focus();
}

on(document, "submit", "form[data-leaving]", async (form, event) => {
  if (!("indexedDB" in window)) return;
  event.preventDefault();
  const { leaving: person = "" } = form.dataset;
  if (person !== "sure") {
    const apps = appsOf(form);
    const all = [...(await inTime(waiting(apps, person), [])), ...drafts(apps, person)];
    const unsent = all.filter(([, count]) => count > 0);
    if (unsent.length) {
      ask(
        unsent[0][0],
        unsent.reduce((sum, [, count]) => sum + count, 0),
      );
      return;
    }
  }
  await forget(form);
  if (await request("/livez")) /** @type {HTMLFormElement} */ (form).submit();
  else await leaveOffline();
});

/** Nothing of theirs opens from now on; without a worker, nothing was saved, and the server has to be told later. */
async function leaveOffline() {
  if (!navigator.serviceWorker?.controller) {
    toast(_("You’re offline. Sign out again when you’re back online."));
    return;
  }
  const { leave } = await import("./offline.js");
  await leave();
  new BroadcastChannel("potluck-person").postMessage("");
  location.replace("/");
}

// This referrer means that the server has just redirected here after a successful deletion.
const left = maybe(document, "[data-left]");
if (left && "indexedDB" in window && document.referrer === location.origin + left.dataset.left) forget(left);

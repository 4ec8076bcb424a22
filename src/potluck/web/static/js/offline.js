// Installs the service worker once the page is there, tells it which files the page has used, and sends what waits in any app.

const worker = navigator.serviceWorker;

/**
 * Has a worker do something; resolves to its answer once it has.
 * @param {ServiceWorker | null} to
 * @param {Record<string, unknown>} request
 * @returns {Promise<any>}
 */
const ask = (to, request) =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data);
    to?.postMessage(request, [port2]);
  });

/** Imports the modules of the apps in which something waits. @param {ServiceWorker | null} active */
async function sendWaiting(active) {
  if (!navigator.onLine || document.hidden) return;
  for (const module of await ask(active, { act: "waiting" })) await (await import(module)).deliverAll();
}

export async function install() {
  const isUnseen = !worker.controller;
  await worker.register("/worker.js", { scope: "/", updateViaCache: "none" });
  const { active } = await worker.ready;
  const files = performance.getEntriesByType("resource").map(({ name }) => new URL(name));
  await ask(active, {
    act: "keep",
    path: location.pathname,
    // The worker saves a page when it is loaded, and has not seen this one.
    page: isUnseen && "opensOffline" in document.body.dataset ? location.href : "",
    files: files.filter(({ origin }) => origin === location.origin).map(({ pathname }) => pathname),
  });
  document.documentElement.dataset.offline = "ready";
  const sendSoon = () => void sendWaiting(active).catch(() => {});
  addEventListener("online", sendSoon);
  document.addEventListener("visibilitychange", sendSoon);
  sendSoon();
}

/** Leaves this device while offline: the worker deletes what is saved, and tells the server as soon as it can. */
export const leave = () => ask(worker.controller, { act: "leave" });

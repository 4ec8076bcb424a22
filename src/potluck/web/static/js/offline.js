// Installs the service worker, once the page is there, and tells it which files the page has used.

const worker = navigator.serviceWorker;

/**
 * Asks the worker to do something, and waits until it has.
 * @param {Record<string, unknown>} request
 */
export const tellWorker = (request) =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    worker.controller?.postMessage(request, [port2]);
  });

export async function install() {
  const isUnseen = !worker.controller;
  await worker.register("/worker.js", { scope: "/", updateViaCache: "none" });
  const { active } = await worker.ready;
  const { dataset } = document.body;
  const files = performance.getEntriesByType("resource").map(({ name }) => new URL(name));
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    document.documentElement.dataset.offline = "ready";
  };
  active?.postMessage(
    {
      act: "keep",
      path: location.pathname,
      // The worker saves a page when it is loaded, and has not seen this one.
      page: isUnseen && "opensOffline" in dataset ? location.href : "",
      files: files.filter(({ origin }) => origin === location.origin).map(({ pathname }) => pathname),
    },
    [port2],
  );
}

// Sends a form, and returns how that went: "done", "no-signal", "later", or the status and text of the error.

const PATIENCE = 10_000;
// This person may no longer view it: reloading the page says why.
const OVER = new Set([401, 410]);

export async function send(address, fields) {
  let answer;
  try {
    answer = await fetch(address, {
      method: "POST",
      body: new URLSearchParams(fields),
      headers: { accept: "application/json" },
      // Only success matters, not where the form redirects.
      redirect: "manual",
      signal: AbortSignal.timeout(PATIENCE),
    });
  } catch {
    return { how: "no-signal" };
  }
  if (answer.ok || answer.type === "opaqueredirect") return { how: "done" };
  if (answer.status >= 500 || answer.status === 429) return { how: "later" };
  if (OVER.has(answer.status)) location.reload();
  const problem = await answer.json().catch(() => ({}));
  return { how: "refused", status: answer.status, words: problem.errors?.[0]?.message ?? problem.detail ?? "It was not taken." };
}

export const toast = (words) => document.dispatchEvent(new CustomEvent("potluck:toast", { detail: words }));

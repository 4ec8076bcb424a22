// Says the device's time zone for a person who has none. Pages go by it from the next one on.
//
//   <meta name="journal-zone-unset" content="1">   the version of their settings

const unset = document.querySelector("meta[name=journal-zone-unset]");
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

if (timeZone && timeZone !== "UTC") {
  const body = JSON.stringify({ timeZone, version: Number(unset.content) });
  const headers = { "content-type": "application/json" };
  fetch("/api/v1/journal/profile", { method: "PATCH", headers, body }).catch(() => {});
}

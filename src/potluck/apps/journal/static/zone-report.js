// Says the device's time zone for a person who has none. Pages go by it from the next one on.
//
//   <meta name="journal-zone-unset" content="1">   the version of their settings

import { one } from "../../../web/static/js/kit/elements.js";
import { send } from "../../../web/static/js/kit/send.js";
import { timeZone } from "../../../web/static/js/kit/time.js";

const version = Number(one(document, "meta[name=journal-zone-unset]", HTMLMetaElement).content);

if (timeZone() && timeZone() !== "UTC")
  send("/api/v1/journal/profile", { method: "PATCH", json: { timeZone: timeZone(), version } });

// Entries that were written offline, and the key that they are encrypted with.

import { outboxStore } from "../../../web/static/js/kit/outbox-store.js";

export const store = outboxStore("journal");

// Looks up the title of a book that waits for it, once when its page is opened. Live updates then show the title.

import { one } from "../../../web/static/js/kit/elements.js";
import { send } from "../../../web/static/js/kit/send.js";

send(one(document, "[data-look-up]").dataset.lookUp ?? "");

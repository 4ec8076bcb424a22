// Deletes the draft of what was just saved.
//
//   <div data-draft-saved="new">   on the page that the form redirects to

import { one } from "../../../web/static/js/kit/elements.js";
import { drop } from "./drafts.js";

drop(one(document, "[data-draft-saved]").dataset.draftSaved ?? "");
// Drops ?draft=, so that a reload does not delete a newer draft.
history.replaceState(null, "", location.pathname + location.hash);

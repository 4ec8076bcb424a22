// Deletes the draft of what was just saved.
//
//   <div data-draft-saved="new">   on the page that the form redirects to

import { drop } from "./drafts.js";

drop(document.querySelector("[data-draft-saved]").dataset.draftSaved);
// Drops ?said=saved, so that a reload does not claim it was saved again.
history.replaceState(null, "", location.pathname + location.hash);

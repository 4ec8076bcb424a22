// What was saved is no draft any more.
//
//   <div data-draft-saved="new">   on the page that a form leads to

import { drop } from "./drafts.js";

drop(document.querySelector("[data-draft-saved]").dataset.draftSaved);
// Who reloads has not saved again.
history.replaceState(null, "", location.pathname);

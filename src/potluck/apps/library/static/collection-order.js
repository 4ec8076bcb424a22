// Sends each new order of a collection. Its numbers stay the same, and its items trade them.

import { all, one } from "../../../web/static/js/kit/elements.js";
import { send } from "../../../web/static/js/kit/send.js";
import { toast } from "../../../web/static/js/kit/toast.js";
import { coalesced } from "../../../web/static/js/kit/turns.js";
import { _ } from "../../../web/static/js/kit/words.js";

const list = one(document, "#watch");

const push = coalesced(async () => {
  const ids = all(list, ".sortable").map((row) => ["itemIds", row.id.replace("row-", "")]);
  const { outcome } = await send(list.dataset.ordering ?? "", { form: ids });
  if (outcome !== "done") toast(_("The new order wasn’t saved. Move the item again."));
});

list.addEventListener("potluck:moved", () => {
  const places = all(list, "[data-number]");
  const numbers = places.map((place) => Number(place.textContent)).sort((one, other) => one - other);
  places.forEach((place, index) => {
    place.textContent = String(numbers[index]);
  });
  push();
});

// The server greets without knowing the local time; the browser knows it.

import { all } from "./kit/elements.js";
import { _ } from "./kit/words.js";

const hour = new Date().getHours();
const words =
  hour < 5 ? _("Hello") : hour < 12 ? _("Good morning") : hour < 18 ? _("Good afternoon") : _("Good evening");
for (const greeting of all(document, "[data-greeting]")) greeting.textContent = words;

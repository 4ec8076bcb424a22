// When a poll closes, in the person's own time zone: the moment is sent too, so that the server need not guess.

import { all, maybe } from "../../../web/static/js/kit/elements.js";
import { asLocal } from "../../../web/static/js/kit/time.js";
import { followTime } from "../../../web/static/js/kit/time-field.js";

const part = maybe(document, "[data-closing]");

if (part) {
  const [local, moment] = all(part, "input", HTMLInputElement);
  followTime(local, moment, asLocal, (value) => new Date(value));
}

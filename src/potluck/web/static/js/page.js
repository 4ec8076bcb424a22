// What every page runs. Each of these works by itself: if one fails, the others still run.

import "./person-guard.js";
import "./theme.js";
import "./menus.js";
import "./kit/toast.js";
import "./signal.js";
import "./steppers.js";
import "./copy-buttons.js";
import "./parts.js";

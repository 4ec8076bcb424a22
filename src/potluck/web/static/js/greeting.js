// The server greets without knowing the local time; the browser knows it.

import { all } from "./kit/elements.js";

const hour = new Date().getHours();
const words = hour < 5 ? "Hello" : hour < 12 ? "Good morning" : hour < 18 ? "Good afternoon" : "Good evening";
for (const greeting of all(document, "[data-greeting]")) greeting.textContent = words;

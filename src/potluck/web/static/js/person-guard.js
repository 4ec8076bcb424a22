// Leaves a person's page once another person is signed in, or none: after signing out in one window, no other window and no
// page in the back/forward cache shows that person's data.
//
//   <body data-person="3f2b8c1e">   the beginning of their id; empty without a session, absent if the page does not know

import { onReturn } from "./kit/events.js";

const person = () => document.body.dataset.person;
const leave = () => location.replace("/");

if (person() !== undefined && "BroadcastChannel" in window) {
  const windows = new BroadcastChannel("potluck-person");
  windows.addEventListener("message", ({ data }) => person() && data !== person() && leave());
  windows.postMessage(person());
}

onReturn(() => person() && leave());

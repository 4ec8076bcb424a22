// Leaves a page that was rendered for somebody once somebody else is signed in, or nobody: signing out in one window leaves
// no other window with that person's data, nor a page in the back/forward cache.
//
//   <body data-person="3f2b8c1e">   the beginning of their id; empty if nobody is signed in, absent if the page does not know

import { onReturn } from "./kit/events.js";

const person = () => document.body.dataset.person;
const leave = () => location.replace("/");

if (person() !== undefined && "BroadcastChannel" in window) {
  const windows = new BroadcastChannel("potluck-person");
  windows.addEventListener("message", ({ data }) => person() && data !== person() && leave());
  windows.postMessage(person());
}

onReturn(() => person() && leave());

// A page that was made for somebody is left once somebody else is here, or nobody: who signs out in one window leaves none
// behind that shows what was theirs, nor one that the browser would bring back as it was.
//
//   <body data-person="3f2b8c1e">   how their id begins; empty for nobody. A page that does not know says nothing

const person = () => document.body.dataset.person;
const leave = () => location.replace("/");

if (person() !== undefined && "BroadcastChannel" in window) {
  const windows = new BroadcastChannel("potluck-person");
  windows.addEventListener("message", ({ data }) => person() && data !== person() && leave());
  windows.postMessage(person());
}

addEventListener("pageshow", (event) => event.persisted && person() && leave());

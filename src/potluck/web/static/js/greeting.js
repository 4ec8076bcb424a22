// The server greets without knowing the local time; the browser knows it.

const hour = new Date().getHours();
const said =
  hour < 5 ? "Hello" : hour < 12 ? "Good morning" : hour < 18 ? "Good afternoon" : "Good evening";
for (const greeting of document.querySelectorAll("[data-greeting]")) greeting.textContent = said;

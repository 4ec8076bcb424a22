// The server greets without knowing the hour; this browser's own clock knows it.

const hour = new Date().getHours();
const said =
  hour < 5 ? "Hello" : hour < 12 ? "Good morning" : hour < 18 ? "Good afternoon" : "Good evening";
for (const greeting of document.querySelectorAll("[data-greeting]")) greeting.textContent = said;

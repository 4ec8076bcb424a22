"""HTTP itself: what every request and every response passes through, whichever action answers."""

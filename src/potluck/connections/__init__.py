"""Client connections: their limits, and how responses are written to them."""

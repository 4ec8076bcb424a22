"""The pages: creating one and its share card, opening by id, unlocking, the list or the poll, and administration."""

"""What a connection of a client may take, and how an answer is written to it."""

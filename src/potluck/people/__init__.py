"""People: accounts, and everything that says who is calling."""

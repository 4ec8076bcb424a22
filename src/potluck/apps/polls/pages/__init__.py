"""The pages of polls: the list, creating one, sharing it, voting, its results, managing it."""

"""The pages of polls: the list, creating one, sharing it, voting, its results, managing it."""

from potluck.apps.polls.pages import creating, managing, own_polls, results, sharing, voting

__all__ = ["creating", "managing", "own_polls", "results", "sharing", "voting"]

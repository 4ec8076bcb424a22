"""The pages of polls: the list, creating one, sharing it, voting, its results, managing it."""

from potluck.apps.polls.pages import creating, managing, own_polls, results, sharing, voting
from potluck.apps.polls.pages.frame import FILES

__all__ = ["ENDPOINTS"]

ENDPOINTS = [
    FILES.endpoints(),
    own_polls.pages,
    creating.pages,
    sharing.pages,
    voting.pages,
    results.pages,
    managing.pages,
]

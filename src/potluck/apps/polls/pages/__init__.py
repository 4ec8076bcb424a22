"""The pages of polls: creating one, sharing it, voting, its results, managing it."""

from potluck.apps.polls.pages import creating, managing, results, sharing, voting
from potluck.apps.polls.pages.frame import FILES

__all__ = ["ENDPOINTS"]

ENDPOINTS = [FILES.endpoints(), creating.pages, sharing.pages, voting.pages, results.pages, managing.pages]

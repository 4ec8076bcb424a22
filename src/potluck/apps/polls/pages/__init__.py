"""The polls' pages: make one, share it, vote, see what came of it, look after it."""

from potluck.apps.polls.pages import making, managing, outcomes, sharing, voting
from potluck.apps.polls.pages.frame import FILES

__all__ = ["ENDPOINTS"]

ENDPOINTS = [FILES.endpoints(), making.pages, sharing.pages, voting.pages, outcomes.pages, managing.pages]

"""Cookies besides the keys of polls: a newly issued key, and the polls that this browser has voted in."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from potluck.apps.polls.access import HOME, POLL
from potluck.web import Access, SealedCookie

# A newly issued key, for the one page that shows it.
FRESH_COOKIE = SealedCookie("potluck-poll-fresh", path=POLL, days=600 / 86_400, shown=True)
# The polls that this browser has voted in, latest first. Only in a cookie: the store must not record who voted where.
VOTED_COOKIE = SealedCookie("potluck-voted", path=HOME)
# A cookie may have 4 KB, and browsers send this one to every page of polls.
MOST_VOTED = 30


def voted_in(at: Access) -> list[UUID]:
    """The polls that this person has voted in with this browser, latest first."""
    return [UUID(hex) for hex in VOTED_COOKIE.value(at.visitor).split()]


def voted(is_voted: bool) -> Callable[[Any, Any], str]:
    """The cookie's value after a vote in this poll, or after its withdrawal."""

    def value(at: Any, _: Any) -> str:
        others = [poll_id for poll_id in voted_in(at) if poll_id != at.poll_id]
        return " ".join(poll_id.hex for poll_id in ([at.poll_id, *others] if is_voted else others)[:MOST_VOTED])

    return value

"""What browsers hold besides the keys of polls: a newly issued key, and the polls that were voted in."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from potluck.apps.polls.access import HOME, POLL
from potluck.web import SealedCookie, Visitor

# A newly issued key, for the one page that shows it.
FRESH_COOKIE = SealedCookie("potluck-poll-fresh", path=POLL, days=600 / 86_400)
# The polls voted in with this browser, latest first. Only here, because the store must not say who voted where.
VOTED_COOKIE = SealedCookie("potluck-voted", path=HOME)
# Browsers keep 4 KB a cookie, and send this one to every page of polls.
MOST_VOTED = 30


def voted_in(visitor: Visitor) -> list[UUID]:
    """The polls that the person using this browser has voted in with it, latest first."""
    return [UUID(hex) for hex in VOTED_COOKIE.value(visitor).split()]


def voted(is_voted: bool) -> Callable[[Any, Any], str]:
    """The value of that cookie after this poll was voted in, or no longer."""

    def value(at: Any, _: Any) -> str:
        others = [each for each in voted_in(at.visitor) if each != at.poll_id]
        return " ".join(each.hex for each in ([at.poll_id, *others] if is_voted else others)[:MOST_VOTED])

    return value

"""Cookies with the keys of polls, each bound to the person it was issued to.

Browsers send the keys of one poll to that poll's own pages and nowhere else.
"""

from collections.abc import Sequence
from uuid import UUID

from potluck.apps.polls.access import ADMIN_COOKIE, EDIT_COOKIE, VOTER_COOKIE
from potluck.apps.polls.pages.frame import HOME
from potluck.web import Call, Cookie, Visitor

# A newly issued key, for the one page that shows it.
FRESH_COOKIE = "potluck-poll-fresh"
# The polls voted in with this browser, latest first. Kept here, because the store must not say who voted where.
VOTED_COOKIE = "potluck-voted"
# Browsers keep 4 KB a cookie, and send this one to every page of polls.
MOST_VOTED = 30

DAY = 24 * 3600
# Browsers cap a cookie's lifetime at 400 days.
KEPT_SECONDS = {
    VOTER_COOKIE: 400 * DAY,
    ADMIN_COOKIE: 400 * DAY,
    EDIT_COOKIE: 400 * DAY,
    FRESH_COOKIE: 600,
    VOTED_COOKIE: 400 * DAY,
}


def keep_key(call: Call, name: str, key: str, poll_id: UUID | None = None) -> Sequence[Cookie]:
    """The cookies that store a key; scoped to one poll's pages, if that is given."""
    return call.keep(name, key, KEPT_SECONDS[name], _path(poll_id))


def drop_key(call: Call, name: str, poll_id: UUID) -> Sequence[Cookie]:
    """The cookies that delete it."""
    return call.drop(name, _path(poll_id))


def voted_in(visitor: Visitor) -> list[UUID]:
    """The polls that the person using this browser has voted in with it, latest first."""
    return [UUID(hex) for hex in (visitor.cookie(VOTED_COOKIE) or "").split()]


def keep_voted(call: Call, poll_id: UUID, *, voted: bool = True) -> Sequence[Cookie]:
    """The cookies that remember a poll as voted in, or forget it."""
    polls = [*([poll_id] if voted else []), *(each for each in voted_in(call.visitor) if each != poll_id)]
    kept = " ".join(each.hex for each in polls[:MOST_VOTED])
    return call.keep(VOTED_COOKIE, kept, KEPT_SECONDS[VOTED_COOKIE], HOME)


def _path(poll_id: UUID | None) -> str:
    return HOME if poll_id is None else f"{HOME}/{poll_id}"

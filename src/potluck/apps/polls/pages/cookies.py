"""Cookies with the keys of polls, each bound to the person it was issued to.

Browsers send the keys of one poll to that poll's own pages and nowhere else.
"""

from collections.abc import Sequence
from uuid import UUID

from potluck.apps.polls.access import ADMIN_COOKIE, EDIT_COOKIE, VOTER_COOKIE
from potluck.apps.polls.pages.frame import HOME
from potluck.web.endpoints import Call
from potluck.web.http.responses import Cookie

__all__ = ["FRESH_COOKIE", "drop_key", "keep_key"]

# A newly issued key, for the one page that shows it.
FRESH_COOKIE = "potluck-poll-fresh"

DAY = 24 * 3600
# Browsers cap a cookie's lifetime at 400 days.
KEPT_SECONDS = {VOTER_COOKIE: 400 * DAY, ADMIN_COOKIE: 400 * DAY, EDIT_COOKIE: 400 * DAY, FRESH_COOKIE: 600}


def keep_key(call: Call, name: str, key: str, poll_id: UUID | None = None) -> Sequence[Cookie]:
    """The cookies that store a key; scoped to one poll's pages, if that is given."""
    return call.keep(name, key, KEPT_SECONDS[name], _path(poll_id))


def drop_key(call: Call, name: str, poll_id: UUID) -> Sequence[Cookie]:
    """The cookies that delete it."""
    return call.drop(name, _path(poll_id))


def _path(poll_id: UUID | None) -> str:
    return HOME if poll_id is None else f"{HOME}/{poll_id}"

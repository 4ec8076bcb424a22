"""What a browser carries for polls: one voter's key for all of them, and for each poll the keys that were given for it.

They are cookies that no script reads. Those of one poll are sent to that poll's own pages and to nothing else.
"""

import re
from typing import Any
from uuid import UUID

from litestar.connection import ASGIConnection
from litestar.datastructures import Cookie

from potluck.apps.polls.keys import Credentials
from potluck.people.authentication import Principal
from potluck.web.callers import Door

__all__ = ["ADMIN", "EDIT", "FRESH", "VOTER", "carried", "credentials", "dropped", "kept"]

Connection = ASGIConnection[Any, Any, Any, Any]

HOME = "/polls"
VOTER = "potluck-voter"
ADMIN = "potluck-poll-admin"
EDIT = "potluck-poll-vote"
# A key that was just given, for the one page that shows it.
FRESH = "potluck-poll-fresh"

# What we gave ourselves; anything else that a browser sends is nothing.
KEYS = re.compile(r"pl[aev]_[0-9a-f]{64,96}")

DAY = 24 * 3600
# Browsers keep none longer than 400 days.
KEPT_SECONDS = {VOTER: 400 * DAY, ADMIN: 400 * DAY, EDIT: 400 * DAY, FRESH: 600}


def carried(connection: Connection, name: str) -> str | None:
    """The key under this name, if it is one."""
    value = connection.cookies.get(name, "")
    return value if KEYS.fullmatch(value) else None


def credentials(connection: Connection, visitor: Principal | None, code: str | None = None) -> Credentials:
    """Everything that the browser shows to be somebody by."""
    return Credentials(
        caller=visitor,
        admin_key=carried(connection, ADMIN),
        voter_key=carried(connection, VOTER),
        edit_key=carried(connection, EDIT),
        code=code or None,
    )


def kept(connection: Connection, door: Door, name: str, value: str, poll_id: UUID | None = None) -> Cookie:
    """The cookie in which a browser keeps it; of one poll, if it is said of which."""
    return _cookie(connection, door, name, value, KEPT_SECONDS[name], poll_id)


def dropped(connection: Connection, door: Door, name: str, poll_id: UUID | None = None) -> Cookie:
    """The cookie that takes the other away."""
    return _cookie(connection, door, name, "", 0, poll_id)


def _cookie(connection: Connection, door: Door, name: str, value: str, max_age: int, poll_id: UUID | None) -> Cookie:
    return Cookie(
        key=name,
        value=value,
        max_age=max_age,
        path=HOME if poll_id is None else f"{HOME}/{poll_id}",
        httponly=True,
        secure=door.secure(connection),
        samesite="lax",
    )

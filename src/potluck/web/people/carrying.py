"""An invitation on its way, for the apps that have not moved to the app layer yet: see invitation_cookie.py."""

from datetime import timedelta
from typing import Any

from litestar.connection import ASGIConnection
from litestar.datastructures import Cookie

from potluck.web.callers import Door

__all__ = ["carried", "dropped", "taken_along"]

Connection = ASGIConnection[Any, Any, Any, Any]

# Long enough to sign up in between.
CARRIED_FOR = timedelta(hours=1)


def carried(connection: Connection, door: Door) -> str:
    """The secret of the invitation that this browser carries; empty without one, which opens nothing."""
    return connection.cookies.get(_name(connection, door), "")


def taken_along(connection: Connection, door: Door, secret: str) -> Cookie:
    """The cookie in which a browser carries it."""
    return _cookie(connection, door, secret, int(CARRIED_FOR.total_seconds()))


def dropped(connection: Connection, door: Door) -> Cookie:
    """The cookie that takes the other away."""
    return _cookie(connection, door, "", 0)


def _name(connection: Connection, door: Door) -> str:
    return f"{door.cookie_name(connection)}-invitation"


def _cookie(connection: Connection, door: Door, value: str, max_age: int) -> Cookie:
    return Cookie(
        key=_name(connection, door),
        value=value,
        max_age=max_age,
        path="/",
        httponly=True,
        secure=door.secure(connection),
        samesite="lax",
    )

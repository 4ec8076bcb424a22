"""An invitation on its way: the browser carries its secret in a cookie while its holder signs in or up."""

from __future__ import annotations

from datetime import timedelta

from potluck.web.endpoints import Call
from potluck.web.http.responses import Cookie

__all__ = ["carried_invitation", "carry_invitation", "drop_invitation"]

# Long enough to sign up in between.
CARRIED_FOR = timedelta(hours=1)


def carried_invitation(call: Call) -> str:
    """The secret of the invitation that this browser carries; empty without one, which opens nothing."""
    return call.request.cookies.get(_name(call), "")


def carry_invitation(call: Call, secret: str) -> Cookie:
    """The cookie in which a browser carries it."""
    return call.cookie(_name(call), secret, int(CARRIED_FOR.total_seconds()))


def drop_invitation(call: Call) -> Cookie:
    """The cookie that takes the other away."""
    return call.cookie(_name(call), "", 0)


def _name(call: Call) -> str:
    return f"{call.authentication.cookie_name(call.request)}-invitation"

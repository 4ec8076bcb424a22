"""An invitation on its way: the browser keeps its secret while its holder signs in or up."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from potluck.web.endpoints import Call
from potluck.web.http.responses import Cookie

__all__ = ["carried_invitation", "carry_invitation", "drop_invitation"]

INVITATION = "potluck-invitation"
# Long enough to sign up in between.
CARRIED_FOR = timedelta(hours=1)


def carried_invitation(call: Call) -> str:
    """The secret of the invitation that this browser carries; empty without one, which opens nothing."""
    return call.visitor.kept(INVITATION)


def carry_invitation(call: Call, secret: str) -> Sequence[Cookie]:
    """The cookies in which a browser carries it."""
    return call.keep(INVITATION, secret, int(CARRIED_FOR.total_seconds()))


def drop_invitation(call: Call) -> Sequence[Cookie]:
    """The cookies that take the other away."""
    return call.drop(INVITATION)

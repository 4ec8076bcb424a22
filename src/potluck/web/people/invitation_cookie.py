"""The cookie that keeps the secret of an invitation while its holder signs in or up."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from potluck.web.endpoints import Call
from potluck.web.http.responses import Cookie

INVITATION = "potluck-invitation"
# Long enough to sign up in between.
CARRIED_FOR = timedelta(hours=1)


def carried_invitation(call: Call) -> str:
    """The secret of the invitation in this browser's cookie; empty without one, which is never valid."""
    return call.visitor.cookie(INVITATION)


def carry_invitation(call: Call, secret: str) -> Sequence[Cookie]:
    """Cookies that keep the secret."""
    return call.keep(INVITATION, secret, int(CARRIED_FOR.total_seconds()))


def drop_invitation(call: Call) -> Sequence[Cookie]:
    """Cookies that delete it."""
    return call.drop(INVITATION)

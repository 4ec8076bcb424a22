"""The cookie that keeps the secret of an invitation while its holder signs in or up."""

from __future__ import annotations

from collections.abc import Sequence

from potluck.web.cookies import SealedCookie
from potluck.web.endpoints import Call
from potluck.web.http.responses import Cookie

# An hour is long enough to sign up in between.
CARRIED_INVITATION = SealedCookie("potluck-invitation", days=1 / 24)


def carried_invitation(call: Call) -> str:
    """The secret of the invitation in this browser's cookie; empty without one, which is never valid."""
    return CARRIED_INVITATION.value(call.visitor)


def carry_invitation(call: Call, secret: str) -> Sequence[Cookie]:
    """Cookies that keep the secret."""
    assert call.visitor.cookies is not None
    return CARRIED_INVITATION.set(call.visitor.cookies, secret, CARRIED_INVITATION.path)


def drop_invitation(call: Call) -> Sequence[Cookie]:
    """Cookies that delete it."""
    assert call.visitor.cookies is not None
    return CARRIED_INVITATION.drop(call.visitor.cookies, CARRIED_INVITATION.path)

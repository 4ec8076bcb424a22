"""The cookie that keeps the secret of an invitation while its holder signs in or up."""

from potluck.web.cookies import SealedCookie

# An hour is long enough to sign up in between.
CARRIED_INVITATION = SealedCookie("potluck-invitation", days=1 / 24)

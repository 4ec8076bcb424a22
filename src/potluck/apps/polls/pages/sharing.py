"""The share page: the poll's link, as text and as a QR code; and, once, the link for managing it."""

from collections.abc import Mapping
from typing import Any

from potluck.apps.polls.access import ToPoll
from potluck.apps.polls.entities import Poll
from potluck.apps.polls.keys import ADMIN_KEY
from potluck.apps.polls.pages.cookies import FRESH_COOKIE
from potluck.apps.polls.pages.frame import link_to, poll_frame
from potluck.apps.polls.polls import polls
from potluck.web import Show, qr_code


@polls.page("/share", "polls/share.html", secret=True)
async def share(at: ToPoll, poll: Poll, show: Show) -> Mapping[str, Any]:
    fresh = FRESH_COOKIE.value(at.visitor)
    if fresh:
        show.drop(FRESH_COOKIE)
    link = link_to(at)
    return {
        "link": link,
        "qr": qr_code(link),
        "admin_link": link_to(at, f"/manage#{fresh}") if fresh.startswith(ADMIN_KEY) else "",
        **poll_frame(at, "share"),
    }

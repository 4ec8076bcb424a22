"""The share page: the poll's link, as text and as a QR code; and, once, the link for managing it."""

from starlette.responses import Response

from potluck.apps.polls.access import ToPoll, cookie_key
from potluck.apps.polls.keys import ADMIN_KEY
from potluck.apps.polls.pages.cookies import FRESH_COOKIE, drop_key
from potluck.apps.polls.pages.frame import HOME, link_to, poll_frame
from potluck.web import Call, Endpoints, qr_code

pages = Endpoints()


@pages.get(f"{HOME}/{{poll_id}}/share")
async def share(call: Call) -> Response:
    at = await call.admit(ToPoll)
    fresh = cookie_key(call.visitor, FRESH_COOKIE)
    own = fresh is not None and fresh.startswith(ADMIN_KEY)
    link = link_to(call, at)
    return call.page(
        "polls/share.html",
        *([] if fresh is None else drop_key(call, FRESH_COOKIE, at.poll_id)),
        link=link,
        qr=qr_code(link),
        admin_link=link_to(call, at, f"/manage#{fresh}") if own else "",
        **poll_frame(at, "share"),
    )

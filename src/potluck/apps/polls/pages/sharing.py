"""Where a poll is shared: its link, the same for a camera, and once the link by which it is looked after."""

from typing import Any
from uuid import UUID

from litestar import Response, get
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from potluck.apps.polls.pages.around import HOME, POLL, AnyRequest, poll_page
from potluck.apps.polls.pages.carrying import FRESH, carried, credentials, dropped
from potluck.apps.polls.pages.qr import qr_code
from potluck.apps.polls.service import Polls
from potluck.people.authentication import Principal
from potluck.web.callers import Door

__all__ = ["PAGES", "link_to"]


def link_to(request: AnyRequest, door: Door, path: str) -> str:
    return f"{door.clients.origin_of(request.scope)}{HOME}/{path}"


@get(f"{POLL}/share", include_in_schema=False)
async def share(
    poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls, door: Door
) -> Response[Any]:
    by = credentials(request, visitor)
    poll = await polls.admission.poll(poll_id)
    fresh = carried(request, FRESH)
    admin_link = ""
    if fresh is not None and fresh.startswith("pla_"):
        admin_link = link_to(request, door, f"{poll_id}/manage#{fresh}")
    link = link_to(request, door, str(poll_id))
    answer = poll_page("share", by, poll, "share", polls.clock(), link=link, qr=qr_code(link), admin_link=admin_link)
    if fresh is not None:
        answer.cookies = [dropped(request, door, FRESH, poll_id)]
    return answer


PAGES: list[ControllerRouterHandler] = [share]

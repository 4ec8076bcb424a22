"""The two calls by which a list of a family is followed: events as they happen, and what changed since."""

from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

from litestar import Request, Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, FromQuery
from msgspec import Meta

from potluck.apps.shopping.bodies import FamilyId
from potluck.apps.shopping.entities import Member
from potluck.apps.shopping.service import Shopping
from potluck.people.authentication import Principal
from potluck.table import Query
from potluck.web.callers import Door
from potluck.web.live import Changes, Live, Right, See
from potluck.web.live.litestar_adapter import event_stream
from potluck.web.live.positions import LONGEST_POSITION

__all__ = ["live_routes"]

Position = Annotated[str, Meta(max_length=LONGEST_POSITION)]


def live_routes(
    path: str, name: str, words: str, of: Callable[[UUID], Query[Any]], see: Callable[[Shopping], See]
) -> list[HTTPRouteHandler]:
    """Those of the list at this path: `of` is all of it for a family, `see` how one of it is shown."""

    @get(
        f"{path}/events",
        tags=["Shopping"],
        operation_id=f"shopping{name}Events",
        summary=f"The changes of {words}, as they happen",
    )
    async def events(
        family_id: FromPath[FamilyId], caller: Principal, shopping: Shopping, live: Live, door: Door,
        request: Request[Any, Any, Any],
    ) -> Response[Any]:  # fmt: skip
        await shopping.membership.of(caller, family_id)

        async def allowed() -> bool:
            return await door.still(request, caller) and await shopping.is_in(caller, family_id)

        right = membership(family_id, caller)
        return event_stream(live, request, of=of(family_id), see=see(shopping), allowed=allowed, by=caller, right=right)

    @get(
        f"{path}/changes",
        tags=["Shopping"],
        operation_id=f"shopping{name}Changes",
        summary=f"The changes of {words} since a position",
    )
    async def changes(
        family_id: FromPath[FamilyId], caller: Principal, shopping: Shopping, live: Live, since: FromQuery[Position]
    ) -> Changes:
        await shopping.membership.of(caller, family_id)
        found = await live.changes(since, of=of(family_id), see=see(shopping), right=membership(family_id, caller))
        if found.reset:
            # The place where they begin anew has to be one at which they are still in.
            await shopping.membership.of(caller, family_id)
        return found

    return [events, changes]


def membership(family_id: UUID, caller: Principal) -> Right:
    """By what the caller is told: what happened while they were out of the family, they never are."""
    return Right(Member.by_id(family_id, caller.user_id), lambda member: member.status == "active")

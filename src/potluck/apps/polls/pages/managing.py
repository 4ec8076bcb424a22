"""Looking after a poll: close it, open it again, codes, a copy, a recount, an end."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath, FromQuery
from litestar.response import Template
from litestar.types import ControllerRouterHandler
from msgspec import Meta

from potluck.apps.polls.admission import administers
from potluck.apps.polls.authoring import MOST_CODES
from potluck.apps.polls.entities import Poll
from potluck.apps.polls.errors import PollsError, VotesComingIn, WrongKey
from potluck.apps.polls.keys import Credentials
from potluck.apps.polls.pages.around import (
    HOME,
    POLICIES,
    POLL,
    VISIBILITIES,
    AnyRequest,
    Refusal,
    poll_page,
    refused,
)
from potluck.apps.polls.pages.carrying import ADMIN, credentials, dropped, kept
from potluck.apps.polls.pages.closing_times import as_typed, closing_time
from potluck.apps.polls.pages.making import to_fresh_poll
from potluck.apps.polls.service import Polls
from potluck.apps.polls.views import AuditShown, CodesMade
from potluck.people.authentication import Principal
from potluck.people.errors import PeopleError
from potluck.web.bodies import Body, Says
from potluck.web.callers import Door
from potluck.web.forms import Form, Line, blank, form
from potluck.web.people.showing import led_on

__all__ = ["PAGES"]

USUAL_CODES = 10

SAID = {
    "changed": "The poll is changed.",
    "closed": "The poll is closed, and its results are final.",
    "reopened": "The poll is open again.",
}


class Held(Body):
    key: Line


class Reopening(Body):
    expires: Line = ""
    expires_at: Line = ""


class Codes(Body):
    count: Annotated[int, Meta(ge=1, le=MOST_CODES), Says(f"There can be 1 to {MOST_CODES:,} at a time")]


@get(f"{POLL}/manage", include_in_schema=False)
async def manage(
    poll_id: FromPath[UUID],
    request: AnyRequest,
    visitor: Principal | None,
    polls: Polls,
    said: FromQuery[str] = "",
) -> Template:
    return await _shown(poll_id, credentials(request, visitor), polls, said=SAID.get(said, ""))


@post(f"{POLL}/manage", include_in_schema=False)
async def take_up(
    poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls, door: Door
) -> Response[Any]:
    """The key comes from the link, where it stood after #."""
    filled = await form(Held, request)
    by = credentials(request, visitor)
    refusal = None
    if filled.good:
        key = filled.value.key.strip()
        try:
            await polls.admission.administered(Credentials(admin_key=key), poll_id)
        except WrongKey as error:
            refusal = error
        else:
            return led_on(f"{HOME}/{poll_id}/manage", kept(request, door, ADMIN, key, poll_id))
    again = refused(filled, refusal, {WrongKey: "key"})
    poll = await polls.admission.poll(poll_id)
    return poll_page("key", by, poll, "manage", polls.clock(), status=again.status, form=again.form)


async def _shown(
    poll_id: UUID,
    by: Credentials,
    polls: Polls,
    *,
    status: int = 200,
    said: str = "",
    asked: Form[Codes] | None = None,
    until: Form[Reopening] | None = None,
    codes: CodesMade | None = None,
    audit: AuditShown | None = None,
    coming_in: bool = False,
) -> Template:
    poll = await polls.admission.poll(poll_id)
    if not administers(by, poll):
        return poll_page("key", by, poll, "manage", polls.clock(), status=status, form=blank(Held))
    turnout = await polls.results.turnout_of(poll_id)
    return poll_page(
        "manage",
        by,
        poll,
        "manage",
        polls.clock(),
        status=status,
        turnout=turnout,
        policy=POLICIES[poll.voter_policy],
        visibility=VISIBILITIES[poll.results_visibility],
        form=asked or blank(Codes, {"count": USUAL_CODES}),
        until=until or blank(Reopening, as_typed(_still_to_come(poll, polls.clock()))),
        most_codes=MOST_CODES,
        codes=codes,
        audit=audit,
        coming_in=coming_in,
        said=said,
        by_key=by.user_id is None or by.user_id != poll.creator_id,
    )


def _still_to_come(poll: Poll, now: datetime) -> datetime | None:
    """The end that it has, if that has not passed."""
    return poll.expires_at if poll.expires_at is not None and poll.expires_at > now else None


@post(f"{POLL}/close", include_in_schema=False)
async def close(poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls) -> Response[Any]:
    await polls.authoring.close(credentials(request, visitor), poll_id)
    return led_on(f"{HOME}/{poll_id}/manage?said=closed")


@post(f"{POLL}/reopen", include_in_schema=False)
async def reopen(
    poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls
) -> Response[Any]:
    by = credentials(request, visitor)
    filled = await form(Reopening, request)
    refusal: Refusal | None = None
    if filled.good:
        try:
            until = closing_time(filled.value.expires, filled.value.expires_at)
            await polls.authoring.reopen(by, poll_id, until)
        except WrongKey:
            raise
        except (PeopleError, PollsError) as error:
            refusal = error
        else:
            return led_on(f"{HOME}/{poll_id}/manage?said=reopened")
    again = refused(filled, refusal)
    return await _shown(poll_id, by, polls, status=again.status, until=again.form)


@post(f"{POLL}/codes", include_in_schema=False)
async def codes(poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls) -> Response[Any]:
    """Answered with the codes themselves: they are nowhere else, and never shown again."""
    by = credentials(request, visitor)
    filled = await form(Codes, request)
    if filled.good:
        try:
            made = await polls.authoring.make_codes(by, poll_id, filled.value.count)
        except WrongKey:
            raise
        except (PeopleError, PollsError) as error:
            again = refused(filled, error)
            return await _shown(poll_id, by, polls, status=again.status, asked=again.form)
        return await _shown(poll_id, by, polls, codes=made)
    return await _shown(poll_id, by, polls, status=refused(filled).status, asked=filled)


@post(f"{POLL}/duplicate", include_in_schema=False)
async def duplicate(
    poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls, door: Door
) -> Response[Any]:
    made = await polls.authoring.duplicate(credentials(request, visitor), poll_id)
    return to_fresh_poll(request, door, visitor, made)


@post(f"{POLL}/recount", include_in_schema=False)
async def recount(
    poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls
) -> Response[Any]:
    by = credentials(request, visitor)
    try:
        audit = await polls.results.audit(by, poll_id)
    except VotesComingIn:
        return await _shown(poll_id, by, polls, status=409, coming_in=True)
    return await _shown(poll_id, by, polls, audit=audit)


@get(f"{POLL}/delete", include_in_schema=False)
async def end(poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls) -> Template:
    by = credentials(request, visitor)
    poll = await polls.admission.administered(by, poll_id)
    turnout = await polls.results.turnout_of(poll_id)
    return poll_page("delete", by, poll, "manage", polls.clock(), turnout=turnout)


@post(f"{POLL}/delete", include_in_schema=False)
async def delete(
    poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls, door: Door
) -> Response[Any]:
    await polls.authoring.delete(credentials(request, visitor), poll_id)
    return led_on(HOME, dropped(request, door, ADMIN, poll_id))


PAGES: list[ControllerRouterHandler] = [
    manage,
    take_up,
    close,
    reopen,
    codes,
    duplicate,
    recount,
    end,
    delete,
]

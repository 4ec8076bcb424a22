"""Making a poll, and the list of one's own; changing one until somebody has voted."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.response import Template
from litestar.types import ControllerRouterHandler
from msgspec import Meta

from potluck.apps.polls.entities import Method, Poll, ResultsVisibility, VoterPolicy
from potluck.apps.polls.errors import PollsError, VotesBegun, WrongKey
from potluck.apps.polls.keys import Credentials
from potluck.apps.polls.pages.around import (
    HOME,
    METHOD_NAMES,
    POLICIES,
    POLL,
    VISIBILITIES,
    AnyRequest,
    Refusal,
    poll_page,
    polls_page,
    refused,
)
from potluck.apps.polls.pages.candidate_lines import as_lines, read_lines
from potluck.apps.polls.pages.carrying import ADMIN, FRESH, credentials, kept
from potluck.apps.polls.pages.closing_times import as_typed, closing_time
from potluck.apps.polls.service import Polls
from potluck.apps.polls.settings import PollSettings
from potluck.apps.polls.views import PollMade
from potluck.people.authentication import Principal
from potluck.people.errors import InvalidFields, PeopleError, Stale, WrongField
from potluck.web.bodies import Body
from potluck.web.callers import Door
from potluck.web.cursors import Part
from potluck.web.forms import Form, Line, Seen, blank, form
from potluck.web.people.showing import led_on

__all__ = ["PAGES", "to_fresh_poll"]

Number = Annotated[int, Meta(ge=-1_000, le=1_000)]


class Making(Body):
    title: Line
    description: Annotated[str, Meta(max_length=20_000)] = ""
    candidates: Annotated[str, Meta(max_length=100_000)] = ""
    """One to a line."""
    expires: Line = ""
    """As the voter's clock has it; without a script, as UTC has it."""
    expires_at: Line = ""
    """The same moment with its offset, from the script."""
    voter_policy: VoterPolicy = "open"
    results_visibility: ResultsVisibility = "always"
    max_rankings: Number | None = None
    seats: Number | None = None
    method: Method | None = None
    version: Seen = 1


CHOICES: dict[str, Any] = {"policies": POLICIES, "visibilities": VISIBILITIES, "method_names": METHOD_NAMES}


@get(HOME, include_in_schema=False)
async def own_polls(visitor: Principal | None, polls: Polls, part: Part) -> Template:
    if visitor is None:
        return polls_page("polls", None, polls=[], more="")
    listed = part.answer(await polls.authoring.own(visitor, part.limit, part.after), lambda poll: poll)
    more = f"{HOME}?cursor={listed.next_cursor}" if listed.next_cursor else ""
    return polls_page("polls", visitor, polls=listed.items, more=more)


@get(f"{HOME}/new", include_in_schema=False)
async def new_poll(visitor: Principal | None) -> Template:
    return polls_page("new", visitor, form=blank(Making, {"voterPolicy": "open"}), **CHOICES)


@post(HOME, include_in_schema=False)
async def make(request: AnyRequest, visitor: Principal | None, polls: Polls, door: Door) -> Response[Any]:
    filled = await form(Making, request)
    refusal: Refusal | None = None
    if filled.good:
        try:
            made = await polls.authoring.create(Credentials(caller=visitor), _settings(filled.value))
        except (PeopleError, PollsError) as error:
            refusal = error
        else:
            return to_fresh_poll(request, door, visitor, made)
    again = refused(filled, refusal)
    return polls_page("new", visitor, status=again.status, form=again.form, **CHOICES)


def to_fresh_poll(request: AnyRequest, door: Door, visitor: Principal | None, made: PollMade) -> Response[Any]:
    """To where a new poll is shared, and its key shown once; whoever has no account keeps it in this browser."""
    cookies = [kept(request, door, FRESH, made.admin_key, made.id)]
    if visitor is None:
        cookies.append(kept(request, door, ADMIN, made.admin_key, made.id))
    return led_on(f"{HOME}/{made.id}/share", *cookies)


@get(f"{POLL}/edit", include_in_schema=False)
async def edit(poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls) -> Template:
    by = credentials(request, visitor)
    poll = await polls.admission.administered(by, poll_id)
    begun = (await polls.results.turnout_of(poll_id)).votes_version > 0
    return _edit_page(by, poll, polls, blank(Making, _filled_in(poll)), begun=begun)


@post(f"{POLL}/edit", include_in_schema=False)
async def change(
    poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls
) -> Response[Any]:
    by = credentials(request, visitor)
    filled = await form(Making, request)
    refusal: Refusal | None = None
    if filled.good:
        try:
            await polls.authoring.edit(by, poll_id, filled.value.version, _settings(filled.value))
        except WrongKey:
            raise
        except Stale:
            refusal = InvalidFields(WrongField("form", "The poll was changed meanwhile. Open this page again first"))
        except (PeopleError, PollsError) as error:
            refusal = error
        else:
            return led_on(f"{HOME}/{poll_id}/manage?said=changed")
    poll = await polls.admission.administered(by, poll_id)
    again = refused(filled, refusal)
    return _edit_page(by, poll, polls, again.form, status=again.status, begun=isinstance(refusal, VotesBegun))


def _edit_page(
    by: Credentials, poll: Poll, polls: Polls, filled: Form[Any], *, begun: bool, status: int = 200
) -> Template:
    return poll_page("edit", by, poll, "manage", polls.clock(), status=status, form=filled, begun=begun, **CHOICES)


def _filled_in(poll: Poll) -> Mapping[str, Any]:
    """The form as the poll has it now."""
    return {
        "title": poll.title,
        "description": poll.description or "",
        "candidates": as_lines(poll.candidates, poll.candidate_descriptions or {}),
        **as_typed(poll.expires_at),
        "voterPolicy": poll.voter_policy,
        "resultsVisibility": poll.results_visibility,
        "maxRankings": poll.max_rankings or "",
        "seats": poll.seats,
        "method": poll.method,
        "version": poll.version,
    }


def _settings(given: Making) -> PollSettings:
    names, said = read_lines(given.candidates)
    seats = given.seats if given.seats is not None else 1
    # A form that says nothing of the method means the usual one; so does one whose usual one no longer fits its seats.
    method = given.method or ("irv" if seats == 1 else "stv")
    return PollSettings(
        title=given.title,
        description=given.description,
        candidates=names,
        candidate_descriptions=said,
        expires_at=closing_time(given.expires, given.expires_at),
        voter_policy=given.voter_policy,
        results_visibility=given.results_visibility,
        max_rankings=given.max_rankings,
        seats=seats,
        method=method,
    )


PAGES: list[ControllerRouterHandler] = [own_polls, new_poll, make, edit, change]

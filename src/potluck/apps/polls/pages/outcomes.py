"""The page of results: who leads or has won, every round, how ballots moved; live while the poll is open."""

import re
from typing import Any
from uuid import UUID

from litestar import Response, get
from litestar.params import FromPath, FromQuery
from litestar.types import ControllerRouterHandler

from potluck.apps.polls.candidates import lot_order, names_of
from potluck.apps.polls.entities import Results
from potluck.apps.polls.errors import ResultsHidden
from potluck.apps.polls.following import Following
from potluck.apps.polls.pages.around import POLL, AnyRequest, poll_page
from potluck.apps.polls.pages.carrying import credentials
from potluck.apps.polls.pages.charts import charts
from potluck.apps.polls.problems import RESULTS_HIDDEN
from potluck.apps.polls.result_routes import BALLOT_MEDIA_TYPES, CSV, as_file
from potluck.apps.polls.service import Polls
from potluck.people.authentication import Principal
from potluck.web.callers import Door
from potluck.web.live import Live

__all__ = ["PAGES"]

ROUND = re.compile(r"[0-9]{1,6}")


@get(f"{POLL}/results", include_in_schema=False)
async def results(
    poll_id: FromPath[UUID],
    request: AnyRequest,
    visitor: Principal | None,
    polls: Polls,
    live: Live,
    method: FromQuery[str] = "",
    round: FromQuery[str] = "",
    whole: FromQuery[str] = "",
) -> Response[Any]:
    by = credentials(request, visitor)
    position = await live.position(Results.of(poll_id))
    try:
        poll, known, status = await polls.results.record(by, poll_id, method or None)
    except ResultsHidden as hidden:
        poll = await polls.admission.poll(poll_id)
        return poll_page("hidden", by, poll, "results", polls.clock(), status=RESULTS_HIDDEN.status, why=str(hidden))
    turnout = await polls.results.turnout_of(poll_id)
    record = known.record
    drawn = charts(record, poll.candidates, int(round) if ROUND.fullmatch(round) else None, whole=bool(whole))
    asked = "".join(
        f"&{name}={value}" for name, value in (("method", method), ("whole", "1" if whole else "")) if value
    )
    return poll_page(
        "results",
        by,
        poll,
        "results",
        polls.clock(),
        drawn=drawn,
        record=record,
        final=status == "final",
        votes=record.votes if known.votes_version >= turnout.votes_version else turnout.votes,
        behind=max(0, turnout.votes - record.votes) if known.votes_version < turnout.votes_version else 0,
        # Each only grows, so the sum tells which of two answers is the newer one; a poll's time is over by itself.
        version=2 * (known.votes_version + turnout.votes_version + poll.version) + (status == "final"),
        lots=names_of(poll, lot_order(poll)),
        position=position,
        asked=asked,
    )


@get(f"{POLL}/results/events", include_in_schema=False)
async def events(
    poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls, live: Live, door: Door
) -> Response[None]:
    following = Following(polls, credentials(request, visitor), poll_id)
    await following.must_see()
    # The page is read again by whoever hears of it, with the round and the method that they look at.
    return following.stream(request, live, door, visitor, whole=False)


@get(f"{POLL}/results.csv", include_in_schema=False)
async def table(
    poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls, method: FromQuery[str] = ""
) -> Response[bytes]:
    found = await polls.results.csv(credentials(request, visitor), poll_id, method or None)
    return as_file(found, CSV, "results.csv")


@get(f"{POLL}/ballots", include_in_schema=False)
async def ballots(
    poll_id: FromPath[UUID],
    request: AnyRequest,
    visitor: Principal | None,
    polls: Polls,
    format: FromQuery[str] = "json",
) -> Response[bytes]:
    found = await polls.results.ballots(credentials(request, visitor), poll_id, format)
    return as_file(found, BALLOT_MEDIA_TYPES[format], f"ballots.{format}")


PAGES: list[ControllerRouterHandler] = [results, events, table, ballots]

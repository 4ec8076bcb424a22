"""The results page: who leads or has won, every round, how ballots moved; live while the poll is open."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar
from uuid import UUID

from starlette.responses import Response

from potluck.apps.polls.access import ReadsRecord, ResultsHidden, SeesResults, ToPoll
from potluck.apps.polls.context import PollsContext
from potluck.apps.polls.entities import Results
from potluck.apps.polls.live_results import LiveResults
from potluck.apps.polls.pages.charts import charts
from potluck.apps.polls.pages.frame import poll_frame
from potluck.apps.polls.pages.voting import POLL
from potluck.apps.polls.results import ByMethod, InFormat, current_record, poll_ballots, results_table, turnout_of
from potluck.validation import decode_query
from potluck.web import UNSET, Call, Endpoints, Input, MaybeSince

ROUND = re.compile(r"[0-9]{1,6}")
In = TypeVar("In", bound=Input)

pages = Endpoints()


@pages.get(f"{POLL}/results")
async def results(call: Call) -> Response:
    position = await call.core.live.position(Results.of(call.id("poll_id")))
    try:
        at = await call.admit(ReadsRecord)
    except ResultsHidden as hidden:
        stranger = await call.admit(ToPoll)
        return call.page(
            "polls/hidden.html", status=hidden.problem.status, why=str(hidden), **poll_frame(stranger, "results")
        )
    shown = await outcome_shown(at.polls, at.poll_id, call.query, at.found)
    return call.page("polls/results.html", position=position, **shown, **poll_frame(at, "results"))


async def outcome_shown(
    polls: PollsContext, poll_id: UUID, query: Mapping[str, str], found: Results | None = None
) -> dict[str, Any]:
    """Template values of polls/outcome.html; the query string selects the round and the method."""
    method, round, whole = (query.get(name, "") for name in ("method", "round", "whole"))
    now = await current_record(polls, poll_id, method or UNSET, found)
    poll, known = now.poll, now.known
    turnout = await turnout_of(polls.store, poll_id)
    record = known.record
    behind = known.votes_version < turnout.votes_version
    return {
        "drawn": charts(
            record,
            poll.candidates,
            int(round) if ROUND.fullmatch(round) else None,
            whole=bool(whole),
            live=now.status == "live",
        ),
        "record": record,
        "final": now.status == "final",
        "votes": turnout.votes if behind else record.votes,
        "behind": max(0, turnout.votes - record.votes) if behind else 0,
        # Each of these only grows, so the sum orders two responses; a poll expires without a write, hence the last bit.
        "version": 2 * (known.votes_version + turnout.votes_version + poll.version) + (now.status == "final"),
        "lots": poll.names(poll.lot_order),
        "asked": "".join(f"&{name}={value}" for name, value in (("method", method), ("whole", whole and "1")) if value),
    }


@pages.get(f"{POLL}/results/events")
async def events(call: Call) -> Response:
    # Not `whole`: on each event the page fetches itself again, with the round and the method it shows.
    return LiveResults(await call.admit(SeesResults)).stream(_query(call, MaybeSince).since or None, whole=False)


@pages.get(f"{POLL}/results.csv")
async def table(call: Call) -> Response:
    return await results_table(await call.admit(ReadsRecord), _query(call, ByMethod))


@pages.get(f"{POLL}/ballots")
async def ballots(call: Call) -> Response:
    return await poll_ballots(await call.admit(SeesResults), _query(call, InFormat))


def _query(call: Call, kind: type[In]) -> In:
    """The query string as this input; empty values count as left out."""
    return decode_query(kind, [each for each in call.request.query_params.multi_items() if each[1]], strict=False)

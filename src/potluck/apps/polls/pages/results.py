"""The results page: who leads or has won, every round, how ballots moved; live while the poll is open."""

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from potluck.apps.polls.access import ReadsRecord, ResultsHidden, ToPoll
from potluck.apps.polls.context import PollsContext
from potluck.apps.polls.entities import Results
from potluck.apps.polls.pages.charts import charts
from potluck.apps.polls.pages.frame import poll_frame
from potluck.apps.polls.results import current_record, outcome, poll_ballots, results_table, turnout_of
from potluck.web import UNSET, Show

ROUND = re.compile(r"[0-9]{1,6}")


@outcome.page(None, "polls/hidden.html")
async def hidden(at: ToPoll, show: Show) -> Mapping[str, Any]:
    return poll_frame(at, "results")


@outcome.page("/results", "polls/results.html", instead={ResultsHidden: hidden})
async def results(at: ReadsRecord, show: Show) -> Mapping[str, Any]:
    shown = await outcome_shown(at.polls, at.poll_id, show.query, at.found)
    return {"position": at.live_position, **shown, **poll_frame(at, "results")}


async def outcome_shown(
    polls: PollsContext, poll_id: UUID, query: Mapping[str, str], rows: Results | None = None
) -> dict[str, Any]:
    """Template values of polls/outcome.html; the query string selects the round and the method."""
    method, round, whole = (query.get(name, "") for name in ("method", "round", "whole"))
    now = await current_record(polls, poll_id, method or UNSET, rows)
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
        # Each of these only grows, so the sum orders two responses. A poll expires without a write, hence the last bit.
        "version": 2 * (known.votes_version + turnout.votes_version + poll.version) + (now.status == "final"),
        "lots": poll.names(poll.lot_order),
        "asked": "".join(f"&{name}={value}" for name, value in (("method", method), ("whole", whole and "1")) if value),
    }


outcome.page("/results.csv")(results_table)
outcome.page("/ballots")(poll_ballots)

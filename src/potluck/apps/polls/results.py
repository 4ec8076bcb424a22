"""Results: who won and why, for those who may see it; the ballots as a file; and an audit that recounts the votes.

Results are calculated from the counts and never read the votes. Finished counts are stored, so that showing results
takes one request if nobody has voted since, at ten votes and at a million.
"""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Literal, NamedTuple, cast
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from potluck.apps.polls.access import (
    POLL,
    PollAdmin,
    ReadsRecord,
    ResultsHidden,
    SeesResults,
    WrongKey,
    served,
)
from potluck.apps.polls.ballot_files import BallotFile, Format, write
from potluck.apps.polls.candidates import Numbers
from potluck.apps.polls.context import PollsContext
from potluck.apps.polls.count_records import FinishedCount, counted, rules_of, stored_record, version_of, votes_of
from potluck.apps.polls.counting import CannotCount, CountRecord, CountResults, Ranking, as_bytes, results
from potluck.apps.polls.counting.tables import as_csv
from potluck.apps.polls.entities import Poll, Results, Shard, Vote
from potluck.apps.polls.fields import POLL_METHODS, BallotFormat, Method, MethodName
from potluck.store import Store
from potluck.validation import FieldError, ValidationError
from potluck.web import UNSET, Actions, Input, NotFound, ProblemError, Unset, csv_bytes

CSV = "text/csv"
BALLOT_MEDIA_TYPES: Mapping[Format, str] = {"json": "application/json", "csv": CSV, "blt": "text/plain"}
# How often to start over because votes came in meanwhile, which a closed poll rules out.
ATTEMPTS = 5
DIFFERENCES_SHOWN = 100


class VotesComingIn(
    ProblemError,
    slug="votes-coming-in",
    title="Votes are coming in",
    remedy="Try again in a quieter moment, or close the poll first.",
    detail="Votes kept coming in while they were recounted",
):
    """To compare a recount with the counts, the votes must stand still for as long as reading them takes."""


class Turnout(NamedTuple):
    """How many votes there are, and a version that every vote, change and withdrawal increments."""

    votes: int
    votes_version: int


class CountDifference(Struct, rename="camel", frozen=True, kw_only=True):
    """A ranking of which there are not as many votes as were counted."""

    ranking: list[str]
    votes: int
    counted: int


class Audit(Struct, rename="camel", frozen=True, kw_only=True):
    """What a recount from the votes themselves gave, beside what the results are worked out from."""

    equal: bool
    method: Method
    votes: int
    """How many votes were read."""
    counted: int
    """How many votes the counts add up to."""
    unreadable: int
    """Votes that name somebody who is not a candidate."""
    votes_version: int
    recount: str
    """The SHA-256 of the record counted from the votes."""
    record: str
    """The SHA-256 of the record that the results show."""
    differences: list[CountDifference]


class ByMethod(Input):
    method: MethodName | Unset = UNSET


class InFormat(Input):
    format: BallotFormat = "json"


class CurrentRecord(NamedTuple):
    """A poll with its finished count, by candidate number in exact units."""

    poll: Poll
    known: FinishedCount
    status: Literal["live", "final"]

    @property
    def results(self) -> CountResults:
        """The same with names and sentences."""
        return results(
            self.known.record, self.poll.candidates, status=self.status, votes_version=self.known.votes_version
        )


# --- what came of a poll, for every app that has polls ----------------------------------------------------------------


async def current_record(
    context: PollsContext, poll_id: UUID, method: str | Unset = UNSET, found: Results | None = None
) -> CurrentRecord:
    """The record to show by this method, or by the poll's own, renewed if due; `found` is what the caller just read.

    While votes come in, readers see the last count, at most a second old where counting is quick.
    """
    records, patience = context.records, context.readers_wait
    poll, known = None, None
    waited = False
    for _ in range(ATTEMPTS):
        if found is None:
            found = await context.store.gather(Results.of(poll_id))
        poll = served(None if found is None else found.poll, context)
        assert found is not None
        now = context.clock()
        by_method = _method(poll, method)
        live = poll.is_open(now)
        version = version_of(found.shards)
        known = records.empty(poll, by_method) if version == 0 else stored_record(found.records, by_method)
        if known is not None and known.votes_version == version:
            return CurrentRecord(poll, known, "live" if live else "final")
        parts = sum(each.method == by_method for each in found.records)
        found = None
        if live and known is not None:
            wait = known.due - now
            if wait > timedelta() and (waited or wait > patience.until_due):
                return CurrentRecord(poll, known, "live")
            if wait > timedelta():
                # A recount is due in a moment, and people who have just voted want to see their vote in it.
                waited = True
                await asyncio.sleep(wait.total_seconds())
                continue
            renewal = records.renewal(poll, by_method, parts)
            done, _ = await asyncio.wait({renewal}, timeout=patience.for_count.total_seconds())
            return CurrentRecord(poll, renewal.result() if done else known, "live")
        known = await asyncio.shield(records.renewal(poll, by_method, parts))
        if live or known.votes_version == version:
            return CurrentRecord(poll, known, "live" if live else "final")
        # An earlier reader started this count before the last vote came in.
    assert poll is not None
    assert known is not None
    return CurrentRecord(poll, known, "final")


async def turnout_of(store: Store, poll_id: UUID) -> Turnout:
    shards = await store.all(Shard.of_poll(poll_id))
    return Turnout(votes_of(shards), version_of(shards))


async def ballot_file(context: PollsContext, poll: Poll, format: Format) -> str:
    """Every ranking and its number of votes, as a ballot file without voters."""
    found = await context.records.ballots(poll.poll_id)
    return await asyncio.to_thread(_written, poll, found.ballots, format)


async def audited(context: PollsContext, poll: Poll, method: str | Unset = UNSET) -> Audit:
    """Recounts from the votes and compares; raises VotesComingIn if they keep changing while they are read."""
    by_method = _method(poll, method)
    rows = context.store
    for _ in range(ATTEMPTS):
        before = await rows.all(Shard.of_poll(poll.poll_id))
        votes, unreadable = await _votes(rows, poll)
        ballots = await context.records.ballots(poll.poll_id)
        kept = await rows.gather(Results.of(poll.poll_id))
        if kept is None:
            raise NotFound
        if kept.shards != before:
            continue
        version = version_of(before)
        known = stored_record(kept.records, by_method)
        record = None if known is None or known.votes_version != version else known.record
        found = await asyncio.to_thread(_compared, poll, by_method, votes, unreadable, ballots.ballots, record, version)
        # A vote written into the table without its count is missing from the shards too.
        return found if votes_of(before) == found.votes else replace(found, equal=False)
    raise VotesComingIn


async def _votes(store: Store, poll: Poll) -> tuple[dict[Ranking, int], int]:
    """How many votes each ranking has, and how many name somebody who is not a candidate."""
    numbers = Numbers(poll)
    tallied: dict[Ranking, int] = {}
    unreadable = 0
    async for vote in store.each(Vote.of_poll(poll.poll_id)):
        ranking = tuple(numbers.number(name) or 0 for name in vote.rankings)
        if 0 in ranking:
            unreadable += 1
        else:
            tallied[ranking] = tallied.get(ranking, 0) + 1
    return tallied, unreadable


def _method(poll: Poll, method: str | Unset) -> Method:
    """The method asked for, or the poll's own; ValidationError for one that cannot count this poll."""
    chosen = poll.method if method is UNSET else next((each for each in POLL_METHODS if each == method), None)
    if chosen is None:
        raise ValidationError(
            FieldError("method", f"Method must be {', '.join(POLL_METHODS[:-1])} or {POLL_METHODS[-1]}")
        )
    try:
        rules_of(poll, chosen).check(len(poll.candidates))
    except CannotCount as refusal:
        raise ValidationError(FieldError("method", f"This poll cannot be counted so: {refusal}")) from refusal
    return chosen


def _written(poll: Poll, ballots: Mapping[Ranking, int], format: Format) -> str:
    file = BallotFile(
        candidates=list(poll.candidates),
        ballots=dict(ballots),
        title=poll.title,
        seats=poll.seats,
        method=poll.method,
        lot_order=poll.lot_order or None,
    )
    return write(file, format)


def _compared(
    poll: Poll,
    method: Method,
    votes: dict[Ranking, int],
    unreadable: int,
    counts: Mapping[Ranking, int],
    shown: CountRecord | None,
    version: int,
) -> Audit:
    """Compares both records; `shown` is the stored one, if it is of the same version."""
    recount = as_bytes(counted(poll, method, votes))
    record = as_bytes(counted(poll, method, counts) if shown is None else shown)
    different = sorted(each for each in {*votes, *counts} if votes.get(each, 0) != counts.get(each, 0))
    return Audit(
        equal=recount == record and not different and not unreadable,
        method=method,
        votes=sum(votes.values()) + unreadable,
        counted=sum(counts.values()),
        unreadable=unreadable,
        votes_version=version,
        recount=sha256(recount).hexdigest(),
        record=sha256(record).hexdigest(),
        differences=[
            CountDifference(
                ranking=poll.names(cast("tuple[int, ...]", each)),
                votes=votes.get(each, 0),
                counted=counts.get(each, 0),
            )
            for each in different[:DIFFERENCES_SHOWN]
        ],
    )


# --- reading them -----------------------------------------------------------------------------------------------------

outcome: Actions[Poll] = Actions(SeesResults, api="/polls/{poll_id}", page=POLL, tag="Polls")


@outcome.read("/results", ResultsHidden)
async def poll_results(at: ReadsRecord, wanted: ByMethod) -> CountResults:
    """Every round of the count by this method, or by the poll's own, with a sentence each. Who sees them while the poll
    is open, its `resultsVisibility` says."""
    return (await current_record(at.polls, at.poll_id, wanted.method, at.found)).results


@outcome.read("/results.csv", ResultsHidden, media_type=CSV)
async def results_table(at: ReadsRecord, wanted: ByMethod) -> Response:
    """The results as a table: a line for each candidate, cause of exhaustion and transfer of each round."""
    found = await current_record(at.polls, at.poll_id, wanted.method, at.found)
    return as_file(as_csv(found.results), CSV, "results.csv")


@outcome.read("/ballots", ResultsHidden)
async def poll_ballots(at: SeesResults, wanted: InFormat) -> Response:
    """Every ranking and how many gave it, as a file that `potluck count` and others can count. It names no voter."""
    text = await ballot_file(at.polls, at.poll, wanted.format)
    return as_file(text, BALLOT_MEDIA_TYPES[wanted.format], f"ballots.{wanted.format}")


@outcome.read("/audit", WrongKey, VotesComingIn, tagged=False)
async def poll_audit(at: PollAdmin, wanted: ByMethod) -> Audit:
    """A recount from the votes themselves, beside what the results show. For whoever made the poll."""
    return await audited(at.polls, at.poll, wanted.method)


def as_file(content: str, media_type: str, name: str) -> Response:
    """A response that browsers download under this name."""
    named = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "private, no-cache"}
    body = csv_bytes(content) if media_type == CSV else content.encode()
    return Response(body, headers=named, media_type=media_type)

"""Results: who won and why, for those who may see it; the ballots as a file; and an audit that recounts the votes.

Results are calculated from the counts and never read the votes. Finished counts are stored, so that results take one
request if there are no new votes, at ten votes and at a million.
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
from potluck.apps.polls.context import PollsContext
from potluck.apps.polls.count_records import FinishedCount, counted, rules_of, stored_record, version_of, votes_of
from potluck.apps.polls.counting import CannotCount, CountRecord, CountResults, Ranking, as_bytes, results
from potluck.apps.polls.counting.tables import as_csv
from potluck.apps.polls.entities import Poll, Results, Shard
from potluck.apps.polls.fields import POLL_METHODS, BallotFormat, Method, MethodName
from potluck.apps.polls.recounting import tally_votes
from potluck.apps.polls.shards import is_sealed, seal
from potluck.store import Store
from potluck.validation import FieldError, ValidationError
from potluck.web import UNSET, Actions, Input, NotFound, ProblemError, Unset, attachment

CSV = "text/csv"
BALLOT_MEDIA_TYPES: Mapping[Format, str] = {"json": "application/json", "csv": CSV, "blt": "text/plain"}
# How often to start over because votes came in meanwhile; that cannot happen once a poll is closed.
ATTEMPTS = 5
DIFFERENCES_SHOWN = 100


class VotesComingIn(
    ProblemError,
    slug="votes-coming-in",
    title="Votes are coming in",
    remedy="Try again when fewer votes are coming in, or close the poll first.",
    detail="Votes kept coming in while they were recounted",
):
    """A recount can be compared with the counts only if no vote changes while it is read."""


class Turnout(NamedTuple):
    """The number of votes, and a version that every vote, change and withdrawal increments."""

    votes: int
    votes_version: int


class CountDifference(Struct, rename="camel", frozen=True, kw_only=True):
    """A ranking whose number of votes differs from its count."""

    ranking: list[str]
    votes: int
    counted: int


class Audit(Struct, rename="camel", frozen=True, kw_only=True):
    """A recount from the votes themselves, compared with the counts that results are calculated from."""

    equal: bool
    method: Method
    votes: int
    """The number of votes that were read."""
    counted: int
    """The sum of the counts."""
    unreadable: int
    """Votes that rank a name that is not a candidate."""
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


# --- what is read, for every app that has polls -----------------------------------------------------------------------


async def current_record(
    context: PollsContext, poll_id: UUID, method: str | Unset = UNSET, rows: Results | None = None
) -> CurrentRecord:
    """The record to show by this method, or by the poll's own, renewed if due; `rows` are what the caller just read.

    While votes come in, readers get the last count, which is at most a second old where counting is quick.
    """
    records, patience = context.records, context.readers_wait
    poll, known = None, None
    waited = False
    for _ in range(ATTEMPTS):
        if rows is None:
            rows = await context.store.gather(Results.of(poll_id))
        poll = served(None if rows is None else rows.poll, context)
        assert rows is not None
        now = context.store.clock()
        by_method = _method(poll, method)
        live = poll.is_open(now)
        if not live and not is_sealed(poll, rows.shards):
            # It has expired, or closing it was interrupted: votes that were begun in time may still come in.
            await seal(context.store, poll)
            rows = None
            continue
        version = version_of(rows.shards)
        known = records.empty(poll, by_method) if version == 0 else stored_record(rows.records, by_method)
        if known is not None and known.votes_version == version:
            return CurrentRecord(poll, known, "live" if live else "final")
        parts = sum(record.method == by_method for record in rows.records)
        rows = None
        if live and known is not None:
            wait = known.due - now
            if wait > timedelta() and (waited or wait > patience.until_due):
                return CurrentRecord(poll, known, "live")
            if wait > timedelta():
                # A recount is due in a moment, and people who have just voted want to see their vote counted.
                waited = True
                await asyncio.sleep(wait.total_seconds())
                continue
            renewal = records.renewal(poll, by_method, parts)
            done, _ = await asyncio.wait({renewal}, timeout=patience.for_count.total_seconds())
            return CurrentRecord(poll, renewal.result() if done else known, "live")
        known = await asyncio.shield(records.renewal(poll, by_method, parts))
        if live or known.votes_version == version:
            return CurrentRecord(poll, known, "live" if live else "final")
        # Another reader had started this count before the last vote came in.
    assert poll is not None
    assert known is not None
    return CurrentRecord(poll, known, "final")


async def turnout_of(store: Store, poll_id: UUID) -> Turnout:
    shards = await store.all(Shard.of_poll(poll_id))
    return Turnout(votes_of(shards), version_of(shards))


def results_file(current: CurrentRecord, title: str) -> Response:
    """The results as a table to download, named after the poll."""
    return _as_file(as_csv(current.results), CSV, attachment("csv", title, "results"))


async def ballot_file(context: PollsContext, poll: Poll, format: Format, title: str) -> Response:
    """Every ranking and its number of votes, as a ballot file without voters to download, named after the poll."""
    votes = await context.records.ballots(poll.poll_id)
    text = await asyncio.to_thread(_written, poll, votes.ballots, format)
    return _as_file(text, BALLOT_MEDIA_TYPES[format], attachment(format, title, "ballots"))


async def audited(context: PollsContext, poll: Poll, method: str | Unset = UNSET) -> Audit:
    """Recounts from the votes and compares; raises VotesComingIn if they keep changing while they are read."""
    by_method = _method(poll, method)
    store = context.store
    for _ in range(ATTEMPTS):
        before = await store.all(Shard.of_poll(poll.poll_id))
        tally, unreadable = await tally_votes(store, poll)
        votes = cast("Mapping[Ranking, int]", tally)
        ballots = await context.records.ballots(poll.poll_id)
        rows = await store.gather(Results.of(poll.poll_id))
        if rows is None:
            raise NotFound
        version = version_of(before)
        if version_of(rows.shards) != version:
            continue
        known = stored_record(rows.records, by_method)
        record = None if known is None or known.votes_version != version else known.record
        audit = await asyncio.to_thread(_compared, poll, by_method, votes, unreadable, ballots.ballots, record, version)
        # A vote written into the table without its count is missing from the shards too.
        return audit if votes_of(before) == audit.votes else replace(audit, equal=False)
    raise VotesComingIn


def _method(poll: Poll, method: str | Unset) -> Method:
    """The method asked for, or the poll's own; ValidationError for one that cannot count this poll."""
    chosen = poll.method if method is UNSET else next((name for name in POLL_METHODS if name == method), None)
    if chosen is None:
        raise ValidationError(
            FieldError("method", f"Method must be {', '.join(POLL_METHODS[:-1])} or {POLL_METHODS[-1]}")
        )
    try:
        rules_of(poll, chosen).check(len(poll.candidates))
    except CannotCount as refusal:
        raise ValidationError(FieldError("method", f"This method cannot count this poll: {refusal}")) from refusal
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
    votes: Mapping[Ranking, int],
    unreadable: int,
    counts: Mapping[Ranking, int],
    shown: CountRecord | None,
    version: int,
) -> Audit:
    """Compares both records; `shown` is the stored one, if it is of the same version."""
    recount = as_bytes(counted(poll, method, votes))
    record = as_bytes(counted(poll, method, counts) if shown is None else shown)
    different = sorted(ranking for ranking in {*votes, *counts} if votes.get(ranking, 0) != counts.get(ranking, 0))
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
                ranking=poll.names(cast("tuple[int, ...]", ranking)),
                votes=votes.get(ranking, 0),
                counted=counts.get(ranking, 0),
            )
            for ranking in different[:DIFFERENCES_SHOWN]
        ],
    )


# --- reading them -----------------------------------------------------------------------------------------------------

outcome: Actions[Poll] = Actions(SeesResults, api="/polls/{poll_id}", page=POLL, tag="Polls")


@outcome.read("/results", ResultsHidden)
async def poll_results(at: ReadsRecord, query: ByMethod) -> CountResults:
    """Get every round of the count by this method, or by the poll's own, with a sentence each. `resultsVisibility`
    decides who may see them while the poll is open."""
    return (await current_record(at.polls, at.poll_id, query.method, at.found)).results


@outcome.read("/results.csv", ResultsHidden, media_type=CSV)
async def results_table(at: ReadsRecord, query: ByMethod) -> Response:
    """Get the results as a table: per round, a line for each candidate, cause of exhaustion and transfer."""
    current = await current_record(at.polls, at.poll_id, query.method, at.found)
    return results_file(current, current.poll.title)


@outcome.read("/ballots", ResultsHidden)
async def poll_ballots(at: SeesResults, query: InFormat) -> Response:
    """Download the ballots: every ranking and its number of votes, without voters, for `potluck count` and others."""
    return await ballot_file(at.polls, at.poll, query.format, at.poll.title)


@outcome.read("/audit", WrongKey, VotesComingIn, tagged=False)
async def poll_audit(at: PollAdmin, query: ByMethod) -> Audit:
    """Recount the votes and compare them with the results. For the poll's creator."""
    return await audited(at.polls, at.poll, query.method)


def _as_file(content: str, media_type: str, named: Mapping[str, str]) -> Response:
    """A response that browsers download."""
    headers = {**named, "cache-control": "private, no-cache"}
    # With a byte order mark, spreadsheets read every letter as written.
    body = content.encode("utf-8-sig" if media_type == CSV else "utf-8")
    return Response(body, headers=headers, media_type=media_type)

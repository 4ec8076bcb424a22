"""Results: who has won and why, for those who may see it; the ballots to count again, and the audit from the votes.

Results are worked out from the counts and never read the votes. What was counted is kept, so that results on which
nobody has voted since are one request, at ten votes and at a million.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Literal, cast
from uuid import UUID

from potluck.apps.polls.admission import Admission
from potluck.apps.polls.ballot_files import FORMATS, BallotFile, Format, write
from potluck.apps.polls.candidates import Numbers, lot_order, names_of
from potluck.apps.polls.counting import METHODS, CannotCount, Ranking, Record, as_bytes, results
from potluck.apps.polls.counting import Results as ResultsShown
from potluck.apps.polls.counting.tables import as_csv
from potluck.apps.polls.entities import Method, Poll, Results, Shard, Vote
from potluck.apps.polls.errors import NoSuchPoll, VotesComingIn
from potluck.apps.polls.keys import Credentials
from potluck.apps.polls.records import Known, Records, counted, rules_of, stored_record, version_of, votes_of
from potluck.apps.polls.views import AuditShown, CountDifference, Turnout, is_open
from potluck.people.errors import InvalidFields, WrongField
from potluck.store import Clock, Store

__all__ = ["PollResults", "ReadersWait"]

# How often counting is begun anew because votes came in meanwhile: of a closed poll, none do.
ATTEMPTS = 5
DIFFERENCES_SHOWN = 100


@dataclass(frozen=True, slots=True)
class ReadersWait:
    """How long a reader of an open poll waits for votes that came in since the last count, and then sees that."""

    until_due: timedelta = timedelta(seconds=1)
    """Until it may be counted again; where that takes longer, not at all."""
    for_count: timedelta = timedelta(seconds=2)
    """For a count that is under way; it goes on without them, and whoever looks next sees it."""


class PollResults:
    """What came of a poll."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        admission: Admission,
        records: Records,
        readers_wait: ReadersWait,
    ) -> None:
        self._store = store
        self._clock = clock
        self._admission = admission
        self._records = records
        self._readers_wait = readers_wait

    async def read(self, by: Credentials, poll_id: UUID, method: str | None = None) -> ResultsShown:
        """The results by this method, or by the poll's own; final once the poll is closed.

        Whoever comes while votes come in sees them as of the last count, at most a second old where counting is quick.
        """
        poll, known, status = await self._known(by, poll_id, method)
        return results(known.record, poll.candidates, status=status, votes_version=known.votes_version)

    async def record(
        self, by: Credentials, poll_id: UUID, method: str | None = None
    ) -> tuple[Poll, Known, Literal["live", "final"]]:
        """The same as it was counted: by candidate number, in exact units."""
        return await self._known(by, poll_id, method)

    async def csv(self, by: Credentials, poll_id: UUID, method: str | None = None) -> str:
        """The same as a table for spreadsheets."""
        return as_csv(await self.read(by, poll_id, method))

    async def turnout(self, by: Credentials, poll_id: UUID) -> Turnout:
        """How many votes there are now, for those who may see the results."""
        poll = await self._admission.poll(poll_id)
        await self._admission.must_see_results(by, poll, self._clock())
        return await self.turnout_of(poll_id)

    async def turnout_of(self, poll_id: UUID) -> Turnout:
        shards = await self._store.all(Shard.of_poll(poll_id))
        return Turnout(votes=votes_of(shards), votes_version=version_of(shards))

    async def ballots(self, by: Credentials, poll_id: UUID, format: str = "json") -> str:
        """Every ranking and how many gave it, as a ballot file without voters, for those who may see the results."""
        wanted = next((each for each in FORMATS if each == format), None)
        if wanted is None:
            raise InvalidFields(WrongField("format", f"Format must be {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"))
        poll = await self._admission.poll(poll_id)
        await self._admission.must_see_results(by, poll, self._clock())
        found = await self._records.ballots(poll_id)
        return await asyncio.to_thread(_written, poll, found.ballots, wanted)

    async def audit(self, by: Credentials, poll_id: UUID, method: str | None = None) -> AuditShown:
        """A recount from the votes themselves, beside what the results show; for whoever made the poll.

        VotesComingIn if they do not stand still for as long as they are read.
        """
        poll = await self._admission.administered(by, poll_id)
        by_method = _method(poll, method)
        for _ in range(ATTEMPTS):
            before = await self._store.all(Shard.of_poll(poll_id))
            votes, unreadable = await self._votes(poll)
            found = await self._records.ballots(poll_id)
            kept = await self._store.gather(Results.of(poll_id))
            if kept is None:
                raise NoSuchPoll
            if kept.shards != before:
                continue
            version = version_of(before)
            known = stored_record(kept.records, by_method)
            shown = None if known is None or known.votes_version != version else known.record
            return await asyncio.to_thread(_compared, poll, by_method, votes, unreadable, found.ballots, shown, version)
        raise VotesComingIn

    # --- what these share ---------------------------------------------------------------------------------------

    async def _known(
        self, by: Credentials, poll_id: UUID, method: str | None
    ) -> tuple[Poll, Known, Literal["live", "final"]]:
        """The record to show, renewed if it is time to."""
        poll, known = None, None
        waited = False
        for attempt in range(ATTEMPTS):
            found = await self._store.gather(Results.of(poll_id))
            poll = self._admission.served(None if found is None else found.poll)
            assert found is not None
            now = self._clock()
            if attempt == 0:
                await self._admission.must_see_results(by, poll, now)
            by_method = _method(poll, method)
            live = is_open(poll, now)
            version = version_of(found.shards)
            known = self._records.empty(poll, by_method) if version == 0 else stored_record(found.records, by_method)
            if known is not None and known.votes_version == version:
                return poll, known, "live" if live else "final"
            parts = sum(each.method == by_method for each in found.records)
            if live and known is not None:
                wait = known.due - now
                if wait > timedelta() and (waited or wait > self._readers_wait.until_due):
                    return poll, known, "live"
                if wait > timedelta():
                    # It is renewed in a moment, and whoever has just voted wants to see that.
                    waited = True
                    await asyncio.sleep(wait.total_seconds())
                    continue
                renewal = self._records.renewal(poll, by_method, parts)
                done, _ = await asyncio.wait({renewal}, timeout=self._readers_wait.for_count.total_seconds())
                return poll, renewal.result() if done else known, "live"
            known = await asyncio.shield(self._records.renewal(poll, by_method, parts))
            if live or known.votes_version == version:
                return poll, known, "live" if live else "final"
            # The count was begun before the last vote came in, by somebody who looked earlier.
        assert poll is not None
        assert known is not None
        return poll, known, "final"

    async def _votes(self, poll: Poll) -> tuple[dict[Ranking, int], int]:
        """How many votes say each ranking, and how many name somebody who is no candidate."""
        numbers = Numbers(poll)
        tallied: dict[Ranking, int] = {}
        unreadable = 0
        async for vote in self._store.each(Vote.of_poll(poll.poll_id)):
            ranking = tuple(numbers.number(name) or 0 for name in vote.rankings)
            if 0 in ranking:
                unreadable += 1
            else:
                tallied[ranking] = tallied.get(ranking, 0) + 1
        return tallied, unreadable


def _method(poll: Poll, method: str | None) -> Method:
    """The method asked for, or the poll's own; InvalidFields for one that cannot count this poll."""
    chosen = poll.method if method is None else next((each for each in METHODS if each == method), None)
    if chosen is None:
        raise InvalidFields(WrongField("method", f"Method must be {', '.join(METHODS[:-1])} or {METHODS[-1]}"))
    try:
        rules_of(poll, chosen).check(len(poll.candidates))
    except CannotCount as refusal:
        raise InvalidFields(WrongField("method", f"This poll cannot be counted so: {refusal}")) from refusal
    return chosen


def _written(poll: Poll, ballots: Mapping[Ranking, int], format: Format) -> str:
    file = BallotFile(
        candidates=list(poll.candidates),
        ballots=dict(ballots),
        title=poll.title,
        seats=poll.seats,
        lot_order=lot_order(poll),
    )
    return write(file, format)


def _compared(
    poll: Poll,
    method: Method,
    votes: dict[Ranking, int],
    unreadable: int,
    counts: Mapping[Ranking, int],
    shown: Record | None,
    version: int,
) -> AuditShown:
    """Both records side by side; `shown` is the one that is kept, if that is of these votes."""
    recount = as_bytes(counted(poll, method, votes))
    record = as_bytes(counted(poll, method, counts) if shown is None else shown)
    different = sorted(each for each in {*votes, *counts} if votes.get(each, 0) != counts.get(each, 0))
    return AuditShown(
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
                ranking=names_of(poll, cast("tuple[int, ...]", each)),
                votes=votes.get(each, 0),
                counted=counts.get(each, 0),
            )
            for each in different[:DIFFERENCES_SHOWN]
        ],
    )

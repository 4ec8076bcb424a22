"""A poll that somebody follows: votes counted so far and the record, told anew whenever there is something new.

What changes are rows: ten shards that votes raise, records, and the poll itself. Each of them means the same to whoever
follows: look again. So a row is told only if it is newer than what was read the last time, and then everything is read
at once. Two hundred votes that come in together are told once or twice, not two hundred times.

That a poll's time is over no row tells. Each stream knows when that will be, from the poll that it reads to see whether
its caller may look, and tells it then; so in every process, without one writing anything for the others.
"""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from litestar import Request, Response
from msgspec import Struct

from potluck.apps.polls.counting import Results as ResultsShown
from potluck.apps.polls.counting import results
from potluck.apps.polls.entities import Poll, Record, Results, Shard
from potluck.apps.polls.keys import Credentials
from potluck.apps.polls.records import Known, version_of, votes_of
from potluck.apps.polls.service import Polls
from potluck.people.authentication import Principal
from potluck.web.callers import Door
from potluck.web.live import Changed, Changes, Event, Live, Message
from potluck.web.live.litestar_adapter import event_stream

__all__ = ["Following", "PollNow"]

AnyRequest = Request[Any, Any, Any]


class PollNow(Struct, rename="camel", frozen=True, kw_only=True):
    """How a poll stands."""

    votes: int
    """How many votes there are; some may be newer than the record."""
    votes_version: int
    """A number that every vote, change and withdrawal raises."""
    status: Literal["live", "final"]
    results: ResultsShown


class Following:
    """What one caller is told of one poll, for as long as they may see its results."""

    def __init__(self, polls: Polls, by: Credentials, poll_id: UUID) -> None:
        self._polls = polls
        self._by = by
        self._poll_id = poll_id
        self._shards: dict[int, int] = {}
        self._recorded = 0
        self._poll_version = 0
        self._ends_at: datetime | None = None
        self._told_end: datetime | None = None
        # Until something was told, nobody knows how old what they look at is.
        self._behind = True

    async def must_see(self) -> None:
        """NoSuchPoll, or ResultsHidden."""
        poll = await self._polls.admission.poll(self._poll_id)
        self._ends_at = poll.expires_at if poll.closed_at is None else None
        await self._polls.admission.must_see_results(self._by, poll, self._polls.clock())

    def stream(
        self, request: AnyRequest, live: Live, door: Door, visitor: Principal | None, *, whole: bool = True
    ) -> Response[None]:
        """The answer that tells of it; not `whole`: only that there is something new, for who reads it elsewhere."""

        async def allowed() -> bool:
            if visitor is not None and not await door.still(request, visitor):
                return False
            await self.must_see()
            if self._behind:
                # Nobody else may be looking: whoever follows has it counted when it is time to, and hears of it then.
                await self._polls.results.record(self._by, self._poll_id)
            return True

        async def render(_: Event) -> Message:
            if whole:
                return Message("updated", msgspec.json.encode(await self.now()))
            await self._looked()
            return Message("reset", "{}")

        of = Results.of(self._poll_id)
        return event_stream(
            live, request, of=of, see=self._news, allowed=allowed, by=visitor, render=render, schedule=self._ends
        )

    async def changes(self, since: str | None, live: Live) -> Changes:
        """How it stands, if anything changed since the position."""
        of = Results.of(self._poll_id)
        found = await live.changes(since, of=of, see=_what_counts, schedule=self._ends)
        told = (
            [Changed(event="updated", position=found.position, item=await self.now())]
            if found.changes or found.reset
            else []
        )
        return Changes(changes=told, position=found.position, reset=found.reset, more=found.more)

    async def now(self) -> PollNow:
        """How it stands, as the caller may see it."""
        shards, poll, known, status = await self._looked()
        return PollNow(
            votes=votes_of(shards) if self._behind else known.record.votes,
            votes_version=max(known.votes_version, version_of(shards)),
            status=status,
            results=results(known.record, poll.candidates, status=status, votes_version=known.votes_version),
        )

    async def _looked(self) -> tuple[list[Shard], Poll, Known, Literal["live", "final"]]:
        """Everything as it is now; what is no newer is not told again."""
        # The shards first: what is voted from here on is told by them, whether or not the record has it already.
        shards = await self._polls.store.all(Shard.of_poll(self._poll_id))
        poll, known, status = await self._polls.results.record(self._by, self._poll_id)
        self._shards = {each.shard: each.votes_version for each in shards}
        self._recorded = known.votes_version
        self._poll_version = poll.version
        # One that was closed early and is open again ends once more.
        self._told_end = poll.expires_at if status == "final" else None
        self._behind = known.votes_version < version_of(shards)
        return shards, poll, known, status

    def _ends(self) -> datetime | None:
        """When its time is over, unless the caller was told that it is."""
        return None if self._ends_at == self._told_end else self._ends_at

    def _news(self, row: Poll | Record | Shard) -> Any:
        """The row, if it is newer than what the caller was told."""
        match row:
            case Shard():
                return row.votes_version if row.votes_version > self._shards.get(row.shard, 0) else None
            case Record():
                return (
                    row.votes_version if row.part == 0 and self._behind and row.votes_version > self._recorded else None
                )
            case Poll():
                return row.version if row.version > self._poll_version else None


def _what_counts(row: Poll | Record | Shard) -> Any:
    match row:
        case Shard():
            return row.shard, row.votes_version
        case Poll():
            return row.version
    # Counted because somebody looked, perhaps this very caller: of votes that were told already.
    return None

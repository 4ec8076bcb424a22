"""Live results of a poll: the number of votes and the record, sent again whenever something changes.

What changes are rows: ten shards that votes increment, records, and the poll itself. To a follower each of them means
the same: read again. So a row causes an event only if it is newer than what was read last, and then everything is read
at once. Two hundred votes that come in together are one or two events, not two hundred.

No row changes when a poll expires. Each stream knows the time from the poll, which it reads anyway to check access, and
sends an event then; this works in every process, without any of them writing something for the others.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from potluck.apps.polls.access import ResultsHidden, SeesResults
from potluck.apps.polls.count_records import version_of, votes_of
from potluck.apps.polls.counting import CountResults
from potluck.apps.polls.entities import Poll, Record, Results, Shard
from potluck.apps.polls.results import CurrentRecord, current_record, outcome
from potluck.table import Query
from potluck.web import Show, Updates


class PollNow(Struct, rename="camel", frozen=True, kw_only=True):
    """A poll's current state."""

    votes: int
    """How many votes there are; some may be newer than the record."""
    votes_version: int
    """Incremented by every vote, change and withdrawal."""
    status: Literal["live", "final"]
    results: CountResults


@outcome.live(ResultsHidden)
@outcome.live_page("/results/events")
class LiveResults(Updates[SeesResults]):
    """Stream the number of votes and changes of the poll. Votes that come in together are one event."""

    whole = True

    def __init__(self, at: SeesResults, show: Show | None = None) -> None:
        super().__init__(at, show)
        self._shards: dict[int, int] = {}
        self._recorded = 0
        self._poll_version = 0
        self._sent_end: datetime | None = None
        # Until something was sent, we cannot tell how old the caller's view is.
        self._behind = True

    def lists(self) -> Sequence[Query[Any]]:
        return [Results.of(self.at.poll_id).query]

    async def allowed(self) -> bool:
        if not await super().allowed():
            return False
        if self._behind:
            # Reads trigger counting, and there may be no other readers: so each follower triggers it when it is due.
            await current_record(self.at.polls, self.at.poll_id)
        return True

    async def event(self, name: str, item: Any) -> tuple[str, Any]:
        """The current state. A page only gets to know of the change: it fetches itself again, as it is shown."""
        if self.show is None:
            return "updated", await self._now()
        await self._look()
        return "reset", {}

    def end(self) -> datetime | None:
        """When the poll expires, unless the caller was told already."""
        poll = self.at.poll
        ends = poll.expires_at if poll.closed_at is None else None
        return None if ends == self._sent_end else ends

    def see(self, row: Poll | Record | Shard) -> Any:
        """The row's version, if it is newer than what the caller was sent."""
        match row:
            case Shard():
                return row.votes_version if row.votes_version > self._shards.get(row.shard, 0) else None
            case Record():
                newer = row.part == 0 and self._behind and row.votes_version > self._recorded
                return row.votes_version if newer else None
            case Poll():
                return row.version if row.version > self._poll_version else None

    def see_since(self, row: Poll | Record | Shard) -> Any:
        match row:
            case Shard():
                return row.shard, row.votes_version
            case Poll():
                return row.version
        # A record only counts votes that the shards have announced already, perhaps triggered by this very caller.
        return None

    async def _now(self) -> PollNow:
        """The current state; raises if the caller may no longer see it."""
        shards, current = await self._look()
        return PollNow(
            votes=votes_of(shards) if self._behind else current.known.record.votes,
            votes_version=max(current.known.votes_version, version_of(shards)),
            status=current.status,
            results=current.results,
        )

    async def _look(self) -> tuple[list[Shard], CurrentRecord]:
        """Reads everything, and remembers the versions, so that nothing older is sent again."""
        at = self.at
        # The shards first: a vote after this read changes a shard again, whether or not the record includes it.
        shards = await at.store.all(Shard.of_poll(at.poll_id))
        read = await at.store.gather(Results.of(at.poll_id))
        await at.admit(None if read is None else read.poll)
        current = await current_record(at.polls, at.poll_id, rows=read)
        self._shards = {shard.shard: shard.votes_version for shard in shards}
        self._recorded = current.known.votes_version
        self._poll_version = current.poll.version
        # A poll that was closed early and reopened ends once more.
        self._sent_end = current.poll.expires_at if current.status == "final" else None
        self._behind = current.known.votes_version < version_of(shards)
        return shards, current

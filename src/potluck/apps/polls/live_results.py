"""Live results of a poll: the number of votes and the record, sent again whenever something changes.

What changes are rows: ten shards that votes increment, records, and the poll itself. To a follower each of them means
the same: read again. So a row causes an event only if it is newer than what was read last, and then everything is read
at once. Two hundred votes that come in together are one or two events, not two hundred.

No row changes when a poll expires. Each stream knows the time from the poll, which it reads anyway to check access, and
sends an event then; this works in every process, without any of them writing something for the others.
"""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from starlette.responses import Response

from potluck.apps.polls.access import FollowsResults, ResultsHidden, SeesResults
from potluck.apps.polls.count_records import version_of, votes_of
from potluck.apps.polls.counting import CountResults
from potluck.apps.polls.entities import Poll, Record, Results, Shard
from potluck.apps.polls.results import CurrentRecord, current_record, outcome
from potluck.validation import encode
from potluck.web import UNSET, Changes, Event, EventChange, EventStreamResponse, MaybeSince, NamedEvent


class PollNow(Struct, rename="camel", frozen=True, kw_only=True):
    """A poll's current state."""

    votes: int
    """How many votes there are; some may be newer than the record."""
    votes_version: int
    """Incremented by every vote, change and withdrawal."""
    status: Literal["live", "final"]
    results: CountResults


class LiveResults:
    """One caller's live updates of one poll, for as long as they may see its results."""

    def __init__(self, at: SeesResults) -> None:
        self._at = at
        self._shards: dict[int, int] = {}
        self._recorded = 0
        self._poll_version = 0
        self._sent_end: datetime | None = None
        # Until something was sent, we cannot tell how old the caller's view is.
        self._behind = True

    def stream(self, since: str | None, *, whole: bool = True) -> Response:
        """The event stream. Not `whole` sends only that something changed, for a page that then reloads its content."""
        at = self._at

        async def allowed() -> bool:
            if not await at.visitor.still():
                return False
            await at.readmit()
            if self._behind:
                # Reads trigger counting, and nobody else may be reading: so each follower triggers it when it is due.
                await current_record(at.polls, at.poll_id)
            return True

        async def render(_: Event) -> NamedEvent:
            if whole:
                return NamedEvent("updated", encode(await self._now()))
            await self._look()
            return NamedEvent("reset", "{}")

        return EventStreamResponse(
            at.core.live.open(
                since,
                at.visitor.headers.get("Last-Event-ID"),
                of=Results.of(at.poll_id),
                see=self._news,
                allowed=allowed,
                by=at.visitor.listening,
                render=render,
                schedule=self._end,
            )
        )

    async def changes(self, since: str | None) -> Changes:
        """The current state, if anything changed since the position."""
        of = Results.of(self._at.poll_id)
        found = await self._at.core.live.changes(since, of=of, see=_what_counts, schedule=self._end)
        changed: list[EventChange] = []
        if found.changes or found.reset:
            changed = [EventChange(event="updated", position=found.position, item=await self._now())]
        return Changes(changes=changed, position=found.position, reset=found.reset, more=found.more)

    async def _now(self) -> PollNow:
        """The current state; raises if the caller may no longer see it."""
        shards, found = await self._look()
        return PollNow(
            votes=votes_of(shards) if self._behind else found.known.record.votes,
            votes_version=max(found.known.votes_version, version_of(shards)),
            status=found.status,
            results=found.results,
        )

    async def _look(self) -> tuple[list[Shard], CurrentRecord]:
        """Reads everything, and remembers the versions, so that nothing older is sent again."""
        at = self._at
        # The shards first: a vote after this read changes a shard again, whether or not the record includes it.
        shards = await at.store.all(Shard.of_poll(at.poll_id))
        read = await at.store.gather(Results.of(at.poll_id))
        await at.admit(None if read is None else read.poll)
        found = await current_record(at.polls, at.poll_id, found=read)
        self._shards = {each.shard: each.votes_version for each in shards}
        self._recorded = found.known.votes_version
        self._poll_version = found.poll.version
        # A poll that was closed early and reopened ends once more.
        self._sent_end = found.poll.expires_at if found.status == "final" else None
        self._behind = found.known.votes_version < version_of(shards)
        return shards, found

    def _end(self) -> datetime | None:
        """When the poll expires, unless the caller was told already."""
        poll = self._at.poll
        ends = poll.expires_at if poll.closed_at is None else None
        return None if ends == self._sent_end else ends

    def _news(self, row: Poll | Record | Shard) -> Any:
        """The row, if it is newer than what the caller was sent."""
        match row:
            case Shard():
                return row.votes_version if row.votes_version > self._shards.get(row.shard, 0) else None
            case Record():
                newer = row.part == 0 and self._behind and row.votes_version > self._recorded
                return row.votes_version if newer else None
            case Poll():
                return row.version if row.version > self._poll_version else None


def _what_counts(row: Poll | Record | Shard) -> Any:
    match row:
        case Shard():
            return row.shard, row.votes_version
        case Poll():
            return row.version
    # A record is only a count of votes that the shards have announced already, perhaps triggered by this very caller.
    return None


@outcome.read("/events", ResultsHidden, media_type="text/event-stream")
async def poll_events(at: FollowsResults, wanted: MaybeSince) -> Response:
    """Votes counted so far and the record, as they change. Votes that come in together are told together."""
    return LiveResults(at).stream(wanted.since or None)


@outcome.read("/changes", ResultsHidden, tagged=False)
async def poll_changes(at: SeesResults, wanted: MaybeSince) -> Changes:
    """Votes counted so far and the record, if anything changed since the position; without one, where to begin."""
    return await LiveResults(at).changes(None if wanted.since is UNSET else wanted.since)

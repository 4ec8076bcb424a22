"""Live updates of a shareable: its own changes and its items', incoming votes, and how many people are viewing it.

Viewers get them until it expires. No row changes at that moment: each stream knows when it will be, and ends then. An
admin's page, which turns into the page of an expired shareable, gets an `over` event.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from potluck.apps.polls.count_records import votes_of
from potluck.apps.polls.entities import Shard
from potluck.apps.shareables.access import TOKEN, Reader
from potluck.apps.shareables.entities import ChecklistItem, Onlookers, Shareable
from potluck.apps.shareables.items import ChecklistItemView
from potluck.apps.shareables.shareables import OwnShareable, shareables
from potluck.table import AnyQuery
from potluck.validation import encode
from potluck.web import (
    UNSET,
    Changes,
    Event,
    EventSource,
    EventStreamResponse,
    MaybeSince,
    NamedEvent,
    RateLimit,
    read_together,
    view_plan,
)

LAST_EVENT_ID = {
    "Last-Event-ID": "The id of the last event that was seen; browsers send it by themselves. It comes before `since`."
}


LOOKS = RateLimit("looks", 2_000)


class ViewerStream(Reader):
    """Whoever may view it, for as long as they may."""

    headers = {**TOKEN, **LAST_EVENT_ID}  # noqa: RUF012 - declared in Access


class Looking(Struct, rename="camel", frozen=True):
    """How many look at it now."""

    people: int


class Voted(Struct, rename="camel", frozen=True):
    """How many have voted."""

    votes: int


def seen(row: Any) -> Any:
    """What a row shows to an API client; an event is sent only when this changes."""
    match row:
        case Onlookers():
            return Looking(row.people)
        case Shard():
            return Voted(row.votes)
    return seen_later(row)


def seen_by_page(row: Any) -> Any:
    """The same for a page, which shows results, so that a changed vote counts as a change too."""
    return row.votes_version if isinstance(row, Shard) else seen(row)


def seen_later(row: Any) -> Any:
    """The same for a client that polls `/changes`: without viewer counts and vote counts."""
    match row:
        case ChecklistItem():
            return view_plan(ChecklistItemView).show(row)
        case Shareable():
            return view_plan(OwnShareable).show(row)
    return None


class LiveShareable:
    """The updates that one caller gets about one shareable."""

    def __init__(self, at: Reader) -> None:
        self._at = at
        self._counted_votes: dict[int, int] = {}
        """The last version sent of each shard of the count, so that votes that arrive together are one event."""

    @property
    def lists(self) -> list[AnyQuery]:
        """The lists to follow; the same for events and changes, so that a position of one is valid for the other."""
        shareable = self._at.shareable
        inside = ChecklistItem.of(shareable.short_id) if shareable.poll_id is None else Shard.of_poll(shareable.poll_id)
        return [Shareable.one(shareable.short_id), inside, Onlookers.of(shareable.short_id)]

    def stream(self, since: str | None, row: Callable[[ChecklistItemView], str] | None = None) -> Response:
        """The event stream. A page passes `row`, which renders an item; any other change it gets as a `reset`, and
        reads itself again."""
        at = self._at
        # Each stream writes to the viewer count.
        at.core.rate_limiter.take(LOOKS, at.visitor)

        async def allowed() -> bool:
            if not await at.visitor.still():
                return False
            await at.admit(*await read_together(at.store, at.reads()))
            await at.services.presence.renew(at.short_id)
            return True

        source = at.core.live.open(
            since,
            at.visitor.headers.get("Last-Event-ID"),
            of=self.lists,
            see=self._news if row is None else seen_by_page,
            allowed=allowed,
            by=at.visitor.listening,
            right=at.right(),
            render=self._render if row is None else lambda event: self._drawn(event, row),
            schedule=self._end_for_viewers if row is None else self._end,
        )
        return EventStreamResponse(EventSource(self._counted(source), source.end))

    async def changes(self, since: str | None) -> Changes:
        """What changed since the position; without one, where to begin."""
        return await self._at.core.live.changes(since, of=self.lists, see=seen_later, right=self._at.right())

    def _news(self, row: Any) -> Any:
        told = isinstance(row, Shard) and row.votes_version <= self._counted_votes.get(row.shard, 0)
        return None if told else seen(row)

    async def _render(self, event: Event) -> NamedEvent:
        at, item, name = self._at, event.item, str(event.name)
        if isinstance(item, Looking):
            name, item = "looking", Looking(await at.services.presence.people(at.short_id))
        elif isinstance(item, Voted) and at.shareable.poll_id is not None:
            shards = await at.store.all(Shard.of_poll(at.shareable.poll_id))
            self._counted_votes = {each.shard: each.votes_version for each in shards}
            name, item = "votes", Voted(votes_of(shards))
        elif isinstance(item, OwnShareable):
            name = "shareable"
        return NamedEvent(name, encode(item))

    async def _drawn(self, event: Event, row: Callable[[ChecklistItemView], str]) -> NamedEvent:
        if event.item is None:
            # It has expired while an admin was viewing; viewers have been refused by now.
            return NamedEvent("over", "{}")
        if isinstance(event.item, Looking):
            return await self._render(event)
        if isinstance(event.item, ChecklistItemView):
            return NamedEvent(str(event.name), row(event.item))
        return NamedEvent("reset", "{}")

    async def _counted(self, source: EventSource) -> AsyncIterator[bytes]:
        """The same chunks, with the listener counted as a viewer; their own arrival is their first event."""
        looking = None
        try:
            async with AsyncExitStack() as until_gone:
                async for chunk in source.chunks:
                    yield chunk
                    # From its first position on, the stream misses nothing: their own arrival included.
                    if looking is None and b"id: " in chunk:
                        looking = self._at.services.presence.looking(self._at.short_id)
                        await until_gone.enter_async_context(looking)
        finally:
            await source.close()

    def _end(self) -> datetime:
        return self._at.shareable.expires_at

    def _end_for_viewers(self) -> datetime | None:
        return self._end() if self._at.role == "view" else None


@shareables.read("/events", media_type="text/event-stream")
async def shareable_events(at: ViewerStream, shareable: Shareable, wanted: MaybeSince) -> Response:
    """Its items as they change, `shareable` when it itself does, `votes` as they come in, and how many are `looking` at
    it."""
    return LiveShareable(at).stream(wanted.since or None)


@shareables.read("/changes", tagged=False)
async def shareable_changes(at: Reader, shareable: Shareable, wanted: MaybeSince) -> Changes:
    """What changed since the position; without one, where to begin."""
    return await LiveShareable(at).changes(None if wanted.since is UNSET else wanted.since)

"""Live updates of a shareable: its own changes and its items', incoming votes, and how many people are viewing it.

Viewers get them until it expires. No row changes at that moment: each stream knows when it will be, and ends then. An
admin's page, which turns into the page of an expired shareable, gets an `over` event.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any

from msgspec import Struct

from potluck.apps.polls.count_records import votes_of
from potluck.apps.polls.entities import Shard
from potluck.apps.shareables.access import Reader
from potluck.apps.shareables.entities import ChecklistItem, Onlookers, Shareable
from potluck.apps.shareables.items import ChecklistItemView
from potluck.apps.shareables.shareables import OwnShareable, shareables
from potluck.table import Query, Ref
from potluck.web import RateLimit, Show, Updates


class Looking(Struct, rename="camel", frozen=True):
    """How many look at it now."""

    people: int


class Voted(Struct, rename="camel", frozen=True):
    """How many have voted."""

    votes: int


@shareables.live()
class LiveShareable(Updates[Reader]):
    """Stream changes: of its items, of the `shareable` itself, of `votes`, and of how many are `looking` at it."""

    # Each stream writes to the viewer count.
    rate_limit = RateLimit("looks", 2_000)

    def __init__(self, at: Reader, show: Show | None = None) -> None:
        super().__init__(at, show)
        self._counted_votes: dict[int, int] = {}
        """The last version sent of each shard of the count, so that votes that arrive together are one event."""

    def lists(self) -> Sequence[Query[Any] | Ref[Any]]:
        shareable = self.at.shareable
        inside = ChecklistItem.of(shareable.short_id) if shareable.poll_id is None else Shard.of_poll(shareable.poll_id)
        return [Shareable.one(shareable.short_id), inside, Onlookers.of(shareable.short_id)]

    def see(self, row: Any) -> Any:
        match row:
            case Onlookers():
                return Looking(row.people)
            case Shard():
                counted = row.votes_version <= self._counted_votes.get(row.shard, 0)
                return None if counted else Voted(row.votes)
        return self.see_since(row)

    def see_since(self, row: Any) -> Any:
        match row:
            case ChecklistItem():
                return ChecklistItemView.show(row)
            case Shareable():
                return OwnShareable.show(row)
        return None

    async def event(self, name: str, item: Any) -> tuple[str, Any]:
        at = self.at
        match item:
            case Looking():
                return "looking", Looking(await at.services.presence.people(at.short_id))
            case Voted() if at.shareable.poll_id is not None:
                shards = await at.store.all(Shard.of_poll(at.shareable.poll_id))
                self._counted_votes = {shard.shard: shard.votes_version for shard in shards}
                return "votes", Voted(votes_of(shards))
            case OwnShareable():
                return "shareable", item
        return name, item

    def end(self) -> datetime | None:
        return self.at.shareable.expires_at if self.at.role == "view" else None

    async def allowed(self) -> bool:
        if not await super().allowed():
            return False
        await self.at.services.presence.renew(self.at.short_id)
        return True

    def while_open(self) -> AbstractAsyncContextManager[None]:
        """The listener is a viewer; their own arrival is their first event."""
        return self.at.services.presence.looking(self.at.short_id)

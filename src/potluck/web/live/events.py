"""Turns a change into the event for one caller: created, updated, deleted or none, by what they may see of the item."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, NamedTuple

from potluck.dynamo.values import Item
from potluck.streams.buffer import BufferedRecord
from potluck.table.errors import UnreadableItem
from potluck.table.membership import Membership

EventName = Literal["created", "updated", "deleted"]

Projection = Callable[[Any], Any | Awaitable[Any]]
"""What the caller may see of an entity: a view of it, or None for nothing. It may be async."""

Now = Callable[[Any, bool], Awaitable[Any | None]]
"""Given an entity from the log, and whether it has left the list: the entity as it may be shown now, or None."""


class CurrentView(NamedTuple):
    """A `Projection` for entities whose logged state the caller may no longer see: events show their current state."""

    see: Projection
    now: Now

    def __call__(self, entity: Any) -> Any:
        return self.see(entity)


# An expired row is deleted a moment later, and a reader who looked in between may still show it.
EXPIRY_EVENT_SECONDS = 5

log = logging.getLogger(__name__)


class Event(NamedTuple):
    """What happened to an item of a list, and the item as the caller may see it."""

    name: EventName
    item: Any


def entities(
    record: BufferedRecord, lists: Sequence[Membership], since: int, now: int
) -> tuple[Any | None, Any | None]:
    """The item in the lists before the change and after it; None where it was or is in none of them."""
    # An item that expired after the caller last looked gets its event; one that had expired before, they never saw.
    old = _entity(record.old, lists, since - EXPIRY_EVENT_SECONDS, record.decoded_old)
    return old, _entity(record.new, lists, now, record.decoded_new)


def _entity(row: Item | None, lists: Sequence[Membership], now: int, decoded: dict[Any, Any]) -> Any | None:
    if row is None:
        return None
    try:
        for membership in lists:
            entity = membership.entity(row, now, decoded)
            if entity is not None:
                return entity
    except UnreadableItem:
        # Reading the list fails with the same error; events of other items go on.
        log.exception("a changed row cannot be read")
    return None


async def event_for(old: Any | None, new: Any | None, see: Projection) -> Event | None:
    """The event for a caller who sees only what `see` returns; None if they would see no difference."""
    before = None if old is None else await maybe_await(see(old))
    after = None if new is None else await maybe_await(see(new))
    if before == after:
        return None
    name: EventName = "deleted" if after is None else "created" if before is None else "updated"
    if not isinstance(see, CurrentView):
        return Event(name, before if after is None else after)
    now = await see.now(old if after is None else new, after is None)
    item = None if now is None else await maybe_await(see(now))
    return None if item is None else Event(name, item)


async def maybe_await(value: Any | Awaitable[Any]) -> Any:
    return await value if inspect.isawaitable(value) else value

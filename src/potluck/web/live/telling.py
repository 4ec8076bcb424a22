"""What a change is to one caller: created, updated, deleted, or nothing at all, by what they may see of it."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, NamedTuple

from potluck.dynamo.values import Item
from potluck.table.errors import UnreadableItem
from potluck.table.membership import Membership
from potluck.web.live.buffer import Record

__all__ = ["EventName", "See", "Told", "entities", "told"]

EventName = Literal["created", "updated", "deleted"]

See = Callable[[Any], Any | Awaitable[Any]]
"""What the caller may see of an entity: a view of it, or None for nothing. It may have to be awaited."""

# Rows that ended by themselves are deleted a moment later; whoever looked in between may still show them.
EXPIRY_TOLD_SECONDS = 5

log = logging.getLogger(__name__)


class Told(NamedTuple):
    event: EventName
    item: Any


def entities(record: Record, lists: Sequence[Membership], since: int, now: int) -> tuple[Any | None, Any | None]:
    """The item in the lists before the change, and after it; None where it was or is in none of them."""
    # What has expired since the caller last looked is told to be gone; what had expired by then, they never saw.
    old = _entity(record.old, lists, since - EXPIRY_TOLD_SECONDS, record.decoded_old)
    return old, _entity(record.new, lists, now, record.decoded_new)


def _entity(row: Item | None, lists: Sequence[Membership], now: int, decoded: dict[Any, Any]) -> Any | None:
    if row is None:
        return None
    try:
        for each in lists:
            entity = each.entity(row, now, decoded)
            if entity is not None:
                return entity
    except UnreadableItem:
        # The list itself says that it cannot be read; other changes are told all the same.
        log.exception("a changed row cannot be read")
    return None


async def told(old: Any | None, new: Any | None, see: See) -> Told | None:
    """The event for a caller who sees no more than `see` gives; None where they would see no difference."""
    before = None if old is None else await settled(see(old))
    after = None if new is None else await settled(see(new))
    if after is None:
        return None if before is None else Told("deleted", before)
    if before is None:
        return Told("created", after)
    return None if before == after else Told("updated", after)


async def settled(value: Any | Awaitable[Any]) -> Any:
    return await value if inspect.isawaitable(value) else value

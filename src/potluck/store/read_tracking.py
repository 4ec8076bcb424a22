"""Tracking what is read while an answer is computed, so that it can be cached: which partitions, and until when."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from datetime import datetime
from typing import Any

from potluck.engines import Place
from potluck.store.row_cache import NEVER
from potluck.table.access import Query

Clock = Callable[[], datetime]

# Of unknown expiry, so not cached.
UNKNOWN = 0.0


class ReadTracker:
    """The partitions that were read, and until when that stays valid if nothing is written to them."""

    __slots__ = ("places", "until")

    def __init__(self) -> None:
        self.until = NEVER
        self.places: set[Place] = set()


# Set while an answer that is to be cached is computed; tasks started meanwhile share the tracker.
tracking: ContextVar[ReadTracker | None] = ContextVar("tracking", default=None)


def note(until: float) -> None:
    """Record that something was read that is valid until this second."""
    tracker = tracking.get()
    if tracker is not None and until < tracker.until:
        tracker.until = until


def note_place(place: Place) -> None:
    """Record that this partition was read, even if nothing was found there."""
    tracker = tracking.get()
    if tracker is not None:
        tracker.places.add(place)


def note_read(places: Iterable[Any], until: float) -> None:
    """Record that these partitions were read, and that it is valid until this second if nothing is written to them."""
    tracker = tracking.get()
    if tracker is not None:
        tracker.places.update(places)
        if until < tracker.until:
            tracker.until = until


def place_of(query: Query[Any]) -> Place:
    pattern = query.pattern
    if pattern.key_plan(pattern.members[0]).partition_is_number:
        # The same number can be written in several ways, so it does not identify a partition.
        return pattern.table.name, None, None
    return pattern.table.name, pattern.index, query.partition


def tracked_clock(clock: Clock) -> Clock:
    """The clock that rules get: an answer that was computed by looking at it is not cached."""

    def now() -> datetime:
        note(UNKNOWN)
        return clock()

    return now


def second(clock: Clock) -> int:
    return int(clock().timestamp())

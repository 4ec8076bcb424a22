"""What is read while an answer is worked out, so that it can be remembered: where that was, and until when it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from datetime import datetime
from typing import Any, cast

from potluck.engines import Place
from potluck.table.access import Query
from potluck.table.query_cache import CachedAnswer
from potluck.table.row_cache import NEVER

__all__ = [
    "UNKNOWN",
    "Clock",
    "Watch",
    "note",
    "note_cached",
    "note_place",
    "note_places",
    "noted",
    "place_of",
    "second",
    "watching",
]

Clock = Callable[[], datetime]

# Until when something holds whose expiry is not known: it is not remembered.
UNKNOWN = 0.0


class Watch:
    """What was read, and until when it stays as it is if nothing is written there."""

    __slots__ = ("places", "until")

    def __init__(self) -> None:
        self.until = NEVER
        self.places: set[Place] = set()


# Set while reads are made whose outcome is to be remembered; tasks that they start see the same watch.
watching: ContextVar[Watch | None] = ContextVar("watching", default=None)


def note(until: float) -> None:
    """Tell whoever watches that something was read that holds until then."""
    watch = watching.get()
    if watch is not None and until < watch.until:
        watch.until = until


def note_place(place: Place) -> None:
    """Tell whoever watches that something was read there, even if nothing was found."""
    watch = watching.get()
    if watch is not None:
        watch.places.add(place)


def note_places(places: Iterable[Any]) -> None:
    watch = watching.get()
    if watch is not None:
        watch.places.update(places)


def note_cached(cached: CachedAnswer) -> None:
    watch = watching.get()
    if watch is not None:
        watch.until = min(watch.until, cached.until)
        watch.places.update(cast("tuple[Place, ...]", cached.places))


def place_of(query: Query[Any]) -> Place:
    pattern = query.pattern
    if pattern.key_plan(pattern.members[0]).partition_is_number:
        # A number has several texts.
        return pattern.table.name, None, None
    return pattern.table.name, pattern.index, query.partition


def noted(clock: Clock) -> Clock:
    """The clock as rules are given it: what was worked out by looking at it is not remembered."""

    def now() -> datetime:
        note(UNKNOWN)
        return clock()

    return now


def second(clock: Clock) -> int:
    return int(clock().timestamp())

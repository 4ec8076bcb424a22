"""What is unread: coaches' comments for an athlete; the athlete's entries and replies for a coach.

The time when an athlete last read the comments is stored with each entry, and a coach's with the mirror of the link.
Times on the entry show whether there may be unread comments. The count is of those that exist now and are visible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from potluck.apps.journal.entities import AthleteCoachLink, Comment, Entry
from potluck.apps.journal.journals import SharedEntry, SharedJournal, comments_of
from potluck.store import Store

# An entry written later than this after its session is new on the athlete's page, but not counted next to their name.
WRITTEN_LATE = timedelta(days=14)


async def _counted(store: Store, items: Sequence[Entry], is_new: Callable[[Entry, Comment], bool]) -> dict[UUID, int]:
    comments = await comments_of(store, [entry.entry_id for entry in items])
    return {entry.entry_id: sum(is_new(entry, comment) for comment in comments[entry.entry_id]) for entry in items}


def _later(time: datetime | None, than: datetime | None) -> bool:
    return time is not None and (than is None or time > than)


class NewToAthlete:
    """How many comments on each entry its athlete has not read."""

    def __init__(self, counts: dict[UUID, int]) -> None:
        self._counts = counts

    @classmethod
    async def load(cls, at: Any, items: Sequence[Entry]) -> NewToAthlete:
        return cls(await _counted(at.store, [*filter(may_be_new_to_athlete, items)], is_new_to_athlete))

    def comments(self, entry: Entry) -> int:
        return self._counts.get(entry.entry_id, 0)


def may_be_new_to_athlete(entry: Entry) -> bool:
    """Whether a coach has commented since the athlete last read the comments; the comment may be gone by now."""
    return _later(entry.coach_said_at, entry.looked_at)


def is_new_to_athlete(entry: Entry, comment: Comment) -> bool:
    others = comment.coach_id != entry.athlete_id and comment.visibility == "visible"
    return others and _later(comment.created_at, entry.looked_at)


class NewToCoach:
    """What an athlete wrote and replied since the coach last read the journal."""

    def __init__(self, since: datetime | None, counts: dict[UUID, int]) -> None:
        self._since, self._counts = since, counts

    @classmethod
    async def load(cls, at: Any, items: Sequence[Entry]) -> NewToCoach:
        if not items:
            return cls(None, {})
        mirror = await at.store.get(AthleteCoachLink.one(at.principal.user_id, items[0].athlete_id))
        since = None if mirror is None else _new_since(mirror)
        some = [entry for entry in items if since is not None and _later(entry.athlete_said_at, since)]

        def answered(entry: Entry, comment: Comment) -> bool:
            own = comment.coach_id == entry.athlete_id and comment.visibility == "visible"
            return own and _later(comment.created_at, since)

        return cls(since, await _counted(at.store, some, answered))

    def wrote(self, entry: Entry) -> bool:
        return self._since is not None and entry.created_at > self._since

    def comments(self, entry: Entry) -> int:
        return self._counts.get(entry.entry_id, 0)


def _new_since(mirror: AthleteCoachLink) -> datetime:
    """The time after which an athlete's entries are new to the coach: the last visit, or the linking."""
    return mirror.updated_at if mirror.looked_at is None else max(mirror.looked_at, mirror.updated_at)


async def new_entries(shared: SharedJournal, mirror: AthleteCoachLink) -> list[SharedEntry]:
    """The recent entries that an athlete has written since the coach last read the journal, newest first."""
    since = _new_since(mirror)
    recent = await shared.since_then(since - WRITTEN_LATE)
    return [entry for entry in recent if entry.created_at > since]

"""What is unread: coaches' comments for an athlete; the athlete's entries and replies for a coach.

When an athlete last looked is stored with each entry, when a coach did with the mirror of the link. A time on the entry
tells whether there may be unread comments; the count is of those that exist now and that the reader may see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from potluck.apps.journal.entities import AthleteCoachLink, Comment, Entry
from potluck.apps.journal.journals import SharedEntry, SharedJournal
from potluck.store import Store, all_done

# A session written down later than this still shows as new on the athlete's page, but is not counted by their name.
WRITTEN_LATE = timedelta(days=14)


async def _counted(store: Store, items: Sequence[Entry], is_new: Callable[[Entry, Comment], bool]) -> dict[UUID, int]:
    found = await all_done([store.all(Comment.of_entry(each.entry_id)) for each in items])
    return {
        entry.entry_id: sum(is_new(entry, each) for each in comments)
        for entry, comments in zip(items, found, strict=True)
    }


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
    """Whether a coach has commented since its athlete last looked; the comment may be deleted or hidden by now."""
    return _later(entry.coach_said_at, entry.looked_at)


def is_new_to_athlete(entry: Entry, comment: Comment) -> bool:
    others = comment.coach_id != entry.athlete_id and comment.visibility == "visible"
    return others and _later(comment.created_at, entry.looked_at)


class NewToCoach:
    """What an athlete wrote and replied since the coach last looked."""

    def __init__(self, since: datetime | None, counts: dict[UUID, int]) -> None:
        self._since, self._counts = since, counts

    @classmethod
    async def load(cls, at: Any, items: Sequence[Entry]) -> NewToCoach:
        if not items:
            return cls(None, {})
        mirror = await at.store.get(AthleteCoachLink.one(at.principal.user_id, items[0].athlete_id))
        since = None if mirror is None else _new_since(mirror)
        some = [each for each in items if since is not None and _later(each.athlete_said_at, since)]

        def answered(entry: Entry, comment: Comment) -> bool:
            own = comment.coach_id == entry.athlete_id and comment.visibility == "visible"
            return own and _later(comment.created_at, since)

        return cls(since, await _counted(at.store, some, answered))

    def wrote(self, entry: Entry) -> bool:
        return self._since is not None and entry.created_at > self._since

    def comments(self, entry: Entry) -> int:
        return self._counts.get(entry.entry_id, 0)


def _new_since(mirror: AthleteCoachLink) -> datetime:
    """From when on an athlete's entries are new to the coach: the last look, or when they were linked."""
    return mirror.updated_at if mirror.looked_at is None else max(mirror.looked_at, mirror.updated_at)


async def new_entries(shared: SharedJournal, mirror: AthleteCoachLink) -> list[SharedEntry]:
    """The recent sessions that an athlete has written down since the coach last looked, newest first."""
    since = _new_since(mirror)
    recent = await shared.since_then(since - WRITTEN_LATE)
    return [each for each in recent if each.created_at > since]

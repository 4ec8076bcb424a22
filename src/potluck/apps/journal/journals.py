"""Journals as somebody reads them: an athlete the whole of their own, a coach what is shared.

What a coach is given has no private text in it by its type: a SharedJournal finds SharedEntries by words that were
shared, and there is no way from it to anything else.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, ClassVar
from uuid import UUID

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from potluck.apps.journal.entities import Entry, EntryMeta, KeywordIndex, PrivateKeywordIndex, SessionMetrics
from potluck.apps.journal.fields import Scope
from potluck.apps.journal.tokenizer import metric_words, words_in
from potluck.store import Store, all_done
from potluck.table import Query, between

__all__ = ["SharedEntry", "SharedJournal", "WholeEntry", "WholeJournal", "digest_of", "private_words", "shared_words"]


class SharedEntry(Struct, frozen=True, kw_only=True):
    """What those who are not its athlete may know of an entry."""

    entry_id: UUID
    athlete_id: UUID
    created_at: datetime
    date: datetime
    shared: str
    metrics: SessionMetrics
    comments: int = 0

    @property
    def texts(self) -> tuple[str, ...]:
        """What can be quoted of it."""
        return (self.shared,)

    @property
    def words(self) -> list[str]:
        """What it can be found by, as often as it is there."""
        return [word for text in (*self.texts, *self.metrics.tags) for word in words_in(text)] + [
            *metric_words(self.metrics.gi_or_no_gi)
        ]


class WholeEntry(SharedEntry, frozen=True, kw_only=True):
    """The same with what is for its athlete alone."""

    private: str

    @property
    def texts(self) -> tuple[str, ...]:
        return self.shared, self.private


def shared_words(entry: Entry) -> set[str]:
    """The words that coaches find an entry by."""
    return set(_shared(entry).words)


def private_words(entry: Entry) -> set[str]:
    """The words that only its athlete finds it by; some may be shared as well."""
    return set(words_in(entry.sections.private))


def digest_of(*texts: str) -> str:
    """The same for the same texts, and nothing can be read from it."""
    return blake2b(msgspec.json.encode(texts), digest_size=16).hexdigest()


def _shared(entry: Entry) -> SharedEntry:
    return SharedEntry(
        entry_id=entry.entry_id,
        athlete_id=entry.athlete_id,
        created_at=entry.created_at,
        date=entry.date,
        shared=entry.sections.shared,
        metrics=entry.session_metrics,
        comments=entry.comments,
    )


class SharedJournal:
    """What an athlete shares."""

    scope: ClassVar[Scope] = "shared"
    indexes: ClassVar[Sequence[type[Any]]] = (KeywordIndex,)

    def __init__(self, rows: Store, athlete_id: UUID) -> None:
        self.rows = rows
        self.athlete_id = athlete_id

    def _seen(self, entry: Entry) -> SharedEntry:
        return _shared(entry)

    async def having(self, word: str, most: int) -> dict[UUID, datetime]:
        """The entries that have, or until a moment ago had, this word, and when they were written; the newest ones."""
        queries: list[Query[Any]] = [index.of_token(self.athlete_id, word) for index in self.indexes]
        pages = await all_done([self.rows.page(query, most) for query in queries])
        return {each.entry_id: each.created_at for page in pages for each in page.items}

    async def read(self, entry_ids: Sequence[UUID]) -> Mapping[UUID, SharedEntry]:
        """These entries as they are now, by consistent reads; without those that are gone or somebody else's."""
        metas = await self.rows.get_many([EntryMeta.one(each) for each in entry_ids])
        refs = [
            Entry.one(self.athlete_id, meta.date, meta.entry_id)
            for meta in metas
            if meta is not None and meta.athlete_id == self.athlete_id
        ]
        found = await self.rows.get_many(refs)
        return {each.entry_id: self._seen(each) for each in found if each is not None}

    async def between(self, first: datetime, last: datetime) -> list[SharedEntry]:
        """The sessions from this moment to that one, newest first."""
        return [self._seen(each) for each in await self.rows.all(Entry.in_time(self.athlete_id, between(first, last)))]

    async def newest_first(self) -> AsyncIterator[SharedEntry]:
        """Every session."""
        async for entry in self.rows.each(Entry.of_athlete(self.athlete_id)):
            yield self._seen(entry)

    async def latest(self) -> SharedEntry | None:
        """The last session."""
        found = await self.rows.first(Entry.of_athlete(self.athlete_id))
        return None if found is None else self._seen(found)


class WholeJournal(SharedJournal):
    """All of an athlete's journal, for the athlete alone."""

    scope: ClassVar[Scope] = "private"
    indexes: ClassVar[Sequence[type[Any]]] = (KeywordIndex, PrivateKeywordIndex)

    def _seen(self, entry: Entry) -> WholeEntry:
        return WholeEntry(private=entry.sections.private, **asdict(_shared(entry)))

"""Journals as their readers see them: athletes their own in full, coaches what is shared.

The types keep private text from coaches: a SharedJournal finds SharedEntries by shared words, and gives access to
nothing else.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, ClassVar, NamedTuple
from uuid import UUID

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from potluck.apps.journal.entities import (
    Comment,
    CommentKeywordIndex,
    Entry,
    EntryMeta,
    PrivateKeywordIndex,
    SessionMetrics,
    SharedWord,
)
from potluck.apps.journal.fields import Scope
from potluck.apps.journal.tokenizer import metric_words, words_in
from potluck.store import Store, all_done
from potluck.table import Query, at_least, at_most, between

Span = tuple[datetime, datetime]
"""The first and the last moment of a period."""


class Posting(NamedTuple):
    """Where a word is indexed: in an entry, or in a comment on it, and when that was written."""

    entry_id: UUID
    created_at: datetime
    comment_id: UUID | None = None


class SharedEntry(Struct, frozen=True, kw_only=True):
    """What anyone but its athlete may know of an entry."""

    entry_id: UUID
    athlete_id: UUID
    created_at: datetime
    date: datetime
    shared: str
    metrics: SessionMetrics
    comments: int = 0

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that can be quoted."""
        return (self.shared,)

    @property
    def words(self) -> list[str]:
        """The words it can be found by, with repetitions."""
        return [word for text in (*self.texts, *self.metrics.tags) for word in words_in(text)] + [
            *metric_words(self.metrics.gi_or_no_gi)
        ]


class WholeEntry(SharedEntry, frozen=True, kw_only=True):
    """The same with the private text, for its athlete alone."""

    private: str

    @property
    def texts(self) -> tuple[str, ...]:
        return self.shared, self.private


def shared_words(entry: Entry) -> set[str]:
    """The words by which coaches find an entry."""
    return set(_shared(entry).words)


def private_words(entry: Entry) -> set[str]:
    """The words of the private section, by which only the athlete finds it; some may be shared words too."""
    return set(words_in(entry.sections.private))


def digest_of(*texts: str) -> str:
    """A one-way digest, the same for the same texts."""
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
    """The shared part of an athlete's journal; from a moment on, if the athlete has chosen one."""

    scope: ClassVar[Scope] = "shared"
    indexes: ClassVar[Sequence[type[Any]]] = (SharedWord,)

    def __init__(self, store: Store, athlete_id: UUID, since: datetime | None) -> None:
        self.store = store
        self.athlete_id = athlete_id
        self.since = since

    def reaches(self, date: datetime) -> bool:
        """Whether a session of this time is in it."""
        return self.since is None or date >= self.since

    def entries(self, first: datetime | None = None, last: datetime | None = None) -> Query[Entry]:
        """Its sessions between two moments, newest first."""
        begins = max((each for each in (first, self.since) if each is not None), default=None)
        if last is not None:
            return Entry.in_time(self.athlete_id, at_most(last) if begins is None else between(begins, last))
        return Entry.of_athlete(self.athlete_id) if begins is None else Entry.in_time(self.athlete_id, at_least(begins))

    def _seen(self, entry: Entry) -> SharedEntry:
        return _shared(entry)

    async def having(self, word: str, most: int) -> list[Posting]:
        """Where this word is indexed, the newest of each index; the index may lag for a moment."""
        queries: list[Query[Any]] = [index.of_token(self.athlete_id, word) for index in self.indexes]
        pages = await all_done([self.store.page(query, most) for query in queries])
        return [
            Posting(
                each.entry_id,
                each.created_at,
                each.comment_id if isinstance(each, CommentKeywordIndex) else None,
            )
            for page in pages
            for each in page.items
        ]

    async def read(self, entry_ids: Sequence[UUID]) -> Mapping[UUID, SharedEntry]:
        """These entries as they are now, read consistently; without deleted ones and other athletes'."""
        metas = await self.store.get_many([EntryMeta.one(each) for each in entry_ids])
        refs = [
            Entry.one(self.athlete_id, meta.date, meta.entry_id)
            for meta in metas
            if meta is not None and meta.athlete_id == self.athlete_id
        ]
        found = await self.store.get_many(refs)
        return {each.entry_id: self._seen(each) for each in found if each is not None and self.reaches(each.date)}

    async def within(self, postings: Sequence[Posting], spans: Sequence[Span] = ()) -> list[Posting]:
        """Those of sessions in it, and in one of the spans, if any: of others, not even their number counts."""
        if self.since is None and not spans:
            return list(postings)
        metas = await self.store.get_many([EntryMeta.one(each) for each in {posting.entry_id for posting in postings}])
        inside = {
            each.entry_id
            for each in metas
            if each is not None
            and self.reaches(each.date)
            and (not spans or any(first <= each.date <= last for first, last in spans))
        }
        return [each for each in postings if each.entry_id in inside]

    async def read_comments(self, postings: Sequence[Posting]) -> list[Comment]:
        """The comments that these lead to, as they are now; without deleted and hidden ones."""
        refs = [
            Comment.one(each.entry_id, each.created_at, each.comment_id)
            for each in postings
            if each.comment_id is not None
        ]
        found = await self.store.get_many(refs)
        return [each for each in found if each is not None and each.visibility == "visible"]

    async def between(self, first: datetime, last: datetime) -> list[SharedEntry]:
        """The sessions between two moments, newest first."""
        return [self._seen(each) for each in await self.store.all(self.entries(first, last))]

    async def since_then(self, first: datetime) -> list[SharedEntry]:
        """The sessions from a moment on, newest first."""
        return [self._seen(each) for each in await self.store.all(self.entries(first))]

    async def newest_first(self) -> AsyncIterator[SharedEntry]:
        """Every session, newest first."""
        async for entry in self.store.each(self.entries()):
            yield self._seen(entry)

    async def latest(self) -> SharedEntry | None:
        """The last session."""
        found = await self.store.first(self.entries())
        return None if found is None else self._seen(found)


class WholeJournal(SharedJournal):
    """An athlete's whole journal, for the athlete alone."""

    scope: ClassVar[Scope] = "private"
    indexes: ClassVar[Sequence[type[Any]]] = (SharedWord, PrivateKeywordIndex)

    def __init__(self, store: Store, athlete_id: UUID) -> None:
        super().__init__(store, athlete_id, since=None)

    def _seen(self, entry: Entry) -> WholeEntry:
        return WholeEntry(private=entry.sections.private, **asdict(_shared(entry)))

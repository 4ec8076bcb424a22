"""Journals as their readers see them: athletes see their own in full, coaches what is shared.

The types keep private text from coaches: a SharedJournal finds SharedEntries by shared words, and gives access to
nothing else.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
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
from potluck.table import Query, Range

Span = tuple[datetime, datetime]
"""The first and the last moment of a period."""


class Posting(NamedTuple):
    """Where a word is indexed: an entry or a comment on it, and when that was written."""

    entry_id: UUID
    created_at: datetime
    comment_id: UUID | None = None


class SharedEntry(Struct, frozen=True, kw_only=True):
    """What a coach may see of an entry."""

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
        """The words by which a search finds it, with repetitions."""
        return [word for text in (*self.texts, *self.metrics.tags) for word in words_in(text)] + [
            *metric_words(self.metrics.gi_or_no_gi)
        ]


class WholeEntry(SharedEntry, frozen=True, kw_only=True):
    """An entry with its private text, for its athlete alone."""

    private: str

    @property
    def texts(self) -> tuple[str, ...]:
        return self.shared, self.private


def shared_words(entry: Entry) -> set[str]:
    """The words by which coaches find an entry."""
    return set(_shared(entry).words)


def private_words(entry: Entry) -> set[str]:
    """The words of the private section, by which only the athlete finds it; some may be shared words, too."""
    return set(words_in(entry.sections.private))


def digest_of(*texts: str) -> str:
    """A one-way digest, the same for the same texts."""
    return blake2b(msgspec.json.encode(texts), digest_size=16).hexdigest()


async def comments_of(store: Store, entry_ids: Iterable[UUID]) -> dict[UUID, list[Comment]]:
    """The comments on each of these entries, oldest first, hidden ones included."""
    ids = list(dict.fromkeys(entry_ids))
    comments = await all_done([store.all(Comment.of_entry(entry_id)) for entry_id in ids])
    return dict(zip(ids, comments, strict=True))


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
    """The shared part of an athlete's journal, from a chosen time on if the athlete has set one."""

    scope: ClassVar[Scope] = "shared"
    indexes: ClassVar[Sequence[type[Any]]] = (SharedWord,)

    def __init__(self, store: Store, athlete_id: UUID, since: datetime | None) -> None:
        self.store = store
        self.athlete_id = athlete_id
        self.since = since

    def reaches(self, date: datetime) -> bool:
        """Whether it includes sessions at this time."""
        return self.since is None or date >= self.since

    def entries(self, first: datetime | None = None, last: datetime | None = None) -> Query[Entry]:
        """Its sessions between two times, newest first."""
        begins = max((time for time in (first, self.since) if time is not None), default=None)
        if begins is None and last is None:
            return Entry.of_athlete(self.athlete_id)
        return Entry.in_time(self.athlete_id, Range(begins, last))

    def _seen(self, entry: Entry) -> SharedEntry:
        return _shared(entry)

    async def having(self, word: str, most: int) -> list[Posting]:
        """Where this word is indexed, the newest rows of each index; the index may lag."""
        queries: list[Query[Any]] = [index.of_token(self.athlete_id, word) for index in self.indexes]
        pages = await all_done([self.store.page(query, most) for query in queries])
        return [
            Posting(
                row.entry_id,
                row.created_at,
                row.comment_id if isinstance(row, CommentKeywordIndex) else None,
            )
            for page in pages
            for row in page.items
        ]

    async def read(self, entry_ids: Sequence[UUID]) -> Mapping[UUID, SharedEntry]:
        """The current state of these entries, without deleted ones and other athletes' entries."""
        metas = await self.store.get_many([EntryMeta.one(entry_id) for entry_id in entry_ids])
        refs = [
            Entry.one(self.athlete_id, meta.date, meta.entry_id)
            for meta in metas
            if meta is not None and meta.athlete_id == self.athlete_id
        ]
        entries = await self.store.get_many(refs)
        return {
            entry.entry_id: self._seen(entry) for entry in entries if entry is not None and self.reaches(entry.date)
        }

    async def within(self, postings: Sequence[Posting], spans: Sequence[Span] = ()) -> list[Posting]:
        """The postings of sessions in this journal and in one of the spans, if any. Others must not even be counted."""
        if self.since is None and not spans:
            return list(postings)
        metas = await self.store.get_many(
            [EntryMeta.one(entry_id) for entry_id in {posting.entry_id for posting in postings}]
        )
        inside = {
            meta.entry_id
            for meta in metas
            if meta is not None
            and self.reaches(meta.date)
            and (not spans or any(first <= meta.date <= last for first, last in spans))
        }
        return [posting for posting in postings if posting.entry_id in inside]

    async def read_comments(self, postings: Sequence[Posting]) -> list[Comment]:
        """The current state of these comments, without deleted and hidden ones."""
        refs = [
            Comment.one(posting.entry_id, posting.created_at, posting.comment_id)
            for posting in postings
            if posting.comment_id is not None
        ]
        comments = await self.store.get_many(refs)
        return [comment for comment in comments if comment is not None and comment.visibility == "visible"]

    async def between(self, first: datetime, last: datetime) -> list[SharedEntry]:
        """The sessions between two times, newest first."""
        return [self._seen(entry) for entry in await self.store.all(self.entries(first, last))]

    async def since_then(self, first: datetime) -> list[SharedEntry]:
        """The sessions from a time on, newest first."""
        return [self._seen(entry) for entry in await self.store.all(self.entries(first))]

    async def newest_first(self) -> AsyncIterator[SharedEntry]:
        """Every session, newest first."""
        async for entry in self.store.each(self.entries()):
            yield self._seen(entry)

    async def latest(self) -> SharedEntry | None:
        """The last session."""
        entry = await self.store.first(self.entries())
        return None if entry is None else self._seen(entry)


class WholeJournal(SharedJournal):
    """A whole journal, for its athlete alone."""

    scope: ClassVar[Scope] = "private"
    indexes: ClassVar[Sequence[type[Any]]] = (SharedWord, PrivateKeywordIndex)

    def __init__(self, store: Store, athlete_id: UUID) -> None:
        super().__init__(store, athlete_id, since=None)

    def _seen(self, entry: Entry) -> WholeEntry:
        return WholeEntry(private=entry.sections.private, **asdict(_shared(entry)))

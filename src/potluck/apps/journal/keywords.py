"""Keyword rows: as many as fit change in one transaction with their entry; a consumer writes the rest.

A transaction has at most 100 actions, and an entry may have thousands of words. A large change therefore writes only
the first words itself, and the consumer of the table's stream goes over all of them: for every word that the entry had
before the change or has after it, the row is put or deleted by what the entry says *now*, in transactions that check
that the entry is unchanged. Later writes have their own change in the stream, so handling a change late, twice or out
of order does no harm, and the consumer may be killed at any moment. Until it is done, a search may miss a word; it
never finds one that the entry does not have, because it reads the entry itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from potluck.apps.journal.entities import (
    AIMessage,
    AIThread,
    Comment,
    Entry,
    EntryMeta,
    KeywordIndex,
    PrivateKeywordIndex,
    roll_model,
)
from potluck.apps.journal.journals import private_words, shared_words
from potluck.retries import attempts
from potluck.store import Store
from potluck.streams import Change, Consumer, PositionLost
from potluck.table import Request, WriteRefused, absent, check, delete, put, the
from potluck.table.entity import plan_of
from potluck.table.operations import Operation

__all__ = ["WORDS_AT_ONCE", "Indexing", "keyword_rows", "keyword_writes"]

# A transaction takes 100 actions. Besides the words there are the caller's account, the entry under its old date and
# its new one, its META, and up to three for the idempotent answer.
WORDS_AT_ONCE = 90

KeywordRow = KeywordIndex | PrivateKeywordIndex
Word = tuple[type[Any], str]


def words_of_entry(entry: Entry | None) -> set[Word]:
    """Every word of the entry, with the kind of row it is indexed in."""
    if entry is None:
        return set()
    shared = {(KeywordIndex, word) for word in shared_words(entry)}
    return shared | {(PrivateKeywordIndex, word) for word in private_words(entry)}


def row_of(entry: Entry, word: Word) -> Any:
    kind, token = word
    return kind(entry_id=entry.entry_id, created_at=entry.created_at, athlete_id=entry.athlete_id, token=token)


def keyword_rows(entry: Entry) -> list[KeywordRow]:
    """All index rows of an entry."""
    return [row_of(entry, word) for word in _in_order(words_of_entry(entry))]


def keyword_writes(before: Entry | None, after: Entry | None) -> list[Operation]:
    """The writes that update the index from one state of an entry to another, additions first."""
    entry = after or before
    assert entry is not None
    had, has = words_of_entry(before), words_of_entry(after)
    new = [put(row_of(entry, word)) for word in _in_order(has - had)]
    return [*new, *(delete(row_of(entry, word)) for word in _in_order(had - has))]


def _ref(row: Any) -> Any:
    return type(row).one(row.athlete_id, row.token, row.created_at, row.entry_id)


def _in_order(words: Iterable[Word]) -> list[Word]:
    return sorted(words, key=lambda each: (each[1], each[0].__name__))


class Indexing:
    """The consumer that indexes large entries, and cleans up after deleted entries and conversations."""

    def __init__(self, rows: Store) -> None:
        self._rows = rows

    def consumer(self) -> Consumer:
        return Consumer(
            self._rows.engine,
            "journal-words",
            roll_model.name,
            self.handle,
            of=[Entry, EntryMeta, AIThread],
            lost=self.lost,
        )

    async def handle(self, change: Change) -> None:
        """Finish what this change left to the consumer."""
        images = (change.old, change.new)
        before, after = (None if each is None else _decoded(Entry, each) for each in images)
        if before is not None or after is not None:
            await self._index(before, after)
        elif change.kind == "REMOVE" and (meta := _decoded(EntryMeta, change.old)) is not None:
            await self.clear_comments(meta.entry_id)
        elif change.kind == "REMOVE" and (thread := _decoded(AIThread, change.old)) is not None:
            await self.clear_messages(thread)

    async def _index(self, before: Entry | None, after: Entry | None) -> None:
        """Index the change if it was too large for its own transaction."""
        if len(keyword_writes(before, after)) > WORDS_AT_ONCE:
            known = after or before
            assert known is not None
            await self.bring_up_to_date(known, words_of_entry(before) | words_of_entry(after))

    async def bring_up_to_date(self, known: Entry, words: set[Word]) -> None:
        """Put or delete the rows of these words, depending on what the entry says now."""
        todo = _in_order(words)
        async for _ in attempts("indexing an entry", self._rows.patience):
            now, still = await self._as_it_is(known)
            has = words_of_entry(now)
            try:
                while todo:
                    await self._bring([(word in has, row_of(known, word)) for word in todo[:WORDS_AT_ONCE]], still)
                    del todo[:WORDS_AT_ONCE]
                return
            except WriteRefused:
                # The entry changed meanwhile: rows written so far were right then, and that change has its own event.
                continue

    async def _bring(self, rows: Sequence[tuple[bool, Any]], still: Operation) -> None:
        """Put the rows that should exist and delete the others. Rows that are right already are not written, so that
        each restart gets further."""
        there = await self._rows.get_many([_ref(row) for _, row in rows])
        wrong = [each for each, found in zip(rows, there, strict=True) if each[0] != (found is not None)]
        if wrong:
            await self._rows.transact(still, *(put(row) if wanted else delete(row) for wanted, row in wrong))

    async def _as_it_is(self, known: Entry) -> tuple[Entry | None, Operation]:
        """The entry as it is now, at whatever date, and a check that fails once it has changed."""
        gone = absent | (the(EntryMeta.athlete_id) != known.athlete_id)
        async for _ in attempts("finding an entry", self._rows.patience):
            meta = await self._rows.get(EntryMeta.one(known.entry_id))
            if meta is None or meta.athlete_id != known.athlete_id:
                break
            ref = Entry.one(meta.athlete_id, meta.date, meta.entry_id)
            # It may have been moved to another date between the two reads: look again.
            if (entry := await self._rows.get(ref)) is not None:
                return entry, check(ref, when=the(Entry.version).still(entry.version))
        return None, check(EntryMeta.one(known.entry_id), when=gone)

    async def clear_comments(self, entry_id: UUID) -> None:
        """Delete the comments on a deleted entry; nobody can add any by then."""
        if await self._rows.get(EntryMeta.one(entry_id)) is None:
            comments = await self._rows.all(Comment.of_entry(entry_id))
            await self._rows.write_each(delete(each) for each in comments)

    async def clear_messages(self, thread: AIThread) -> None:
        """Delete the messages of a deleted conversation."""
        if await self._rows.get(AIThread.one(thread.user_id, thread.thread_id)) is None:
            said = await self._rows.all(AIMessage.in_thread(thread.thread_id))
            await self._rows.write_each(delete(each) for each in said)

    async def lost(self, lost: PositionLost) -> None:
        """Changes may have been missed: index every entry, and delete words and comments that have no entry."""
        async for row in self._everything():
            entry = _decoded(Entry, row)
            if entry is not None:
                missing = words_of_entry(entry)
                await self.bring_up_to_date(entry, missing)
                continue
            comment = _decoded(Comment, row)
            if comment is not None:
                await self.clear_comments(comment.entry_id)
            for kind in (KeywordIndex, PrivateKeywordIndex):
                word: Any = _decoded(kind, row)
                if word is not None:
                    await self._clear_word(kind, word)

    async def _clear_word(self, kind: type[Any], row: Any) -> None:
        meta = await self._rows.get(EntryMeta.one(row.entry_id))
        entry = None if meta is None else await self._rows.get(Entry.one(meta.athlete_id, meta.date, meta.entry_id))
        if entry is None or entry.athlete_id != row.athlete_id:
            await self._rows.delete(row)
        elif (kind, row.token) not in words_of_entry(entry):
            await self.bring_up_to_date(entry, {(kind, row.token)})

    async def _everything(self) -> Any:
        body: dict[str, Any] = {"TableName": roll_model.name, "ConsistentRead": True}
        while True:
            answer = await self._rows.repeat(Request("Scan", body))
            for row in answer["Items"]:
                yield row
            if "LastEvaluatedKey" not in answer:
                return
            body = {**body, "ExclusiveStartKey": answer["LastEvaluatedKey"]}


def _decoded(kind: type[Any], row: Any) -> Any:
    """The row as an entity of this kind; None if it is of another."""
    plan = plan_of(kind)
    return plan.coding.decode(row) if row is not None and plan.matches(row) else None

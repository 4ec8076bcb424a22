"""Keyword rows: they change with their entry in one transaction, as many as fit; a consumer writes the rest.

A transaction has at most 100 actions, and an entry may have thousands of words. So of a large change the transaction
has the first words, and the consumer of the table's stream goes over all of it: for every word that the entry had
before the change or has after it, the row is put or deleted by what the entry says *now*, in transactions that check
that this is still so. Whatever was written meanwhile has its own change in the stream, so doing it late, twice or in
another order does no harm, and it may be killed at any moment. Until it is done a search may miss a word; it never
finds one that the entry does not have, because it looks at the entry itself.
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
# its new one, its META, and up to three that keep an idempotent answer.
WORDS_AT_ONCE = 90

KeywordRow = KeywordIndex | PrivateKeywordIndex
Word = tuple[type[Any], str]


def words_of_entry(entry: Entry | None) -> set[Word]:
    """Every word, with the kind of row that it is kept in."""
    if entry is None:
        return set()
    shared = {(KeywordIndex, word) for word in shared_words(entry)}
    return shared | {(PrivateKeywordIndex, word) for word in private_words(entry)}


def row_of(entry: Entry, word: Word) -> Any:
    kind, token = word
    return kind(entry_id=entry.entry_id, created_at=entry.created_at, athlete_id=entry.athlete_id, token=token)


def keyword_rows(entry: Entry) -> list[KeywordRow]:
    """The rows that an entry is found by."""
    return [row_of(entry, word) for word in _in_order(words_of_entry(entry))]


def keyword_writes(before: Entry | None, after: Entry | None) -> list[Operation]:
    """What brings the words of an entry from one text to another; those that are new come first."""
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
    """The consumer that writes the words of large entries, and clears up after deleted ones."""

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
        """What the consumer of the table's stream does with a change."""
        images = (change.old, change.new)
        before, after = (None if each is None else _decoded(Entry, each) for each in images)
        if before is not None or after is not None:
            await self._index(before, after)
        elif change.kind == "REMOVE" and (meta := _decoded(EntryMeta, change.old)) is not None:
            await self.clear_comments(meta.entry_id)
        elif change.kind == "REMOVE" and (thread := _decoded(AIThread, change.old)) is not None:
            await self.clear_messages(thread)

    async def _index(self, before: Entry | None, after: Entry | None) -> None:
        """Everything that a change may have left undone."""
        if len(keyword_writes(before, after)) > WORDS_AT_ONCE:
            known = after or before
            assert known is not None
            await self.bring_up_to_date(known, words_of_entry(before) | words_of_entry(after))

    async def bring_up_to_date(self, known: Entry, words: set[Word]) -> None:
        """Put or delete the rows of these words, by what the entry says now."""
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
                # It was changed meanwhile: what is done was right then, and that change is looked at in its turn.
                continue

    async def _bring(self, rows: Sequence[tuple[bool, Any]], still: Operation) -> None:
        """Put those that should be there and delete the others; what is right already is not written, so that whoever
        begins again gets further each time."""
        there = await self._rows.get_many([_ref(row) for _, row in rows])
        wrong = [each for each, found in zip(rows, there, strict=True) if each[0] != (found is not None)]
        if wrong:
            await self._rows.transact(still, *(put(row) if wanted else delete(row) for wanted, row in wrong))

    async def _as_it_is(self, known: Entry) -> tuple[Entry | None, Operation]:
        """The entry now, wherever its date has put it, and what holds for as long as it says the same."""
        gone = absent | (the(EntryMeta.athlete_id) != known.athlete_id)
        async for _ in attempts("finding an entry", self._rows.patience):
            meta = await self._rows.get(EntryMeta.one(known.entry_id))
            if meta is None or meta.athlete_id != known.athlete_id:
                break
            ref = Entry.one(meta.athlete_id, meta.date, meta.entry_id)
            # It may be moved to another date between the two reads.
            if (entry := await self._rows.get(ref)) is not None:
                return entry, check(ref, when=the(Entry.version).still(entry.version))
        return None, check(EntryMeta.one(known.entry_id), when=gone)

    async def clear_comments(self, entry_id: UUID) -> None:
        """Delete the comments on an entry that is gone: nobody can write one any more."""
        if await self._rows.get(EntryMeta.one(entry_id)) is None:
            comments = await self._rows.all(Comment.of_entry(entry_id))
            await self._rows.write_each(delete(each) for each in comments)

    async def clear_messages(self, thread: AIThread) -> None:
        """Delete what was said in a conversation that is gone."""
        if await self._rows.get(AIThread.one(thread.user_id, thread.thread_id)) is None:
            said = await self._rows.all(AIMessage.in_thread(thread.thread_id))
            await self._rows.write_each(delete(each) for each in said)

    async def lost(self, lost: PositionLost) -> None:
        """Changes may have been missed: every entry gets its words, and every word or comment without entry goes."""
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
    """The row as this kind; None if it is of another."""
    plan = plan_of(kind)
    return plan.coding.decode(row) if row is not None and plan.matches(row) else None

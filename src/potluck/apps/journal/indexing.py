"""Indexes changes that were too large for their own transaction, and cleans up after deletions.

For every word that an entry or a comment had before a change or has after it, the row is put or deleted according to
the *current* text, in transactions that check that it is still current. Later writes have their own records in the
stream, so it is safe to handle a record late, twice or out of order, and to kill the consumer at any moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from potluck.apps.journal.entities import (
    AIMessage,
    AIThread,
    Comment,
    CommentKeywordIndex,
    Entry,
    EntryMeta,
    Indexed,
    KeywordIndex,
    PrivateKeywordIndex,
)
from potluck.apps.journal.keywords import (
    WORDS_AT_ONCE,
    Word,
    comment_row,
    in_order,
    keyword_writes,
    row_of,
    words_of_comment,
    words_of_entry,
)
from potluck.store import Store
from potluck.table import Operation, WriteRefused, absent, check, delete, put, the


class Indexing:
    """Indexes large changes, and deletes what belongs to deleted entries and conversations."""

    def __init__(self, store: Store) -> None:
        self._rows = store

    # --- entries ------------------------------------------------------------------------------------------------------

    async def index_entry(self, before: Entry | None, after: Entry | None) -> None:
        """Index the change if it was too large for its own transaction, and comments that came with a new entry."""
        if len(keyword_writes(before, after)) > WORDS_AT_ONCE:
            known = after or before
            assert known is not None
            await self.bring_up_to_date(known, words_of_entry(before) | words_of_entry(after))
        if before is None and after is not None and after.comments:
            # Imported: the comments were written before any entry had this id.
            for comment in await self._rows.all(Comment.of_entry(after.entry_id)):
                await self.bring_comment_up_to_date(after.athlete_id, comment, words_of_comment(comment))

    async def bring_up_to_date(self, known: Entry, words: set[Word]) -> None:
        """Put or delete the rows of these words, according to the current entry."""
        todo = in_order(words)
        async for _ in self._rows.attempts("indexing an entry"):
            now, still = await self._as_it_is(known)
            has = words_of_entry(now)
            if await self._bring_all(todo, lambda word: (word in has, row_of(known, word)), still):  # noqa: B023
                return

    async def _as_it_is(self, known: Entry) -> tuple[Entry | None, Operation]:
        """The current entry, at whatever date, and a check that fails once it has changed."""
        async for _ in self._rows.attempts("finding an entry"):
            meta = await self._rows.get(EntryMeta.one(known.entry_id))
            if meta is None or meta.athlete_id != known.athlete_id:
                break
            ref = Entry.one(meta.athlete_id, meta.date, meta.entry_id)
            # It may have been moved to another date between the two reads: look again.
            if (entry := await self._rows.get(ref)) is not None:
                return entry, check(ref, when=the(Entry.version).still(entry.version))
        return None, _gone(known.entry_id, known.athlete_id)

    # --- comments -----------------------------------------------------------------------------------------------------

    async def index_comment(self, before: Comment | None, after: Comment | None) -> None:
        """Index the change of a comment if it was too large for its own transaction."""
        known = after or before
        assert known is not None
        if len(words_of_comment(before) ^ words_of_comment(after)) > WORDS_AT_ONCE:
            meta = await self._rows.get(EntryMeta.one(known.entry_id))
            if meta is not None:
                words = words_of_comment(before) | words_of_comment(after)
                await self.bring_comment_up_to_date(meta.athlete_id, known, words)

    async def bring_comment_up_to_date(self, athlete_id: UUID, known: Comment, words: set[str]) -> None:
        """Put or delete the rows of these words, according to the current comment, if its entry exists."""
        todo = sorted(words)
        ref = Comment.one(known.entry_id, known.created_at, known.comment_id)
        async for _ in self._rows.attempts("indexing a comment"):
            meta, now = await self._rows.get_together(EntryMeta.one(known.entry_id), ref)
            if meta is None or meta.athlete_id != athlete_id:
                has, still = set[str](), _gone(known.entry_id, athlete_id)
            else:
                has = words_of_comment(now)
                still = check(ref, when=absent if now is None else the(Comment.version).still(now.version))
            if await self._bring_all(todo, lambda word: (word in has, comment_row(known, athlete_id, word)), still):  # noqa: B023
                return

    async def clear_comments(self, entry_id: UUID, athlete_id: UUID | None = None) -> None:
        """Delete the comments on a deleted entry, keyword rows first. No comment can be added any more."""
        if await self._rows.get(EntryMeta.one(entry_id)) is None:
            comments = await self._rows.all(Comment.of_entry(entry_id))
            if athlete_id is not None:
                words = [
                    comment_row(comment, athlete_id, word) for comment in comments for word in words_of_comment(comment)
                ]
                await self._rows.write_each(map(delete, words))
            await self._rows.write_each(delete(comment) for comment in comments)

    # --- rows ---------------------------------------------------------------------------------------------------------

    async def _bring_all(self, todo: list[Any], row_for: Any, still: Operation) -> bool:
        """Update the rows of these words and remove them from the list. False if the entry or comment has changed: rows
        written so far were right then, and that change has its own record."""
        try:
            while todo:
                await self._bring([row_for(word) for word in todo[:WORDS_AT_ONCE]], still)
                del todo[:WORDS_AT_ONCE]
            return True
        except WriteRefused:
            return False

    async def _bring(self, rows: Sequence[tuple[bool, Any]], still: Operation) -> None:
        """Put the rows that should exist and delete the others. Rows that are right already are not written, so that
        every restart makes progress."""
        there = await self._rows.get_many([_ref(row) for _, row in rows])
        wrong = [item for item, row in zip(rows, there, strict=True) if item[0] != (row is not None)]
        if wrong:
            await self._rows.transact(still, *(put(row) if wanted else delete(row) for wanted, row in wrong))

    # --- conversations ------------------------------------------------------------------------------------------------

    async def clear_messages(self, thread: AIThread) -> None:
        """Delete the messages of a deleted conversation."""
        if await self._rows.get(AIThread.one(thread.user_id, thread.thread_id)) is None:
            messages = await self._rows.all(AIMessage.in_thread(thread.thread_id))
            await self._rows.write_each(delete(message) for message in messages)

    # --- everything ---------------------------------------------------------------------------------------------------

    async def rebuild(self) -> None:
        """Index every entry and comment, and delete the remains of deleted entries, comments and threads."""
        threads: set[UUID] = set()
        async for row in self._rows.each(Indexed.every()):
            match row:
                case Entry():
                    await self.bring_up_to_date(row, words_of_entry(row))
                case Comment():
                    await self._rebuild_comment(row)
                case AIMessage():
                    threads.add(row.thread_id)
                case CommentKeywordIndex():
                    await self._clear_comment_word(row)
                case KeywordIndex() | PrivateKeywordIndex():
                    await self._clear_word(row)
        await self._clear_orphaned_messages(threads)

    async def _rebuild_comment(self, comment: Comment) -> None:
        meta = await self._rows.get(EntryMeta.one(comment.entry_id))
        if meta is None:
            await self.clear_comments(comment.entry_id)
        else:
            await self.bring_comment_up_to_date(meta.athlete_id, comment, words_of_comment(comment))

    async def _clear_comment_word(self, row: CommentKeywordIndex) -> None:
        meta, comment = await self._rows.get_together(
            EntryMeta.one(row.entry_id), Comment.one(row.entry_id, row.created_at, row.comment_id)
        )
        if meta is None or meta.athlete_id != row.athlete_id or comment is None:
            await self._rows.delete(row)
        elif row.token not in words_of_comment(comment):
            await self.bring_comment_up_to_date(row.athlete_id, comment, {row.token})

    async def _clear_orphaned_messages(self, threads: set[UUID]) -> None:
        """Delete the messages of these threads, if the thread no longer exists."""
        if not threads:
            return
        gone = set(threads)
        # A message does not name the owner of its thread, so only a scan that begins afterwards can find the thread.
        async for thread in self._rows.each(AIThread.every()):
            gone.discard(thread.thread_id)
        for thread_id in gone:
            await self._rows.write_each(
                delete(message) for message in await self._rows.all(AIMessage.in_thread(thread_id))
            )

    async def _clear_word(self, row: KeywordIndex | PrivateKeywordIndex) -> None:
        meta = await self._rows.get(EntryMeta.one(row.entry_id))
        entry = None if meta is None else await self._rows.get(Entry.one(meta.athlete_id, meta.date, meta.entry_id))
        if entry is None or entry.athlete_id != row.athlete_id:
            await self._rows.delete(row)
        elif (type(row), row.token) not in words_of_entry(entry):
            await self.bring_up_to_date(entry, {(type(row), row.token)})


def _gone(entry_id: UUID, athlete_id: UUID) -> Operation:
    """A check that the athlete has no entry with this id."""
    return check(EntryMeta.one(entry_id), when=absent | (the(EntryMeta.athlete_id) != athlete_id))


def _ref(row: Any) -> Any:
    comment = (row.comment_id,) if isinstance(row, CommentKeywordIndex) else ()
    return type(row).one(row.athlete_id, row.token, row.created_at, row.entry_id, *comment)

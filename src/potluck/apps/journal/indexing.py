"""Indexes changes that were too large for their own transaction, and cleans up after deletions.

For every word that an entry or a comment had before a change or has after it, the row is put or deleted according to
the *current* text, in transactions that check that it is still current. Later writes have their own records in the
stream, so it is safe to handle a record late, twice or out of order, and to kill the consumer at any moment.
A text of thousands of words is indexed in steps, and so are the comments and messages of what was deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from msgspec import Struct, convert, field, to_builtins

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
from potluck.streams import StepDone, Steps, Work
from potluck.table import Operation, WriteRefused, absent, check, delete, put, the

# The words of one step, in a few transactions.
WORDS_PER_STEP = 4 * WORDS_AT_ONCE
# A comment has up to some hundred words, each with a row.
COMMENTS_PER_STEP = 3
MESSAGES_PER_STEP = 100
# Rows of the whole index that one step looks at.
ROWS_PER_STEP = 25
# As many conversations as one pass over all of them looks for.
THREADS_AT_ONCE = 1000
# A transaction saves the work that one step begins.
MOST_BEGUN = 90

SHARED, PRIVATE = "shared", "private"


class EntryKey(NamedTuple):
    """One entry, by what stays the same when it moves to another date."""

    athlete_id: UUID
    entry_id: UUID
    created_at: datetime


class EntryWords(Struct, frozen=True):
    """Words that an entry had before a change, or has after it."""

    entry: EntryKey
    change: str
    """What distinguishes the change from others of the entry: each brings its own words up to date."""
    words: list[tuple[str, str]]
    """Empty for the words that the entry has now, and no others."""


class EntryComments(NamedTuple):
    """The comments on an entry, and whose it is or was, if that is known."""

    entry_id: UUID
    athlete_id: UUID | None


class RowsLeft(Struct, frozen=True):
    """How far the whole index was looked at, and whether comments without an entry were found."""

    at: Mapping[str, Any] | None = None
    orphans: bool = False


class MessagesLeft(Struct, frozen=True):
    """How far the search for messages without a conversation has come."""

    phase: Literal["messages", "conversations", "gone"] = "messages"
    """Collecting the conversations of messages; looking for these; deleting the messages of those that are gone."""
    messages: Mapping[str, Any] | None = None
    """Where collecting goes on."""
    threads: list[UUID] = field(default_factory=list)
    conversations: Mapping[str, Any] | None = None
    """Where looking goes on."""


class Indexing:
    """Indexes large changes, and deletes what belongs to deleted entries and conversations."""

    def __init__(self, store: Store) -> None:
        self._rows = store
        self._words = Steps("words", EntryWords, self._index_words, key=lambda work: (*work.entry, work.change))
        self._imported = Steps("imported-comments", EntryComments, self._index_comments)
        self._orphaned = Steps("orphaned-comments", EntryComments, self._clear_comments)
        self._messages = Steps("messages", UUID, self._clear_messages)
        self._everything = Steps("everything", str, self._look_at_some)
        self._threads = Steps("threads", str, self._clear_orphaned_messages)

    @property
    def steps(self) -> list[Steps[Any]]:
        """All kinds of long work that it does."""
        return [self._words, self._imported, self._orphaned, self._messages, self._everything, self._threads]

    # --- entries ------------------------------------------------------------------------------------------------------

    async def index_entry(self, before: Entry | None, after: Entry | None) -> Work[Any] | None:
        """Index the change if it was too large for its own transaction, and comments that came with a new entry."""
        if len(keyword_writes(before, after)) > WORDS_AT_ONCE:
            known = after or before
            assert known is not None
            change = f"{'' if before is None else before.version}-{'' if after is None else after.version}"
            return self._words_of(known, change, words_of_entry(before) | words_of_entry(after))
        return self._comments_with(before, after)

    def _words_of(self, known: Entry, change: str, words: set[Word]) -> Work[EntryWords]:
        return self._words.of(EntryWords(_key_of(known), change, _saved(words)))

    def _comments_with(self, before: Entry | None, after: Entry | None) -> Work[EntryComments] | None:
        """Imported comments were written before any entry had this id."""
        if before is None and after is not None and after.comments:
            return self._imported.of(EntryComments(after.entry_id, after.athlete_id))
        return None

    async def _index_words(self, work: EntryWords, after: int | None) -> StepDone:
        place = after or 0
        words = work.words
        if not words:
            entry, _ = await self._as_it_is(work.entry)
            words = _saved(words_of_entry(entry))
        some = words[place : place + WORDS_PER_STEP]
        kinds = {SHARED: KeywordIndex, PRIVATE: PrivateKeywordIndex}
        now = await self.bring_up_to_date(work.entry, {(kinds[kind], token) for kind, token in some})
        if place + WORDS_PER_STEP < len(words):
            return StepDone(place + WORDS_PER_STEP)
        comments = self._comments_with(None, now) if work.change.startswith("-") else None
        return StepDone(also=[] if comments is None else [comments])

    async def bring_up_to_date(self, known: EntryKey, words: set[Word]) -> Entry | None:
        """Put or delete the rows of these words, according to the current entry, which is returned."""
        todo = in_order(words)
        async for _ in self._rows.attempts("indexing an entry"):
            now, still = await self._as_it_is(known)
            has = words_of_entry(now)
            if await self._bring_all(todo, lambda word: (word in has, row_of(known, word)), still):  # noqa: B023
                return now
        raise AssertionError("the attempts end by Unavailable")

    async def _as_it_is(self, known: EntryKey) -> tuple[Entry | None, Operation]:
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

    async def _index_comments(self, of: EntryComments, after: Mapping[str, Any] | None) -> StepDone:
        page = await self._rows.page(Comment.of_entry(of.entry_id), COMMENTS_PER_STEP, after)
        for comment in page.items:
            if of.athlete_id is not None:
                await self.bring_comment_up_to_date(of.athlete_id, comment, words_of_comment(comment))
        return StepDone(page.next)

    async def clear_comments(self, meta: EntryMeta) -> Work[EntryComments]:
        """Delete the comments on a deleted entry, keyword rows first. No comment can be added any more."""
        return self._orphaned.of(EntryComments(meta.entry_id, meta.athlete_id))

    async def _clear_comments(self, of: EntryComments, after: bool | None) -> StepDone:
        if await self._rows.get(EntryMeta.one(of.entry_id)) is not None:
            return StepDone()
        comments = (await self._rows.page(Comment.of_entry(of.entry_id), COMMENTS_PER_STEP)).items
        if of.athlete_id is not None:
            words = [
                comment_row(comment, of.athlete_id, word) for comment in comments for word in words_of_comment(comment)
            ]
            await self._rows.write_each(map(delete, words))
        await self._rows.write_each(delete(comment) for comment in comments)
        return StepDone(True if comments else None)

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

    async def clear_messages(self, thread: AIThread) -> Work[UUID] | None:
        """Delete the messages of a deleted conversation."""
        if await self._rows.get(AIThread.one(thread.user_id, thread.thread_id)) is None:
            return self._messages.of(thread.thread_id)
        return None

    async def _clear_messages(self, thread_id: UUID, after: bool | None) -> StepDone:
        page = await self._rows.page(AIMessage.in_thread(thread_id), MESSAGES_PER_STEP)
        await self._rows.write_each(delete(message) for message in page.items)
        return StepDone(None if page.next is None else True)

    # --- everything ---------------------------------------------------------------------------------------------------

    def rebuilding(self) -> Work[str]:
        """Index every entry and comment, and delete the remains of deleted entries, comments and threads."""
        return self._everything.of("")

    async def _look_at_some(self, _: str, after: Mapping[str, Any] | None) -> StepDone:
        left = convert(after or {}, RowsLeft)
        orphans = left.orphans
        page = await self._rows.scan_page(Indexed.every(), ROWS_PER_STEP, left.at)
        also: dict[str, Work[Any]] = {}
        for row in page.items:
            work: Work[Any] | None = None
            match row:
                case Entry():
                    words = words_of_entry(row)
                    if len(words) > WORDS_AT_ONCE:
                        work = self._words_of(row, "rebuilt", set())
                    else:
                        await self.bring_up_to_date(_key_of(row), words)
                case Comment():
                    work = await self._rebuild_comment(row)
                    orphans = orphans or work is not None
                case CommentKeywordIndex():
                    await self._clear_comment_word(row)
                case KeywordIndex() | PrivateKeywordIndex():
                    await self._clear_word(row)
            if work is not None:
                also[work.name] = work
        if page.next is not None:
            return StepDone(to_builtins(RowsLeft(page.next, orphans)), also=[*also.values()])
        if orphans:
            # Their words may have been passed already, and without the comments no change leads to them.
            return StepDone(to_builtins(RowsLeft()), also=[*also.values()])
        return StepDone(also=[*also.values(), self._threads.of("")])

    async def _rebuild_comment(self, comment: Comment) -> Work[EntryComments] | None:
        meta = await self._rows.get(EntryMeta.one(comment.entry_id))
        if meta is None:
            return self._orphaned.of(EntryComments(comment.entry_id, None))
        await self.bring_comment_up_to_date(meta.athlete_id, comment, words_of_comment(comment))
        return None

    async def _clear_comment_word(self, row: CommentKeywordIndex) -> None:
        meta, comment = await self._rows.get_together(
            EntryMeta.one(row.entry_id), Comment.one(row.entry_id, row.created_at, row.comment_id)
        )
        if meta is None or meta.athlete_id != row.athlete_id or comment is None:
            await self._rows.delete(row)
        elif row.token not in words_of_comment(comment):
            await self.bring_comment_up_to_date(row.athlete_id, comment, {row.token})

    async def _clear_orphaned_messages(self, _: str, after: Mapping[str, Any] | None) -> StepDone:
        """Delete messages whose conversation does not exist.

        A message does not name the owner of its conversation, so the conversations of some messages are looked for
        among all, by reading that begins only afterwards.
        """
        left = convert(after or {}, MessagesLeft)
        if left.phase == "messages":
            page = await self._rows.scan_page(Indexed.every(), THREADS_AT_ONCE, left.messages)
            of_messages = (row.thread_id for row in page.items if isinstance(row, AIMessage))
            threads = [*dict.fromkeys([*left.threads, *of_messages])]
            if page.next is not None and len(threads) < THREADS_AT_ONCE:
                return StepDone(to_builtins(MessagesLeft("messages", page.next, threads)))
            return StepDone(to_builtins(MessagesLeft("conversations", page.next, threads)) if threads else None)
        if left.phase == "conversations":
            conversations = await self._rows.scan_page(AIThread.every(), THREADS_AT_ONCE, left.conversations)
            exist = {thread.thread_id for thread in conversations.items}
            threads = [thread_id for thread_id in left.threads if thread_id not in exist]
            if conversations.next is None:
                return StepDone(to_builtins(MessagesLeft("gone", left.messages, threads)))
            return StepDone(to_builtins(MessagesLeft("conversations", left.messages, threads, conversations.next)))
        gone, threads = left.threads[:MOST_BEGUN], left.threads[MOST_BEGUN:]
        clearing = [self._messages.of(thread_id) for thread_id in gone]
        if threads:
            return StepDone(to_builtins(MessagesLeft("gone", left.messages, threads)), also=clearing)
        return StepDone(
            None if left.messages is None else to_builtins(MessagesLeft("messages", left.messages)), also=clearing
        )

    async def _clear_word(self, row: KeywordIndex | PrivateKeywordIndex) -> None:
        meta = await self._rows.get(EntryMeta.one(row.entry_id))
        entry = None if meta is None else await self._rows.get(Entry.one(meta.athlete_id, meta.date, meta.entry_id))
        if entry is None or entry.athlete_id != row.athlete_id:
            await self._rows.delete(row)
        elif (type(row), row.token) not in words_of_entry(entry):
            await self.bring_up_to_date(_key_of(entry), {(type(row), row.token)})


def _saved(words: set[Word]) -> list[tuple[str, str]]:
    return [(SHARED if kind is KeywordIndex else PRIVATE, token) for kind, token in in_order(words)]


def _key_of(entry: Entry) -> EntryKey:
    return EntryKey(entry.athlete_id, entry.entry_id, entry.created_at)


def _gone(entry_id: UUID, athlete_id: UUID) -> Operation:
    """A check that the athlete has no entry with this id."""
    return check(EntryMeta.one(entry_id), when=absent | (the(EntryMeta.athlete_id) != athlete_id))


def _ref(row: Any) -> Any:
    comment = (row.comment_id,) if isinstance(row, CommentKeywordIndex) else ()
    return type(row).one(row.athlete_id, row.token, row.created_at, row.entry_id, *comment)

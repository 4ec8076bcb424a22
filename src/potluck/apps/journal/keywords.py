"""Keyword rows: the words that find an entry or a comment, and the writes that keep them up to date.

A transaction has at most 100 actions, and an entry may have thousands of words. A large change therefore writes only
the first words itself; the consumer in `indexing` writes the others. Until then, a search may miss a word. It never
finds a word that the entry or the comment no longer has, because it reads them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from potluck.apps.journal.entities import Comment, CommentKeywordIndex, Entry, KeywordIndex, PrivateKeywordIndex
from potluck.apps.journal.journals import private_words, shared_words
from potluck.apps.journal.tokenizer import words_in
from potluck.table import Operation, delete, put

# A transaction takes 100 actions. Besides the words there are the caller's account, the entry under its old date and
# its new one, its META, and up to three for the idempotent answer.
WORDS_AT_ONCE = 90

Word = tuple[type[Any], str]


# --- of entries -------------------------------------------------------------------------------------------------------


def words_of_entry(entry: Entry | None) -> set[Word]:
    """Every word of the entry, with the class of its keyword row."""
    if entry is None:
        return set()
    shared = {(KeywordIndex, word) for word in shared_words(entry)}
    return shared | {(PrivateKeywordIndex, word) for word in private_words(entry)}


class OfEntry(Protocol):
    """What its keyword rows say of an entry."""

    @property
    def athlete_id(self) -> UUID: ...
    @property
    def entry_id(self) -> UUID: ...
    @property
    def created_at(self) -> datetime: ...


def row_of(entry: OfEntry, word: Word) -> Any:
    """The keyword row of one word."""
    kind, token = word
    return kind(entry_id=entry.entry_id, created_at=entry.created_at, athlete_id=entry.athlete_id, token=token)


def keyword_writes(before: Entry | None, after: Entry | None) -> list[Operation]:
    """The writes that update the index from one state of an entry to another, additions first."""
    entry = after or before
    assert entry is not None
    had, has = words_of_entry(before), words_of_entry(after)
    new = [put(row_of(entry, word)) for word in in_order(has - had)]
    return [*new, *(delete(row_of(entry, word)) for word in in_order(had - has))]


def in_order(words: Iterable[Word]) -> list[Word]:
    return sorted(words, key=lambda word: (word[1], word[0].__name__))


# --- of comments ------------------------------------------------------------------------------------------------------


def words_of_comment(comment: Comment | None) -> set[str]:
    """The words by which a search finds a comment; none while it is hidden."""
    return set() if comment is None or comment.visibility != "visible" else set(words_in(comment.body))


def comment_row(comment: Comment, athlete_id: UUID, token: str) -> CommentKeywordIndex:
    return CommentKeywordIndex(
        entry_id=comment.entry_id,
        created_at=comment.created_at,
        comment_id=comment.comment_id,
        athlete_id=athlete_id,
        token=token,
    )


def comment_writes(athlete_id: UUID, before: Comment | None, after: Comment | None) -> list[Operation]:
    """The writes that update the index from one state of a comment to another, additions first."""
    comment = after or before
    assert comment is not None
    had, has = words_of_comment(before), words_of_comment(after)
    new = [put(comment_row(comment, athlete_id, word)) for word in sorted(has - had)]
    return [*new, *(delete(comment_row(comment, athlete_id, word)) for word in sorted(had - has))]

"""Full-text search over as much of a journal as the caller may see, comments included, best match first."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from datetime import date, datetime
from typing import Annotated, Any
from uuid import UUID

from msgspec import Struct

from potluck.apps.journal.access import Athlete
from potluck.apps.journal.entities import Comment, SessionMetrics
from potluck.apps.journal.fields import AthleteId
from potluck.apps.journal.journals import Posting, SharedJournal, Span
from potluck.apps.journal.links import names_of
from potluck.apps.journal.periods import Period, outside, periods_in
from potluck.apps.journal.profile import zone_for
from potluck.apps.journal.ranking import QueryWord, QueryWords, RankedEntry, candidates, query_words, ranked, snippet_of
from potluck.apps.journal.times import day_of
from potluck.apps.journal.tokenizer import words_in
from potluck.store import all_done
from potluck.validation import Integer, Text
from potluck.web import UNSET, Actions, Input, Unset

USUAL_HITS = 20
USUAL_FORMS = 4
MOST_HITS = 100
# Only the newest entries with a word are considered: a more common word hardly narrows a search. The words of a query
# share one budget of rows, so that a long query takes no longer.
MOST_ROWS_OF_WORD, LEAST_ROWS_OF_WORD = 500, 100
# Comments per entry: the newest that contain any of the words.
MOST_COMMENTS = 5


class Wanted(Input):
    q: Annotated[str, Text(1, 200, "Say in 1 to 200 characters what is looked for", kind="raw")]
    athlete_id: AthleteId | Unset = UNSET
    """An athlete you coach; your own journal by default."""
    limit: Annotated[int, Integer(1, MOST_HITS, f"limit must be a whole number from 1 to {MOST_HITS}")] = USUAL_HITS


class CommentHit(Struct, rename="camel", frozen=True, kw_only=True):
    """A comment that contains any of the words."""

    comment_id: UUID
    coach_id: UUID
    name: str | None
    """The author's name; null if their account was deleted."""
    created_at: datetime
    snippet: str


class SearchHit(Struct, rename="camel", frozen=True, kw_only=True):
    entry_id: UUID
    date: datetime
    snippet: str
    """A verbatim excerpt around the words."""
    words: list[str]
    """The words that matched."""
    session_metrics: SessionMetrics
    comments: list[CommentHit]
    """The matching comments on it, oldest first."""


class SearchResults(Struct, rename="camel", frozen=True, kw_only=True):
    items: list[SearchHit]


search: Actions[Any] = Actions(Athlete, api="/journal/search", tag="Journal")


@search.read()
async def find(at: Athlete, wanted: Wanted) -> SearchResults:
    """Search entries and their comments, best match first. Coaches search shared text only."""
    journal = await at.readable(None if wanted.athlete_id is UNSET else wanted.athlete_id)
    zone = await zone_for(at)
    words, periods = narrowed(wanted.q, day_of(at.now, zone))
    matches = await found_in(journal, query_words(words), [period.span(zone) for period in periods])
    matches = matches[: wanted.limit]
    names = await names_of(at.store, [comment.coach_id for match in matches for comment in match.comments])
    return SearchResults(
        items=[
            SearchHit(
                entry_id=entry.entry_id,
                date=entry.date,
                snippet=snippet_of(entry.texts, words),
                words=sorted(words),
                session_metrics=entry.metrics,
                comments=[
                    CommentHit(
                        comment_id=comment.comment_id,
                        coach_id=comment.coach_id,
                        name=names.get(comment.coach_id),
                        created_at=comment.created_at,
                        snippet=snippet_of((comment.body,), words),
                    )
                    for comment in comments
                ],
            )
            for entry, _, words, comments in matches
        ]
    )


def narrowed(question: str, today: date) -> tuple[str, list[Period]]:
    """The words to look for, and the periods that a search mentions: "half guard november", "knee last week".

    A search that consists of periods only looks for its words, which may be in a text."""
    mentions = periods_in(question, today)
    words = outside(question, mentions)
    return (words, [mention.period for mention in mentions]) if words_in(words) else (question, [])


async def found_in(journal: SharedJournal, query: QueryWords, spans: Sequence[Span] = ()) -> list[RankedEntry]:
    """The matches in a journal, ranked by the current entries; only sessions in one of the spans, if any."""
    forms = [form for word in query for form in word]
    most = max(LEAST_ROWS_OF_WORD, MOST_ROWS_OF_WORD * USUAL_FORMS // max(USUAL_FORMS, len(forms)))
    postings = await all_done([journal.having(form, most) for form in forms])
    inside = {*await journal.within([posting for some in postings for posting in some], spans)}
    rows = {
        form: [posting for posting in some if posting in inside] for form, some in zip(forms, postings, strict=True)
    }
    terms = [QueryWord(word, _newest(posting for form in word for posting in rows[form])) for word in query]
    terms = [term for term in terms if term.having]
    entries = await journal.read(candidates(terms))
    comments = await _comments(journal, entries, inside)
    return ranked(terms, list(entries.values()), comments)


def _newest(postings: Iterable[Posting]) -> dict[UUID, datetime]:
    """The entries, each with the latest time at which it or a comment with the word was written."""
    newest: dict[UUID, datetime] = {}
    for entry_id, written, _ in postings:
        newest[entry_id] = max(written, newest.get(entry_id, written))
    return newest


async def _comments(
    journal: SharedJournal, entries: Container[UUID], postings: Iterable[Posting]
) -> dict[UUID, list[Comment]]:
    """The newest matching comments on each of these entries, oldest first."""
    by_entry: dict[UUID, set[Posting]] = {}
    for posting in postings:
        if posting.comment_id is not None and posting.entry_id in entries:
            by_entry.setdefault(posting.entry_id, set()).add(posting)
    newest = [
        posting for some in by_entry.values() for posting in sorted(some, key=_written, reverse=True)[:MOST_COMMENTS]
    ]
    comments: dict[UUID, list[Comment]] = {}
    for comment in await journal.read_comments(sorted(newest, key=_written)):
        comments.setdefault(comment.entry_id, []).append(comment)
    return comments


def _written(posting: Posting) -> tuple[datetime, str]:
    return posting.created_at, str(posting.comment_id)

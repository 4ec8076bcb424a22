"""Full-text search over as much of a journal as the caller may see, best match first."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from msgspec import Struct

from potluck.apps.journal.access import Athlete
from potluck.apps.journal.entities import SessionMetrics
from potluck.apps.journal.fields import AthleteId
from potluck.apps.journal.journals import SharedJournal
from potluck.apps.journal.ranking import Match, QueryWords, Term, candidates, query_words, ranked, snippet_of
from potluck.field_types import Integer, Text
from potluck.store import all_done
from potluck.web.actions import Actions
from potluck.web.inputs import UNSET, Input, Unset

__all__ = ["Found", "Hit", "Wanted", "find", "found_in", "search"]

USUAL_HITS = 20
USUAL_FORMS = 4
MOST_HITS = 100
# Only the newest entries with a word are considered: one that is in more entries hardly narrows a search. The words of
# a query share one budget of rows, so that a long query takes no longer.
MOST_ROWS_OF_WORD, LEAST_ROWS_OF_WORD = 500, 100


class Wanted(Input):
    q: Annotated[str, Text(1, 200, "Say in 1 to 200 characters what is looked for")]
    athlete_id: AthleteId | Unset = UNSET
    """An athlete whom the caller coaches; without one it is the caller's own journal."""
    limit: Annotated[int, Integer(1, MOST_HITS, f"limit must be a whole number from 1 to {MOST_HITS}")] = USUAL_HITS


class Hit(Struct, rename="camel", frozen=True, kw_only=True):
    entry_id: UUID
    date: datetime
    snippet: str
    """A verbatim excerpt around the words."""
    words: list[str]
    """Which words it was found by."""
    session_metrics: SessionMetrics


class Found(Struct, rename="camel", frozen=True, kw_only=True):
    items: list[Hit]


search: Actions[Any] = Actions(Athlete, api="/journal/search", tag="Journal")


@search.read()
async def find(at: Athlete, wanted: Wanted) -> Found:
    """Entries that have the words, the best match first. A coach finds shared words only."""
    journal = await at.readable(None if wanted.athlete_id is UNSET else wanted.athlete_id)
    matches = await found_in(journal, query_words(wanted.q))
    return Found(
        items=[
            Hit(
                entry_id=entry.entry_id,
                date=entry.date,
                snippet=snippet_of(entry.texts, words),
                words=sorted(words),
                session_metrics=entry.metrics,
            )
            for entry, _, words in matches[: wanted.limit]
        ]
    )


async def found_in(journal: SharedJournal, asked: QueryWords) -> list[Match]:
    """The matches in a journal, ranked by the entries as they are now."""
    forms = [form for each in asked for form in each]
    most = max(LEAST_ROWS_OF_WORD, MOST_ROWS_OF_WORD * USUAL_FORMS // max(USUAL_FORMS, len(forms)))
    rows = dict(zip(forms, await all_done([journal.having(form, most) for form in forms]), strict=True))
    terms = [Term(each, {entry: at for form in each for entry, at in rows[form].items()}) for each in asked]
    terms = [each for each in terms if each.having]
    entries = await journal.read(candidates(terms))
    return ranked(terms, list(entries.values()))

"""Retrieval for the assistant: passages in scope, as they are now, and counts. Never a hidden comment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, tzinfo
from uuid import UUID

from potluck.apps.journal.assistant import PARAGRAPH, Asked, Passage, Turn
from potluck.apps.journal.assistant.counting import Counting, counted, counting_of, last_time, topic_of
from potluck.apps.journal.entities import AIMessage, Comment, SessionMetrics, Source
from potluck.apps.journal.journals import SharedEntry, SharedJournal, digest_of
from potluck.apps.journal.ranking import query_words
from potluck.apps.journal.search import found_in
from potluck.apps.journal.times import day_of, span_of
from potluck.apps.journal.tokenizer import forms_of, words_in
from potluck.store import all_done

__all__ = ["MOST_COMMENTS_GIVEN", "MOST_TURNS", "Standing", "latest", "retrieved", "sources_of"]

MOST_ENTRIES = 8
# Per entry, which may have a thousand comments: everything given to the assistant is stored as the answer's source.
MOST_COMMENTS_GIVEN = 5
LATEST_ENTRIES = 5
MOST_TURNS = 10


async def retrieved(
    journal: SharedJournal, question: str, today: date, zone: tzinfo, history: Sequence[AIMessage]
) -> Asked:
    """The question with everything that it may be answered from; `history` holds the latest messages."""
    asked = counting_of(question, today)
    told = None if asked is None else await _counted(journal, asked, zone)
    topic = topic_of(question)
    matches = await found_in(journal, query_words(" ".join(topic))) if topic else []
    entries = [each.entry for each in matches[:MOST_ENTRIES]]
    words = frozenset(form for word in topic for form in forms_of(word))
    return Asked(
        question=question,
        passages=await _passages(journal, entries, words, zone),
        counted=told,
        history=await _in_scope(journal, history),
    )


async def latest(journal: SharedJournal, zone: tzinfo) -> list[Passage]:
    """The last sessions, for models that can answer a question whose words match no entry."""
    entries: list[SharedEntry] = []
    async for entry in journal.newest_first():
        entries.append(entry)
        if len(entries) == LATEST_ENTRIES:
            break
    return await _passages(journal, entries, frozenset(), zone)


async def _counted(journal: SharedJournal, asked: Counting, zone: tzinfo) -> str:
    entries = await journal.between(*span_of(asked.first, asked.last, zone))
    if asked.measure != "last":
        return counted(asked, entries)
    found = next((each for each in entries if asked.counts(each)), None)
    return last_time(asked, found, None if found is None else day_of(found.date, zone))


async def _passages(
    journal: SharedJournal, entries: Sequence[SharedEntry], words: frozenset[str], zone: tzinfo
) -> list[Passage]:
    comments = await _visible_comments(journal, [each.entry_id for each in entries])
    found = []
    for entry in entries:
        texts: list[tuple[UUID | None, str]] = [(None, _text_of(entry))]
        texts += [(each.comment_id, each.body) for each in _closest(comments[entry.entry_id], words)]
        found += [
            Passage(
                entry_id=entry.entry_id,
                date=entry.date,
                day=day_of(entry.date, zone),
                text=text,
                facts=_facts(entry.metrics),
                comment_id=comment_id,
                words=words.intersection(words_in(text)),
            )
            for comment_id, text in texts
            if text
        ]
    return found


def _closest(comments: Sequence[Comment], words: frozenset[str]) -> list[Comment]:
    """The comments with the most of the words, later ones winning ties; in chronological order."""
    order = range(len(comments))
    hits = [len(words.intersection(words_in(each.body))) for each in comments]
    best = sorted(order, key=lambda each: (-hits[each], -each))[:MOST_COMMENTS_GIVEN]
    return [comments[each] for each in sorted(best)]


def _text_of(entry: SharedEntry) -> str:
    return PARAGRAPH.join(text for text in entry.texts if text)


async def _visible_comments(journal: SharedJournal, entry_ids: Iterable[UUID]) -> Mapping[UUID, list[Comment]]:
    ids = list(dict.fromkeys(entry_ids))
    found = await all_done([journal.rows.all(Comment.of_entry(each)) for each in ids])
    return {
        entry_id: [each for each in comments if each.visibility == "visible"]
        for entry_id, comments in zip(ids, found, strict=True)
    }


def _facts(metrics: SessionMetrics) -> str:
    tags = f", {', '.join(metrics.tags)}" if metrics.tags else ""
    numbers = f"{metrics.duration_minutes} minutes, {metrics.rounds} rounds, {metrics.intensity} of 10"
    return f"{numbers}, {metrics.gi_or_no_gi}{tags}"


# --- whether an answer still stands -----------------------------------------------------------------------------------


def sources_of(passages: Sequence[Passage]) -> list[Source]:
    """The sources to store with an answer."""
    return [
        Source(entry_id=each.entry_id, comment_id=each.comment_id, digest=digest_of(each.text)) for each in passages
    ]


class Standing:
    """Whether an answer still stands: all its sources exist, are unchanged and may be read."""

    def __init__(self, digests: Mapping[tuple[UUID, UUID | None], str]) -> None:
        self._digests = digests

    @classmethod
    async def of(cls, journal: SharedJournal, messages: Iterable[AIMessage]) -> Standing:
        """Judged by what the journal shows now."""
        sources = [source for message in messages for source in message.sources or ()]
        entries = await journal.read(list(dict.fromkeys(each.entry_id for each in sources)))
        commented = [each.entry_id for each in sources if each.comment_id is not None and each.entry_id in entries]
        digests: dict[tuple[UUID, UUID | None], str] = {}
        for entry in entries.values():
            digests[entry.entry_id, None] = digest_of(_text_of(entry))
        for entry_id, comments in (await _visible_comments(journal, commented)).items():
            digests |= {(entry_id, each.comment_id): digest_of(each.body) for each in comments}
        return cls(digests)

    def stands(self, message: AIMessage) -> bool:
        return all(self._digests.get((each.entry_id, each.comment_id)) == each.digest for each in message.sources or ())


async def _in_scope(journal: SharedJournal, messages: Sequence[AIMessage]) -> list[Turn]:
    """The earlier messages that are in scope and whose sources still are."""
    said = [each for each in messages if journal.scope == "private" or each.visibility_scope == "shared"]
    standing = await Standing.of(journal, said)
    return [Turn(role=each.role, content=each.content) for each in said if standing.stands(each)]

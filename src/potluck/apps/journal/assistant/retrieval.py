"""Retrieval for the assistant: the current texts in scope that may answer a question. Never a hidden comment."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, tzinfo
from typing import NamedTuple
from uuid import UUID

from potluck.apps.journal.assistant import LONGEST_QUOTE, PARAGRAPH, Computed, Passage, Prompt, Turn
from potluck.apps.journal.assistant.answers import answers_to
from potluck.apps.journal.assistant.evidence import Answer, Evidence, Remark, TrainingSession
from potluck.apps.journal.assistant.lexer import plain_question
from potluck.apps.journal.assistant.limits import (
    ambiguous_date,
    another_person,
    asks_ahead,
    asks_to_judge,
    asks_what_is_shared,
    asks_why,
    leaves_something_out,
)
from potluck.apps.journal.assistant.mentions import stem_of
from potluck.apps.journal.assistant.questions import (
    Context,
    asks_for_a_number,
    reading_of,
    readings_of,
    speaks_of_comments,
)
from potluck.apps.journal.assistant.scope import Journal
from potluck.apps.journal.assistant.wording import is_foreign, topic_of
from potluck.apps.journal.entities import MOST_COUNTED, AIMessage, Citation, Comment, SessionMetrics, Source
from potluck.apps.journal.journals import SharedEntry, SharedJournal, comments_of, digest_of
from potluck.apps.journal.links import names_of
from potluck.apps.journal.periods import Period, outside, periods_in
from potluck.apps.journal.ranking import MOST_TERMS
from potluck.apps.journal.search import found_in
from potluck.apps.journal.times import EARLIEST, LATEST, day_of, span_of
from potluck.apps.journal.tokenizer import forms_of, words_in

MOST_ENTRIES = 8
# Per entry, which may have a thousand comments: everything the assistant receives is stored as a source of the answer.
MOST_COMMENTS_GIVEN = 5
# Entries whose comments are read for a question about comments.
MOST_COMMENTED = 300
LATEST_ENTRIES = 5
MOST_TURNS = 10
MOST_SOURCES = 200
ENGLISH_ONLY = "I understand questions in English, so I only looked for the words."
NO_REASON = "I count and quote, so I can’t say why."
NO_JUDGEMENT = "I count and quote, so I can’t say what is better or worse."
NOT_COUNTED = "I could not read that as something to count, so I only looked for the words."
NOT_READ = "I could not read that, so I only looked for the words."
ONLY_SHARED = "I read only what is shared, so I can’t say what is private or hidden."
NOT_AHEAD = "I only know what the journal says, so I can’t say what will be, or what to do."
NOT_BY_SHARING = "I count sessions, not which parts are private, shared or hidden."
NOTHING_LEFT_OUT = "I could not read what to leave out, so I counted nothing."


class Asker(NamedTuple):
    """The person who asks, and the athlete they ask about."""

    today: date
    zone: tzinfo
    athlete: str
    """The name of the athlete whose journal it is."""
    is_own: bool
    reader: str = ""
    """The name of the person who asks."""
    others: Sequence[str] = ()
    """The names of the reader's other athletes."""


async def retrieved(journal: SharedJournal, question: str, asker: Asker, history: Sequence[AIMessage]) -> Prompt:
    """The question with everything that may answer it; `history` holds the latest messages."""
    turns = await _in_scope(journal, history)
    foreign = is_foreign(question)
    sessions = await _sessions(journal, asker)
    text = "\n".join(
        text for session in sessions for text in (*session.entry.texts, *session.entry.metrics.tags)
    ).casefold()
    other = another_person(question, asker.athlete, asker.is_own, asker.others, journal=text)
    if other is not None:
        computed = Computed(content=_about_another(other, asker), citations=[], rests_on=[])
        return Prompt(question=question, passages=[], computed=computed, history=turns)
    known = frozenset(word for session in sessions for text in session.entry.texts for word in words_in(text))
    answer = None if foreign else await _computed(journal, question, asker, turns, sessions, known)
    if answer is not None and not answer.closest:
        entries = list(dict.fromkeys(item.session.entry.entry_id for item in answer.evidence))[:MOST_ENTRIES]
        by_id = {item.session.entry.entry_id: item.session.entry for item in answer.evidence}
        words = frozenset(form for word in topic_of(question, asker.athlete) for form in forms_of(word))
        return Prompt(
            question=question,
            passages=await _passages(journal, [by_id[entry_id] for entry_id in entries], words, asker.zone),
            computed=await _as_computed(journal, answer),
            history=turns,
        )
    if answer is None and not foreign and not asks_why(question):
        refusal = NOT_AHEAD if asks_ahead(question) else ""
        if asks_what_is_shared(question):
            refusal = ONLY_SHARED if journal.scope == "shared" else NOT_BY_SHARING
        elif leaves_something_out(question):
            refusal = NOTHING_LEFT_OUT
        elif (two := ambiguous_date(question)) is not None:
            refusal = f"“{two}” can be read as two days. Please write the month as a word."
        if refusal:
            computed = Computed(content=refusal, citations=[], rests_on=[])
            return Prompt(question=question, passages=[], computed=computed, history=turns)
    lead = ENGLISH_ONLY if foreign else ""
    if answer is not None and answer.content:
        lead = answer.content
    elif not foreign and asks_why(question):
        lead = NO_REASON
    elif not foreign and asks_to_judge(question):
        lead = NO_JUDGEMENT
    elif not foreign and asks_for_a_number(question):
        lead = NOT_COUNTED
    passages, topic, period, matches = await _searched(journal, question, asker, known)
    # Single words ask for a search; a sentence asks for more.
    if answer is None and not lead and passages and len(topic) < len(words_in(question)):
        lead = NOT_READ
    if answer is None and passages and not matches and period is not None:
        # No entry of that period contains the words.
        when = f"{period.words[:1].upper()}{period.words[1:]}"
        none = f"{when}, nothing in the entries matches “{' '.join(topic)[:200]}”."
        lead = none if lead in (NOT_READ, "") else f"{lead} {none}"
    if answer is not None and answer.content and not passages:
        return Prompt(question=question, passages=[], computed=await _as_computed(journal, answer), history=turns)
    phrase = " ".join(topic)[:200]
    nothing = ""
    if passages:
        nothing = f"Only tags match “{phrase}”, and no sentence does."
    elif phrase:
        parts = (_within(journal, asker), "" if period is None else period.words, "nothing in the entries")
        nothing = f"{', '.join(filter(None, parts))} matches “{phrase}”."
        nothing = f"{nothing[:1].upper()}{nothing[1:]}"
    elif lead in (ENGLISH_ONLY, NOT_COUNTED):
        lead = f"{lead.removesuffix('.')} and found nothing."
    return Prompt(
        question=question, passages=passages, lead=lead, topic=topic, matches=matches, nothing=nothing, history=turns
    )


def _about_another(other: str, asker: Asker) -> str:
    whose = "your own" if asker.is_own else f"{asker.athlete or 'another athlete'}’s"
    about = "your own training" if other == "you" else other
    return f"This conversation is about {whose} journal, so I can say nothing about {about}."


def _within(journal: SharedJournal, asker: Asker) -> str:
    """The part of the journal that the reader sees, in words; empty for all of it."""
    if journal.scope != "shared":
        return ""
    return "in the shared parts" if asker.is_own else f"in what {asker.athlete or 'the athlete'} shares"


async def _searched(
    journal: SharedJournal, question: str, asker: Asker, known: Collection[str]
) -> tuple[list[Passage], tuple[str, ...], Period | None, int]:
    """The passages that contain the question's words, these words, the only period it names, and the number of matches.

    `known` are words of the journal: those with the same stem as a word of the question match, too.
    """
    question = plain_question(question)
    mentions = periods_in(question, asker.today)
    period = mentions[0].period if len(mentions) == 1 else None
    topic = topic_of(outside(question, mentions), asker.athlete)
    stems = {stem_of(word) for word in topic}
    same: dict[str, list[str]] = {}
    for word in known:
        if (stem := stem_of(word)) in stems:
            same.setdefault(stem, []).append(word)
    forms = [tuple(dict.fromkeys((*forms_of(word), *sorted(same.get(stem_of(word), ()))))) for word in topic]
    words = frozenset(form for some in forms for form in some)
    matches = await found_in(journal, forms[:MOST_TERMS]) if topic else []
    entries = [match.entry for match in matches if period is None or day_of(match.entry.date, asker.zone) in period]
    if matches and not entries:
        others = [
            match.entry for match in matches if stems <= {stem_of(word) for word in words_in(_text_of(match.entry))}
        ]
        return await _passages(journal, others[:MOST_ENTRIES], words, asker.zone), topic, period, 0
    return await _passages(journal, entries[:MOST_ENTRIES], words, asker.zone), topic, period, len(entries)


async def _computed(
    journal: SharedJournal,
    question: str,
    asker: Asker,
    turns: Sequence[Turn],
    sessions: Sequence[TrainingSession],
    known: frozenset[str],
) -> Answer | None:
    """The answer to a question, if all of it was understood."""
    questions = [question, *(turn.content for turn in turns if turn.role == "user")]
    remarks = await _remarks(journal, sessions) if any(map(speaks_of_comments, questions)) else []
    context = Context(
        today=asker.today,
        athlete=asker.athlete,
        is_own=asker.is_own,
        coaches=sorted({remark.author for remark in remarks if remark.author}),
        reader=asker.reader,
        words=known.union(word for remark in remarks if not remark.is_hidden for word in words_in(remark.comment.body)),
        tags=frozenset(tag for session in sessions for tag in session.entry.metrics.tags),
        text="\n".join(text for session in sessions for text in session.entry.texts).casefold(),
    )
    readings = readings_of(question, _following(turns, context))
    if not readings:
        return None
    return answers_to(readings, Journal(sessions, remarks, asker.today, _within(journal, asker)))


def _following(turns: Sequence[Turn], context: Context) -> Context:
    """The context with the readings of the two previous questions."""
    for turn in turns:
        if turn.role == "user":
            context = context._replace(previous=reading_of(turn.content, context), earlier=context.previous)
    return context


async def _sessions(journal: SharedJournal, asker: Asker) -> list[TrainingSession]:
    """All sessions, newest first; their words and tags help to read a question."""
    entries = await journal.between(*span_of(EARLIEST, LATEST, asker.zone))
    begun = [entry.date.astimezone(asker.zone) for entry in entries]
    return [
        TrainingSession(entry, when.date(), when.hour, when.minute) for entry, when in zip(entries, begun, strict=True)
    ]


async def _remarks(journal: SharedJournal, sessions: Sequence[TrainingSession]) -> list[Remark]:
    """Other people's comments on the sessions, newest first; hidden ones are counted, but never quoted."""
    commented = [session for session in sessions if session.entry.comments][:MOST_COMMENTED]
    comments = await comments_of(journal.store, [session.entry.entry_id for session in commented])
    others = [
        (session, comment)
        for session in commented
        for comment in comments[session.entry.entry_id]
        if comment.coach_id != journal.athlete_id
    ]
    names = await names_of(journal.store, [comment.coach_id for _, comment in others])
    remarks = [Remark(session, comment, names.get(comment.coach_id, "")) for session, comment in others]
    for session in commented:
        session.authors = {remark.author for remark in remarks if remark.session is session and not remark.is_hidden}
    return sorted(remarks, key=lambda remark: remark.comment.created_at, reverse=True)


async def _as_computed(journal: SharedJournal, answer: Answer) -> Computed:
    evidence = answer.evidence[:MOST_COUNTED]
    more = len(answer.evidence) - len(evidence)
    content = answer.content
    if more:
        first, _, rest = content.partition("\n")
        content = f"{first} The newest {MOST_COUNTED} of the {len(answer.evidence)} entries are cited.\n{rest}".strip()
    texts: dict[tuple[UUID, UUID | None], str] = {
        (item.session.entry.entry_id, item.comment_id): _text_of(item.session.entry)
        for item in answer.evidence
        if item.comment_id is None and (answer.by_text or item.quote)
    }
    commented = [item.session.entry.entry_id for item in evidence if item.comment_id is not None]
    for entry_id, comments in (await _visible_comments(journal, commented)).items():
        cited = {item.comment_id for item in evidence}
        texts |= {(entry_id, comment.comment_id): comment.body for comment in comments if comment.comment_id in cited}
    return Computed(
        content=content,
        citations=[_citation(item) for item in evidence],
        rests_on=[
            Source(entry_id=entry_id, comment_id=comment_id, digest=digest_of(text))
            for (entry_id, comment_id), text in texts.items()
        ][:MOST_SOURCES],
    )


def _citation(evidence: Evidence) -> Citation:
    entry = evidence.session.entry
    quote = evidence.quote
    if len(quote) > LONGEST_QUOTE:
        quote = quote[: max(1, quote.rfind(" ", 0, LONGEST_QUOTE))]
    return Citation(entry_id=entry.entry_id, date=entry.date, quote=quote.strip(), comment_id=evidence.comment_id)


async def latest(journal: SharedJournal, zone: tzinfo) -> list[Passage]:
    """The latest sessions, for models that can answer a question whose words match no entry."""
    entries: list[SharedEntry] = []
    async for entry in journal.newest_first():
        entries.append(entry)
        if len(entries) == LATEST_ENTRIES:
            break
    return await _passages(journal, entries, frozenset(), zone)


async def _passages(
    journal: SharedJournal, entries: Sequence[SharedEntry], words: frozenset[str], zone: tzinfo
) -> list[Passage]:
    comments = await _visible_comments(journal, [entry.entry_id for entry in entries])
    names = await names_of(journal.store, [comment.coach_id for some in comments.values() for comment in some])
    passages = []
    for entry in entries:
        texts: list[tuple[Comment | None, str]] = [(None, _text_of(entry))]
        texts += [(comment, comment.body) for comment in _closest(comments[entry.entry_id], words)]
        passages += [
            Passage(
                entry_id=entry.entry_id,
                date=entry.date,
                day=day_of(entry.date, zone),
                text=text,
                facts=_facts(entry.metrics),
                comment_id=None if comment is None else comment.comment_id,
                author="" if comment is None else names.get(comment.coach_id, ""),
                words=words.intersection(words_in(text)),
            )
            for comment, text in texts
            if text
        ]
    return passages


def _closest(comments: Sequence[Comment], words: frozenset[str]) -> list[Comment]:
    """The comments that contain most of the words, in chronological order; newer ones win ties."""
    order = range(len(comments))
    hits = [len(words.intersection(words_in(comment.body))) for comment in comments]
    best = sorted(order, key=lambda place: (-hits[place], -place))[:MOST_COMMENTS_GIVEN]
    return [comments[place] for place in sorted(best)]


def _text_of(entry: SharedEntry) -> str:
    return PARAGRAPH.join(text for text in entry.texts if text)


async def _visible_comments(journal: SharedJournal, entry_ids: Iterable[UUID]) -> Mapping[UUID, list[Comment]]:
    comments = await comments_of(journal.store, entry_ids)
    return {
        entry_id: [comment for comment in some if comment.visibility == "visible"]
        for entry_id, some in comments.items()
    }


def _facts(metrics: SessionMetrics) -> str:
    tags = f", {', '.join(metrics.tags)}" if metrics.tags else ""
    numbers = f"{metrics.duration_minutes} minutes, {metrics.rounds} rounds, {metrics.intensity} of 10"
    return f"{numbers}, {metrics.gi_or_no_gi}{tags}"


# --- whether an answer is still valid ---------------------------------------------------------------------------------


def sources_of(prompt: Prompt) -> list[Source]:
    """The sources to store with an answer."""
    sources = [
        Source(entry_id=passage.entry_id, comment_id=passage.comment_id, digest=digest_of(passage.text))
        for passage in prompt.passages
    ]
    counted = [] if prompt.computed is None else prompt.computed.rests_on
    return list(dict.fromkeys([*sources, *counted]))[:MOST_SOURCES]


class CurrentSources:
    """Whether an answer is still valid: all its sources exist, are unchanged and may be read."""

    def __init__(self, digests: Mapping[tuple[UUID, UUID | None], str]) -> None:
        self._digests = digests

    @classmethod
    async def of(cls, journal: SharedJournal, messages: Iterable[AIMessage]) -> CurrentSources:
        """The sources of these messages, as the journal shows them now."""
        sources = [source for message in messages for source in message.sources or ()]
        entries = await journal.read(list(dict.fromkeys(source.entry_id for source in sources)))
        commented = [
            source.entry_id for source in sources if source.comment_id is not None and source.entry_id in entries
        ]
        digests: dict[tuple[UUID, UUID | None], str] = {}
        for entry in entries.values():
            digests[entry.entry_id, None] = digest_of(_text_of(entry))
        for entry_id, comments in (await _visible_comments(journal, commented)).items():
            digests |= {(entry_id, comment.comment_id): digest_of(comment.body) for comment in comments}
        return cls(digests)

    def support(self, message: AIMessage) -> bool:
        return all(
            self._digests.get((source.entry_id, source.comment_id)) == source.digest for source in message.sources or ()
        )


async def _in_scope(journal: SharedJournal, messages: Sequence[AIMessage]) -> list[Turn]:
    """The earlier messages that are in scope and still valid."""
    turns = [message for message in messages if journal.scope == "private" or message.visibility_scope == "shared"]
    current = await CurrentSources.of(journal, turns)
    return [Turn(role=message.role, content=message.content) for message in turns if current.support(message)]

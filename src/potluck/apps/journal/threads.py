"""Conversations with the assistant. Each reads only what both its scope and its owner's access allow."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.journal.access import Athlete, InThread
from potluck.apps.journal.addresses import ASK
from potluck.apps.journal.assistant import Prompt, ProviderFailed, Reply
from potluck.apps.journal.assistant.retrieval import MOST_TURNS, Asker, CurrentSources, latest, retrieved, sources_of
from potluck.apps.journal.entities import (
    MOST_COUNTED,
    MOST_QUOTED,
    AIMessage,
    AIThread,
    AthleteCoachLink,
    Citation,
    CoachAthleteLink,
    CountedEntry,
)
from potluck.apps.journal.fields import AthleteId, Question, Role, Scope, Title, zone_of
from potluck.apps.journal.journals import SharedJournal
from potluck.apps.journal.links import names_of
from potluck.apps.journal.profile import profile_of
from potluck.apps.journal.times import day_of
from potluck.people import TooMany
from potluck.table import Query, absent, delete, present, put, the, update
from potluck.web import (
    UNSET,
    Actions,
    Input,
    NotFound,
    RateLimit,
    Unset,
    View,
    Writes,
    computed,
    or_raise,
)

MOST_THREADS = 1_000
MOST_MESSAGES = 10_000
TITLE_FROM_QUESTION = 80
A_MOMENT = timedelta(milliseconds=1)
# Each question may cost the operator money.
ASKING = RateLimit("questions", 30)
FALLBACK = "embedded-fallback"
"""The provider name of the built-in assistant when it replaces one that failed."""
WITHDRAWN = "An entry that this answer is based on has changed or is no longer shared. Ask again."

log = logging.getLogger(__name__)


class ThreadView(View[AIThread]):
    thread_id: UUID
    title: str
    scope: Scope
    athlete_id: UUID | None
    created_at: datetime
    last_active_at: datetime


class NewThread(Input):
    title: Title | Unset = UNSET
    """The first question by default."""
    scope: Scope
    athlete_id: AthleteId | Unset = UNSET
    """An athlete you coach; the thread is then about what they share."""


class Answers:
    """Which answers may still be shown. In a thread about an athlete, their sources must still be shared."""

    def __init__(self, sources: CurrentSources | None) -> None:
        self._sources = sources

    @classmethod
    async def load(cls, at: Any, items: Sequence[AIMessage]) -> Answers:
        about_others = at.thread.athlete_id is not None
        return cls(await CurrentSources.of(at.scope, items) if about_others else None)

    def allow(self, message: AIMessage) -> bool:
        return self._sources is None or self._sources.support(message)


class MessageView(View[AIMessage]):
    message_id: UUID
    thread_id: UUID
    role: Role

    @computed
    def content(message: AIMessage, answers: Answers) -> str:
        return message.content if answers.allow(message) else WITHDRAWN

    @computed
    def citations(message: AIMessage, answers: Answers) -> list[Citation]:
        """Its sources: quotes, then entries that were only counted, with an empty quote."""
        if not answers.allow(message):
            return []
        counted = [Citation(entry_id=entry.entry_id, date=entry.date, quote="") for entry in message.counted or ()]
        return [*(message.citations or ()), *counted]

    @computed
    def withdrawn(message: AIMessage, answers: Answers) -> bool:
        """Whether a source of the answer has changed or is no longer shared."""
        return not answers.allow(message)

    visibility_scope: Scope
    provider: str | None
    created_at: datetime


class NewMessage(Input):
    content: Question


threads = Actions(Athlete, AIThread, ThreadView, api="/journal/ai/threads", page=ASK, tag="Journal")
messages = Actions(
    InThread,
    view=MessageView,
    api="/journal/ai/threads/{thread_id}/messages",
    page=f"{ASK}/{{thread_id}}",
    tag="Journal",
)


@threads.list(order=lambda view: (-view.last_active_at.timestamp(), str(view.thread_id)))
async def own_threads(at: Athlete) -> Sequence[AIThread]:
    """List your conversations, latest first. Those about athletes you no longer coach are left out."""
    return await threads_of(at)


async def threads_of(at: Athlete) -> list[AIThread]:
    stored = await at.store.all(AIThread.of_user(at.own_id))
    about = list(dict.fromkeys(thread.athlete_id for thread in stored if thread.athlete_id is not None))
    links = await at.store.get_many([CoachAthleteLink.by_id(athlete_id, at.own_id) for athlete_id in about])
    coached = {link.athlete_id for link in links if link is not None and link.status == "active"}
    return [thread for thread in stored if thread.athlete_id is None or thread.athlete_id in coached]


@threads.create(TooMany)
async def begin_thread(at: Athlete, new: NewThread) -> Writes[AIThread]:
    """Start a conversation. Its scope is fixed and never grows."""
    about = None if new.athlete_id is UNSET or new.athlete_id == at.own_id else new.athlete_id
    journal = await at.readable(about)
    await at.must_fit(AIThread.of_user(at.own_id), MOST_THREADS, "conversations")
    thread = AIThread(
        user_id=at.own_id,
        thread_id=at.new_id(),
        title="" if new.title is UNSET else new.title,
        created_at=at.now,
        last_active_at=at.now,
        scope="private" if new.scope == "private" and journal.scope == "private" else "shared",
        athlete_id=about,
    )
    return Writes(thread, put(thread, when=absent))


@threads.delete()
async def end_thread(at: InThread, thread: AIThread) -> Writes[None]:
    """Delete a conversation with all of its messages."""
    return Writes(None, or_raise(delete(thread, when=present), NotFound))


@messages.list()
def said_in(at: InThread) -> Query[AIMessage]:
    """List the messages of a conversation, oldest first."""
    return AIMessage.in_thread(at.thread_id)


@messages.create(TooMany, secret="sometimes", rate_limit=ASKING)
async def ask(at: InThread, new: NewMessage) -> Writes[AIMessage]:
    """Ask a question. The answer cites its sources; both messages are stored, or neither."""
    await at.must_fit(AIMessage.in_thread(at.thread_id), MOST_MESSAGES, "messages in a conversation", 2)
    journal = at.scope
    profile = await profile_of(at)
    zone = zone_of(profile.time_zone)
    last = await at.store.page(AIMessage.in_thread(at.thread_id).reversed(), MOST_TURNS)
    about = at.thread.athlete_id
    coached = [] if about is None else await at.store.all(AthleteCoachLink.of_coach(at.own_id))
    names = await names_of(at.store, [link.athlete_id for link in coached if link.status == "active"])
    athlete = profile.name if about is None else names.pop(about, "")
    asker = Asker(
        day_of(at.now, zone), zone, athlete, is_own=about is None, reader=profile.name, others=[*names.values()]
    )
    prompt = await retrieved(journal, new.content, asker, last.items[::-1])
    may_leave = journal.scope == "shared" or profile.ai_consent
    provider, prompt, reply = await _answered(at, prompt, journal, may_leave, zone)
    asked_at = max(at.now, at.thread.last_active_at + A_MOMENT)
    shared: dict[str, Any] = {"thread_id": at.thread_id, "visibility_scope": journal.scope}
    question = AIMessage(message_id=at.new_id(), role="user", content=new.content, created_at=asked_at, **shared)
    answer = AIMessage(
        message_id=at.new_id(),
        role="assistant",
        content=reply.content,
        created_at=asked_at + A_MOMENT,
        citations=[citation for citation in reply.citations if citation.quote][:MOST_QUOTED],
        counted=_counted(reply) or None,
        provider=provider,
        sources=sources_of(prompt),
        **shared,
    )
    title = at.thread.title or " ".join(new.content.split())[:TITLE_FROM_QUESTION]
    active = update(
        AIThread.one(at.own_id, at.thread_id),
        the(AIThread.last_active_at).becomes(answer.created_at),
        the(AIThread.title).becomes(title),
        when=present,
    )
    return Writes(
        answer,
        or_raise(active, NotFound),
        put(question, when=absent),
        put(answer, when=absent),
        made=answer.message_id,
        # Do not store it for repeated requests: what the athlete shares may be private by then.
        secret=at.thread.athlete_id is not None,
    )


def _counted(reply: Reply) -> list[CountedEntry]:
    """The entries that the reply cites without quoting them."""
    quoted = {
        citation.entry_id for citation in [citation for citation in reply.citations if citation.quote][:MOST_QUOTED]
    }
    cited = {
        citation.entry_id: CountedEntry(entry_id=citation.entry_id, date=citation.date) for citation in reply.citations
    }
    return [entry for entry in cited.values() if entry.entry_id not in quoted][:MOST_COUNTED]


async def _answered(
    at: InThread, prompt: Prompt, journal: SharedJournal, may_leave: bool, zone: Any
) -> tuple[str, Prompt, Reply]:
    """The provider, its input and its reply; the built-in assistant if a remote one is not allowed or fails."""
    chosen, embedded = at.journal.provider, at.journal.embedded
    if chosen.remote and may_leave:
        sent = prompt
        if not prompt.passages and prompt.computed is None:
            sent = replace(prompt, passages=await latest(journal, zone))
        try:
            return chosen.name, sent, await chosen.answer(sent)
        except ProviderFailed as failure:
            log.warning("the assistant %s failed, the built-in one answers: %s", chosen.name, failure)
            return FALLBACK, prompt, await embedded.answer(prompt)
    return embedded.name, prompt, await embedded.answer(prompt)

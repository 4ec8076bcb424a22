"""Conversations with the assistant about a journal: one reads only what both its scope and its owner's access allow."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.journal.access import Athlete, InThread
from potluck.apps.journal.addresses import ASK
from potluck.apps.journal.assistant import Asked, ProviderFailed, Reply
from potluck.apps.journal.assistant.retrieval import MOST_TURNS, Asker, Standing, latest, retrieved, sources_of
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
from potluck.people import AlreadyDone, TooMany, new_id
from potluck.table import Query, absent, delete, present, put, the, update
from potluck.web import (
    UNSET,
    Actions,
    FoundByAccess,
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
"""The provider name of the built-in assistant where it replaces one that failed to answer."""
WITHDRAWN = "An entry that this answer rests on was changed, or is not shared any more. Ask again."

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
    """If unset, the first question becomes the title."""
    scope: Scope
    athlete_id: AthleteId | Unset = UNSET
    """An athlete whom the caller coaches; the thread is then about what they share."""


class Answers:
    """Which answers may still be shown: in a thread about another's journal, those whose sources are still shared."""

    def __init__(self, standing: Standing | None) -> None:
        self._standing = standing

    @classmethod
    async def load(cls, at: Any, items: Sequence[AIMessage]) -> Answers:
        about_others = at.thread.athlete_id is not None
        return cls(await Standing.of(at.scope, items) if about_others else None)

    def stands(self, message: AIMessage) -> bool:
        return self._standing is None or self._standing.stands(message)


class MessageView(View[AIMessage]):
    message_id: UUID
    thread_id: UUID
    role: Role

    @computed
    def content(message: AIMessage, answers: Answers) -> str:
        return message.content if answers.stands(message) else WITHDRAWN

    @computed
    def citations(message: AIMessage, answers: Answers) -> list[Citation]:
        """What it rests on: quotes, then entries that it only counted, with an empty quote."""
        if not answers.stands(message):
            return []
        counted = [Citation(entry_id=each.entry_id, date=each.date, quote="") for each in message.counted or ()]
        return [*(message.citations or ()), *counted]

    @computed
    def withdrawn(message: AIMessage, answers: Answers) -> bool:
        """Whether what the answer rests on has changed, or is not shared any more."""
        return not answers.stands(message)

    visibility_scope: Scope
    provider: str | None
    created_at: datetime


class NewMessage(Input):
    content: Question


threads = Actions(
    Athlete, FoundByAccess(AIThread, "thread_id"), ThreadView, api="/journal/ai/threads", page=ASK, tag="Journal"
)
messages = Actions(
    InThread,
    view=MessageView,
    api="/journal/ai/threads/{thread_id}/messages",
    page=f"{ASK}/{{thread_id}}",
    tag="Journal",
)


@threads.list(order=lambda view: (-view.last_active_at.timestamp(), str(view.thread_id)))
async def own_threads(at: Athlete) -> Sequence[AIThread]:
    """The caller's conversations, the latest first; of those about an athlete, only whom they coach now."""
    return await threads_of(at)


async def threads_of(at: Athlete) -> list[AIThread]:
    found = await at.store.all(AIThread.of_user(at.own_id))
    about = list(dict.fromkeys(each.athlete_id for each in found if each.athlete_id is not None))
    links = await at.store.get_many([CoachAthleteLink.by_id(each, at.own_id) for each in about])
    coached = {each.athlete_id for each in links if each is not None and each.status == "active"}
    return [each for each in found if each.athlete_id is None or each.athlete_id in coached]


@threads.create(TooMany)
async def begin_thread(at: Athlete, new: NewThread) -> Writes[AIThread]:
    """Begin a conversation. What it may read is said now and never gets more."""
    about = None if new.athlete_id is UNSET or new.athlete_id == at.own_id else new.athlete_id
    journal = await at.readable(about)
    await at.must_fit(AIThread.of_user(at.own_id), MOST_THREADS, "conversations")
    thread = AIThread(
        user_id=at.own_id,
        thread_id=new_id(),
        title="" if new.title is UNSET else new.title,
        created_at=at.now,
        last_active_at=at.now,
        scope="private" if new.scope == "private" and journal.scope == "private" else "shared",
        athlete_id=about,
    )
    return Writes(thread, put(thread, when=absent))


@threads.delete()
async def end_thread(at: InThread, thread: AIThread) -> Writes[None]:
    """Delete a conversation with all that was said in it."""
    return Writes(None, or_raise(delete(thread, when=present), NotFound))


@messages.list()
def said_in(at: InThread) -> Query[AIMessage]:
    """What was said in a conversation, from its beginning."""
    return AIMessage.in_thread(at.thread_id)


@messages.create(TooMany, AlreadyDone, rate_limit=ASKING)
async def ask(at: InThread, new: NewMessage) -> Writes[AIMessage]:
    """Ask something. The answer says where it has each thing from; both are kept, or neither."""
    await at.must_fit(AIMessage.in_thread(at.thread_id), MOST_MESSAGES, "messages in a conversation", 2)
    journal = at.scope
    profile = await profile_of(at)
    zone = zone_of(profile.time_zone)
    last = await at.store.page(AIMessage.in_thread(at.thread_id).reversed(), MOST_TURNS)
    about = at.thread.athlete_id
    coached = [] if about is None else await at.store.all(AthleteCoachLink.of_coach(at.own_id))
    names = await names_of(at.store, [each.athlete_id for each in coached if each.status == "active"])
    athlete = profile.name if about is None else names.pop(about, "")
    asker = Asker(
        day_of(at.now, zone), zone, athlete, is_own=about is None, reader=profile.name, others=[*names.values()]
    )
    asked = await retrieved(journal, new.content, asker, last.items[::-1])
    may_leave = journal.scope == "shared" or profile.ai_consent
    provider, asked, reply = await _answered(at, asked, journal, may_leave, zone)
    asked_at = max(at.now, at.thread.last_active_at + A_MOMENT)
    said: dict[str, Any] = {"thread_id": at.thread_id, "visibility_scope": journal.scope}
    question = AIMessage(message_id=new_id(), role="user", content=new.content, created_at=asked_at, **said)
    answer = AIMessage(
        message_id=new_id(),
        role="assistant",
        content=reply.content,
        created_at=asked_at + A_MOMENT,
        citations=[each for each in reply.citations if each.quote][:MOST_QUOTED],
        counted=_counted(reply) or None,
        provider=provider,
        sources=sources_of(asked),
        **said,
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
        # Do not keep it for idempotent retries: what the athlete shares may be private by then.
        secret=at.thread.athlete_id is not None,
    )


def _counted(reply: Reply) -> list[CountedEntry]:
    """The entries that the reply cites without a stored quote."""
    quoted = {each.entry_id for each in [each for each in reply.citations if each.quote][:MOST_QUOTED]}
    found = {each.entry_id: CountedEntry(entry_id=each.entry_id, date=each.date) for each in reply.citations}
    return [each for each in found.values() if each.entry_id not in quoted][:MOST_COUNTED]


async def _answered(
    at: InThread, asked: Asked, journal: SharedJournal, may_leave: bool, zone: Any
) -> tuple[str, Asked, Reply]:
    """The provider, its input and its reply; the built-in assistant where a remote one is not allowed or fails."""
    chosen, embedded = at.journal.provider, at.journal.embedded
    if chosen.remote and may_leave:
        given = asked
        if not asked.passages and asked.computed is None:
            given = replace(asked, passages=await latest(journal, zone))
        try:
            return chosen.name, given, await chosen.answer(given)
        except ProviderFailed as failure:
            log.warning("the assistant %s failed, the built-in one answers: %s", chosen.name, failure)
            return FALLBACK, asked, await embedded.answer(asked)
    return embedded.name, asked, await embedded.answer(asked)

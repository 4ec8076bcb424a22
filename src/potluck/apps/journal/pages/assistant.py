"""The pages of the assistant: conversations, what each may read, and answers whose citations open the entry.

A conversation shows only as much of an entry as its scope allows: a shared one, or one about another athlete, gets
only SharedEntries, which have no private text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, tzinfo
from typing import Any
from uuid import UUID

from msgspec import Struct

from potluck.apps.journal.access import Athlete, InThread
from potluck.apps.journal.addresses import ASK
from potluck.apps.journal.entities import AIThread, Citation, Comment
from potluck.apps.journal.fields import Question, Scope, zone_of
from potluck.apps.journal.journals import SharedEntry, WholeEntry, comments_of
from potluck.apps.journal.links import AthleteSummary, names_of, own_athletes
from potluck.apps.journal.pages.frame import Piece, excerpt, layout_context, long_date, pieces, plain, short_date
from potluck.apps.journal.pages.metrics import facts
from potluck.apps.journal.profile import profile_of
from potluck.apps.journal.threads import (
    ASKING,
    FALLBACK,
    MessageView,
    NewMessage,
    NewThread,
    ThreadView,
    ask,
    begin_thread,
    end_thread,
    messages,
    said_in,
    threads,
    threads_of,
)
from potluck.apps.journal.times import day_of
from potluck.web import UNSET, Input, Line, Show, Step, Writes, _

THREAD = f"{ASK}/{{thread_id}}"
MOST_THREADS = 30
# An answer that begins with a number, which is shown large.
COUNTED = re.compile(r"(?P<number>\d[\d,.]*(?: h(?: \d\d)?| min| %:?)?)(?<!:) (?P<rest>.+)", re.DOTALL)
# Citations that are visible at once; the others are folded.
CITATIONS_SHOWN = 5
PROVIDERS = {
    "openai": _("Answered by the model that was set up here, outside this server."),
    "anthropic": _("Answered by Anthropic’s model, outside this server."),
}


# --- what is shown ----------------------------------------------------------------------------------------------------


class Cited(Struct, frozen=True, kw_only=True):
    """A citation of an answer, with the cited text as it is now."""

    entry_id: UUID
    day: str
    quote: str
    """Empty if the entry was only counted."""
    is_private: bool
    by_coach: bool
    author: str
    """Who wrote the quoted comment, if they are known."""
    facts: str
    """Empty if the entry is gone."""
    text: list[Piece]


class AnswerCard(Struct, frozen=True, kw_only=True):
    number: str
    text: str
    cited: list[Cited]
    shown: int
    """How many citations are not folded."""
    by: str
    """Which assistant answered, in words."""
    icon: str
    is_fallback: bool
    is_withdrawn: bool


class ThreadLine(Struct, frozen=True, kw_only=True):
    thread_id: UUID
    title: str
    scope: Scope
    about: str
    day: str


class ThreadMessage(Struct, frozen=True, kw_only=True):
    """A question, or an answer."""

    question: str = ""
    answer: AnswerCard | None = None


async def _threads(at: Athlete, zone: tzinfo) -> list[ThreadLine]:
    shown = sorted(await threads_of(at), key=lambda thread: thread.last_active_at, reverse=True)[:MOST_THREADS]
    names = await names_of(at.store, [thread.athlete_id for thread in shown if thread.athlete_id is not None])
    today = day_of(at.now, zone)
    lines = []
    for view in await at.show(ThreadView, shown):
        day = day_of(view.last_active_at, zone)
        lines.append(
            ThreadLine(
                thread_id=view.thread_id,
                title=view.title or _("Nothing asked yet"),
                scope=view.scope,
                about="" if view.athlete_id is None else names.get(view.athlete_id, _("an athlete")),
                day=_("today") if day == today else short_date(day, today),
            )
        )
    return lines


def _assistant(at: Athlete, consents: bool) -> dict[str, Any]:
    """Whether the assistant is remote, and whether the person has consented to that."""
    return {"remote": at.journal.provider.remote, "consents": consents}


# --- beginning --------------------------------------------------------------------------------------------------------


class Beginning(Input):
    scope: Scope = "private"
    content: Question
    athlete_id: Line = ""


@threads.page("", "journal/ask.html")
async def ask_page(at: Athlete, show: Show) -> dict[str, Any]:
    about = show.query.get("athlete", "") or show.form(Beginning).values["athleteId"]
    form = show.form(Beginning, {"scope": "private", "athleteId": about})
    return {**await _to_begin(at, about), "form": form}


async def _to_begin(at: Athlete, about: str) -> dict[str, Any]:
    profile = await profile_of(at)
    coached = (await own_athletes(at)).items
    return {
        **layout_context("ask"),
        **_assistant(at, profile.ai_consent),
        "profile_version": profile.version,
        "threads": await _threads(at, zone_of(profile.time_zone)),
        "coached": coached,
        "coached_options": [(str(athlete.athlete_id), athlete.name or _("Someone who left")) for athlete in coached],
        "about": _among(coached, about),
        "thread_id": None,
    }


def _among(coached: Sequence[AthleteSummary], athlete_id: str) -> AthleteSummary | None:
    return next((athlete for athlete in coached if str(athlete.athlete_id) == athlete_id), None)


@threads.form("", then=THREAD, on=ask_page, rate_limit=ASKING)
async def begin(at: Athlete, sent: Beginning) -> Writes[AIThread]:
    """Begin a conversation with its first question."""
    athlete = _among((await own_athletes(at)).items, sent.athlete_id)
    begun = await begin_thread(at, NewThread(scope=sent.scope, athlete_id=athlete.athlete_id if athlete else UNSET))
    # Commit before asking: the answer may take a while, and its writes check the thread.
    await at.commit(Step(*begun.operations))
    thread = begun.answer
    inside = InThread(at.core, at.context, at.visitor, {"thread_id": thread.thread_id})
    await inside.admit(thread)
    question = await ask(inside, NewMessage(content=sent.content))
    return Writes(
        thread,
        *(question.outcomes.get(id(operation), operation) for operation in question.operations),
        *inside.link_checks(),
    )


# --- a conversation ---------------------------------------------------------------------------------------------------


@messages.page("", "journal/thread.html")
async def thread_page(at: InThread, show: Show) -> dict[str, Any]:
    profile = await profile_of(at)
    zone = zone_of(profile.time_zone)
    views = await at.show(MessageView, await at.store.all(said_in(at)))
    about = at.thread.athlete_id
    names = {} if about is None else await names_of(at.store, [about])
    return {
        **layout_context("ask"),
        **_assistant(at, profile.ai_consent),
        "profile_version": profile.version,
        "thread_id": at.thread_id,
        "title": at.thread.title or _("Ask your journal"),
        "scope": at.scope.scope,
        "about": "" if about is None else names.get(about, _("an athlete")),
        "turns": await _turns(at, views, zone),
        "threads": await _threads(at, zone),
        "form": show.form(NewMessage),
    }


messages.form("", then=f"{THREAD}#last", on=thread_page)(ask)
threads.form("/delete", then=ASK, flash=_("Thread deleted."))(end_thread)


async def _turns(at: InThread, views: Sequence[MessageView], zone: tzinfo) -> list[ThreadMessage]:
    citations = [citation for view in views for citation in view.citations]
    entries = await at.scope.read(list(dict.fromkeys(citation.entry_id for citation in citations)))
    comments = await _comments(at, citations, entries)
    names = await names_of(at.store, [comment.coach_id for comment in comments.values()])
    today = day_of(at.now, zone)
    return [
        ThreadMessage(question=view.content)
        if view.role == "user"
        else ThreadMessage(
            answer=_answer(
                view, [_cited(citation, entries, comments, names, zone, today) for citation in view.citations]
            )
        )
        for view in views
    ]


async def _comments(
    at: InThread, citations: Sequence[Citation], entries: Mapping[UUID, SharedEntry]
) -> dict[UUID, Comment]:
    """The comments that answers cite, if they are still visible."""
    commented = [citation.entry_id for citation in citations if citation.comment_id and citation.entry_id in entries]
    comments = await comments_of(at.store, commented)
    return {
        comment.comment_id: comment for some in comments.values() for comment in some if comment.visibility == "visible"
    }


def _cited(
    citation: Citation,
    entries: Mapping[UUID, SharedEntry],
    comments: Mapping[UUID, Comment],
    names: Mapping[UUID, str],
    zone: tzinfo,
    today: date,
) -> Cited:
    entry = entries.get(citation.entry_id)
    text, private = "", False
    comment = None if citation.comment_id is None else comments.get(citation.comment_id)
    if citation.comment_id is not None:
        text = "" if comment is None or entry is None else comment.body
    elif entry is not None:
        private = isinstance(entry, WholeEntry) and citation.quote not in entry.shared
        text = entry.private if isinstance(entry, WholeEntry) and private else entry.shared
    return Cited(
        entry_id=citation.entry_id,
        day=long_date(day_of(citation.date, zone), today),
        quote=citation.quote,
        is_private=private,
        by_coach=citation.comment_id is not None,
        author="" if comment is None else names.get(comment.coach_id, ""),
        facts="" if entry is None else facts(entry.metrics),
        text=_with_quote(text, citation.quote),
    )


def _with_quote(text: str, quote: str) -> list[Piece]:
    """The text with the quote marked; an excerpt if the quote is no longer in it."""
    place = text.find(quote)
    return plain(excerpt(text)) if place < 0 else pieces(text, [(place, place + len(quote))])


def _answer(view: MessageView, cited: list[Cited]) -> AnswerCard:
    own = view.provider in ("embedded", FALLBACK)
    text, number = view.content, ""
    if own and cited:
        # Drop the built-in assistant's list of quotes: the page shows them as citations below.
        text = view.content.partition("\n")[0]
    if own and (match := COUNTED.fullmatch(text)):
        number, text = match["number"].rstrip(":"), match["rest"]
    if view.provider == FALLBACK:
        by, icon = _("The remote assistant didn’t answer, so the built-in one did."), "cloud-off"
    elif own:
        by, icon = _("Answered on this server."), "monitor"
        if any(citation.quote for citation in cited):
            by = _("Answered on this server. Quotes are word for word.")
    else:
        by = PROVIDERS.get(view.provider or "", _("Answered by a model outside this server."))
        icon = "share-2"
    return AnswerCard(
        number=number,
        text=text,
        cited=cited,
        shown=CITATIONS_SHOWN if len(cited) > CITATIONS_SHOWN + 1 else len(cited),
        by=by,
        icon=icon,
        is_fallback=view.provider == FALLBACK,
        is_withdrawn=view.withdrawn,
    )

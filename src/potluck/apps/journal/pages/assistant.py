"""The pages of the assistant: conversations, what each may read, and answers whose citations open the entry.

A conversation shows only as much of an entry as its scope allows: a shared one, or one about somebody else, is given
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
from potluck.apps.journal.journals import SharedEntry, WholeEntry
from potluck.apps.journal.links import AthleteSummary, names_of, own_athletes
from potluck.apps.journal.pages.frame import Piece, excerpt, facts, layout_context, long_date, pieces, plain, short_date
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
from potluck.store import all_done
from potluck.web import UNSET, Input, Line, Show, Step, Writes

THREAD = f"{ASK}/{{thread_id}}"
MOST_THREADS = 30
# An answer that begins with a number, which is shown large.
COUNTED = re.compile(r"(?P<number>\d[\d,.]*(?: h(?: \d\d)?| min| %:?)?)(?<!:) (?P<rest>.+)", re.DOTALL)
# The citations that show at once; the others are folded away.
CITATIONS_SHOWN = 5
PROVIDERS = {"openai": "the model that was set up here", "anthropic": "Anthropic’s model"}


# --- what is shown ----------------------------------------------------------------------------------------------------


class Cited(Struct, frozen=True, kw_only=True):
    """A citation of an answer, with the cited text as it is now."""

    entry_id: UUID
    day: str
    quote: str
    """Empty where the entry was counted, and nothing of it quoted."""
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
    """How many of the citations are not folded away."""
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
    found = sorted(await threads_of(at), key=lambda each: each.last_active_at, reverse=True)[:MOST_THREADS]
    names = await names_of(at.store, [each.athlete_id for each in found if each.athlete_id is not None])
    today = day_of(at.now, zone)
    lines = []
    for each in await at.show(ThreadView, found):
        day = day_of(each.last_active_at, zone)
        lines.append(
            ThreadLine(
                thread_id=each.thread_id,
                title=each.title or "Nothing asked yet",
                scope=each.scope,
                about="" if each.athlete_id is None else names.get(each.athlete_id, "an athlete"),
                day="today" if day == today else short_date(day, today),
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
        "coached_options": [(str(each.athlete_id), each.name or "Somebody who left") for each in coached],
        "about": _among(coached, about),
        "thread_id": None,
    }


def _among(coached: Sequence[AthleteSummary], athlete_id: str) -> AthleteSummary | None:
    return next((each for each in coached if str(each.athlete_id) == athlete_id), None)


@threads.form("", then=THREAD, on=ask_page, rate_limit=ASKING)
async def begin(at: Athlete, sent: Beginning) -> Writes[AIThread]:
    """Begin a conversation with its first question."""
    athlete = _among((await own_athletes(at)).items, sent.athlete_id)
    begun = await begin_thread(at, NewThread(scope=sent.scope, athlete_id=athlete.athlete_id if athlete else UNSET))
    # Before the question: its answer may take a while, and is written with the thread's own checks.
    await at.commit(Step(*begun.operations))
    thread = begun.answer
    inside = InThread(at.core, at.context, at.visitor, {"thread_id": thread.thread_id})
    await inside.admit(thread)
    asked = await ask(inside, NewMessage(content=sent.content))
    return Writes(thread, *(asked.outcomes.get(id(each), each) for each in asked.operations), *inside.link_checks())


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
        "title": at.thread.title or "Ask your journal",
        "scope": at.scope.scope,
        "about": "" if about is None else names.get(about, "an athlete"),
        "turns": await _turns(at, views, zone),
        "threads": await _threads(at, zone),
        "form": show.form(NewMessage),
    }


messages.form("", then=f"{THREAD}#last", on=thread_page)(ask)
threads.form("/delete", then=ASK)(end_thread)


async def _turns(at: InThread, views: Sequence[MessageView], zone: tzinfo) -> list[ThreadMessage]:
    citations = [citation for view in views for citation in view.citations]
    entries = await at.scope.read(list(dict.fromkeys(each.entry_id for each in citations)))
    said = await _comments(at, citations, entries)
    names = await names_of(at.store, [each.coach_id for each in said.values()])
    today = day_of(at.now, zone)
    return [
        ThreadMessage(question=view.content)
        if view.role == "user"
        else ThreadMessage(
            answer=_answer(view, [_cited(each, entries, said, names, zone, today) for each in view.citations])
        )
        for view in views
    ]


async def _comments(
    at: InThread, citations: Sequence[Citation], entries: Mapping[UUID, SharedEntry]
) -> dict[UUID, Comment]:
    """The comments that answers cite, if they are still visible to everybody."""
    of = list(dict.fromkeys(each.entry_id for each in citations if each.comment_id and each.entry_id in entries))
    found = await all_done([at.store.all(Comment.of_entry(each)) for each in of])
    return {each.comment_id: each for some in found for each in some if each.visibility == "visible"}


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
    if own and (found := COUNTED.fullmatch(text)):
        number, text = found["number"].rstrip(":"), found["rest"]
    if view.provider == FALLBACK:
        by, icon = "The remote assistant did not answer; this is the built-in one.", "cloud-off"
    elif own:
        quotes = " Quotes are word for word." if any(each.quote for each in cited) else ""
        by, icon = f"Answered on this server.{quotes}", "monitor"
    else:
        by, icon = f"Answered by {PROVIDERS.get(view.provider or '', 'a model')}, outside this server.", "share-2"
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

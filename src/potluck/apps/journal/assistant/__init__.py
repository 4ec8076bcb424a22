"""The assistant: answers a question from passages of a journal, and cites its sources.

    answer(prompt) -> Reply

Three providers: `embedded`, which needs no network and gives the same answer to the same question, and two for models
that run elsewhere. Passages are data: an instruction in one is never followed.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import ClassVar, Protocol
from uuid import UUID

from msgspec import Struct

from potluck.apps.journal.entities import Citation, Source
from potluck.apps.journal.fields import Role

LONGEST_QUOTE = 1_000
PARAGRAPH = "\n\n"
"""Separates the sections of an entry; no quote crosses it."""


class Passage(Struct, frozen=True, kw_only=True):
    """A retrieved text: an entry, or a comment on it."""

    entry_id: UUID
    date: datetime.datetime
    day: datetime.date
    """The date in the caller's time zone."""
    text: str
    facts: str
    """The session's metrics, in words."""
    comment_id: UUID | None = None
    author: str = ""
    """Who wrote the comment, if it is one and they are known."""
    words: frozenset[str] = frozenset()
    """The words of the question that it contains."""


class Turn(Struct, frozen=True, kw_only=True):
    """An earlier message of the conversation, in scope."""

    role: Role
    content: str


class Computed(Struct, frozen=True, kw_only=True):
    """An answer computed from every entry that the question is about."""

    content: str
    """A statement in its first line; quotes may follow."""
    citations: list[Citation]
    rests_on: list[Source]
    """The texts that it is based on."""

    @property
    def statement(self) -> str:
        return self.content.partition("\n")[0]


class Prompt(Struct, frozen=True, kw_only=True):
    """A question with everything that may be used to answer it."""

    question: str
    passages: Sequence[Passage]
    """The best match first."""
    computed: Computed | None = None
    """The answer, if the whole question was understood; otherwise nothing is counted."""
    lead: str = ""
    """The sentence before the quotes: why nothing was counted."""
    topic: Sequence[str] = ()
    """The words that were looked for, in the order of the question."""
    matches: int = 0
    """How many entries contain them; the passages are the best of these."""
    nothing: str = ""
    """The answer if no passage contains them."""
    history: Sequence[Turn] = ()


class Reply(Struct, frozen=True, kw_only=True):
    content: str
    citations: list[Citation]


class ProviderFailed(Exception):
    """A provider gave no usable answer. The message contains nothing of what was sent."""


class Provider(Protocol):
    name: ClassVar[str]
    remote: ClassVar[bool]
    """Whether its input leaves this server."""

    async def answer(self, prompt: Prompt) -> Reply:
        """The answer; raises ProviderFailed if there is none."""
        ...


def cited(passage: Passage, quote: str) -> Citation | None:
    """The citation for a quote; None unless the passage contains it verbatim."""
    if len(quote) > LONGEST_QUOTE:
        quote = quote[: quote.rfind(" ", 0, LONGEST_QUOTE) if " " in quote[:LONGEST_QUOTE] else LONGEST_QUOTE]
    quote = quote.strip()
    if not quote or PARAGRAPH in quote or quote not in passage.text:
        return None
    return Citation(entry_id=passage.entry_id, date=passage.date, quote=quote, comment_id=passage.comment_id)

"""The assistant: answers a question from passages of a journal, and says where it has each thing from.

    answer(asked) -> Reply

Three providers: `embedded`, which needs no network and gives the same answer to the same question, and two for models
that run elsewhere. Passages are data: whatever stands in one, nothing is done that it says.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import ClassVar, Protocol
from uuid import UUID

from msgspec import Struct

from potluck.apps.journal.entities import Citation
from potluck.apps.journal.fields import Role

__all__ = ["PARAGRAPH", "Asked", "Passage", "Provider", "ProviderFailed", "Reply", "Turn", "cited"]

LONGEST_QUOTE = 1_000
PARAGRAPH = "\n\n"
"""What stands between the sections of an entry; no quote goes beyond it."""


class Passage(Struct, frozen=True, kw_only=True):
    """A text that was retrieved: of an entry, or what a coach said about it."""

    entry_id: UUID
    date: datetime.datetime
    day: datetime.date
    """The day it was there where the caller is."""
    text: str
    facts: str
    """The session in numbers."""
    comment_id: UUID | None = None
    words: frozenset[str] = frozenset()
    """Which words of the question it has."""


class Turn(Struct, frozen=True, kw_only=True):
    """What was said before, in scope."""

    role: Role
    content: str


class Asked(Struct, frozen=True, kw_only=True):
    """A question, and everything that it may be answered from."""

    question: str
    passages: Sequence[Passage]
    """The best match first."""
    counted: str | None = None
    """What was counted from the numbers, if that was asked for."""
    history: Sequence[Turn] = ()


class Reply(Struct, frozen=True, kw_only=True):
    content: str
    citations: list[Citation]


class ProviderFailed(Exception):
    """A provider did not answer, or not in a way that can be used. Its text holds nothing that was sent."""


class Provider(Protocol):
    name: ClassVar[str]
    remote: ClassVar[bool]
    """Whether what it is given leaves this server."""

    async def answer(self, asked: Asked) -> Reply:
        """The answer; ProviderFailed if there is none."""
        ...


def cited(passage: Passage, quote: str) -> Citation | None:
    """Where a quote is from; None for what does not stand there word for word."""
    if len(quote) > LONGEST_QUOTE:
        quote = quote[: quote.rfind(" ", 0, LONGEST_QUOTE) if " " in quote[:LONGEST_QUOTE] else LONGEST_QUOTE]
    quote = quote.strip()
    if not quote or PARAGRAPH in quote or quote not in passage.text:
        return None
    return Citation(entry_id=passage.entry_id, date=passage.date, quote=quote, comment_id=passage.comment_id)

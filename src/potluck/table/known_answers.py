"""What queries answered, kept as long as nobody has written anything.

The engine is asked each time for its state, which is the same only if nothing was written in between, by this process
or another. So an answer is given again only while asking anew would give the same, and no writer has to know of this.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from potluck.table.known_rows import NEVER

__all__ = ["KnownAnswers"]

BYTES_KNOWN = 4 * 1024 * 1024
"""How many bytes of rows are kept, with several times as much for what was made of them."""


class _Known(NamedTuple):
    answer: Any
    since: int
    until: float  # when it is to be asked anew, whatever was written; NEVER where that is no question of time


class KnownAnswers:
    """Answers of one state; those of another are forgotten as soon as it is met."""

    def __init__(self, now: Callable[[], int], most_bytes: int = BYTES_KNOWN) -> None:
        self._now = now
        self._most_bytes = most_bytes
        # Together, so that who looks in from another thread finds no answer beside a state that is not its own.
        self._kept: tuple[Hashable, dict[Hashable, _Known]] = None, {}
        self._bytes = 0

    def find(self, question: Hashable, state: Hashable) -> Any:
        """What was answered in this state, unless its time is over; None if that is not known."""
        of, answers = self._kept
        known = answers.get(question) if state == of else None
        if known is None or known[2] == NEVER:
            return None if known is None else known[0]
        # A clock that was set back brings to light again what had expired.
        return known[0] if known[1] <= self._now() < known[2] else None

    def keep(self, question: Hashable, state: Hashable, answer: Any, until: float, size: int) -> None:
        """Remember what was answered by reads that began in this state."""
        if size > self._most_bytes:
            return
        of, answers = self._kept
        if state != of or self._bytes + size > self._most_bytes:
            answers, self._bytes = {}, 0
            self._kept = state, answers
        answers[question] = _Known(answer, self._now(), until)
        self._bytes += size

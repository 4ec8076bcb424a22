"""A cache of query answers, valid until anything is written.

The engine is asked each time for its state, which is the same only if nothing was written in between, by this process
or another. So a cached answer is given only while the query would answer the same, and writers need not invalidate it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from potluck.table.row_cache import NEVER

__all__ = ["CachedAnswer", "QueryCache"]

CACHED_BYTES = 4 * 1024 * 1024
"""How many bytes of rows are kept; what was made of them takes several times as much."""


class CachedAnswer(NamedTuple):
    """An answer, since when it is cached, and until when it holds."""

    answer: Any
    since: int
    until: float  # when to query again even if nothing was written; NEVER if the answer does not depend on time


class QueryCache:
    """Answers of one state of the store; all are dropped once an answer of another state is kept."""

    def __init__(self, now: Callable[[], int], most_bytes: int = CACHED_BYTES) -> None:
        self._now = now
        self._most_bytes = most_bytes
        # One attribute, so that another thread never sees answers beside the state of others.
        self._kept: tuple[Hashable, dict[Hashable, CachedAnswer]] = None, {}
        self._bytes = 0

    def find(self, question: Hashable, state: Hashable) -> Any:
        """The answer cached in this state, unless it has run out; None if there is none."""
        cached = self.find_with_times(question, state)
        return None if cached is None else cached[0]

    def find_with_times(self, question: Hashable, state: Hashable) -> CachedAnswer | None:
        """The same, with since when it is cached and until when it holds."""
        of, answers = self._kept
        cached = answers.get(question) if state == of else None
        if cached is None or cached[2] == NEVER:
            return cached
        # When the clock is set back, items that had expired are visible again.
        return cached if cached[1] <= self._now() < cached[2] else None

    def keep(self, question: Hashable, state: Hashable, answer: Any, until: float, size: int) -> None:
        """Cache the answer of reads that began in this state."""
        if size > self._most_bytes:
            return
        of, answers = self._kept
        if state != of or self._bytes + size > self._most_bytes:
            answers, self._bytes = {}, 0
            self._kept = state, answers
        answers[question] = CachedAnswer(answer, self._now(), until)
        self._bytes += size

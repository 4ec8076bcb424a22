"""What a question asks for, once every word of it has its place.

A Reading is complete: what is counted or compared, over which days, filtered by what. There is no half of one.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from potluck.apps.journal.assistant.mentions import Phrase
from potluck.apps.journal.periods import WEEKDAYS, Period

Kind = Literal[
    "total", "average", "rate", "extreme", "last", "first", "since", "streak", "gap", "compare", "worn", "share",
    "groups", "breakdown", "tags", "days off", "summary", "quotes", "comments", "comment count", "pain", "advice",
    "trend", "doubles",
]  # fmt: skip
Measure = Literal["sessions", "minutes", "rounds", "intensity", "days", "load", "much"]
Unit = Literal["day", "week", "month", "quarter", "year", "weekday", "session", "part of the week", "time of day"]


TimeOfDay = Literal["morning", "afternoon", "evening"]
TIMES_OF_DAY: dict[TimeOfDay, str] = {
    "morning": "morning (before 12:00)", "afternoon": "afternoon (12:00 to 16:59)", "evening": "evening (from 17:00)",
}  # fmt: skip
"""Parts of the day, and how an answer names them."""


class Bounds(NamedTuple):
    """A range of whole numbers, both ends included."""

    low: int | None
    high: int | None
    is_open: bool = False
    """Whether it was said as "more than" or "less than" the number next to it."""

    def __contains__(self, number: object) -> bool:
        return (
            isinstance(number, int)
            and (self.low is None or self.low <= number)
            and (self.high is None or number <= self.high)
        )

    def words(self, unit: str = "") -> str:
        unit = f" {unit}" if unit else ""
        if self.low == self.high:
            return f"{self.low}{unit}"
        if self.is_open:
            return f"less than {(self.high or 0) + 1}{unit}" if self.low is None else f"more than {self.low - 1}{unit}"
        if self.low is None:
            return f"{self.high}{unit} or less"
        if self.high is None:
            return f"{self.low}{unit} or more"
        return f"{self.low} to {self.high}{unit}"


class Term(NamedTuple):
    """Something that an entry must mention: one of several phrases."""

    phrases: tuple[Phrase, ...]
    words: str
    """As the question says it."""
    tag_only: bool = False
    is_clear: bool = True
    """Whether the question is clearly about it, so that not finding it is an answer."""


class Filter(NamedTuple):
    """Which sessions count."""

    worn: Literal["gi", "no-gi", "both"] | None = None
    intensity: Bounds | None = None
    minutes: Bounds | None = None
    rounds: Bounds | None = None
    weekdays: tuple[int, ...] = ()
    time: TimeOfDay | None = None
    terms: tuple[Term, ...] = ()
    pain: bool = False
    """Whether it must speak of pain."""
    part: str | None = None
    """The part of the body that hurts, and its stem in `part_stem`."""
    part_stem: str | None = None

    @property
    def by_text(self) -> bool:
        """Whether it judges by what is written, and not by numbers alone."""
        return self.pain or any(not term.tag_only for term in self.terms)

    @property
    def words(self) -> str:
        """The filter after the noun "sessions": "in the gi, with intensity 8 or more"."""
        parts = []
        if self.worn is not None:
            parts.append({"gi": "in the gi", "no-gi": "in no-gi", "both": "in both gi and no-gi"}[self.worn])
        if self.weekdays:
            parts.append(f"on {listed([f'{WEEKDAYS[day].capitalize()}s' for day in self.weekdays])}")
        if self.time is not None:
            parts.append(f"in the {TIMES_OF_DAY[self.time]}")
        if self.intensity is not None:
            parts.append(f"with intensity {self.intensity.words()}")
        if self.minutes is not None:
            parts.append(f"of {self.minutes.words('minutes')}")
        if self.rounds is not None:
            parts.append(f"with {self.rounds.words('rounds')}")
        tags = [f"“{term.words}”" for term in self.terms if term.tag_only]
        if tags:
            parts.append(f"tagged {listed(tags)}")
        terms = [f"“{term.words}”" for term in self.terms if not term.tag_only]
        if terms:
            parts.append(f"with {listed(terms)}")
        if self.pain:
            if self.part:
                parts.append(f"with the {self.part} and a word like “hurt”, “sore” or “again” in one sentence")
            else:
                parts.append("with a word for pain, or a part of the body with a word like “again”")
        return " ".join(parts)


NOTHING = Filter()


class Anchor(NamedTuple):
    """A period that begins after, or ends before, the last session of some kind: "since my last competition"."""

    side: Literal["after", "before"]
    of: Filter


class Reading(NamedTuple):
    kind: Kind
    measure: Measure = "sessions"
    periods: tuple[Period, ...] = ()
    where: Filter = NOTHING
    unit: Unit = "week"
    least: bool = False
    """For extremes and groups: the least instead of the most."""
    number: int = 1
    """For extremes, first and last: how many."""
    anchor: Anchor | None = None
    by: str | None = None
    """For comments: whose, if someone was named."""
    hard_words: bool = False
    """Whether "hard" or "easy" became numbers."""
    asks_whether: bool = False
    goal: Bounds | None = None
    """For totals: the number that was asked for, as in "did I train more than 100 hours?"."""
    judges: bool = False
    """Whether it asks what is better, so that the numbers come with a remark."""
    asks_how: bool = False
    """Whether words answer it and no number does: "how did the tournament go?"."""
    current: bool = False
    """For streaks: the one that still runs."""
    newest: int = 0
    """Of the sessions that count, only so many, the newest; 0 is all of them."""
    average: bool = False
    """For groups and comparisons: of averages, not of sums."""

    @property
    def period(self) -> Period | None:
        return self.periods[0] if len(self.periods) == 1 else None


def listed(words: list[str] | tuple[str, ...]) -> str:
    """The words as a list in a sentence."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

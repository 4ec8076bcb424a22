"""The meaning of a question in which every word was understood.

A Reading is complete: what is counted or compared, over which period, with which filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from potluck.apps.journal.assistant.mentions import Phrase
from potluck.apps.journal.periods import WEEKDAYS, Period

Kind = Literal[
    "total", "average", "rate", "extreme", "last", "first", "since", "streak", "gap", "compare", "worn", "share",
    "groups", "breakdown", "having", "tags", "days off", "summary", "quotes", "comments", "comment count",
    "commenters", "pain", "advice", "trend", "doubles",
]  # fmt: skip
Measure = Literal["sessions", "minutes", "rounds", "intensity", "days", "load", "much"]
Unit = Literal[
    "day", "week", "month", "quarter", "year", "weekday", "session", "part of the week", "time of day", "worn", "tag"
]
TimeOfDay = Literal["morning", "afternoon", "evening"]
Worn = Literal["gi", "no-gi", "both", "gi only", "no-gi only"]
TIMES_OF_DAY: dict[TimeOfDay, str] = {
    "morning": "morning (before 12:00)", "afternoon": "afternoon (12:00 to 16:59)", "evening": "evening (from 17:00)",
}  # fmt: skip
"""Parts of the day, and how an answer names them."""
_WORN_WORDS: dict[Worn, str] = {
    "gi": "in the gi", "no-gi": "in no-gi", "both": "in both gi and no-gi", "gi only": "in the gi only",
    "no-gi only": "in no-gi only",
}  # fmt: skip


class Bounds(NamedTuple):
    """A range of whole numbers, both ends included."""

    low: int | None
    high: int | None
    is_open: bool = False
    """Whether the question says "more than" or "less than" the adjacent number."""

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
    """What an entry must mention: any of several phrases."""

    phrases: tuple[Phrase, ...]
    words: str
    """The wording of the question."""
    tag_only: bool = False
    is_clear: bool = True
    """Whether the question is clearly about it, so that no match is an answer."""


class Filter(NamedTuple):
    """Which sessions count."""

    worn: Worn | None = None
    intensity: Bounds | None = None
    minutes: Bounds | None = None
    rounds: Bounds | None = None
    weekdays: tuple[int, ...] = ()
    time: TimeOfDay | None = None
    clock: Bounds | None = None
    """When it began, in minutes after midnight."""
    terms: tuple[Term, ...] = ()
    pain: bool = False
    """Whether it must mention pain."""
    part: str | None = None
    """The part of the body that hurts, and its stem in `part_stem`."""
    part_stem: str | None = None
    tagged: bool | None = None
    """Whether it must have tags, or none."""
    commented: str | None = None
    """The author of a comment that it must have; "" for any author."""
    without: tuple[Filter, ...] = ()
    """Filters that it must not match."""
    outside: tuple[Period, ...] = ()
    """Periods that are excluded."""

    @property
    def by_text(self) -> bool:
        """Whether it depends on texts, and not on numbers alone."""
        return (
            self.pain
            or any(not term.tag_only for term in self.terms)
            or any(condition.by_text for condition in self.without)
        )

    @property
    def words(self) -> str:
        """The filter after the noun "sessions": "in the gi, with intensity 8 or more"."""
        parts = []
        if self.worn is not None:
            parts.append(_WORN_WORDS[self.worn])
        if self.weekdays:
            parts.append(f"on {listed([f'{WEEKDAYS[day].capitalize()}s' for day in self.weekdays])}")
        if self.time is not None:
            parts.append(f"in the {TIMES_OF_DAY[self.time]}")
        if self.clock is not None:
            parts.append(_clock_words(self.clock))
        if self.intensity is not None:
            parts.append(f"with intensity {self.intensity.words()}")
        if self.minutes is not None:
            parts.append(f"of {self.minutes.words('minutes')}")
        if self.rounds is not None:
            parts.append(f"with {self.rounds.words('rounds')}")
        if self.tagged is not None:
            parts.append("with a tag" if self.tagged else "without a tag")
        if self.commented is not None:
            parts.append(f"with a comment{f' by {self.commented}' if self.commented else ''}")
        tags = [f"“{term.words}”" for term in self.terms if term.tag_only]
        if tags:
            parts.append(f"tagged {listed(tags)}")
        terms = [f"“{term.words}”" for term in self.terms if not term.tag_only]
        if terms:
            parts.append(f"with {listed(terms)}")
        if self.pain:
            if self.part:
                parts.append(f"with the {self.part} and a word that I know for pain or trouble in one sentence")
            else:
                parts.append("with a word for pain, or a part of the body and a word for trouble")
        left_out = [*(condition.words for condition in self.without), *(period.words for period in self.outside)]
        if left_out:
            parts.append(
                " and ".join(
                    f"without{words[4:]}" if words.startswith("with ") else f"not {words}" for words in left_out
                )
            )
        return " ".join(parts)


NOTHING = Filter()


def merged(parts: Sequence[Filter]) -> Filter | None:
    """The filters combined; None if two of them contradict each other."""
    whole: dict[str, object] = {}
    for part in parts:
        for name, value in part._asdict().items():
            if value == getattr(NOTHING, name):
                continue
            if name in ("terms", "without", "outside"):
                value = (*whole.get(name, ()), *value)  # type: ignore[misc]
            elif whole.get(name, value) != value:
                return None
            whole[name] = value
    return Filter(**whole)  # type: ignore[arg-type]


def _clock_words(clock: Bounds) -> str:
    low, high = (
        None if minutes is None else f"{minutes // 60}:{minutes % 60:02}" for minutes in (clock.low, clock.high)
    )
    if low is not None and high is not None:
        return f"that began from {low} to {high}"
    return f"that began at {low} or later" if high is None else f"that began at {high} or earlier"


class Anchor(NamedTuple):
    """A period that begins after, or ends before, the last session of some kind: "since my last competition"."""

    side: Literal["after", "before"]
    of: Filter
    days: int | None = None
    """The length of the period; None if it is unbounded."""


class Side(NamedTuple):
    """One side of a comparison."""

    where: Filter
    period: Period | None = None


class Reading(NamedTuple):
    kind: Kind
    measure: Measure = "sessions"
    periods: tuple[Period, ...] = ()
    where: Filter = NOTHING
    unit: Unit = "week"
    least: bool = False
    """For extremes, groups and comparisons: the least instead of the most."""
    number: int = 1
    """For extremes, first and last: how many. With `nth` and for groups: the rank."""
    nth: bool = False
    """For first, last, extremes and tags: only the one at this rank."""
    anchor: Anchor | None = None
    by: str | None = None
    """For comments: the author, if one was named."""
    hard_words: bool = False
    """Whether "hard" or "easy" was turned into numbers."""
    asks_whether: bool = False
    every: bool = False
    """For weeks and months without a session: whether it asks if every one has a session."""
    goal: Bounds | None = None
    """For totals, streaks and groups: the number in "did I train more than 100 hours?"."""
    judges: bool = False
    """Whether it asks what is better, so that the answer adds a remark to the numbers."""
    asks_how: bool = False
    """Whether only words can answer it: "how did the tournament go?"."""
    current: bool = False
    """For streaks and breaks: the current one."""
    newest: int = 0
    """Only this many of the matching sessions, newest first; 0 for all."""
    oldest: int = 0
    """Only this many of the matching sessions, oldest first; 0 for all."""
    among: int = 0
    """Only this many of the newest sessions, before the filter; 0 for all."""
    average: bool = False
    """For groups and comparisons: averages instead of sums."""
    sides: tuple[Side, ...] = ()
    """For comparisons."""
    per: Unit | None = None
    """For comparisons: the unit of the rate, if the sides have different lengths."""

    @property
    def period(self) -> Period | None:
        return self.periods[0] if len(self.periods) == 1 else None


def listed(words: Sequence[str]) -> str:
    """The words as a list in a sentence."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

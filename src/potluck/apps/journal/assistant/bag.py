"""The meanings of a question's phrases by key, and the filter and the periods that they make."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from potluck.apps.journal.assistant.chart import Phrase
from potluck.apps.journal.assistant.mentions import phrase_of
from potluck.apps.journal.assistant.reading import NOTHING, Bounds, Filter, Kind, Measure, Reading, Term, merged
from potluck.apps.journal.assistant.sides import one_period
from potluck.apps.journal.periods import Period, calendar_unit, weekday_before

# Names for sessions: counting these counts sessions.
EVENTS = frozenset(["mat", "mats", "class", "classes", "seminar", "seminars", "lesson", "lessons", "camp", "camps"])


# "How many did I make it to?" counts sessions, "how many did I hit?" does not.
ATTENDED = frozenset(["attend", "attended", "go", "went", "made", "make", "been"])
# Nouns that are not measures: other kinds of answers would ignore them.
KINDS_OF_NOUNS = {"tags": "tags", "comments": "comment", "weeks": "having", "months": "having"}


class Bag:
    """The meanings of a question by key."""

    def __init__(self, phrases: Sequence[Phrase], words: Sequence[str], today: date) -> None:
        self.today = today
        self.words = words
        self.phrases = phrases
        self.values: dict[str, list[Any]] = {}
        for phrase in phrases:
            if phrase.key:
                self.values.setdefault(phrase.key, []).append(phrase.value)
        self.asks = frozenset(self.values.pop("ask", ()))
        nouns = list(dict.fromkeys(self.values.get("noun", ())))
        # "Rounds of my sessions" are rounds.
        if len(nouns) > 1 and "sessions" in nouns:
            nouns.remove("sessions")
            self.of_sessions = True
        else:
            self.of_sessions = nouns == ["sessions"]
        if nouns:
            self.values["noun"] = nouns
        self.hard_words = False
        self.where = NOTHING

    def __contains__(self, key: str) -> bool:
        key, _, value = key.partition(":")
        if key == "ask":
            return any(word in self.asks for word in value.split("/"))
        values = self.values.get(key, ())
        return bool(values) and (not value or any(str(item) in value.split("/") for item in values))

    def one(self, key: str, default: Any = None) -> Any:
        values = self.values.get(key)
        return values[0] if values else default

    @property
    def noun(self) -> str | None:
        noun: str | None = self.one("noun")
        return noun

    def settled(self) -> bool:
        """Turn every condition into a filter; False if one cannot be."""
        values = self.values
        if any(
            len({*items}) > 1
            for key, items in values.items()
            if key not in ("where", "period", "amount", "link", "noun")
        ):
            return False
        if len(values.get("noun", ())) > 1:
            return False
        if "hurts" in values or (
            "part" in values and "where" in values and any(condition.pain for condition in values["where"])
        ):
            part, stem = self.one("part", (None, None))
            values.setdefault("where", []).append(Filter(pain=True, part=part, part_stem=stem))
            values.pop("hurts", None), values.pop("part", None)
        if "hard" in values:
            hard = values.pop("hard")[0]
            if not any(condition.intensity for condition in values.get("where", ())):
                values.setdefault("where", []).append(hard)
                self.hard_words = True
        if "level" in values:
            # "Hard sessions (8+)": a bare number is an intensity only next to a word for intensity.
            if not self.hard_words:
                return False
            values["where"][-1] = Filter(intensity=values.pop("level")[0])
            self.hard_words = False
        if (
            "lately" in values
            and not values.keys() & {"cmp", "trend", "said", "by"}
            and "comments" not in values.get("noun", ())
        ):
            # The answer names these days.
            values.pop("lately")
            values.setdefault("period", []).append(Period(self.today - timedelta(days=27), self.today))
        if "this" in values:
            values.setdefault("period", []).append(calendar_unit(values.pop("this")[0], self.today, 0))
        if "every" in values:
            if "whether" in self.asks:
                return False
            values.setdefault("where", []).extend(values.pop("every"))
        if "weekday" in values:
            self._place_weekday(values.pop("weekday")[0])
        if "topic" in values and not self._place_topic(values.pop("topic")[0]):
            return False
        self._place_amounts()
        # Pain in general is covered by pain in a part of the body.
        parts = values.pop("where", [])
        if any(part.pain and part.part for part in parts):
            parts = [part for part in parts if part != Filter(pain=True)]
        whole = merged(list(dict.fromkeys(parts)))
        if whole is None:
            return False
        self.where = whole
        return True

    def _place_weekday(self, day: int) -> None:
        """ "On Monday" is the last Monday if the question is about a day, and every Monday if it counts something."""
        once = self.asks & {"whether", "summary", "how", "quotes", "list"} or not (
            self.asks or self.values.keys() & {"noun", "avg", "share", "last", "first", "top", "adj", "per", "group"}
        )
        if once and not self.values.keys() & {"ever", "period", "run", "cmp"}:
            self.values.setdefault("period", []).append(weekday_before(day, self.today))
        else:
            self.values.setdefault("where", []).append(Filter(weekdays=(day,)))

    def _place_topic(self, words: tuple[str, ...]) -> bool:
        counts = (self.asks & {"count"} and not self.of_sessions and self.noun in (None, "sessions")) or self.noun in (
            "days",
            "weeks",
            "months",
        )
        attended = words[-1] in EVENTS or ATTENDED.intersection(self.words)
        if counts and not (attended and self.noun is None):
            return False
        if counts:
            self.values["noun"] = ["sessions"]
        term = Term((phrase_of(words),), " ".join(words))
        self.values.setdefault("where", []).append(Filter(terms=(term,)))
        return True

    def _place_amounts(self) -> None:
        """A number of minutes or rounds belongs to a session, unless the question is about a total."""
        others = []
        goal = (
            "whether" in self.asks
            and not self.values.keys() & {"ever", "within", "last", "first"}
            and not self.of_sessions
        )
        for measure, bounds in self.values.pop("amount", ()):
            if (
                measure in ("sessions", "days")
                or (goal and "period" in self.values)
                or "per" in self.values
                or "group" in self.values
                or self.noun in ("weeks", "months", "days")
            ):
                others.append((measure, bounds))
                continue
            if "whether" in self.asks and bounds.low == bounds.high and bounds.low:
                # "Have I ever done ten rounds?" includes eleven.
                bounds = Bounds(bounds.low, None)
            condition = Filter(minutes=bounds) if measure == "minutes" else Filter(rounds=bounds)
            self.values.setdefault("where", []).append(condition)
        if others:
            self.values["amount"] = others

    def reading(self, kind: Kind, measure: Any = None, **more: Any) -> Reading | None:
        """The reading of this kind, with the periods and the filter of the question."""
        periods = one_period(self.values.get("period", ()))
        if periods is None or not kind.startswith(KINDS_OF_NOUNS.get(self.noun or "", "")):
            return None
        among = self.one("of_newest", 0)
        if among and self.where != NOTHING and not (kind == "share" or "count" in self.asks):
            # "My last ten sessions in the gi" is ambiguous: the last ten in the gi, or those among the last ten.
            return None
        arguments: dict[str, Any] = {"among": among,
            "measure": measure or self.measure, "periods": periods, "where": self.where, "anchor": self.one("anchor"),
            "hard_words": self.hard_words, "newest": self.one("newest", 0), "oldest": self.one("oldest", 0),
        }  # fmt: skip
        return Reading(kind, **arguments | more)

    @property
    def measure(self) -> Measure:
        for key in ("adj", "top", "cmp"):
            value = self.one(key)
            first = value and value[0]
            if first in ("minutes", "rounds", "intensity", "days", "load", "sessions"):
                return first  # type: ignore[no-any-return]
        if self.noun in ("minutes", "rounds", "intensity", "days", "load"):
            return self.noun  # type: ignore[return-value]
        if self.noun == "length":
            return "minutes"
        if self.noun in (None, "sessions"):
            if "hard" in self.asks:
                return "intensity"
            if "long" in self.asks:
                return "minutes"
            if "much" in self.asks and (self.noun is None or not {"session", "sessions", "class"} & {*self.words}):
                return "much"
        return "sessions"

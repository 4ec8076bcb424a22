"""The two sides of a comparison: which phrases of a question differ between them, and which are shared."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from potluck.apps.journal.assistant.chart import Phrase
from potluck.apps.journal.assistant.mentions import phrase_of
from potluck.apps.journal.assistant.reading import NOTHING, Filter, Side, Term, merged
from potluck.apps.journal.periods import Period, calendar_unit, months_before, present_like, weekday_before
from potluck.apps.journal.times import EARLIEST

STRONG = ("than", "vs", "or")
DAY = timedelta(days=1)


class Contrast(NamedTuple):
    sides: tuple[Side, ...]
    rest: list[Phrase]
    link: str


def one_period(periods: Sequence[Period]) -> tuple[Period, ...] | None:
    """The periods combined into one; None if they contradict each other."""
    if len(periods) < 2:
        return tuple(periods)
    first, last = max(period.first for period in periods), min(period.last for period in periods)
    nested = any(period.first == first and period.last == last for period in periods)
    bounded = any(period.first == EARLIEST for period in periods)
    return (Period(first, last),) if first <= last and (nested or bounded) else None


def shifted(period: Period, unit: str) -> Period | None:
    """The previous period of this unit."""
    if unit == "year ago":
        return Period(months_before(period.first, 12), months_before(period.last, 12))
    if unit == "half":
        wholes = [calendar_unit(unit, period.first, 0) for unit in ("year", "month")]
        return next((halves[1] for whole in wholes if (halves := _halves(whole)) and halves[0] == period), None)
    if unit == "before":
        if period.first.day == 1 and (period.last + DAY).day == 1:
            months = (period.last.year - period.first.year) * 12 + period.last.month - period.first.month + 1
            return Period(months_before(period.first, months), period.first - DAY)
        return Period(period.first - period.days * DAY, period.first - DAY)
    return calendar_unit(unit, period.first, 1)


def _halves(period: Period) -> tuple[Period, Period] | None:
    """The two halves of a year or a month."""
    if period == calendar_unit("year", period.first, 0):
        middle = period.first.replace(month=7)
    elif period == calendar_unit("month", period.first, 0):
        middle = period.first.replace(day=16)
    else:
        return None
    return Period(period.first, middle - DAY), Period(middle, period.last)


def sides_of(phrases: Sequence[Phrase], words: Sequence[str], today: date) -> Contrast | None:
    """The sides that a question compares; None if it compares nothing."""
    halved = [phrase for phrase in phrases if phrase.key == "halves"]
    if halved:
        halves = _halves(halved[0].value)
        return (
            Contrast(
                tuple(Side(NOTHING, half) for half in halves),
                [phrase for phrase in phrases if phrase not in halved],
                "or",
            )
            if halves
            else None
        )
    either = _either(phrases)
    if either is not None:
        return either
    links = [number for number, phrase in enumerate(phrases) if phrase.key == "link"]
    strong = [number for number in links if phrases[number].value in STRONG]
    compares = any(phrase.key in ("compare", "cmp", "share") for phrase in phrases)
    candidates = strong or (links if compares or len(links) == 1 else [])
    for number in candidates or links:
        link = phrases[number].value
        if link in ("to", "with") and not compares:
            continue
        split = _split(phrases, number, links, today)
        if split is not None:
            return split
    lately = any(phrase.key == "lately" for phrase in phrases)
    if len(links) == 1 and (phrases[links[0]].value == "than" or (lately and phrases[links[0]].value in STRONG)):
        return _now([phrase for phrase in phrases if phrase.key != "lately"], today, lately)
    return None


def _either(phrases: Sequence[Phrase]) -> Contrast | None:
    """ "More with Jonas or Lena": in a comparison, a choice of two terms is two sides."""
    chosen = [phrase for phrase in phrases if phrase.key == "where" and len(phrase.value.terms) == 1]
    if len(chosen) != 1 or not any(phrase.key in ("cmp", "top") for phrase in phrases):
        return None
    (term,) = chosen[0].value.terms
    names = term.words.split("” or “")
    if len(term.phrases) != 2 or len(names) != 2 or any(phrase.key == "link" for phrase in phrases):
        return None
    sides = [
        Side(chosen[0].value._replace(terms=(term._replace(phrases=(stems,), words=name),)))
        for stems, name in zip(term.phrases, names, strict=True)
    ]
    return Contrast(tuple(sides), [phrase for phrase in phrases if phrase not in chosen], "or")


def _filter(phrase: Phrase) -> Filter | None:
    match phrase.key:
        case "where" | "hard" | "every":
            return phrase.value  # type: ignore[no-any-return]
        case "topic":
            return Filter(terms=(Term((phrase_of(phrase.value),), " ".join(phrase.value)),))
        case "amount" if phrase.value[0] in ("minutes", "rounds"):
            return Filter(**{phrase.value[0]: phrase.value[1]})
    return None


def _fields(condition: Filter) -> frozenset[str]:
    return frozenset(name for name, value in condition._asdict().items() if value != getattr(NOTHING, name))


def _split(phrases: Sequence[Phrase], number: int, links: Sequence[int], today: date) -> Contrast | None:
    """The phrases left and right of a link; the sides are compared by what both of them name."""
    left, right = phrases[:number], phrases[number + 1 :]
    others = [place for place in links if place != number]
    times = [phrase for phrase in phrases if phrase.key in ("period", "relative", "weekday")]
    if others:
        # A list of periods: "compare June, July and August".
        same = {phrases[place].value for place in links}
        between = (len(same) == 1 or {phrases[place].value for place in others} == {"and"}) and len(times) == len(
            links
        ) + 1
        if not between:
            if any(phrases[place].value in STRONG for place in others):
                return None
            left = [phrase for phrase in left if phrase.key != "link"]
            right = [phrase for phrase in right if phrase.key != "link"]
    one, other = ([phrase for phrase in some if phrase in times] for some in (left, right))
    if one and other and len({phrase.key for phrase in times} & {"weekday"}) == 0:
        periods = _periods([*one, *other], today)
        if periods is None or len(set(periods)) < len(periods):
            return None
        rest = [phrase for phrase in phrases if phrase not in times and phrase.key != "link"]
        contrast = _contrast(left, right)
        if contrast and len(periods) == 2:
            return _filtered(left, right, contrast, periods, today)
        return Contrast(tuple(Side(NOTHING, period) for period in periods), rest, phrases[number].value)
    if one and other:
        days = [phrase.value for phrase in times if phrase.key == "weekday"]
        if len(days) == len(times) == 2:
            rest = [phrase for phrase in phrases if phrase not in times and phrase.key != "link"]
            return Contrast(tuple(Side(Filter(weekdays=(day,))) for day in days), rest, phrases[number].value)
        return None
    contrast = _contrast(left, right)
    return _filtered(left, right, contrast, [None, None], today) if contrast else None


def _contrast(left: Sequence[Phrase], right: Sequence[Phrase]) -> frozenset[str]:
    fields = [
        {name for phrase in some if (condition := _filter(phrase)) is not None for name in _fields(condition)}
        for some in (left, right)
    ]
    return frozenset(fields[0] & fields[1])


def _filtered(
    left: Sequence[Phrase],
    right: Sequence[Phrase],
    contrast: frozenset[str],
    periods: Sequence[Period | None],
    today: date,
) -> Contrast | None:
    sides, rest = [], []
    for some, period in zip((left, right), periods, strict=True):
        own = []
        for phrase in some:
            condition = _filter(phrase)
            if condition is not None and _fields(condition) & contrast:
                own.append(condition)
            elif period is None or phrase.key not in ("period", "relative"):
                rest.append(phrase)
        where = merged(own)
        if where is None or len(own) != 1:
            return None
        sides.append(Side(where, period))
    if sides[0] == sides[1]:
        return None
    return Contrast(tuple(sides), [phrase for phrase in rest if phrase.key != "link"], "than")


def _periods(times: Sequence[Phrase], today: date) -> list[Period] | None:
    periods: list[Period] = []
    for phrase in times:
        if phrase.key == "period":
            period: Period | None = phrase.value
            # In "last month compared to the previous month", the previous month is the one before last month.
            if periods and period == periods[-1]:
                period = shifted(periods[-1], "before")
        elif phrase.key == "weekday":
            period = weekday_before(phrase.value, today)
        else:
            period = shifted(periods[-1], phrase.value) if periods else None
        if period is None:
            return None
        periods.append(period)
    return periods


def _now(phrases: Sequence[Phrase], today: date, lately: bool) -> Contrast | None:
    """ "More than last month": the other side is the current period."""
    number = next(number for number, phrase in enumerate(phrases) if phrase.key == "link")
    right = phrases[number + 1 :]
    periods = [phrase for phrase in phrases if phrase.key == "period"]
    if len(periods) != 1 or periods[0] not in right or any(phrase.key in ("relative", "weekday") for phrase in phrases):
        return None
    rest = [phrase for phrase in phrases if phrase not in periods and phrase.key != "link"]
    past = periods[0].value
    now = Period(today - 27 * DAY, today) if lately else present_like(past, today)
    return Contrast((Side(NOTHING, now), Side(NOTHING, past)), rest, "than now")

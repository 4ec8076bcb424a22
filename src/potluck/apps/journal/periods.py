"""Periods of time as people write them: "March", "last week", "from 3 to 14 May", "Q3 2025", "since yesterday".

    periods_in("half guard in November", today) -> [Mention(period=…, start=11, end=22)]

Pure: `today` is the reader's own date (`day_of(now, zone)`). A name without a year means the latest one that has begun.
An ambiguous date ("3/4/2026") and a vague one ("early March") are no periods.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import NamedTuple

from potluck.apps.journal.times import EARLIEST, first_of_month, first_of_week, span_of

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
# Further back than any journal.
MOST_UNITS = 4_000

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
NUMBERS = {word: number for number, word in enumerate(_UNITS, 1)} | {
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100,
}  # fmt: skip
"""Numbers that people write as words."""
ORDINALS = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "sixth": 6,
    "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
}  # fmt: skip
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


class Period(NamedTuple):
    """Whole days, from the first to the last."""

    first: date
    last: date

    def span(self, zone: tzinfo) -> tuple[datetime, datetime]:
        """The first and the last millisecond of the period in the time zone."""
        return span_of(self.first, self.last, zone)

    def __contains__(self, day: object) -> bool:
        return isinstance(day, date) and self.first <= day <= self.last

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def words(self) -> str:
        """The period in an answer: "in March 2026", "on 14 November 2026", "from … to …"."""
        first, last = self
        if first <= EARLIEST:
            return f"up to {long_day(last)}"
        if first == last:
            return f"on {long_day(first)}"
        if self == _whole_month(first):
            return f"in {MONTHS[first.month - 1].capitalize()} {first.year}"
        if self == _whole_year(first.year):
            return f"in {first.year}"
        return f"from {long_day(first)} to {long_day(last)}"


class Mention(NamedTuple):
    """A period, and where a text mentions it, preposition included."""

    period: Period
    start: int
    end: int


def long_day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"


def periods_in(text: str, today: date, ranges: bool = True) -> list[Mention]:
    """The periods that a text mentions, in order. Without `ranges`, "June to July" is two."""
    mentions: list[Mention] = []
    place = 0
    while (start := WORD_START.search(text, place)) is not None:
        place = start.start()
        if (vague := _VAGUE.match(text, place)) is not None and (
            atom := _atom_at(text, vague.end(), today)
        ) is not None:
            place = atom.end
            continue
        mention = mention_at(text, place, today, ranges)
        if mention is None:
            skipped = WORD.match(text, place)
            place = place + 1 if skipped is None else skipped.end()
        else:
            mentions.append(mention)
            place = mention.end
    return mentions


def outside(text: str, mentions: Sequence[Mention]) -> str:
    """The text without these mentions."""
    for mention in reversed(mentions):
        text = f"{text[: mention.start]} {text[mention.end :]}"
    return text


def months_before(day: date, months: int) -> date:
    """The same day of an earlier month, or the last one it has."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    if year < EARLIEST.year:
        return EARLIEST
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


# --- phrases of one period --------------------------------------------------------------------------------------------


class _Atom(NamedTuple):
    period: Period
    end: int
    has_year: bool = True


_Read = Callable[["re.Match[str]", date], Period | None]

_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_NUMBER = rf"(?P<number>\d{{1,4}}|an?|{'|'.join(NUMBERS)}|(?:a )?couple(?: of)?)"
_UNIT = r"(?P<unit>day|week|fortnight|month|year)s?"
_YEAR = r"(?:(?:,?\s+(?:of\s+|in\s+)?|(?=['’]))(?P<year>(?:19|20)\d\d\b|['’]\d\d\b|(?:last|this)\s+year\b))?"
# A number before one of these counts something and is no day of a month: "in March 3 times".
_COUNTED = r"(?!\s*(?:or\b|\+|%|x\b|times|sessions?|trainings?|hours?|hrs?|h\b|min|rounds?|days?|weeks?|months?|of 10))"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b"
_WEEKDAY = rf"(?P<weekday>{'|'.join(WEEKDAYS)}|mon|tues?|weds?|thurs?|thu|fri)\b"


def _compiled(*patterns: tuple[str, _Read]) -> list[tuple[re.Pattern[str], _Read]]:
    return [(re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE), read) for pattern, read in patterns]


def _month_number(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name.lower().rstrip(".")[:3]))


def _year_of(match: re.Match[str], today: date) -> int | None:
    text = (match.groupdict().get("year") or "").lower()
    if not text:
        return None
    if text.startswith(("last", "this")):
        return today.year - text.startswith("last")
    return 2000 + int(text[1:]) if text[0] in "'’" else int(text)


def _date(year: int, month: int, day: int) -> date | None:
    return date(year, month, day) if 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1] else None


def _one_day(day: date | None) -> Period | None:
    return None if day is None else Period(day, day)


def _whole_month(day: date) -> Period:
    first = first_of_month(day)
    return Period(first, first.replace(day=monthrange(first.year, first.month)[1]))


def _whole_year(year: int) -> Period:
    return Period(date(year, 1, 1), date(year, 12, 31))


def _whole_week(day: date) -> Period:
    return Period(first_of_week(day), first_of_week(day) + 6 * DAY)


def _months_from(year: int, month: int, months: int) -> Period:
    first = date(year, month, 1)
    return Period(first, months_before(first, -months) - DAY)


def _iso(match: re.Match[str], today: date) -> Period | None:
    year, month = int(match["year"]), int(match["month"])
    if match["day"]:
        return _one_day(_date(year, month, int(match["day"])))
    return _whole_month(date(year, month, 1)) if 1 <= month <= 12 else None


def _dotted(match: re.Match[str], today: date) -> Period | None:
    month, day = int(match["month"]), int(match["day"])
    return _latest_day(month, day, int(match["year"]) if match["year"] else None, today)


def _slashed(match: re.Match[str], today: date) -> Period | None:
    """A date with slashes, unless day and month could be swapped."""
    one, other, year = int(match["one"]), int(match["other"]), int(match["year"])
    if one != other and one <= 12 and other <= 12:
        return None
    month, day = sorted((one, other))
    return _one_day(_date(year, month, day))


def _latest_day(month: int, day: int, year: int | None, today: date) -> Period | None:
    if year is not None:
        return _one_day(_date(year, month, day))
    if not 1 <= month <= 12:
        return None
    # The day need not be in every year: 29 February.
    days = (_date(today.year - ago, month, day) for ago in range(8))
    return _one_day(next((day for day in days if day is not None and day <= today), None))


def _day_of_month(match: re.Match[str], today: date) -> Period | None:
    return _latest_day(_month_number(match["month"]), int(match["day"]), _year_of(match, today), today)


def _days_of_month(match: re.Match[str], today: date) -> Period | None:
    month, year = _month_number(match["month"]), _year_of(match, today)
    first = _latest_day(month, int(match["day"]), year, today)
    last = None if first is None else _date(first.first.year, month, int(match["until"]))
    return None if first is None or last is None or last < first.first else Period(first.first, last)


def _nth(match: re.Match[str], today: date) -> Period | None:
    months = (months_before(first_of_month(today), ago) for ago in range(12))
    days = (_date(month.year, month.month, int(match["day"])) for month in months)
    return _one_day(next((day for day in days if day is not None and day <= today), None))


def _month(match: re.Match[str], today: date) -> Period | None:
    month, year = _month_number(match["month"]), _year_of(match, today)
    if year is None:
        which = (match.groupdict().get("which") or "").lower()
        year = today.year if which == "this" or (month, bool(which)) < (today.month, True) else today.year - 1
        if not which and month == today.month:
            year = today.year
    return _whole_month(date(year, month, 1))


def _quarter(match: re.Match[str], today: date) -> Period | None:
    text = match["quarter"].lower()
    first = 3 * (ORDINALS.get(text) or int(text)) - 2
    year = _year_of(match, today)
    return _months_from(year or today.year - (first > today.month), first, 3)


def _half(match: re.Match[str], today: date) -> Period | None:
    text = match["half"].lower()
    first = 6 * (ORDINALS.get(text) or int(text)) - 5
    year = _year_of(match, today)
    return _months_from(year or today.year - (first > today.month), first, 6)


def _season(match: re.Match[str], today: date) -> Period | None:
    first, year = SEASONS[match["season"].lower()], _year_of(match, today)
    if year is None:
        year = today.year - (first > today.month)
        # "Last summer", said in July, is that of the year before.
        if (match["which"] or "").lower() == "last" and today in _months_from(year, first, 3):
            year -= 1
    return _months_from(year, first, 3)


def _year(match: re.Match[str], today: date) -> Period | None:
    return _whole_year(int(match["number"]))


def calendar_unit(unit: str, today: date, ago: int) -> Period:
    """The week, month and so on that contains a day, or this many before it."""
    match unit:
        case "day":
            return Period(today - ago * DAY, today - ago * DAY)
        case "week":
            return _whole_week(today - ago * WEEK)
        case "fortnight":
            return Period(_whole_week(today - 2 * ago * WEEK).first, _whole_week(today - (2 * ago - 1) * WEEK).last)
        case "month":
            return _whole_month(months_before(today, ago))
        case "quarter":
            start = months_before(first_of_month(today), (today.month - 1) % 3 + 3 * ago)
            return _months_from(start.year, start.month, 3)
    return _whole_year(max(EARLIEST.year, today.year - ago))


def _this_or_last(match: re.Match[str], today: date) -> Period | None:
    ago = {"this": 0, "current": 0}.get(match["which"].lower(), 1)
    return calendar_unit(match["unit"].lower(), today, ago)


def _before_last(match: re.Match[str], today: date) -> Period | None:
    return calendar_unit(match["unit"].lower(), today, 2)


def _to_date(match: re.Match[str], today: date) -> Period | None:
    return Period(calendar_unit(match["unit"].lower(), today, 0).first, today)


def _amount(text: str) -> int:
    text = " ".join(text.lower().split())
    if "couple" in text:
        return 2
    return 1 if text in ("a", "an") else NUMBERS.get(text) or min(int(text), MOST_UNITS)


def _rolling(match: re.Match[str], today: date) -> Period | None:
    """This many days, weeks, months or years up to today."""
    number = _amount(match.groupdict().get("number") or "1")
    if number == 0:
        return None
    match match["unit"].lower():
        case "day":
            first = today - (number - 1) * DAY
        case "week":
            first = today - number * WEEK + DAY
        case "fortnight":
            first = today - 2 * number * WEEK + DAY
        case "month":
            first = months_before(today, number) + DAY
        case _:
            first = months_before(today, 12 * number) + DAY
    return Period(max(EARLIEST, first), today)


def _ago(match: re.Match[str], today: date) -> Period | None:
    number = _amount(match["number"])
    period = calendar_unit(match["unit"].lower(), today, number) if number else None
    return None if period is None or period.first <= EARLIEST else period


def _holiday(month: int, day: int) -> _Read:
    return lambda match, today: _latest_day(month, day, _year_of(match, today), today)


def _easter(match: re.Match[str], today: date) -> Period | None:
    """Easter Sunday of the year, or the latest one: by the anonymous Gregorian computus."""

    def sunday(year: int) -> date:
        a, b, c = year % 19, year // 100, year % 100
        h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
        m = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
        n = (a + 11 * h + 22 * m) // 451
        month, day = divmod(h + m - 7 * n + 114, 31)
        return date(year, month, day + 1)

    year = _year_of(match, today)
    day = sunday(year or today.year)
    return _one_day(sunday(today.year - 1) if year is None and day > today else day)


def _days_ago(days: int) -> _Read:
    return lambda match, today: Period(today - days * DAY, today - days * DAY)


def weekday_before(weekday: int, today: date, ago: int = 0) -> Period:
    """The latest such weekday, at least this many days ago."""
    day = today - ((today.weekday() - weekday - ago) % 7 + ago) * DAY
    return Period(day, day)


def present_like(period: Period, today: date) -> Period:
    """The current week, month, quarter or year if the period is one; otherwise the last four weeks."""
    if period.first == period.last:
        return Period(today, today)
    kinds = ((7, "week"), (31, "month"), (366, "year")) if period.last < today else ()
    for days, unit in kinds:
        if period.days <= days and calendar_unit(unit, period.first, 0) == period:
            return calendar_unit(unit, today, 0)
    if period.first.month % 3 == 1 and calendar_unit("quarter", period.first, 0) == period:
        return calendar_unit("quarter", today, 0)
    return Period(today - 27 * DAY, today)


def _latest_weekday(match: re.Match[str], today: date) -> Period | None:
    weekday = next(number for number, name in enumerate(WEEKDAYS) if name.startswith(match["weekday"].lower()[:3]))
    is_past = (match.groupdict().get("which") or "").lower() in ("last", "past", "previous")
    return weekday_before(weekday, today, int(is_past))


def _weekend(match: re.Match[str], today: date) -> Period | None:
    saturday = first_of_week(today) + 5 * DAY
    before = match["which"].lower() != "this" or saturday > today
    return Period(saturday - before * WEEK, saturday + DAY - before * WEEK)


def _iso_week(match: re.Match[str], today: date) -> Period | None:
    year, week = _year_of(match, today), int(match["week"])
    try:
        if year is None:
            monday = date.fromisocalendar(today.isocalendar().year, week, 1)
            return _whole_week(monday if monday <= today else date.fromisocalendar(monday.year - 1, week, 1))
        return _whole_week(date.fromisocalendar(year, week, 1))
    except ValueError:
        return None


# The longest match at a position wins.
_ATOMS = _compiled(
    (r"(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)(?:-(?P<day>\d\d))?(?![\d-])", _iso),
    (r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>(?:19|20)\d\d)?(?!\d)", _dotted),
    (r"(?P<one>\d{1,2})/(?P<other>\d{1,2})/(?P<year>(?:19|20)\d\d)\b", _slashed),
    (rf"{_DAY} (?:of )?{_MONTH}{_YEAR}", _day_of_month),
    (rf"{_MONTH} (?:the )?{_DAY}{_COUNTED}{_YEAR}", _day_of_month),
    (rf"{_DAY}\s*(?: to | until | till | through |-|–)\s*(?:the )?(?P<until>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?"
     rf"{_MONTH}{_YEAR}", _days_of_month),
    (rf"between (?:the )?{_DAY} and (?:the )?(?P<until>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH}{_YEAR}",
     _days_of_month),
    (rf"{_MONTH} (?:the )?{_DAY}\s*(?: to | until | till | through |-|–)\s*(?:the )?(?P<until>\d{{1,2}})"
     rf"(?:st|nd|rd|th)?\b{_COUNTED}{_YEAR}", _days_of_month),
    (r"(?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)\b"
     r"(?! (?:round|session|time|training|place|match|most|least|last|best|worst|\w+est)\b)", _nth),
    (rf"(?:(?P<which>last|this|past) )?{_MONTH}{_YEAR}", _month),
    (rf"q(?P<quarter>[1-4])\b{_YEAR}", _quarter),
    (rf"(?P<quarter>{'|'.join(ORDINALS)}) quarter\b{_YEAR}", _quarter),
    (r"last quarter of (?P<number>(?:19|20)\d\d)\b", lambda match, today: _months_from(int(match["number"]), 10, 3)),
    (rf"h(?P<half>[12])\b{_YEAR}", _half),
    (rf"(?P<half>first|1st|second|2nd) half{_YEAR.removesuffix('?')}", _half),
    (r"(?P<half>first|1st|second|2nd) half of (?P<year>the year)\b",
     lambda match, today: _months_from(today.year, 1 if match["half"][0] in "f1F" else 7, 6)),
    (rf"(?:(?P<which>last|this|past) )?(?P<season>{'|'.join(SEASONS)})\b{_YEAR}", _season),
    (r"(?:the )?(?P<which>this|current|last|previous|prior) (?P<unit>week|fortnight|month|quarter|year)\b",
     _this_or_last),
    (r"(?:the )?(?P<unit>week|month|quarter|year) before last\b", _before_last),
    (r"(?P<unit>week|month|quarter|year) to date\b", _to_date),
    (rf"(?:the )?(?:last|past|previous|these) {_NUMBER} {_UNIT}\b", _rolling),
    (r"(?:the )?past (?P<unit>week|fortnight|month|year)\b", _rolling),
    (rf"{_NUMBER} {_UNIT} ago\b", _ago),
    (r"(?:today|tonight|this (?:morning|afternoon|evening))\b", _days_ago(0)),
    (r"(?:yesterday(?: (?:morning|afternoon|evening|night))?|last night)\b", _days_ago(1)),
    (r"(?:the )?day before yesterday\b", _days_ago(2)),
    (rf"christmas eve\b{_YEAR}", _holiday(12, 24)),
    (rf"christmas(?: day)?\b(?! (?:week|holidays?|break|time|party)){_YEAR}", _holiday(12, 25)),
    (rf"boxing day\b{_YEAR}", _holiday(12, 26)),
    (rf"new year(?:\s*['’]?s)? eve\b{_YEAR}", _holiday(12, 31)),
    (rf"(?:the )?new year(?:(?:\s*['’]?s)? day)?\b{_YEAR}", _holiday(1, 1)),
    (rf"valentine(?:\s*['’]?s)?(?: day)?\b{_YEAR}", _holiday(2, 14)),
    (rf"halloween\b{_YEAR}", _holiday(10, 31)),
    (rf"easter(?: sunday)?\b(?! (?:week|weekend|monday|holidays?|break)){_YEAR}", _easter),
    (rf"(?:(?P<which>last|this|past|previous) )?{_WEEKDAY}", _latest_weekday),
    (r"(?:the )?(?P<which>last|this|past|previous) weekend\b", _weekend),
    (rf"(?:calendar )?week (?:number )?(?P<week>\d{{1,2}})\b{_YEAR}", _iso_week),
    (rf"(?:the )?(?:year )?(?P<number>(?:19|20)\d\d)\b{_COUNTED}", _year),
)  # fmt: skip

WORD_START = re.compile(r"(?<![\w/-])\w")
WORD = re.compile(r"[\w'’-]+")
_ARTICLE = re.compile(r"(?:the\s+)?(?:(?:whole|entire|full)\s+)?(?:months?\s+of\s+)?(?:the\s+)?", re.IGNORECASE)
_PREPOSITION = re.compile(
    r"(?:in|on|during|for|of|over|within|throughout|across|from|all)\s+(?:all\s+of\s+|all\s+)?", re.IGNORECASE
)
# Words and names that are also months or seasons: they count as one only with a preposition, a year or a day.
_AMBIGUOUS = re.compile(r"(?:may|jan|fall|spring)\W*\Z", re.IGNORECASE)
_MAKES_A_MONTH = re.compile(
    r"(?:\b(?:in|of|during|since|from|to|until|till|before|after|for|through|vs|versus|than|and|or|with|compare|between"
    r"|throughout|over|the)\W+|[-–]\s*|\A\W*)\Z",
    re.IGNORECASE,
)
# "With" may be followed by a person.
_MAKES_A_NAME = re.compile(r"\b(?:with|than|and|or|the)\W+\Z", re.IGNORECASE)
_PART = re.compile(
    rf"(?P<which>first|last)\s+(?:(?P<number>\d{{1,2}}|{'|'.join(NUMBERS)})\s+)?(?P<unit>day|week|month)s?\s+of\s+",
    re.IGNORECASE,
)
_HALF_OF = re.compile(r"(?P<which>first|1st|second|2nd|last)\s+half\s+of\s+(?:the\s+)?", re.IGNORECASE)
_NTH_WEEK = re.compile(r"(?P<which>second|2nd|third|3rd|fourth|4th)\s+week\s+(?:of|in)\s+", re.IGNORECASE)
_DATED_WEEKDAY = re.compile(rf"{_WEEKDAY},?\s+(?:the\s+)?(?=\d|[a-z]+\s+\d)", re.IGNORECASE)
# These do not say which days are meant.
_VAGUE = re.compile(r"(?:early|mid|late|(?:the\s+)?(?:beginning|start|middle|end)\s+of)[\s-]+", re.IGNORECASE)
_CURRENT = re.compile(r"the\s+(?P<unit>week|month|quarter|year)\b", re.IGNORECASE)
_WEEK_OF = re.compile(r"week\s+(?:of|from|beginning|starting)\s+(?:the\s+)?", re.IGNORECASE)


def _atom_at(text: str, place: int, today: date) -> _Atom | None:
    """The single period that begins at this position."""
    article = _ARTICLE.match(text, place)
    starts = {place, place if article is None else article.end()}
    reads = (_bare_atom, _part_at, _dated_weekday)
    atoms = [atom for start in starts for read in reads if (atom := read(text, start, today)) is not None]
    return max(atoms, key=lambda atom: atom.end, default=None)


def _dated_weekday(text: str, start: int, today: date) -> _Atom | None:
    """ "Saturday, 14 November", if it was one."""
    weekday = _DATED_WEEKDAY.match(text, start)
    atom = None if weekday is None else _bare_atom(text, weekday.end(), today)
    if weekday is None or atom is None or atom.period.days > 1:
        return None
    named = WEEKDAYS[atom.period.first.weekday()].startswith(weekday["weekday"].lower()[:3])
    return atom if named else None


def _bare_atom(text: str, start: int, today: date) -> _Atom | None:
    best: _Atom | None = None
    for pattern, read in _ATOMS:
        match = pattern.match(text, start)
        if match is None or (best is not None and match.end() <= best.end):
            continue
        if _AMBIGUOUS.match(match[0]) and not _is_month(text, start):
            continue
        period = read(match, today)
        if period is not None and period.first >= EARLIEST:
            has_year = match.groupdict().get("year") is not None or not _needs_year(read)
            best = _Atom(period, match.end(), has_year)
    return best


def _is_month(text: str, start: int) -> bool:
    before = text[:start]
    if text[start : start + 3].lower() == "jan" and _MAKES_A_NAME.search(before):
        return False
    return _MAKES_A_MONTH.search(before) is not None


def _needs_year(read: _Read) -> bool:
    return read in (_month, _day_of_month, _days_of_month, _dotted, _quarter, _half, _season, _easter)


def _part_at(text: str, start: int, today: date) -> _Atom | None:
    """The first or last days or weeks of a period, or the week of a day."""
    part, week = _PART.match(text, start), _WEEK_OF.match(text, start)
    half, nth = _HALF_OF.match(text, start), _NTH_WEEK.match(text, start)
    if half is not None or nth is not None:
        return _part_of_month(text, half, nth, today)
    if part is not None:
        whole = _atom_at(text, part.end(), today)
        if whole is None:
            return None
        number, period = _amount(part["number"] or "1"), whole.period
        unit = part["unit"].lower()
        if unit == "month":
            last = months_before(period.first, -number) - DAY
            first = months_before(period.last + DAY, number)
        else:
            days = number * (1 if unit == "day" else 7)
            first, last = period.last - (days - 1) * DAY, period.first + (days - 1) * DAY
        if part["which"].lower() == "first":
            return _Atom(Period(period.first, min(period.last, last)), whole.end)
        return _Atom(Period(max(period.first, first), period.last), whole.end)
    if week is not None:
        day = _atom_at(text, week.end(), today)
        return None if day is None or day.period.days > 1 else _Atom(_whole_week(day.period.first), day.end)
    return None


def _part_of_month(text: str, half: re.Match[str] | None, nth: re.Match[str] | None, today: date) -> _Atom | None:
    """The days up to the 15th, or from the 16th on; a later week, counted from the first of the month."""
    match = half or nth
    assert match is not None
    whole = _atom_at(text, match.end(), today)
    if whole is None or whole.period != _whole_month(whole.period.first):
        return None
    first, last = whole.period
    if half is not None:
        is_first = half["which"].lower() in ("first", "1st")
        return _Atom(Period(first, first + 14 * DAY) if is_first else Period(first + 15 * DAY, last), whole.end)
    number = ORDINALS[match["which"].lower()]
    return _Atom(Period(first + 7 * (number - 1) * DAY, first + (7 * number - 1) * DAY), whole.end)


# --- ranges and bounds ------------------------------------------------------------------------------------------------

_FROM = re.compile(r"(?:starting\s+|beginning\s+)?from\s+(?:the\s+)?", re.IGNORECASE)
_BETWEEN = re.compile(r"between\s+", re.IGNORECASE)
_TO = re.compile(
    r"\s+(?:up\s+)?(?:to|until|till|through|thru)(?:\s+the\s+end\s+of)?\s+|\s*[-–—]\s*(?=\w)", re.IGNORECASE
)
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)
_ON = re.compile(r"\s+(?:on|onwards?)\b(?!\s+\w*days?\b)|\s+(?:to|until|till)\s+(?:now|today)\b", re.IGNORECASE)
_SO_FAR = re.compile(r"\s+(?:so\s+far|to\s+date|until\s+now|till\s+now|up\s+to\s+now)\b", re.IGNORECASE)
_BOUND = re.compile(
    r"(?P<since>(?:ever\s+)?since|starting|as\s+of)\s+|(?P<after>after|later\s+than|following)\s+"
    r"|(?P<before>before|prior\s+to|earlier\s+than)\s+|(?P<until>until|till|up\s+to|up\s+until|through)\s+",
    re.IGNORECASE,
)
_END_OF = re.compile(r"(?:the\s+)?(?P<end>end|start|beginning)\s+of\s+", re.IGNORECASE)


def mention_at(text: str, place: int, today: date, ranges: bool) -> Mention | None:
    """The longest mention that begins at this position."""
    if (between := _BETWEEN.match(text, place)) is not None:
        whole = _range_at(text, between.end(), _AND, today)
        if whole is None:
            whole = _bare_atom(text, place, today)
        return None if whole is None or not ranges else Mention(whole.period, place, whole.end)
    if (start := _FROM.match(text, place)) is not None:
        whole = _range_at(text, start.end(), _TO, today) if ranges else None
        if whole is not None:
            return Mention(whole.period, place, whole.end)
        atom = _atom_at(text, start.end(), today)
        on = None if atom is None else _ON.match(text, atom.end)
        if atom is not None and on is not None:
            return Mention(Period(atom.period.first, max(today, atom.period.first)), place, on.end())
    if (bound := _BOUND.match(text, place)) is not None:
        return _bounded(text, place, bound, today)
    preposition = _PREPOSITION.match(text, place)
    for start_of in (place,) if preposition is None else (preposition.end(), place):
        whole = _range_at(text, start_of, _TO, today) if ranges else None
        atom = whole or _atom_at(text, start_of, today)
        if atom is not None:
            end = _ON.match(text, atom.end) if whole is None else None
            if end is not None and "onward" in end[0].lower():
                return Mention(Period(atom.period.first, max(today, atom.period.first)), place, end.end())
            so_far = _SO_FAR.match(text, atom.end)
            return Mention(atom.period, place, atom.end if so_far is None else so_far.end())
    return None


def _bounded(text: str, place: int, bound: re.Match[str], today: date) -> Mention | None:
    edge = _END_OF.match(text, bound.end())
    current = None if edge is None else _CURRENT.match(text, edge.end())
    if current is not None:
        atom: _Atom | None = _Atom(calendar_unit(current["unit"].lower(), today, 0), current.end())
    else:
        atom = _atom_at(text, bound.end() if edge is None else edge.end(), today)
    if atom is None:
        return None
    first, last = atom.period
    if edge is not None:
        first = last = last if edge["end"].lower() == "end" else first
    period = None
    if bound["since"]:
        period = Period(first, max(today, first))
    elif bound["after"]:
        period = Period(last + DAY, max(today, last + DAY))
    elif bound["before"]:
        period = Period(EARLIEST, first - DAY)
    else:
        period = Period(EARLIEST, last)
    return Mention(period, place, atom.end)


def _range_at(text: str, place: int, joined_by: re.Pattern[str], today: date) -> _Atom | None:
    start = _atom_at(text, place, today)
    joint = None if start is None else joined_by.match(text, start.end)
    end = None if joint is None else _atom_at(text, joint.end(), today)
    if start is None or end is None:
        return None
    first, last = start.period, end.period
    if not start.has_year and end.has_year:
        first = _in_year(first, last.first.year)
        if first.first > last.last:
            first = _in_year(first, last.first.year - 1)
    elif not end.has_year:
        last = _in_year(last, first.first.year)
        if last.last < first.first:
            last = _in_year(last, first.first.year + 1)
            if not start.has_year and first.first <= today <= first.last:
                # "November to February", said in November, is the last whole one.
                first, last = _in_year(first, first.first.year - 1), _in_year(last, last.first.year - 1)
    return _Atom(Period(first.first, last.last), end.end) if first.first <= last.last else None


def _in_year(period: Period, year: int) -> Period:
    """The same days or months of another year."""
    first = date(year, period.first.month, min(period.first.day, monthrange(year, period.first.month)[1]))
    if period.last == _whole_month(period.last).last and period.first.day == 1:
        months = (period.last.year - period.first.year) * 12 + period.last.month - period.first.month + 1
        return _months_from(year, period.first.month, months)
    return Period(first, first + (period.last - period.first))

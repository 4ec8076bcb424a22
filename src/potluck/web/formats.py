"""Dates, numbers and lists, as the current language writes them.

Babel knows how. It is imported when the first one is shown. What it made is remembered: the same days and numbers are
on page after page. Lists and whole numbers in English do without it, so that `potluck count` does too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import cache, lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from potluck.web.translation import ENGLISH, current_language

if TYPE_CHECKING:
    from babel import Locale
    from babel.dates import DateTimePattern

REMEMBERED = 4096

# Each style by the fields that are in it, in CLDR's letters; how they are put together is the language's.
STYLES = {
    "moment": "yMMMMdHm",  # 13 December 2026, 15:15
    "full": "yMMMMEEEEd",  # Sunday 13 December 2026
    "long": "yMMMMd",  # 13 December 2026
    "day": "MMMMEEEEd",  # Sunday 13 December
    "date": "MMMMd",  # 13 December
    "short": "MMMd",  # 13 Dec
    "short with year": "yMMMd",  # 13 Dec 2026
    "month": "yMMMM",  # December 2026
    "month name": "MMMM",  # December
    "short month": "MMM",  # Dec
    "short month with year": "yMMM",  # Dec 2026
    "weekday": "EEEE",  # Sunday
    "short weekday": "EEE",  # Sun
    "time": "Hm",  # 15:15
}


def date_text(at: date, style: str = "long") -> str:
    """A date or a time in one of the STYLES, as it is in its own time zone."""
    if isinstance(at, datetime):
        at = at.replace(second=0, microsecond=0, tzinfo=None)
    return _date_in(at, style, current_language().locale)


def number_text(number: int | float | Decimal, decimals: int | None = None) -> str:
    """A number with its digits grouped: with this many decimals, or as many as it has."""
    return number_in(number, current_language().locale, decimals)


def list_text(items: Iterable[str]) -> str:
    """Anna, Bo and Cy."""
    texts = [str(item) for item in items]
    if current_language() is ENGLISH:
        return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
    from babel.lists import format_list

    return format_list(texts, locale=_locale(current_language().locale))


@lru_cache(maxsize=REMEMBERED)
def _date_in(at: date, style: str, locale: str) -> str:
    known = _locale(locale)
    return _pattern(STYLES[style], locale).apply(at, known)


@lru_cache(maxsize=REMEMBERED)
def number_in(number: int | float | Decimal, locale: str, decimals: int | None = None) -> str:
    if locale == ENGLISH.locale and decimals is None and not isinstance(number, float):
        return f"{number:,}"
    from babel.numbers import format_decimal

    fixed = None if decimals is None else f"#,##0.{'0' * decimals}".rstrip(".")
    return format_decimal(number, fixed, locale=_locale(locale), decimal_quantization=decimals is not None)


@cache
def _locale(name: str) -> Locale:
    from babel import Locale

    return Locale.parse(name)


@cache
def _pattern(fields: str, locale: str) -> DateTimePattern:
    """How a language puts these fields together: as it says for them, or for narrower ones, which are widened."""
    from babel.dates import parse_pattern

    known = _locale(locale)
    day, clock = fields.removesuffix("Hm"), fields.endswith("Hm")
    if day and clock:
        whole = str(known.datetime_formats["long"])
        return parse_pattern(
            whole.replace("{1}", _pattern(day, locale).pattern).replace("{0}", _pattern("Hm", locale).pattern)
        )
    skeletons = {skeleton: str(pattern) for skeleton, pattern in known.datetime_skeletons.items()}
    if fields in skeletons:
        return parse_pattern(skeletons[fields])
    wanted = _widths(fields)
    alike = [name for name in skeletons if _widths(name).keys() == wanted.keys() and _is_text(name) == _is_text(fields)]
    if not alike:
        return parse_pattern(fields)
    widest = max(alike, key=lambda name: (len(name), name))
    return parse_pattern(_widened(skeletons[widest], wanted))


def _widths(skeleton: str) -> dict[str, int]:
    return {letter: len(list(run)) for letter, run in groupby(skeleton)}


def _is_text(skeleton: str) -> bool:
    return _widths(skeleton).get("M", 3) > 2


def _widened(pattern: str, wanted: dict[str, int]) -> str:
    # What is in quotes is text.
    parts: Sequence[str] = re.split(r"('[^']*')", pattern)

    def widen(run: re.Match[str]) -> str:
        letter = {"L": "M", "c": "E"}.get(run[0][0], run[0][0])
        is_text = letter == "E" or len(run[0]) > 2
        return run[0][0] * wanted[letter] if is_text and letter in wanted else run[0]

    return "".join(part if part.startswith("'") else re.sub(r"([MLEc])\1*", widen, part) for part in parts)

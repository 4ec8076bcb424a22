"""Amounts and names as sentences have them."""

from collections.abc import Iterable
from decimal import Decimal

from potluck.web import _, formats, ngettext


def amount(units: int, decimals: int) -> str:
    """An exact amount as people write it: 12, 6.84848, 0.5."""
    if not decimals:
        return str(units)
    whole, part = divmod(abs(units), 10**decimals)
    digits = f"{part:0{decimals}}".rstrip("0")
    return f"{'-' if units < 0 else ''}{whole}{'.' if digits else ''}{digits}"


def grouped(units: int, decimals: int) -> str:
    """The same with its digits grouped: 1,000,000, 6,084.848."""
    return formats.number_text(Decimal(amount(units, decimals)))


def with_separators(amount: str) -> str:
    """The same for an amount that is a text already, in English."""
    whole, point, part = amount.partition(".")
    return f"{int(whole):,}{point}{part}" if whole != "-0" else f"-0{point}{part}"


def in_votes(units: int, decimals: int) -> str:
    """1 vote, 12 votes, 0.5 votes."""
    # A part of a vote counts as several.
    count = 1 if units == 10**decimals else 2
    return str(ngettext("%(votes)s vote", "%(votes)s votes", count, votes=grouped(units, decimals)))


def percent(part: int, whole: int) -> str:
    """The share to one decimal, half rounded up; but 100%, 50% and 0% only if they are exact."""
    if not whole:
        return "0%"
    tenths = (part * 2000 + whole) // (2 * whole)
    if tenths in (0, 500, 1000) and tenths * whole != part * 1000:
        number = tenths // 10
        if tenths * whole < part * 1000:
            return str(_("just over %(number)s%%", number=number))
        return str(_("just under %(number)s%%", number=number))
    return str(_("%(number)s%%", number=grouped(tenths, 1)))


def listed(names: Iterable[str]) -> str:
    """Ann, Bob and Cid."""
    return formats.list_text(names) or str(_("no one"))

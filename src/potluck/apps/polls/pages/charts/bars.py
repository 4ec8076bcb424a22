"""Bars: each candidate's votes in a round, what they gained in it, and the quota."""

from collections.abc import Callable
from typing import NamedTuple

from potluck.apps.polls.counting import Round
from potluck.apps.polls.counting.amounts import percent
from potluck.apps.polls.fields import Method
from potluck.apps.polls.pages.charts.chart_data import ChartData, share
from potluck.web import _, ngettext

LAST_ROUND_SHOWN = 5
# Methods without rounds, each with a unit of its own: the noun for an amount that is shown before it.
UNITS: dict[Method, Callable[[int], str]] = {
    "schulze": lambda count: ngettext("other beaten", "others beaten", count),
    "ranked-pairs": lambda count: ngettext("other beaten", "others beaten", count),
    "borda": lambda count: ngettext("point", "points", count),
}


class Bar(NamedTuple):
    name: str
    value: str
    share: float
    note: str = ""
    lead: bool = False
    gain: float = 0.0
    gained: str = ""
    out: bool = False
    fate: str = ""


class QuotaLine(NamedTuple):
    """The position of the quota on a bar, if there is one, and what it means."""

    at: float | None
    means: str


def bars_of(data: ChartData, index: int) -> list[Bar]:
    """The bars of a round: candidates by votes, then those who were eliminated in the round before."""
    record = data.record
    round = record.rounds[index]
    before = record.rounds[index - 1] if index and data.in_rounds else None
    whole = data.whole(round)
    place = {number: at for at, number in enumerate(data.standing)}
    bars: list[Bar] = []
    for number in sorted(round.tallies, key=lambda number: (-round.tallies[number], place[number])):
        votes = round.tallies[number]
        gain = 0 if before is None else max(0, votes - before.tallies.get(number, 0))
        bars.append(
            Bar(
                name=data.name(number),
                value=data.shown(votes),
                share=share(votes, whole),
                note=_note(data, votes, whole),
                lead=number in record.winners,
                gain=share(gain, whole),
                gained=f"+{data.shown(gain)}" if gain else "",
                fate=_fate(data, round, number),
            )
        )
    if before is not None:
        gone = [number for number in before.tallies if number not in round.tallies]
        for number in sorted(gone, key=lambda number: (-before.tallies[number], place[number])):
            left_with = _("left with %(votes)s", votes=data.shown(before.tallies[number]))
            bars.append(Bar(name=data.name(number), value="", share=0, note=left_with, out=True))
    return bars


def last_bars(data: ChartData) -> tuple[list[Bar], str]:
    """The top bars of the last round, without gains; and a note on how many others there are."""
    bars = [bar for bar in bars_of(data, len(data.record.rounds) - 1) if not bar.out]
    shown = max(LAST_ROUND_SHOWN, len(data.record.winners))
    rest = len(bars[shown:])
    others = (
        ngettext("and %(num)s other with no more votes", "and %(num)s others with no more votes", rest) if rest else ""
    )
    return [bar._replace(gain=0.0, gained="", fate="") for bar in bars[:shown]], others


def line_of(data: ChartData, round: Round) -> QuotaLine:
    whole = data.whole(round)
    if data.by_majority:
        means = _("half of the %(ballots)s still active", ballots=data.ballots(sum(round.tallies.values())))
    else:
        means = _("the quota of %(ballots)s", ballots=data.ballots(round.threshold or 0))
    if round.threshold is None or not whole or not data.in_rounds:
        return QuotaLine(None, means)
    return QuotaLine(50.0 if data.by_majority else min(100.0, share(round.threshold, whole)), means)


def of_all_ballots(data: ChartData, round: Round) -> str:
    """A note on the winner's share of all ballots cast; empty if none were exhausted."""
    if not data.by_majority or not data.lead or data.lead not in round.tallies:
        return ""
    votes, everyone = round.tallies[data.lead], data.record.votes
    exhausted = sum(round.exhausted.values())
    if not exhausted:
        return ""
    share = _(
        "%(votes)s of all %(ballots)s is %(share)s.",
        votes=data.shown(votes),
        ballots=data.ballots(everyone),
        share=percent(votes, everyone),
    )
    number = 1 if exhausted == data.unit else 2
    without = ngettext(
        "%(votes)s ballot had no choices left.",
        "%(votes)s ballots had no choices left.",
        number,
        votes=data.shown(exhausted),
    )
    return f"{share} {without}"


def _fate(data: ChartData, round: Round, number: int) -> str:
    if number in round.elected:
        return _("leads") if data.live else _("elected")
    return _("eliminated") if number in round.eliminated else ""


def _note(data: ChartData, votes: int, whole: int) -> str:
    if data.record.method in UNITS:
        return UNITS[data.record.method](votes)
    return percent(votes, whole) if whole else ""

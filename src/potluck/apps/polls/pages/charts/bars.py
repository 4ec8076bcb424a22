"""Bars: each candidate's votes in a round, what they gained in it, and the quota."""

from typing import NamedTuple

from potluck.apps.polls.counting import Round
from potluck.apps.polls.counting.sentences import percent
from potluck.apps.polls.fields import Method
from potluck.apps.polls.pages.charts.chart_data import ChartData, share

LAST_ROUND_SHOWN = 5
# Methods without rounds, each with a unit of its own.
UNITS: dict[Method, tuple[str, str]] = {
    "schulze": ("other beaten", "others beaten"),
    "ranked-pairs": ("other beaten", "others beaten"),
    "borda": ("point", "points"),
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
            left_with = f"left with {data.shown(before.tallies[number])}"
            bars.append(Bar(name=data.name(number), value="", share=0, note=left_with, out=True))
    return bars


def last_bars(data: ChartData) -> tuple[list[Bar], str]:
    """The top bars of the last round, without gains; and a note on how many others there are."""
    bars = [bar for bar in bars_of(data, len(data.record.rounds) - 1) if not bar.out]
    shown = max(LAST_ROUND_SHOWN, len(data.record.winners))
    rest = len(bars[shown:])
    others = f"and {rest:,} other{'' if rest == 1 else 's'}, none of them with more" if rest else ""
    return [bar._replace(gain=0.0, gained="", fate="") for bar in bars[:shown]], others


def line_of(data: ChartData, round: Round) -> QuotaLine:
    whole = data.whole(round)
    if data.by_majority:
        means = f"half of the {data.ballots(sum(round.tallies.values()))} still active"
    else:
        means = f"the quota of {data.ballots(round.threshold or 0)}"
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
    share = f"{data.shown(votes)} of all {data.ballots(everyone)} is {percent(votes, everyone)}"
    return f"{share}; {data.shown(exhausted)} {'was' if exhausted == 1 else 'were'} exhausted: no choice left."


def _fate(data: ChartData, round: Round, number: int) -> str:
    if number in round.elected:
        return "leads" if data.live else "elected"
    return "eliminated" if number in round.eliminated else ""


def _note(data: ChartData, votes: int, whole: int) -> str:
    if data.record.method in UNITS:
        return UNITS[data.record.method][votes != 1]
    return percent(votes, whole) if whole else ""

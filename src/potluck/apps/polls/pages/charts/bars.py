"""Bars: who has how much in a round, what came in it, and the line that elects."""

from typing import NamedTuple

from potluck.apps.polls.counting import Round
from potluck.apps.polls.counting.sentences import percent
from potluck.apps.polls.fields import Method
from potluck.apps.polls.pages.charts.counted import Counted, share

__all__ = ["Bar", "Line", "bars_of", "last_bars", "line_of", "of_all_ballots"]

LAST_ROUND_SHOWN = 5
# Methods that count all at once, each in a unit of its own.
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


class Line(NamedTuple):
    """Where on a bar the line is that elects, if there is one, and what it means."""

    at: float | None
    means: str


def bars_of(counted: Counted, index: int) -> list[Bar]:
    """Those of a round: who stands in it, the most votes first, then who left in the one before."""
    record = counted.record
    round = record.rounds[index]
    before = record.rounds[index - 1] if index and counted.in_rounds else None
    whole = counted.whole(round)
    place = {number: at for at, number in enumerate(counted.standing)}
    bars: list[Bar] = []
    for number in sorted(round.tallies, key=lambda each: (-round.tallies[each], place[each])):
        votes = round.tallies[number]
        gain = 0 if before is None else max(0, votes - before.tallies.get(number, 0))
        bars.append(
            Bar(
                name=counted.name(number),
                value=counted.shown(votes),
                share=share(votes, whole),
                note=_note(counted, votes, whole),
                lead=number in record.winners,
                gain=share(gain, whole),
                gained=f"+{counted.shown(gain)}" if gain else "",
                fate="elected" if number in round.elected else "eliminated" if number in round.eliminated else "",
            )
        )
    if before is not None:
        gone = [number for number in before.tallies if number not in round.tallies]
        for number in sorted(gone, key=lambda each: (-before.tallies[each], place[each])):
            left_with = f"left with {counted.shown(before.tallies[number])}"
            bars.append(Bar(name=counted.name(number), value="", share=0, note=left_with, out=True))
    return bars


def last_bars(counted: Counted) -> tuple[list[Bar], str]:
    """Who has how much in the end, without what came in the last round; and of how many others no more is said."""
    standing = [each for each in bars_of(counted, len(counted.record.rounds) - 1) if not each.out]
    shown = max(LAST_ROUND_SHOWN, len(counted.record.winners))
    rest = len(standing[shown:])
    others = f"and {rest:,} other{'' if rest == 1 else 's'}, none of them with more" if rest else ""
    return [each._replace(gain=0.0, gained="", fate="") for each in standing[:shown]], others


def line_of(counted: Counted, round: Round) -> Line:
    whole = counted.whole(round)
    if counted.by_majority:
        means = f"half of the {counted.ballots(sum(round.tallies.values()))} still in play"
    else:
        means = f"the quota of {counted.ballots(round.threshold or 0)}"
    if round.threshold is None or not whole or not counted.in_rounds:
        return Line(None, means)
    return Line(50.0 if counted.by_majority else min(100.0, share(round.threshold, whole)), means)


def of_all_ballots(counted: Counted, round: Round) -> str:
    """The winner's share of every ballot that was cast, beside that of those still in play."""
    if not counted.by_majority or not counted.lead or counted.lead not in round.tallies:
        return ""
    votes, everyone = round.tallies[counted.lead], counted.record.votes
    exhausted = sum(round.exhausted.values())
    if not exhausted:
        return ""
    share = f"{counted.shown(votes)} of all {counted.ballots(everyone)} is {percent(votes, everyone)}"
    return f"{share}; {counted.shown(exhausted)} {'was' if exhausted == 1 else 'were'} exhausted: no choice left."


def _note(counted: Counted, votes: int, whole: int) -> str:
    if counted.record.method in UNITS:
        return UNITS[counted.record.method][votes != 1]
    return percent(votes, whole) if whole else ""

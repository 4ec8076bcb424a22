"""The rounds: one of them to look at and the way to the others, and all of them as a table."""

from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup

from potluck.apps.polls.counting.sentences import round_sentence
from potluck.apps.polls.pages.charts.bars import Bar, bars_of
from potluck.apps.polls.pages.charts.counted import Counted

__all__ = ["RoundShown", "TableLine", "round_shown", "table_lines"]

# More bars than this are folded away.
BARS_SHOWN = 8
# What a phone has room for; of longer counts, the first and last rounds and those around the one that is looked at.
ROUNDS_LISTED = 7


class RoundLink(NamedTuple):
    """A step of the stepper; without a number, a gap."""

    number: int
    current: bool = False


class RoundShown(NamedTuple):
    number: int
    sentence: Markup
    bars: list[Bar]
    folded: list[Bar]
    left: list[Bar]
    exhausted: str
    links: list[RoundLink]
    before: int
    after: int


class Cell(NamedTuple):
    value: str
    gained: str = ""
    gone: bool = False
    elected: bool = False


class TableLine(NamedTuple):
    name: str
    cells: list[Cell]
    lead: bool


def round_shown(counted: Counted, number: int) -> RoundShown:
    rounds = counted.record.rounds
    bars = bars_of(counted, number - 1)
    standing = [each for each in bars if not each.out]
    exhausted = sum(rounds[number - 1].exhausted.values())
    return RoundShown(
        number=number,
        sentence=counted.said(round_sentence(counted.record, number - 1, counted.marked)),
        bars=standing[:BARS_SHOWN],
        folded=standing[BARS_SHOWN:],
        left=[each for each in bars if each.out],
        exhausted=counted.shown(exhausted) if exhausted else "",
        links=_links(number, len(rounds)),
        before=max(1, number - 1),
        after=min(len(rounds), number + 1),
    )


def table_lines(counted: Counted) -> list[TableLine]:
    """Everybody's votes in every round, the best first."""
    winners = counted.record.winners
    return [TableLine(counted.name(each), list(_cells(counted, each)), each in winners) for each in counted.standing]


def _cells(counted: Counted, number: int) -> Iterator[Cell]:
    before: int | None = None
    for index, round in enumerate(counted.record.rounds):
        votes = round.tallies.get(number)
        if votes is None:
            yield Cell("out", gone=True)
        else:
            gain = votes - before if index and before is not None and counted.in_rounds else 0
            gained = f"{'+' if gain > 0 else '−'}{counted.shown(abs(gain))}" if gain else ""
            yield Cell(counted.shown(votes), gained, elected=number in round.elected)
        before = votes


def _links(number: int, rounds: int) -> list[RoundLink]:
    """The rounds to step to: all of them, or the first, the last and those around this one, with gaps between."""
    if rounds <= ROUNDS_LISTED:
        return [RoundLink(each, each == number) for each in range(1, rounds + 1)]
    near = range(max(2, min(number - 1, rounds - 4)), min(rounds - 1, max(number + 1, 5)) + 1)
    wanted = [1, *near, rounds]
    links: list[RoundLink] = []
    for each in wanted:
        if links and each > links[-1].number + 1:
            links.append(RoundLink(0))
        links.append(RoundLink(each, each == number))
    return links

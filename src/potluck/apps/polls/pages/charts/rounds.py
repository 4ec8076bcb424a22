"""The rounds: one in detail with links to the others, and all of them as a table."""

from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup

from potluck.apps.polls.counting.sentences import round_sentence
from potluck.apps.polls.pages.charts.bars import Bar, bars_of
from potluck.apps.polls.pages.charts.chart_data import ChartData
from potluck.web import _

# Further bars are collapsed.
BARS_SHOWN = 8
# What fits on a phone; longer counts list the first and last rounds and those around the current one.
ROUNDS_LISTED = 7


class RoundLink(NamedTuple):
    """A link of the round stepper; number 0 is a gap."""

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


def round_shown(data: ChartData, number: int) -> RoundShown:
    rounds = data.record.rounds
    bars = bars_of(data, number - 1)
    standing = [bar for bar in bars if not bar.out]
    exhausted = sum(rounds[number - 1].exhausted.values())
    return RoundShown(
        number=number,
        sentence=data.marked_up(round_sentence(data.record, number - 1, data.marked, live=data.live)),
        bars=standing[:BARS_SHOWN],
        folded=standing[BARS_SHOWN:],
        left=[bar for bar in bars if bar.out],
        exhausted=_("%(votes)s exhausted so far", votes=data.shown(exhausted)) if exhausted else "",
        links=_links(number, len(rounds)),
        before=max(1, number - 1),
        after=min(len(rounds), number + 1),
    )


def table_lines(data: ChartData) -> list[TableLine]:
    """Each candidate's votes in every round, best candidate first."""
    winners = data.record.winners
    return [TableLine(data.name(number), list(_cells(data, number)), number in winners) for number in data.standing]


def _cells(data: ChartData, number: int) -> Iterator[Cell]:
    before: int | None = None
    for index, round in enumerate(data.record.rounds):
        votes = round.tallies.get(number)
        if votes is None:
            yield Cell(_("out"), gone=True)
        else:
            gain = votes - before if index and before is not None and data.in_rounds else 0
            gained = f"{'+' if gain > 0 else '−'}{data.shown(abs(gain))}" if gain else ""
            yield Cell(data.shown(votes), gained, elected=number in round.elected)
        before = votes


def _links(number: int, rounds: int) -> list[RoundLink]:
    """The rounds to link to: all of them, or the first, the last and those around this one, with gaps."""
    near = range(max(2, min(number - 1, rounds - 4)), min(rounds - 1, max(number + 1, 5)) + 1)
    listed = range(1, rounds + 1) if rounds <= ROUNDS_LISTED else [1, *near, rounds]
    links: list[RoundLink] = []
    for other in listed:
        if links and other > links[-1].number + 1:
            links.append(RoundLink(0))
        links.append(RoundLink(other, other == number))
    return links

"""How ballots moved from round to round: a drawing, and a table that says the same exactly."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from potluck.apps.polls.counting import Round, Transfer
from potluck.apps.polls.pages.charts.counted import Counted
from potluck.web.drawings import Flow, Move, flow

__all__ = ["FlowShown", "Moved", "flow_shown"]

# Columns of the drawing: with more, no name would fit between the first two.
FLOW_ROUNDS = 5
# Candidates in one column: their gaps must leave the ballots some height.
FLOW_CANDIDATES = 12
OTHERS = "others"

# From here on, the drawing has thousands or millions, and the table the exact numbers.
THOUSANDS_FROM, MILLIONS_FROM = 10_000, 1_000_000
# Up to here, parts of a vote are worth their room.
TENTHS_UP_TO = 100


class Moved(NamedTuple):
    """What one gave up after a round, and where it went."""

    round: int
    source: str
    why: str
    to: list[tuple[str, str]]
    """Names and amounts, the largest first; without a name, what counts for nobody any more."""


class FlowShown(NamedTuple):
    drawing: Flow
    moves: list[Moved]
    first: int
    last: int
    lead: str
    """Whom the coloured ballots count for; empty, if that is several."""
    rounded: bool
    """Whether the drawing has not room for the exact numbers."""


class _Step(NamedTuple):
    """What one candidate gave up after a round; to None went what counts for nobody any more."""

    source: str
    surplus: bool
    to: dict[str | None, int]


def flow_shown(counted: Counted, chosen: int | None) -> FlowShown | None:
    """The rounds from the chosen one on, or the last ones; None where nothing moves."""
    rounds = counted.record.rounds
    last_start = max(0, len(rounds) - FLOW_ROUNDS)
    start = last_start if chosen is None else min(chosen - 1, last_start)
    shown = rounds[start : start + FLOW_ROUNDS]
    if not counted.in_rounds or len(shown) < 2:
        return None
    columns = [_standing_in(counted, start + place) for place in range(len(shown))]
    if not sum(columns[0].values()):
        return None
    apart = _drawn_apart(columns)
    keys = {each: str(each) if each in apart else OTHERS for each in columns[0]}
    names = {str(each): counted.name(each) for each in apart}
    names[OTHERS] = f"{len(columns[0]) - len(apart)} others"
    steps = [
        [_step(transfer, each, keys) for transfer in each.transfers]
        # What led to a round is told with it by some rules, and by others with the one before.
        for each in (shown[1:] if counted.record.tallies_after_transfers else shown[:-1])
    ]
    drawn = flow(
        [_gathered(each, keys) for each in columns],
        [
            [Move(step.source, target, votes) for step in each for target, votes in step.to.items()]
            for each in map(_summed, steps)
        ],
        *_elected(counted, keys),
        names=names,
        said=lambda units: in_short(units, counted.unit),
    )
    headings = [
        mark._replace(text=f"{'' if place else 'Round '}{start + place + 1}") for place, mark in enumerate(drawn.rounds)
    ]
    return FlowShown(
        drawing=drawn._replace(rounds=headings),
        moves=[
            Moved(
                start + place + 1,
                names[step.source],
                "surplus" if step.surplus else "left",
                [("" if target is None else names[target], counted.shown(votes)) for target, votes in step.to.items()],
            )
            for place, each in enumerate(steps)
            for step in each
            if step.to
        ],
        first=start + 1,
        last=start + len(shown),
        lead=counted.name(counted.lead) if len(counted.record.winners) == 1 else "",
        rounded=any(node.said != counted.shown(node.votes) for node in drawn.nodes),
    )


def in_short(units: int, unit: int) -> str:
    """An amount in at most five signs or so: 6.8, 412, 9,876, 12.3k, 1.2M."""
    for size, letter in ((MILLIONS_FROM, "M"), (THOUSANDS_FROM, "k")):
        if units >= size * unit:
            return f"{units / unit / (1_000_000 if letter == 'M' else 1_000):.3g}{letter}"
    if units % unit and units < TENTHS_UP_TO * unit:
        return f"{units / unit:.1f}"
    return f"{round(units / unit):,}"


def _standing_in(counted: Counted, index: int) -> dict[int, int]:
    """Who is in a round with how much; who had left by then is not, where reports go on with their nothing."""
    rounds = counted.record.rounds
    gone = {each for round in rounds[: index + 1] for each in round.eliminated}
    return {
        number: votes
        for number, votes in rounds[index].tallies.items()
        if votes or number not in gone or not counted.record.tallies_after_transfers
    }


def _drawn_apart(columns: Sequence[Mapping[int, int]]) -> Collection[int]:
    """Who has a place of their own in the drawing: all, or those who ever had the most."""
    most = {each: max(column.get(each, 0) for column in columns) for each in columns[0]}
    if len(most) <= FLOW_CANDIDATES:
        return most.keys()
    return set(sorted(most, key=lambda each: -most[each])[: FLOW_CANDIDATES - 1])


def _elected(counted: Counted, keys: Mapping[int, str]) -> list[str]:
    """Whose ballots are drawn in colour: those who are elected, and the others if all of them are."""
    lost = {keys[each] for each in keys if each not in counted.record.winners}
    return [key for key in dict.fromkeys(keys.values()) if key not in lost]


def _gathered(column: Mapping[int, int], keys: Mapping[int, str]) -> dict[str, int]:
    gathered: dict[str, int] = {}
    for number, votes in column.items():
        gathered[keys[number]] = gathered.get(keys[number], 0) + votes
    return gathered


def _step(transfer: Transfer, round: Round, keys: Mapping[int, str]) -> _Step:
    to: dict[str | None, int] = {}
    for target, votes in sorted(transfer.to.items(), key=lambda each: -each[1]):
        if keys[target] != keys[transfer.source]:
            to[keys[target]] = to.get(keys[target], 0) + votes
    if lost := sum(transfer.exhausted.values()) + transfer.residual:
        to[None] = lost
    return _Step(keys[transfer.source], transfer.source not in round.eliminated, to)


def _summed(steps: Sequence[_Step]) -> Iterator[_Step]:
    """One step for each who gave up something: of several who are drawn as one, all together."""
    by_source: dict[str, _Step] = {}
    for each in steps:
        before = by_source.setdefault(each.source, _Step(each.source, each.surplus, {}))
        for target, votes in each.to.items():
            before.to[target] = before.to.get(target, 0) + votes
    yield from by_source.values()

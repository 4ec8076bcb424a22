"""How ballots moved from round to round: a drawing, and a table with the exact numbers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from potluck.apps.polls.counting import Round, Transfer
from potluck.apps.polls.pages.charts.chart_data import ChartData
from potluck.web import _, drawings, ngettext

# Columns of the drawing: with more, names would not fit between the first two.
FLOW_ROUNDS = 5
# Candidates in one column: their gaps must leave the ballots some height.
FLOW_CANDIDATES = 12
OTHERS = "others"

# From these numbers on, the drawing shows thousands or millions, and the table the exact numbers.
THOUSANDS_FROM, MILLIONS_FROM = 10_000, 1_000_000
# Below this, fractions of a vote are worth the space.
TENTHS_UP_TO = 100


class VotesMoved(NamedTuple):
    """The votes that one candidate gave up after a round, and where they went."""

    round: int
    source: str
    why: str
    to: list[tuple[str, str]]
    """Names and amounts, largest first; an empty name for exhausted votes."""


class FlowShown(NamedTuple):
    drawing: drawings.Flow
    moves: list[VotesMoved]
    first: int
    last: int
    lead: str
    """The candidate whose ballots are coloured; empty if there are several."""
    rounded: bool
    """Whether the drawing shows rounded numbers."""


class _Step(NamedTuple):
    """The votes that one candidate gave up after a round, by recipient; None received the exhausted ones."""

    source: str
    surplus: bool
    to: dict[str | None, int]


def flow_shown(data: ChartData, chosen: int | None) -> FlowShown | None:
    """The flow from the chosen round on, or of the last rounds; None if nothing moves."""
    rounds = data.record.rounds
    last_start = max(0, len(rounds) - FLOW_ROUNDS)
    start = last_start if chosen is None else min(chosen - 1, last_start)
    shown = rounds[start : start + FLOW_ROUNDS]
    if not data.in_rounds or len(shown) < 2:
        return None
    columns = [_standing_in(data, start + place) for place in range(len(shown))]
    if not sum(columns[0].values()):
        return None
    apart = _drawn_apart(columns)
    keys = {number: str(number) if number in apart else OTHERS for number in columns[0]}
    names = {str(number): data.name(number) for number in apart}
    others = len(columns[0]) - len(apart)
    names[OTHERS] = ngettext("%(num)s other", "%(num)s others", others)
    steps = [
        [_step(transfer, round, keys) for transfer in round.transfers]
        # Some methods record the transfers with the round they lead to, others with the round before.
        for round in (shown[1:] if data.record.tallies_after_transfers else shown[:-1])
    ]
    drawn = drawings.flow(
        [_gathered(column, keys) for column in columns],
        [
            [drawings.VoteMove(step.source, target, votes) for step in summed for target, votes in step.to.items()]
            for summed in map(_summed, steps)
        ],
        *_elected(data, keys),
        names=names,
        said=lambda units: in_short(units, data.unit),
    )
    headings = [
        mark._replace(text=str(number) if number > start + 1 else _("Round %(round)s", round=number))
        for number, mark in enumerate(drawn.rounds, start + 1)
    ]
    return FlowShown(
        drawing=drawn._replace(rounds=headings),
        moves=[
            VotesMoved(
                start + place + 1,
                names[step.source],
                _("surplus") if step.surplus else _("eliminated"),
                [("" if target is None else names[target], data.shown(votes)) for target, votes in step.to.items()],
            )
            for place, of_round in enumerate(steps)
            for step in of_round
            if step.to
        ],
        first=start + 1,
        last=start + len(shown),
        lead=data.name(data.lead) if len(data.record.winners) == 1 else "",
        rounded=any(node.said != data.shown(node.votes) for node in drawn.nodes),
    )


def in_short(units: int, unit: int) -> str:
    """An amount in about five characters: 6.8, 412, 9,876, 12.3k, 1.2M."""
    for size, letter in ((MILLIONS_FROM, "M"), (THOUSANDS_FROM, "k")):
        if units >= size * unit:
            return f"{units / unit / (1_000_000 if letter == 'M' else 1_000):.3g}{letter}"
    if units % unit and units < TENTHS_UP_TO * unit:
        return f"{units / unit:.1f}"
    return f"{round(units / unit):,}"


def _standing_in(data: ChartData, index: int) -> dict[int, int]:
    """Each candidate's votes in a round, without eliminated candidates that the record still lists with 0."""
    rounds = data.record.rounds
    gone = {number for round in rounds[: index + 1] for number in round.eliminated}
    return {
        number: votes
        for number, votes in rounds[index].tallies.items()
        if votes or number not in gone or not data.record.tallies_after_transfers
    }


def _drawn_apart(columns: Sequence[Mapping[int, int]]) -> Collection[int]:
    """The candidates drawn separately: all if they fit, else those with the highest tallies in any round."""
    most = {number: max(column.get(number, 0) for column in columns) for number in columns[0]}
    if len(most) <= FLOW_CANDIDATES:
        return most.keys()
    return set(sorted(most, key=lambda number: -most[number])[: FLOW_CANDIDATES - 1])


def _elected(data: ChartData, keys: Mapping[int, str]) -> list[str]:
    """Whose ballots are coloured: the elected candidates, and the group of others if all of them are elected."""
    lost = {keys[number] for number in keys if number not in data.record.winners}
    return [key for key in dict.fromkeys(keys.values()) if key not in lost]


def _gathered(column: Mapping[int, int], keys: Mapping[int, str]) -> dict[str, int]:
    gathered: dict[str, int] = {}
    for number, votes in column.items():
        gathered[keys[number]] = gathered.get(keys[number], 0) + votes
    return gathered


def _step(transfer: Transfer, round: Round, keys: Mapping[int, str]) -> _Step:
    to: dict[str | None, int] = {}
    for target, votes in sorted(transfer.to.items(), key=lambda item: -item[1]):
        if keys[target] != keys[transfer.source]:
            to[keys[target]] = to.get(keys[target], 0) + votes
    if lost := sum(transfer.exhausted.values()) + transfer.residual:
        to[None] = lost
    return _Step(keys[transfer.source], transfer.source not in round.eliminated, to)


def _summed(steps: Sequence[_Step]) -> Iterator[_Step]:
    """One step per source, merging candidates who are drawn as one."""
    by_source: dict[str, _Step] = {}
    for step in steps:
        total = by_source.setdefault(step.source, _Step(step.source, step.surplus, {}))
        for target, votes in step.to.items():
            total.to[target] = total.to.get(target, 0) + votes
    yield from by_source.values()

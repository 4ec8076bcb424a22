"""The charts of a results page: turns a record into bars, rounds, pairs and a flow. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from potluck.apps.polls.counting import CountRecord, Method
from potluck.apps.polls.counting.sentences import beaten_sentence
from potluck.apps.polls.counting.tie_sentences import decided_sentence
from potluck.apps.polls.pages.charts.bars import Bar, QuotaLine, last_bars, line_of, of_all_ballots
from potluck.apps.polls.pages.charts.chart_data import ChartData
from potluck.apps.polls.pages.charts.flows import FlowShown, flow_shown
from potluck.apps.polls.pages.charts.pairs import PAIRS_SHOWN, Locked, PairLine, locked_pairs, matrix_lines
from potluck.apps.polls.pages.charts.rounds import RoundShown, TableLine, round_shown, table_lines
from potluck.apps.polls.pages.charts.steps import in_steps

__all__ = ["Charts", "charts"]

# A table with more cells than this is shown only on request.
CELLS_SHOWN = 400


class MethodGroup(NamedTuple):
    """Methods that elect the same winners."""

    methods: list[Method]
    winners: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Charts:
    """Everything on the page that is derived from the record."""

    winners: list[str]
    decided: Markup
    """Every tie that mattered and what broke it; empty if there was none."""
    beaten: Markup
    """Who beats every other candidate head to head and is not elected; empty if there is no such candidate."""
    rounds: int
    last: list[Bar]
    others: str
    line: QuotaLine
    all_ballots: str
    round: RoundShown
    table: list[TableLine]
    """Empty if it is too large to be shown unless requested."""
    exhausted: list[str]
    flow: FlowShown | None
    pairs: list[PairLine]
    pairs_whole: bool
    paths: list[PairLine]
    locked: list[Locked]
    condorcet: str | None
    others_say: list[MethodGroup]
    counted_in_rounds: bool


def charts(
    record: CountRecord, names: Sequence[str], chosen: int | None = None, *, whole: bool = False, live: bool = False
) -> Charts | None:
    """The charts, with the chosen round open; None without votes. `whole` includes tables of any size."""
    if not record.rounds:
        return None
    record = in_steps(record)
    data = ChartData(record, names, live=live)
    rounds = record.rounds
    number = None if chosen is None else min(max(chosen, 1), len(rounds))
    last, others = last_bars(data)
    pairs_whole = whole or len(names) <= PAIRS_SHOWN
    in_pairs = data.standing if pairs_whole else data.standing[:PAIRS_SHOWN]
    return Charts(
        winners=data.named(record.winners),
        decided=data.marked_up(decided_sentence(record, data.marked)),
        beaten=data.marked_up(beaten_sentence(record, data.marked)),
        rounds=len(rounds),
        last=last,
        others=others,
        line=line_of(data, rounds[-1]),
        all_ballots=of_all_ballots(data, rounds[-1]),
        round=round_shown(data, number or 1),
        table=table_lines(data) if whole or len(rounds) * len(names) <= CELLS_SHOWN else [],
        exhausted=[data.shown(sum(round.exhausted.values())) for round in rounds] if data.in_rounds else [],
        flow=flow_shown(data, number),
        pairs=matrix_lines(data, record.pairwise, in_pairs),
        pairs_whole=pairs_whole,
        paths=matrix_lines(data, record.paths, in_pairs) if record.paths else [],
        locked=locked_pairs(data, whole),
        condorcet=None if record.condorcet_winner is None else data.name(record.condorcet_winner),
        others_say=_others_say(data),
        counted_in_rounds=data.in_rounds,
    )


def _others_say(data: ChartData) -> list[MethodGroup]:
    by_winners: dict[tuple[int, ...], list[Method]] = {}
    for method, winners in data.record.other_methods.items():
        by_winners.setdefault(tuple(sorted(winners)), []).append(method)
    return [MethodGroup(methods, data.named(winners)) for winners, methods in by_winners.items()]

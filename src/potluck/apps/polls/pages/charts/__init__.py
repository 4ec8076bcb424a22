"""What a results page draws: a record of candidates by number becomes bars, rounds, pairs and a flow. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from potluck.apps.polls.counting import Method, Record
from potluck.apps.polls.counting.sentences import decided_sentence, outcome_sentence
from potluck.apps.polls.pages.charts.bars import Bar, Line, last_bars, line_of, of_all_ballots
from potluck.apps.polls.pages.charts.counted import Counted
from potluck.apps.polls.pages.charts.flows import FlowShown, flow_shown
from potluck.apps.polls.pages.charts.pairs import PAIRS_SHOWN, Locked, PairLine, locked_pairs, matrix_lines
from potluck.apps.polls.pages.charts.rounds import RoundShown, TableLine, round_shown, table_lines

__all__ = ["Charts", "charts"]

# A table with more cells than this is a page of its own.
CELLS_SHOWN = 400


class Said(NamedTuple):
    """Methods that would say the same."""

    methods: list[Method]
    winners: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Charts:
    """Everything on the page that is worked out of the record."""

    winners: list[str]
    sentence: Markup
    decided: Markup
    """What of the result no votes decided; empty, if they decided everything."""
    rounds: int
    last: list[Bar]
    others: str
    line: Line
    all_ballots: str
    round: RoundShown
    table: list[TableLine]
    """Empty, if it is too large to be shown unasked."""
    exhausted: list[str]
    flow: FlowShown | None
    pairs: list[PairLine]
    pairs_whole: bool
    paths: list[PairLine]
    locked: list[Locked]
    condorcet: str | None
    others_say: list[Said]
    counted_in_rounds: bool


def charts(record: Record, names: Sequence[str], chosen: int | None = None, *, whole: bool = False) -> Charts | None:
    """What there is to draw, with this round looked at; None if nobody voted. `whole`: tables however large."""
    if not record.rounds:
        return None
    counted = Counted(record, names)
    rounds = record.rounds
    looked_at = None if chosen is None else min(max(chosen, 1), len(rounds))
    last, others = last_bars(counted)
    pairs_whole = whole or len(names) <= PAIRS_SHOWN
    in_pairs = counted.standing if pairs_whole else counted.standing[:PAIRS_SHOWN]
    return Charts(
        winners=counted.named(record.winners),
        sentence=counted.said(outcome_sentence(record, counted.marked)),
        decided=counted.said(decided_sentence(record, counted.marked)),
        rounds=len(rounds),
        last=last,
        others=others,
        line=line_of(counted, rounds[-1]),
        all_ballots=of_all_ballots(counted, rounds[-1]),
        round=round_shown(counted, looked_at or 1),
        table=table_lines(counted) if whole or len(rounds) * len(names) <= CELLS_SHOWN else [],
        exhausted=[counted.shown(sum(each.exhausted.values())) for each in rounds] if counted.in_rounds else [],
        flow=flow_shown(counted, looked_at),
        pairs=matrix_lines(counted, record.pairwise, in_pairs),
        pairs_whole=pairs_whole,
        paths=matrix_lines(counted, record.paths, in_pairs) if record.paths else [],
        locked=locked_pairs(counted, whole),
        condorcet=None if record.condorcet_winner is None else counted.name(record.condorcet_winner),
        others_say=_others_say(counted),
        counted_in_rounds=counted.in_rounds,
    )


def _others_say(counted: Counted) -> list[Said]:
    by_winners: dict[tuple[int, ...], list[Method]] = {}
    for method, winners in counted.record.other_methods.items():
        by_winners.setdefault(tuple(sorted(winners)), []).append(method)
    return [Said(methods, counted.named(winners)) for winners, methods in by_winners.items()]

"""A record with candidates' names, in the shape that the API returns."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from potluck.apps.polls.counting.amounts import amount
from potluck.apps.polls.counting.record import Cause, CountRecord, Round, Tie, Transfer
from potluck.apps.polls.counting.rules import Method, Rules
from potluck.apps.polls.counting.sentences import outcome_sentence, round_sentence
from potluck.apps.polls.counting.tie_sentences import DecidedBy, decided_by, deciding_ties, tie_sentence

Amounts = dict[str, str]


class TieResult(Struct, rename="camel", kw_only=True):
    over: str
    candidates: list[str]
    chosen: list[str]
    # Whether lots drawn for it decided.
    by_lot: bool
    decided_by: DecidedBy
    sentence: str


class TransferResult(Struct, kw_only=True, omit_defaults=True, rename={"source": "from"}):
    source: str
    to: Amounts
    exhausted: Amounts = {}
    # What truncation to the last decimal cut off.
    residual: str | UnsetType = UNSET


class RoundResult(Struct, rename="camel", kw_only=True):
    round: int
    tallies: Amounts
    threshold: str | None
    eliminated: list[str]
    elected: list[str]
    exhausted: Amounts
    residual: str | UnsetType = UNSET
    transfers: list[TransferResult]
    ties: list[TieResult]
    sentence: str
    # The seat that this round is about, where seats are filled one after the other.
    seat: int | UnsetType = UNSET
    # Meek: each elected candidate's keep factor, the part they keep of every vote that reaches them.
    keep_factors: Amounts | UnsetType = UNSET


class PairResult(Struct, rename="camel", kw_only=True):
    winner: str
    loser: str
    votes: int
    against: int
    locked: bool


class CountResults(Struct, rename="camel", kw_only=True):
    status: Literal["live", "final"]
    method: Method
    seats: int
    votes: int
    blank: int
    winners: list[str]
    sentence: str
    # The last resort of the ties that may have mattered; `votes` if there were none.
    decided_by: DecidedBy
    # Who has won a tie for election, however it was broken.
    winners_by_tie: list[str]
    # Whether `tallies` of a round are those before its transfers or after them.
    tallies_after_transfers: bool
    rounds: list[RoundResult]
    pairwise: dict[str, dict[str, int]]
    condorcet_winner: str | None
    # If the method ranks all candidates: first to last.
    order: list[str] | UnsetType = UNSET
    # Schulze: the strength of the strongest path from one to the other.
    strongest_paths: dict[str, dict[str, int]] | UnsetType = UNSET
    # Ranked Pairs: every majority, strongest first.
    pairs: list[PairResult] | UnsetType = UNSET
    other_methods: dict[str, list[str]]
    # Empty if no lots were drawn: then the order of the candidates decides.
    lot_order: list[str]
    rules: Rules
    votes_version: int | str | None = None


def results(
    record: CountRecord,
    names: Sequence[str],
    *,
    status: Literal["live", "final"] = "final",
    votes_version: int | str | None = None,
) -> CountResults:
    """The record with candidates' names, which are in the order of their numbers."""
    if len(names) != record.candidates:
        raise ValueError(f"the record is of {record.candidates} candidates; {len(names)} names were given")
    by_tie = {candidate for _, tie in deciding_ties(record) if tie.over == "election" for candidate in tie.chosen}
    return CountResults(
        status=status,
        method=record.method,
        seats=record.rules.seats,
        votes=record.votes,
        blank=record.blank,
        winners=_names(record.winners, names),
        sentence=outcome_sentence(record, names, live=status == "live"),
        decided_by=_last_resort(record),
        winners_by_tie=_names([candidate for candidate in record.winners if candidate in by_tie], names),
        tallies_after_transfers=record.tallies_after_transfers,
        rounds=[_round(record, index, names, status == "live") for index in range(len(record.rounds))],
        pairwise=_matrix(record.pairwise, names),
        condorcet_winner=None if record.condorcet_winner is None else names[record.condorcet_winner - 1],
        order=_names(record.order, names) if record.order else UNSET,
        strongest_paths=_matrix(record.paths, names) if record.paths else UNSET,
        pairs=[
            PairResult(
                winner=names[pair.winner - 1],
                loser=names[pair.loser - 1],
                votes=pair.votes,
                against=pair.against,
                locked=pair.locked,
            )
            for pair in record.pairs
        ]
        if record.method == "ranked-pairs"
        else UNSET,
        other_methods={method: _names(winners, names) for method, winners in record.other_methods.items()},
        lot_order=[] if record.tie_order == "listed" else _names(record.lot_order, names),
        rules=record.rules,
        votes_version=votes_version,
    )


def _names(numbers: Sequence[int], names: Sequence[str]) -> list[str]:
    return [names[number - 1] for number in numbers]


def _matrix(matrix: Sequence[Sequence[int]], names: Sequence[str]) -> dict[str, dict[str, int]]:
    return {
        name: {other: row[place] for place, other in enumerate(names) if other != name}
        for name, row in zip(names, matrix, strict=True)
    }


def _last_resort(record: CountRecord) -> DecidedBy:
    used = {decided_by(record, tie) for _, tie in deciding_ties(record)}
    return next((rule for rule in (record.tie_order, "head-to-head", "previous-rounds") if rule in used), "votes")


def _round(record: CountRecord, index: int, names: Sequence[str], live: bool) -> RoundResult:
    round: Round = record.rounds[index]
    decimals = record.decimals

    def amounts(units: Mapping[int, int]) -> Amounts:
        return {names[number - 1]: amount(votes, decimals) for number, votes in units.items()}

    def causes(units: Mapping[Cause, int]) -> Amounts:
        return {cause: amount(votes, decimals) for cause, votes in units.items()}

    def transfer_result(transfer: Transfer) -> TransferResult:
        return TransferResult(
            source=names[transfer.source - 1],
            to=amounts(transfer.to),
            exhausted=causes(transfer.exhausted),
            residual=amount(transfer.residual, decimals) if transfer.residual else UNSET,
        )

    def tie_result(tie: Tie) -> TieResult:
        return TieResult(
            over=tie.over,
            candidates=_names(tie.candidates, names),
            chosen=_names(tie.chosen, names),
            by_lot=tie.by_lot and record.tie_order in ("lots", "seed"),
            decided_by=decided_by(record, tie),
            sentence=tie_sentence(record, tie, names),
        )

    return RoundResult(
        round=round.number,
        tallies=amounts(round.tallies),
        threshold=None if round.threshold is None else amount(round.threshold, decimals),
        eliminated=_names(round.eliminated, names),
        elected=_names(round.elected, names),
        exhausted=causes(round.exhausted),
        residual=amount(round.residual, decimals) if round.residual else UNSET,
        transfers=[transfer_result(transfer) for transfer in round.transfers],
        ties=[tie_result(tie) for tie in round.ties],
        sentence=round_sentence(record, index, names, live=live),
        seat=round.seat if record.method == "sequential-irv" else UNSET,
        keep_factors=amounts(round.keep) if record.method == "meek" else UNSET,
    )

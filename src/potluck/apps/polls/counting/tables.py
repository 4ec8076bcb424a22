"""Results as tables: CSV for spreadsheets, and text for a terminal."""

import csv
import io
import unicodedata
from decimal import Decimal

from msgspec import UnsetType

from potluck.apps.polls.counting.amounts import with_separators
from potluck.apps.polls.counting.results import CountResults, PairResult, RoundResult
from potluck.apps.polls.counting.tie_sentences import DecidedBy

COLUMNS = ("round", "kind", "name", "votes", "outcome", "sentence", "other", "against", "margin")
# Matrices with more candidates than this are for CSV and JSON.
MATRIX_SHOWN = 12
Matrix = dict[str, dict[str, int]]
# Why votes no longer count for any candidate, in a few words.
ENDED: dict[str, str] = {
    "exhaustedChoices": "no choice left",
    "overvotes": "ended at an overvote",
    "skippedRankings": "ended at skipped ranks",
    "repeatedRankings": "ended at a repeated name",
    "finalRoundSurplus": "surplus, all seats filled",
    "notElected": "for candidates not elected, all seats filled",
}
DECIDED: dict[DecidedBy, str] = {
    "votes": "decided by votes",
    "previous-rounds": "decided by an earlier round",
    "head-to-head": "decided head to head",
    "lots": "decided by lot",
    "given": "decided by the given order",
    "listed": "decided by the order in which the candidates are listed",
    "seed": "decided by a draw from the seed",
}
# A spreadsheet takes a cell that starts with one of these for a formula; some treat the wide signs like the others.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "'", *"\uff1d\uff0b\uff0d\uff20")


def as_csv(results: CountResults) -> str:
    """Per round, a line for each candidate, cause of exhaustion and transfer; for some methods, one for each pair."""
    written = io.StringIO()
    out = csv.DictWriter(written, COLUMNS, restval="", lineterminator="\n")
    out.writeheader()

    def line(round: int | str, kind: str, **cells: object) -> None:
        out.writerow({"round": round, "kind": kind, **cells})

    for round in results.rounds:
        number = round.round
        line(number, "round", sentence=cell(round.sentence))
        if round.threshold is not None:
            line(number, "threshold", votes=round.threshold)
        for name, votes in round.tallies.items():
            line(number, "candidate", name=cell(name), votes=votes, outcome=_outcome(round, name))
        for cause, votes in round.exhausted.items():
            line(number, "exhausted", name=cause, votes=votes)
        for transfer in round.transfers:
            source = cell(transfer.source)
            for name, votes in transfer.to.items():
                line(number, "transfer", name=source, votes=votes, outcome=f"to {name}")
            for cause, votes in transfer.exhausted.items():
                line(number, "transfer", name=source, votes=votes, outcome=f"exhausted: {cause}")
            if isinstance(transfer.residual, str):
                line(number, "transfer", name=source, votes=transfer.residual, outcome="cut off")
    for kind, matrix in _matrices(results):
        for name, other, preferred, against in _pairs(matrix):
            margin = preferred - against
            line("", kind, name=cell(name), votes=preferred, other=cell(other), against=against, margin=margin)
    if not isinstance(results.pairs, UnsetType):
        for pair in results.pairs:
            line(
                "",
                "majority",
                name=cell(pair.winner),
                votes=pair.votes,
                outcome="locked" if pair.locked else "left out",
                other=cell(pair.loser),
                against=pair.against,
                margin=pair.votes - pair.against,
            )
    for name in results.winners:
        line("", "winner", name=cell(name), outcome=_won(results, name))
    line("", "result", outcome=DECIDED[results.decided_by], sentence=cell(results.sentence))
    return written.getvalue()


def as_text(results: CountResults) -> str:
    """The rounds, each with its tallies and its sentence; and the pairs, where they decide."""
    votes = f"{results.votes:,} vote{'' if results.votes == 1 else 's'}"
    if results.blank:
        votes += f", {results.blank:,} of them blank"
    seats = f"{results.seats} seat{'' if results.seats == 1 else 's'}"
    if results.rules.share_percent is not None:
        seats = f"all with {results.rules.share_percent}%"
    lines = [f"{results.method}, {seats}, {votes}", ""]
    seat = 0
    for round in results.rounds:
        if isinstance(round.seat, int) and round.seat != seat:
            seat = round.seat
            lines += [f"Seat {seat} of {results.seats}", ""]
        lines += [*_round(results, round), ""]
    for kind, matrix in _matrices(results):
        lines += [*_matrix(kind, matrix), ""]
    if not isinstance(results.pairs, UnsetType):
        lines += [*_majorities(results.pairs), ""]
    lines.append(results.sentence)
    if results.condorcet_winner in results.winners:
        lines.append(f"{results.condorcet_winner} beats each of the others head to head.")
    elif results.rounds and results.condorcet_winner is None:
        lines.append("No candidate beats each of the others head to head.")
    if results.other_methods:
        winners = "; ".join(f"{method}: {', '.join(names)}" for method, names in results.other_methods.items())
        lines.append(f"Winners by other methods: {winners}.")
    return "\n".join([*lines, ""])


def _matrices(results: CountResults) -> list[tuple[str, Matrix]]:
    """Where pairs decide: the numbers of preferences, and the strongest paths."""
    if not results.rounds or results.method not in ("schulze", "ranked-pairs"):
        return []
    paths = results.strongest_paths
    return [("pair", results.pairwise), *([] if isinstance(paths, UnsetType) else [("path", paths)])]


def _pairs(matrix: Matrix) -> list[tuple[str, str, int, int]]:
    return [(name, other, votes, matrix[other][name]) for name, row in matrix.items() for other, votes in row.items()]


def _matrix(kind: str, matrix: Matrix) -> list[str]:
    """Row against column, with the margin."""
    if len(matrix) > MATRIX_SHOWN:
        what = "head to head" if kind == "pair" else "strongest paths"
        return [f"{len(matrix)} candidates {what} are a large table; --format csv and json have it."]
    headings = {name: str(number) for number, name in enumerate(matrix, 1)}
    cells = {
        name: {
            other: f"{votes:,} ({votes - matrix[other][name]:+,})" if votes != matrix[other][name] else f"{votes:,} (=)"
            for other, votes in row.items()
        }
        for name, row in matrix.items()
    }
    broad = max(_width(f"{number} {name}") for name, number in headings.items())
    width = max((len(entry) for row in cells.values() for entry in row.values()), default=1)
    title = (
        "Head to head: how many prefer the row to the column, and by how many more"
        if kind == "pair"
        else "Strongest paths: how strong the weakest link is from row to column, and by how much stronger than back"
    )
    lines = [title, f"  {' ' * broad}  {'  '.join(f'{number:>{width}}' for number in headings.values())}".rstrip()]
    for name, number in headings.items():
        start = f"{number} {name}"
        row = "  ".join(f"{cells[name].get(other, ''):>{width}}" for other in headings)
        lines.append(f"  {start}{' ' * (broad - _width(start))}  {row}".rstrip())
    return lines


def _majorities(pairs: list[PairResult]) -> list[str]:
    if not pairs:
        return ["No majority of one over another"]
    lines = ["Majorities, the strongest first"]
    for pair in pairs:
        left_out = "" if pair.locked else ", left out: it would close a circle"
        margin = pair.votes - pair.against
        lines.append(f"  {pair.winner} over {pair.loser}: {pair.votes:,} to {pair.against:,}, by {margin:,}{left_out}")
    return lines


def _round(results: CountResults, round: RoundResult) -> list[str]:
    heading = f"Round {round.round}"
    if round.threshold is not None and results.method != "bottoms-up":
        heading += ": 1 vote elects" if round.threshold == "1" else f": {with_separators(round.threshold)} votes elect"
    elif round.threshold is not None and results.rules.share_percent is not None:
        heading += f": {with_separators(round.threshold)} votes are {results.rules.share_percent}%"
    names = sorted(round.tallies, key=lambda name: -Decimal(round.tallies[name]))
    rows = [(name, with_separators(round.tallies[name]), _outcome(round, name)) for name in names]
    rows += [(f"({ENDED[cause]})", with_separators(votes), "") for cause, votes in round.exhausted.items()]
    if isinstance(round.residual, str):
        rows.append(("(cut off)", with_separators(round.residual), ""))
    broad = max((_width(name) for name, *_ in rows), default=0)
    whole = max((len(votes.partition(".")[0]) for _, votes, _ in rows), default=0)
    part = max((len(votes) - len(votes.partition(".")[0]) for _, votes, _ in rows), default=0)
    lines = [heading]
    for name, votes, outcome in rows:
        before, point, after = votes.partition(".")
        figure = f"{before:>{whole}}{(point + after):<{part}}"
        lines.append(f"  {name}{' ' * (broad - _width(name))}  {figure}  {outcome}".rstrip())
    return [*lines, f"  {round.sentence}"]


def _won(results: CountResults, name: str) -> str:
    return f"elected, tie {DECIDED[results.decided_by]}" if name in results.winners_by_tie else "elected"


def _outcome(round: RoundResult, name: str) -> str:
    if name in round.elected:
        return "elected"
    return "eliminated" if name in round.eliminated else ""


def _width(text: str) -> int:
    """Columns on a terminal: wide signs take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text
    )


def cell(text: str) -> str:
    """A name, or a sentence that begins with one, with an apostrophe in front if a spreadsheet would take it for a
    formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text

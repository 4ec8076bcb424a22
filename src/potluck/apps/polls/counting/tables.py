"""Results as tables: CSV for spreadsheets, and text for a terminal."""

import csv
import io
import unicodedata
from decimal import Decimal

from potluck.apps.polls.counting.results import Results, RoundResult
from potluck.apps.polls.counting.sentences import ENDED

__all__ = ["as_csv", "as_text", "cell"]

COLUMNS = ("round", "kind", "name", "votes", "outcome", "sentence")
# A cell that starts so would be taken by spreadsheets for a formula; some take the wide signs for the others.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "'", *"\uff1d\uff0b\uff0d\uff20")


def as_csv(results: Results) -> str:
    """One line for each candidate, cause of exhaustion and transfer of each round."""
    written = io.StringIO()
    out = csv.writer(written, lineterminator="\n")
    out.writerow(COLUMNS)
    for round in results.rounds:
        out.writerow([round.round, "round", "", "", "", cell(round.sentence)])
        if round.threshold is not None:
            out.writerow([round.round, "threshold", "", round.threshold, "", ""])
        for name, votes in round.tallies.items():
            out.writerow([round.round, "candidate", cell(name), votes, _outcome(round, name), ""])
        for cause, votes in round.exhausted.items():
            out.writerow([round.round, "exhausted", cause, votes, "", ""])
        for transfer in round.transfers:
            for name, votes in transfer.to.items():
                out.writerow([round.round, "transfer", cell(transfer.source), votes, f"to {name}", ""])
            for cause, votes in transfer.exhausted.items():
                out.writerow([round.round, "transfer", cell(transfer.source), votes, f"exhausted: {cause}", ""])
            if isinstance(transfer.residual, str):
                out.writerow([round.round, "transfer", cell(transfer.source), transfer.residual, "cut off", ""])
    for name in results.winners:
        out.writerow(["", "winner", cell(name), "", "", ""])
    return written.getvalue()


def as_text(results: Results) -> str:
    """Rounds one after the other, each with its tallies and its sentence."""
    votes = f"{results.votes:,} vote{'' if results.votes == 1 else 's'}"
    if results.blank:
        votes += f", {results.blank:,} of them blank"
    seats = f"{results.seats} seat{'' if results.seats == 1 else 's'}"
    lines = [f"{results.method}, {seats}, {votes}", ""]
    for round in results.rounds:
        lines += [*_round(round), ""]
    lines.append(results.sentence)
    if results.condorcet_winner is not None:
        lines.append(f"{results.condorcet_winner} beats each of the others head to head.")
    elif results.rounds:
        lines.append("Nobody beats each of the others head to head.")
    if results.other_methods:
        said = "; ".join(f"{method}: {', '.join(names)}" for method, names in results.other_methods.items())
        lines.append(f"Other methods would say: {said}.")
    return "\n".join([*lines, ""])


def _round(round: RoundResult) -> list[str]:
    heading = f"Round {round.round}"
    if round.threshold is not None:
        heading += f", {round.threshold} to be elected"
    names = sorted(round.tallies, key=lambda name: -Decimal(round.tallies[name]))
    rows = [(name, round.tallies[name], _outcome(round, name)) for name in names]
    rows += [(f"({ENDED[cause]})", votes, "") for cause, votes in round.exhausted.items()]
    if isinstance(round.residual, str):
        rows.append(("(cut off)", round.residual, ""))
    broad = max((_width(name) for name, *_ in rows), default=0)
    whole = max((len(votes.partition(".")[0]) for _, votes, _ in rows), default=0)
    part = max((len(votes) - len(votes.partition(".")[0]) for _, votes, _ in rows), default=0)
    lines = [heading]
    for name, votes, outcome in rows:
        before, point, after = votes.partition(".")
        figure = f"{before:>{whole}}{(point + after):<{part}}"
        lines.append(f"  {name}{' ' * (broad - _width(name))}  {figure}  {outcome}".rstrip())
    return [*lines, f"  {round.sentence}"]


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
    """A name, or a sentence that begins with one, that no spreadsheet takes for a formula; one apostrophe taken off
    gives it back."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text

"""Ballots in CSV, in either of the two forms in use.

A column for each candidate, with the rank that each ballot gave:     count,Ann,Bob,Cid
                                                                      12,1,2,
A column for each rank, with the name that each ballot put there:     count,rank 1,rank 2,rank 3
                                                                      12,Ann,Bob,
Written is the first form, since it also names candidates whom nobody ranked, with a first heading by which it is known
again: candidates may be called 1 and 2.
"""

import csv
import io
import re
from collections.abc import Sequence

from potluck.apps.polls.ballot_files.contents import (
    OVERVOTE,
    BallotFile,
    Names,
    Progress,
    UnreadableBallots,
    folded,
    ranking_of,
)
from potluck.apps.polls.ballot_files.json_ballots import commonest_first
from potluck.apps.polls.counting.ballots import UNNAMED_OVERVOTE, Mark, Ranking
from potluck.apps.polls.counting.sentences import listed
from potluck.apps.polls.counting.tables import cell

__all__ = ["read_csv", "write_csv"]

TOLD_EVERY = 20_000
MOST_RANKS = 10_000
MOST_DIGITS = 18

WRITTEN = "count (cells are ranks)"
COUNT_COLUMNS = {"count", "counts", "votes", "ballots", "number", "weight", "multiplier", "num ballots", "#"}
# Columns about the ballot that say nothing about its ranking.
OTHER_COLUMNS = {
    *("id", "ballot", "ballot id", "ballotid", "cast vote record", "cvr", "cvr id", "record id", "precinct", "batch"),
    *("voter", "voter id", "timestamp", "date", "ballot style", "tabulator", "remade", "sequence number", ""),
}
RANK_WORDS = "rank|ranking|choice|preference|pref|place|position"
RANK_COLUMN = re.compile(
    rf"(?:(?:{RANK_WORDS})[ _.#-]*(?P<after>\d+)|(?P<before>\d+)(?:st|nd|rd|th)?[ _.-]*(?:{RANK_WORDS})?)",
    re.IGNORECASE,
)
SKIPPED_CELLS = {"", "undervote", "skipped", "blank", "-"}
OVERVOTE_CELLS = {"overvote", OVERVOTE}
# Several names, or several ranks, in one cell.
SEVERAL = "|"


def read_csv(text: str, progress: Progress | None = None) -> BallotFile:
    rows = _Rows(text, progress)
    header = next(rows, None)
    if header is None:
        raise UnreadableBallots("", "the file is empty")
    if header[0] == WRITTEN:
        names = [name.removeprefix("'") for name in header]
        return _by_candidate(rows, names, range(1, len(header)), 0)
    ranks = {column: rank for column, name in enumerate(header) if (rank := _rank(name)) is not None}
    counted = [column for column, name in enumerate(header) if folded(name) in COUNT_COLUMNS]
    if len(counted) > 1:
        # Somebody may be called Votes; the count comes first where we write it.
        counted = counted[:1] if counted[0] == 0 else []
    count = counted[0] if counted else None
    if ranks:
        unknown = [
            name
            for column, name in enumerate(header)
            if column not in ranks and column != count and folded(name) not in OTHER_COLUMNS
        ]
        if unknown:
            raise UnreadableBallots("line 1", _neither(unknown))
        # Spreadsheets number lines in a first column without a heading.
        nameless = [column for column, name in enumerate(header) if column and not name]
        return _by_rank(rows, ranks, count, len(header), nameless)
    columns = [column for column, name in enumerate(header) if column != count and folded(name) not in OTHER_COLUMNS]
    return _by_candidate(rows, header, columns, count)


def write_csv(file: BallotFile) -> str:
    """A column for each candidate; one more where an overvote does not say whom it named."""
    columns: list[int] = list(range(1, len(file.candidates) + 1))
    unnamed = any(UNNAMED_OVERVOTE in ranking for ranking in file.ballots)
    written = io.StringIO()
    out = csv.writer(written, lineterminator="\n")
    out.writerow([WRITTEN, *map(cell, file.candidates), *([OVERVOTE] if unnamed else [])])
    if unnamed:
        columns.append(0)
    for ranking, count in commonest_first(file.ballots):
        ranks: dict[int, list[str]] = {}
        for rank, mark in enumerate(ranking, 1):
            for number in (mark,) if isinstance(mark, int) else mark:
                ranks.setdefault(number, []).append(str(rank))
        out.writerow([count, *(SEVERAL.join(ranks.get(number, ())) for number in columns)])
    return written.getvalue()


class _Rows:
    """The rows that have anything in them, and the line on which each ends."""

    def __init__(self, text: str, progress: Progress | None) -> None:
        start = text[:5_000].split("\n", 1)[0]
        delimiter = "," if start.startswith(WRITTEN) else max(",;\t", key=start.count)
        self._reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
        self._progress, self._lines = progress, text.count("\n") + 1

    @property
    def where(self) -> str:
        return f"line {self._reader.line_num}"

    def __iter__(self) -> "_Rows":
        return self

    def __next__(self) -> list[str]:
        while True:
            try:
                row = [each.strip() for each in next(self._reader)]
            except csv.Error as problem:
                raise UnreadableBallots(self.where, str(problem)) from problem
            if self._progress and self._reader.line_num % TOLD_EVERY == 0:
                self._progress(self._reader.line_num / self._lines)
            if any(row):
                return row


def _rank(name: str) -> int | None:
    found = RANK_COLUMN.fullmatch(name.strip())
    if found is None:
        return None
    number = found["after"] or found["before"]
    if len(number) > MOST_DIGITS or int(number) > MOST_RANKS:
        raise UnreadableBallots("line 1", f"“{name[:30]}” is not a rank")
    return int(number)


def _count(row: Sequence[str], column: int | None, where: str) -> int:
    if column is None:
        return 1
    given = row[column] if column < len(row) else ""
    if not given.isascii() or not given.isdigit() or len(given) > MOST_DIGITS:
        raise UnreadableBallots(where, f"its count is “{given}”, and should be a whole number of 0 or more")
    return int(given)


def _neither(unknown: Sequence[str]) -> str:
    """A misspelt rank would be lost, and what people voted with it: nothing is passed over that is not known."""
    named = listed(f"“{name[:30]}”" for name in unknown)
    is_neither = "is neither a rank" if len(unknown) == 1 else "are neither ranks"
    return f"{named} {is_neither}, such as “rank 1”, nor a count, nor about the ballot, such as “id” or “precinct”"


def _by_rank(
    rows: _Rows, ranks: dict[int, int], count: int | None, columns_named: int, nameless: Sequence[int]
) -> BallotFile:
    """By the numbers of the ranks: two columns of one are an overvote, and one without a column is left empty."""
    first = min(1, *ranks.values())
    by_place: list[list[int]] = [[] for _ in range(first, max(ranks.values()) + 1)]
    for column, rank in ranks.items():
        by_place[rank - first].append(column)
    by_marks: dict[tuple[tuple[str, ...], ...], tuple[int, str]] = {}
    for row in rows:
        for stray in (*(row[column] for column in nameless if column < len(row)), *row[columns_named:]):
            if stray:
                raise UnreadableBallots(rows.where, f"“{stray[:30]}” stands under no heading")
        marks = tuple(
            tuple(name for column in columns if column < len(row) for name in _named(row[column]))
            for columns in by_place
        )
        before, where = by_marks.get(marks, (0, rows.where))
        by_marks[marks] = (before + _count(row, count, rows.where), where)
    names = Names.found(name for marks in by_marks for rank in marks for name in rank if name != OVERVOTE)
    counts: dict[Ranking, int] = {}
    for marks, (many, where) in by_marks.items():
        if many:
            ranking = ranking_of([names.mark(rank, where) for rank in marks])
            counts[ranking] = counts.get(ranking, 0) + many
    return BallotFile(candidates=names.names, ballots=counts, undeclared=names.undeclared)


def _named(given: str) -> tuple[str, ...]:
    if given.casefold() in SKIPPED_CELLS:
        return ()
    if given.casefold() in OVERVOTE_CELLS:
        return (OVERVOTE,)
    return tuple(name.strip() for name in given.split(SEVERAL) if name.strip())


def _by_candidate(rows: _Rows, header: list[str], ranked: Sequence[int], count: int | None) -> BallotFile:
    unnamed = {column for column in ranked if header[column] == OVERVOTE}
    columns = [column for column in ranked if column not in unnamed]
    names = Names(header[column] for column in columns)
    if not columns:
        raise UnreadableBallots("line 1", "no column is a candidate or a rank")
    numbers = {column: number for number, column in enumerate(columns, 1)} | dict.fromkeys(unnamed, 0)
    counts: dict[Ranking, int] = {}
    for row in rows:
        where = rows.where
        ranks: dict[int, list[int]] = {}
        for column, number in numbers.items():
            given = row[column] if column < len(row) else ""
            if given.casefold() in SKIPPED_CELLS:
                continue
            for part in given.split(SEVERAL):
                ranks.setdefault(_rank_in(part.strip(), header[column], where), []).append(number)
        if len(row) > len(header):
            raise UnreadableBallots(where, f"it has {len(row)} cells, and there are {len(header)} columns")
        marks: list[Mark] = [()] * max(ranks, default=0)
        for rank, named in ranks.items():
            marks[rank - 1] = UNNAMED_OVERVOTE if 0 in named else named[0] if len(named) == 1 else tuple(sorted(named))
        many = _count(row, count, where)
        if many:
            ranking = ranking_of(marks)
            counts[ranking] = counts.get(ranking, 0) + many
    return BallotFile(candidates=names.names, ballots=counts, undeclared=names.undeclared)


def _rank_in(given: str, name: str, where: str) -> int:
    if not given.isascii() or not given.isdigit() or len(given) > MOST_DIGITS or not 1 <= int(given) <= MOST_RANKS:
        raise UnreadableBallots(where, f"“{given}” under “{name}” is not a rank")
    return int(given)

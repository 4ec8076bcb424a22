"""Ballots in CSV, in either of the two forms in use.

A column for each candidate, with the rank that each ballot gave:     count,Ann,Bob,Cid
                                                                      12,1,2,
A column for each rank, with the name that each ballot put there:     count,rank 1,rank 2,rank 3
                                                                      12,Ann,Bob,
We write the first form, since it also names candidates that no ballot ranks, with a first heading that identifies it:
candidates may be called 1 and 2. Before the ballots it has what a recount needs: each candidate's place in the lot
order, the number of seats if that is not one, and the method if that is not the default.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from potluck.apps.polls.ballot_files.contents import (
    OVERVOTE,
    BallotFile,
    CandidateNumbers,
    NotBallots,
    UnreadableBallots,
    add_up,
    folded,
    ranking_of,
)
from potluck.apps.polls.ballot_files.json_ballots import commonest_first, usual_method
from potluck.apps.polls.ballot_files.source import DIFFERENT_AT_ONCE, BallotSource
from potluck.apps.polls.counting import METHODS
from potluck.apps.polls.counting.amounts import listed
from potluck.apps.polls.counting.ballots import UNNAMED_OVERVOTE, Mark, Ranking
from potluck.apps.polls.counting.tables import cell

MOST_RANKS = 10_000
MOST_DIGITS = 18

WRITTEN = "count (cells are ranks)"
# Labels of the rows before the ballots of a file we wrote, in the column of counts.
LOT_ORDER, SEATS, METHOD = "lot order (1 is favoured)", "seats", "method"
COUNT_COLUMNS = {"count", "counts", "votes", "ballots", "number", "weight", "multiplier", "num ballots", "#"}
# Columns about the ballot that do not affect its ranking.
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


def read_csv(source: BallotSource) -> BallotFile:
    rows = _Rows(source)
    header = rows.header
    if header[0] == WRITTEN:
        names = [name.removeprefix("'") for name in header]
        return _by_candidate(rows, names, range(1, len(header)), 0)
    ranks = {column: rank for column, name in enumerate(header) if (rank := _rank(name)) is not None}
    counted = [column for column, name in enumerate(header) if folded(name) in COUNT_COLUMNS]
    if len(counted) > 1:
        # A candidate may be called Votes; in our own files the count comes first.
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
    """A column for each candidate; and one more if an overvote does not name its candidates."""
    columns: list[int] = list(range(1, len(file.candidates) + 1))
    unnamed = any(UNNAMED_OVERVOTE in ranking for ranking in file.ballots)
    written = io.StringIO()
    out = csv.writer(written, lineterminator="\n")
    out.writerow([WRITTEN, *map(cell, file.candidates), *([OVERVOTE] if unnamed else [])])
    if file.lot_order is not None:
        out.writerow([LOT_ORDER, *(file.lot_order.index(number) + 1 for number in columns)])
    if file.seats is not None and file.seats > 1:
        out.writerow([SEATS, file.seats])
    if file.method not in (None, usual_method(file.seats)):
        out.writerow([METHOD, file.method])
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
    """The header, and each distinct row under it, with how often it occurs."""

    def __init__(self, source: BallotSource) -> None:
        self._source = source
        read: list[str] = []
        self.header = self._header(read)
        self._header_lines = len(read)
        # Where nothing is quoted, a line is a row, and equal lines are equal rows.
        self.plain = source.encoding == "utf-8" and source.quotes == sum(line.count('"') for line in read)

    def _header(self, read: list[str]) -> list[str]:
        lines = self._source.lines()
        first = next(lines, "")
        self.delimiter = "," if first.startswith(WRITTEN) else max(",;\t", key=first.count)

        def noted() -> Iterator[str]:
            for line in chain([first], lines):
                read.append(line)
                yield line

        for row in self._checked(self._reader(noted()), 0):
            cells = [name.strip() for name in row]
            if any(cells):
                return cells
        raise UnreadableBallots("", "the file is empty")

    def _reader(self, lines: Iterable[str]) -> Any:
        return csv.reader(lines, delimiter=self.delimiter, skipinitialspace=True)

    def _checked(self, rows: Any, before: int) -> Iterator[list[str]]:
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as problem:
                raise UnreadableBallots(f"line {before + rows.line_num}", str(problem)) from problem
            yield row

    def counted_lines(self) -> Iterator[Counter[bytes]]:
        """Only if the file is plain: each distinct line, and how often it occurs."""
        return self._source.counted_lines(self._header_lines)

    def of_line(self, line: bytes) -> list[str]:
        """The cells of a line, without the empty ones at its end."""
        self._row: bytes | tuple[str, ...] = line
        return _without_end(next(self._checked(self._reader([line.decode()]), 0), []))

    def counted(self) -> Iterator[tuple[list[str], int]]:
        """Each distinct non-empty row, without empty cells at its end, and how often it occurs."""
        if self.plain:
            for lines in self.counted_lines():
                for line, many in lines.items():
                    if row := self.of_line(line):
                        yield row, many
            return
        counted: Counter[tuple[str, ...]] = Counter()
        for row in self._checked(
            self._reader(islice(self._source.lines(), self._header_lines, None)), self._header_lines
        ):
            counted[tuple(_without_end(row))] += 1
            if len(counted) > DIFFERENT_AT_ONCE:
                yield from self._rows(counted)
                counted.clear()
        yield from self._rows(counted)

    def _rows(self, counted: Counter[tuple[str, ...]]) -> Iterator[tuple[list[str], int]]:
        for self._row, many in counted.items():
            if self._row:
                yield list(self._row), many

    @property
    def where(self) -> str:
        """The line of the first occurrence of the row that was read last."""
        if isinstance(self._row, bytes):
            return f"line {self._source.number_of(self._row, self._header_lines)}"
        reader = self._reader(islice(self._source.lines(), self._header_lines, None))
        for row in reader:
            if tuple(_without_end(row)) == self._row:
                break
        return f"line {self._header_lines + reader.line_num}"


def _without_end(row: list[str]) -> list[str]:
    end = len(row)
    while end and not row[end - 1].strip():
        end -= 1
    return row[:end]


def _rank(name: str) -> int | None:
    match = RANK_COLUMN.fullmatch(name.strip())
    if match is None:
        return None
    number = match["after"] or match["before"]
    if len(number) > MOST_DIGITS or int(number) > MOST_RANKS:
        raise UnreadableBallots("line 1", f"“{name[:30]}” is not a rank")
    return int(number)


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS


def _neither(unknown: Sequence[str]) -> str:
    """The error for unknown headings: ignoring one that is a misspelt rank would lose votes."""
    named = listed(f"“{name[:30]}”" for name in unknown)
    is_neither = "is neither a rank" if len(unknown) == 1 else "are neither ranks"
    return f"{named} {is_neither}, such as “rank 1”, nor a count, nor about the ballot, such as “id” or “precinct”"


class _Counts(dict[str, int]):
    """Parsed counts, by the text of their cell."""

    def __missing__(self, key: str) -> int:
        text = key.strip()
        if not _is_whole(text):
            raise ValueError(text)
        self[key] = int(text)
        return self[key]


def _count(row: Sequence[str], column: int | None, counts: _Counts, rows: _Rows) -> int:
    if column is None:
        return 1
    try:
        return counts[row[column] if column < len(row) else ""]
    except ValueError as wrong:
        raise UnreadableBallots(
            rows.where, f"its count is “{wrong}”, but must be a whole number of 0 or more"
        ) from wrong


class _Cells(dict[str, int]):
    """A number for every distinct text of a cell, 0 if it names no candidate; each text is parsed once."""

    def __init__(self) -> None:
        self.named: list[tuple[str, ...]] = [()]

    def __missing__(self, key: str) -> int:
        text = key.strip()
        named: tuple[str, ...]
        if text.casefold() in SKIPPED_CELLS:
            named = ()
        elif text.casefold() in OVERVOTE_CELLS:
            named = (OVERVOTE,)
        else:
            named = tuple(name.strip() for name in text.split(SEVERAL) if name.strip())
        if named:
            self.named.append(named)
        self[key] = len(self.named) - 1 if named else 0
        return self[key]

    def both(self, numbers: Sequence[int]) -> int:
        """One number for several cells combined."""
        named = tuple(name for number in numbers for name in self.named[number])
        return self[SEVERAL.join(named)] if OVERVOTE not in named else self[OVERVOTE] if named else 0


def _by_rank(
    rows: _Rows, ranks: dict[int, int], count: int | None, columns_named: int, nameless: Sequence[int]
) -> BallotFile:
    """Reads columns by rank number: two columns of one rank are an overvote, and a rank without a column is skipped."""
    first = min(1, *ranks.values())
    by_place: list[list[int]] = [[] for _ in range(first, max(ranks.values()) + 1)]
    for column, rank in ranks.items():
        by_place[rank - first].append(column)
    reading = _ByRank(rows, by_place, count, columns_named, nameless)
    # The fast path for most files: all ranks in order, and no other columns.
    if rows.plain and by_place == [[place] for place in range(columns_named)]:
        for lines in rows.counted_lines():
            reading.note_lines(lines)
    else:
        for row, times in rows.counted():
            reading.note(row, times)
    cells, noted = reading.cells, reading.noted
    names = CandidateNumbers.found(name for named in cells.named for name in named if name != OVERVOTE)
    read = [names.mark(named, "") for named in cells.named]
    ballots = add_up(noted, read)
    if not ballots:
        raise NotBallots("it has headings for ranks, but no ballots")
    return BallotFile(
        candidates=names.names,
        ballots={ranking: many for ranking, many in ballots.items() if many},
        undeclared=names.undeclared,
    )


class _ByRank:
    """Collects rankings as numbers of cell texts, and how many ballots have each."""

    def __init__(
        self, rows: _Rows, by_place: list[list[int]], count: int | None, columns_named: int, nameless: Sequence[int]
    ) -> None:
        self.rows, self.by_place, self.count = rows, by_place, count
        self.columns_named, self.nameless = columns_named, nameless
        self.cells, self.counts = _Cells(), _Counts()
        self.noted: dict[tuple[int, ...], int] = {}

    def note(self, row: list[str], times: int) -> None:
        if len(row) > self.columns_named or self.nameless:
            for stray in (*(row[column] for column in self.nameless if column < len(row)), *row[self.columns_named :]):
                if stray.strip():
                    raise UnreadableBallots(self.rows.where, f"“{stray.strip()[:30]}” has no heading")
        number = self.cells.__getitem__
        marks = tuple(
            self.cells.both([number(row[column]) for column in columns if column < len(row)])
            for columns in self.by_place
        )
        while marks and not marks[-1]:
            marks = marks[:-1]
        self.noted[marks] = self.noted.get(marks, 0) + _count(row, self.count, self.counts, self.rows) * times

    def note_lines(self, lines: Counter[bytes]) -> None:
        """The same for lines in which every cell is a rank, parsing each distinct cell once."""
        delimiter, most = self.rows.delimiter.encode(), self.columns_named
        numbers = _CellsOfBytes(self.cells)
        number = numbers.__getitem__
        noted = self.noted
        ends = delimiter + b" \t"
        for line, times in lines.items():
            cells = line.rstrip(ends).split(delimiter)
            if len(cells) > most:
                self.note(self.rows.of_line(line), times)
                continue
            marks = tuple(map(number, cells))
            while marks and not marks[-1]:
                marks = marks[:-1]
            if marks or line.strip():
                noted[marks] = noted.get(marks, 0) + times


class _CellsOfBytes(dict[bytes, int]):
    def __init__(self, cells: _Cells) -> None:
        self._cells = cells

    def __missing__(self, key: bytes) -> int:
        self[key] = self._cells[key.decode()]
        return self[key]


def _rank_in(text: str) -> int:
    if not _is_whole(text) or not 1 <= int(text) <= MOST_RANKS:
        raise ValueError(text)
    return int(text)


def _by_candidate(rows: _Rows, header: list[str], ranked: Sequence[int], count: int | None) -> BallotFile:
    unnamed = {column for column in ranked if header[column] == OVERVOTE}
    columns = [column for column in ranked if column not in unnamed]
    names = CandidateNumbers(header[column] for column in columns)
    if not columns:
        raise NotBallots("no column is a candidate or a rank")
    file = BallotFile(candidates=names.names, ballots={}, undeclared=names.undeclared)
    numbers = {column: number for number, column in enumerate(columns, 1)} | dict.fromkeys(unnamed, 0)
    # The fast path for most files: all candidates in order, and nothing else but perhaps a count before them.
    side_by_side = not unnamed and columns == list(range(0 if count is None else 1, len(header)))
    reading = _ByCandidate(rows, file, columns, numbers, header, count)
    if rows.plain and side_by_side and count in (None, 0):
        for lines in rows.counted_lines():
            reading.note_lines(lines)
    else:
        for row, times in rows.counted():
            reading.note(row, times)
    if not reading.any_row and header[0] != WRITTEN:
        raise NotBallots("it has a first line, but no ballots")
    return file


class _ByCandidate:
    """Collects rankings from the rank that each ballot gives each candidate, and how many ballots have each."""

    def __init__(
        self,
        rows: _Rows,
        file: BallotFile,
        columns: list[int],
        numbers: dict[int, int],
        header: list[str],
        count: int | None,
    ) -> None:
        self.rows, self.file, self.columns, self.numbers = rows, file, columns, numbers
        self.header, self.count = header, count
        self.counts = _Counts()
        self.written = header[0] == WRITTEN
        self.any_row = False

    def note(self, row: list[str], times: int) -> None:
        rows, header = self.rows, self.header
        first, end = self.columns[0], self.columns[-1] + 1
        if self.written and not _is_whole(row[0].strip()) and _is_setting(self.file, row, first, end, rows):
            return
        if len(row) > len(header):
            raise UnreadableBallots(rows.where, f"it has {len(row)} cells, and there are {len(header)} columns")
        ranking = _marked(row, self.numbers, header, rows, self.any_row or self.written)
        self.any_row = True
        if many := _count(row, self.count, self.counts, rows) * times:
            self.file.ballots[ranking] = self.file.ballots.get(ranking, 0) + many

    def note_lines(self, lines: Counter[bytes]) -> None:
        """The same for lines that have a rank for each candidate, many at once."""
        delimiter, width = self.rows.delimiter.encode(), len(self.columns)
        ballots = self.file.ballots
        distinct, repeats = list(lines), list(lines.values())
        lines.clear()
        for start in range(0, len(distinct), LINES_AT_ONCE):
            some, times = distinct[start : start + LINES_AT_ONCE], repeats[start : start + LINES_AT_ONCE]
            cells, counts = some, times
            if self.count is not None:
                parted = [line.partition(delimiter) for line in some]
                cells = [ranked for _, _, ranked in parted]
                counts = [
                    int(many) * often if many.isdigit() and len(many) <= MOST_DIGITS else -1
                    for (many, _, _), often in zip(parted, times, strict=True)
                ]
            rankings = _one_each(cells, delimiter, width)
            for ranking, many in zip(rankings, counts, strict=True):
                if ranking is not None and many > 0:
                    ballots[ranking] = ballots.get(ranking, 0) + many
            self.any_row = self.any_row or bool(ballots)
            if None in rankings or min(counts) <= 0:
                # Lines in another form, or with errors, are read row by row.
                for line, often, many, ranking in zip(some, times, counts, rankings, strict=True):
                    if (ranking is None or many <= 0) and (row := self.rows.of_line(line)):
                        self.note(row, often)


# Ranks as single characters, from "0" for none; candidates' numbers beyond all of those.
CODED_RANKS = 60
ZERO, NUMBERS_FROM = ord("0"), 128
NUMBER_OF = bytes(max(0, code - NUMBERS_FROM) for code in range(256))
DIGITS = b"0123456789\n"
LINES_AT_ONCE = 50_000


def _one_each(lines: list[bytes], delimiter: bytes, width: int) -> Sequence[Ranking | None]:
    """The rankings of lines whose ranks are distinct and have no gaps; None for any other line."""
    text = delimiter + (b"\n" + delimiter).join(lines)
    if width > CODED_RANKS or delimiter + b"0" in text or text.translate(None, DIGITS + delimiter):
        return [None] * len(lines)
    for rank in range(10, width + 1):
        text = text.replace(delimiter + b"%d" % rank, delimiter + bytes([ZERO + rank]))
    # An empty cell means no rank.
    empty = delimiter + b"0" + delimiter
    text = (
        text.replace(delimiter * 2, empty).replace(delimiter * 2, empty).replace(delimiter + b"\n", delimiter + b"0\n")
    )
    coded = (text + b"0" if text.endswith(delimiter) else text).split(b"\n")
    numbers = bytes(range(NUMBERS_FROM + 1, NUMBERS_FROM + 1 + width))
    table, first, end = bytes.maketrans, ZERO + 1, ZERO + 1 + width
    wrong = (
        {place for place, line in enumerate(coded) if len(line) != 2 * width}
        if set(map(len, coded)) != {2 * width}
        else ()
    )
    for place in wrong:
        coded[place] = b"00" * width
    # Puts each candidate's number at the place of their rank; where two share a rank, another place stays 0.
    placed = [
        table(ranks, numbers)[first : end - ranks.count(b"0")].translate(NUMBER_OF)
        for ranks in [line[1::2] for line in coded]
    ]
    if wrong or b"\0" in b"".join(placed):
        return [None if 0 in ranking or place in wrong else tuple(ranking) for place, ranking in enumerate(placed)]
    return list(map(tuple, placed))


def _marked(row: list[str], numbers: dict[int, int], header: list[str], rows: _Rows, known: bool) -> Ranking:
    """The ranking of a row with gaps, with several at one rank, or with several ranks in one cell."""
    ranks: dict[int, list[int]] = {}
    for column, number in numbers.items():
        text = row[column].strip() if column < len(row) else ""
        if text.casefold() in SKIPPED_CELLS:
            continue
        for part in text.split(SEVERAL):
            try:
                ranks.setdefault(_rank_in(part.strip()), []).append(number)
            except ValueError as wrong:
                problem = f"“{wrong}” under “{header[column]}” is not a rank"
                if known:
                    raise UnreadableBallots(rows.where, problem) from wrong
                raise NotBallots(f"{rows.where}: {problem}") from wrong
    marks: list[Mark] = [()] * max(ranks, default=0)
    for rank, named in ranks.items():
        marks[rank - 1] = UNNAMED_OVERVOTE if 0 in named else named[0] if len(named) == 1 else tuple(sorted(named))
    return ranking_of(marks)


def _is_setting(file: BallotFile, row: list[str], first: int, end: int, rows: _Rows) -> bool:
    """Whether the row is a setting of the file rather than a ballot; if so, it is stored."""
    label, *cells = (cell.strip() for cell in row)
    if label == LOT_ORDER:
        numbers = range(1, len(file.candidates) + 1)
        places = [int(cell) if _is_whole(cell) else 0 for cell in cells[first - 1 : end - 1]]
        if sorted(places) != list(numbers):
            raise UnreadableBallots(rows.where, "the lot order must have a place for each candidate")
        file.lot_order = sorted(numbers, key=lambda number: places[number - 1])
    elif label == SEATS and cells and _is_whole(cells[0]) and int(cells[0]):
        file.seats = int(cells[0])
    elif label == METHOD and cells and cells[0] in METHODS:
        file.method = next(method for method in METHODS if method == cells[0])
    else:
        return False
    return True

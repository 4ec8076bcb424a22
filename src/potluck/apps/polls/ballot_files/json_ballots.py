"""Ballots in JSON: {"candidates": [name], "ballots": [{"ranking": [name], "count": n}]}.

A ballot may have `ranks` instead, one list for each rank: empty where it was skipped, with several names or
"<overvote>" where it was overvoted. `title`, `seats`, `method` and `lotOrder` are optional. A candidate may be
{"name": name, "excluded": true}: ballots are then read as if they did not name that candidate.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from potluck.apps.polls.ballot_files.contents import (
    OVERVOTE,
    BallotFile,
    CandidateNumbers,
    Progress,
    UnreadableBallots,
    add_up,
    ranking_of,
    without,
)
from potluck.apps.polls.ballot_files.source import BallotSource
from potluck.apps.polls.counting import METHODS, Method
from potluck.apps.polls.counting.ballots import UNNAMED_OVERVOTE, Mark, Ranking

BALLOTS_PER_PROGRESS = 20_000
SKIPPED: tuple[Any, ...] = (None, "", [])
# Files of this size and more are read piece by piece.
LARGE_BYTES = 4 << 20
BALLOTS = re.compile(rb'"ballots"\s*:\s*\[')
BETWEEN_BALLOTS = re.compile(rb"\}\s*,\s*(?=\{)")


class _PlainNumber(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The usual form of a ballot: names in order, each at a rank of its own."""

    ranking: tuple[str, ...]
    count: int = 1


class _NotPlain(Exception):
    """The file has another form, or an error, and must be read as a whole."""


def read_json(source: BallotSource) -> BallotFile:
    if source.size > LARGE_BYTES:
        try:
            return _piece_by_piece(source)
        except _NotPlain:
            pass
    return _whole(source)


def usual_method(seats: int | None) -> Method:
    """The method for a file that names none."""
    return "irv" if seats in (None, 1) else "stv"


def write_json(file: BallotFile) -> str:
    """The ballots, commonest first; `ranks` where there is an overvote or a skipped rank, else `ranking`."""

    def names(mark: Mark) -> list[str]:
        if mark == UNNAMED_OVERVOTE:
            return [OVERVOTE]
        return [file.candidates[number - 1] for number in ((mark,) if isinstance(mark, int) else mark)]

    written: dict[str, Any] = {"candidates": file.candidates}
    if file.title is not None:
        written["title"] = file.title
    if file.seats is not None:
        written["seats"] = file.seats
    if file.method not in (None, usual_method(file.seats)):
        written["method"] = file.method
    if file.lot_order is not None:
        written["lotOrder"] = [file.candidates[number - 1] for number in file.lot_order]
    written["ballots"] = [
        {"ranking": [file.candidates[number - 1] for number in ranking], "count": count}  # type: ignore[operator]
        if all(isinstance(mark, int) for mark in ranking)
        else {"ranks": [names(mark) for mark in ranking], "count": count}
        for ranking, count in commonest_first(file.ballots)
    ]
    return msgspec.json.encode(written).decode()


def commonest_first(ballots: dict[Ranking, int]) -> list[tuple[Ranking, int]]:
    """Sorted by a key that depends only on the ballots themselves."""

    def key(item: tuple[Ranking, int]) -> tuple[int, list[tuple[int, ...]]]:
        ranking, count = item
        return -count, [(mark,) if isinstance(mark, int) else mark for mark in ranking]

    return sorted(ballots.items(), key=key)


# --- a large file, piece by piece -------------------------------------------------------------------------------------


class _Spellings(dict[str, int]):
    """A number for every spelling of a name on a ballot."""

    def __missing__(self, name: str) -> int:
        if name in ("", OVERVOTE):
            raise _NotPlain
        self[name] = len(self)
        return self[name]


def _piece_by_piece(source: BallotSource) -> BallotFile:
    """Reads ballots by the megabyte, so that only distinct ones are held in memory.

    Pieces are cut where one ballot ends and the next begins. A match inside a string does no harm: neither side of the
    cut is valid JSON then, and the file is read as a whole.
    """
    pieces = _Pieces(source.blocks())
    spellings = _Spellings()
    number = spellings.__getitem__
    noted: dict[tuple[int, ...], int] = {}
    decode: Callable[[bytes], list[_PlainNumber]] = msgspec.json.Decoder(list[_PlainNumber]).decode
    done = 0
    for piece in pieces:
        for ballot in _decoded_plainly(decode, piece):
            marks = tuple(map(number, ballot.ranking))
            noted[marks] = noted.get(marks, 0) + ballot.count
            if ballot.count < 0:
                raise _NotPlain
        done += len(piece)
        if source.progress:
            source.progress(min(1.0, done / source.size))
    document = _decoded_plainly(msgspec.json.decode, pieces.around)
    if not isinstance(document, dict) or document.get("ballots") != []:
        raise _NotPlain
    names = (
        CandidateNumbers(_candidates(document["candidates"]))
        if "candidates" in document
        else CandidateNumbers.found(spellings)
    )
    try:
        read = [names.number(name, "") for name in spellings]
    except UnreadableBallots:
        # Reading the file as a whole finds the ballot with the error.
        raise _NotPlain from None
    ballots = add_up(noted, read)
    if 0 in ballots.values():
        ballots = {ranking: many for ranking, many in ballots.items() if many}
    return _file(document, names, ballots)


def _decoded_plainly(decode: Callable[[bytes], Any], piece: bytes) -> Any:
    try:
        return decode(piece)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise _NotPlain from None


class _Pieces:
    """The list of ballots in pieces that are themselves lists; and the JSON around it, with an empty list."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self.around = b""

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        for block in self._blocks:
            rest += block
            if match := BALLOTS.search(rest):
                break
            if len(rest) > LARGE_BYTES:
                raise _NotPlain
        else:
            raise _NotPlain
        before, rest = rest[: match.end()], rest[match.end() :]
        # The list is the file's own, and not one nested deeper, only if this closes the whole document.
        _decoded_plainly(msgspec.json.decode, before + b"]}")
        for block in self._blocks:
            rest += block
            cuts = list(BETWEEN_BALLOTS.finditer(rest, max(0, len(rest) - 10_000)))
            if cuts:
                cut = cuts[-1]
                yield b"[" + rest[: cut.start() + 1] + b"]"
                rest = rest[cut.end() :]
        end = _end_of_ballots(rest)
        if b'"ballots"' in rest[end:]:
            raise _NotPlain
        yield b"[" + rest[:end] + b"]"
        self.around = before + rest[end:]


def _end_of_ballots(rest: bytes) -> int:
    """The position at which the list of ballots ends."""
    try:
        text = "[" + rest.decode()
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        raise _NotPlain from None
    return len(text[1 : end - 1].encode())


# --- a whole file -----------------------------------------------------------------------------------------------------


def _whole(source: BallotSource) -> BallotFile:
    document = _decoded(source.text())
    if isinstance(document, list):
        document = {"ballots": document}
    if not isinstance(document, dict) or not isinstance(document.get("ballots"), list):
        raise UnreadableBallots("", 'expected {"candidates": [name], "ballots": [{"ranking": [name], "count": n}]}')
    read = [_ballot(ballot, f"ballot {number}") for number, ballot in enumerate(document["ballots"], 1)]
    if "candidates" in document:
        names = CandidateNumbers(_candidates(document["candidates"]))
    else:
        names = CandidateNumbers.found(name for ranks, _ in read for rank in ranks for name in rank if name != OVERVOTE)
    return _file(document, names, _counted(read, names, source.progress))


def _counted(
    read: Sequence[tuple[list[list[str]], int]], names: CandidateNumbers, progress: Progress | None
) -> dict[Ranking, int]:
    counts: dict[Ranking, int] = {}
    for number, (ranks, count) in enumerate(read, 1):
        ranking = ranking_of([names.mark(rank, f"ballot {number}") for rank in ranks])
        if count:
            counts[ranking] = counts.get(ranking, 0) + count
        if progress and number % BALLOTS_PER_PROGRESS == 0:
            progress(number / len(read))
    return counts


def _file(document: dict[str, Any], names: CandidateNumbers, ballots: dict[Ranking, int]) -> BallotFile:
    lot_order = _optional(document, "lotOrder", list)
    method = _optional(document, "method", str)
    if method is not None and method not in METHODS:
        raise UnreadableBallots("method", f"there is no method “{method[:30]}”; there are {', '.join(METHODS)}")
    order = None if lot_order is None else [names.number(str(name), "lotOrder") for name in lot_order]
    excluded = _excluded(document.get("candidates", ()))
    candidates = [number for number in range(1, len(names.names) + 1) if number not in excluded]
    if not candidates and names.names:
        raise UnreadableBallots("candidates", "every candidate is excluded")
    new = {number: place for place, number in enumerate(candidates, 1)}
    return BallotFile(
        candidates=[names.names[number - 1] for number in candidates],
        ballots=without(ballots, new) if excluded else ballots,
        title=_optional(document, "title", str),
        seats=_optional(document, "seats", int),
        method=method,
        lot_order=None if order is None else [new[number] for number in order if number in new],
        undeclared=[new[number] for number in names.undeclared if number in new],
    )


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as problem:
        try:
            json.loads(text)
        except json.JSONDecodeError as known:
            raise UnreadableBallots(f"line {known.lineno}", f"this is not JSON: {known.msg}") from problem
        except (RecursionError, ValueError):
            pass
        raise UnreadableBallots("", f"this is not JSON: {problem}") from problem


def _candidates(listed: Any) -> list[str]:
    if not isinstance(listed, list):
        raise UnreadableBallots("candidates", "expected a list of names")
    names = []
    for number, entry in enumerate(listed, 1):
        name = entry.get("name") if isinstance(entry, dict) else entry
        if not isinstance(name, str):
            raise UnreadableBallots("candidates", f"candidate {number} has no name")
        names.append(name)
    return names


def _excluded(listed: Any) -> set[int]:
    """The numbers of the candidates that are marked as excluded."""
    excluded = set()
    for number, entry in enumerate(listed, 1):
        mark = entry.get("excluded", False) if isinstance(entry, dict) else False
        if not isinstance(mark, bool):
            raise UnreadableBallots("candidates", f"candidate {number}: excluded must be true or false")
        if mark:
            excluded.add(number)
    return excluded


def _ballot(ballot: Any, where: str) -> tuple[list[list[str]], int]:
    """The names at each rank, and how many such ballots there are."""
    count: Any = 1
    if isinstance(ballot, dict):
        count = ballot.get("count", 1)
        ranks = ballot.get("ranks", ballot.get("ranking", ballot.get("rankings")))
    else:
        ranks = ballot
    if not isinstance(ranks, list):
        raise UnreadableBallots(where, "expected a list of names as its ranking")
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise UnreadableBallots(where, f"its count is {count!r}, but must be a whole number of 0 or more")
    read: list[list[str]] = []
    for rank, mark in enumerate(ranks, 1):
        if mark in SKIPPED:
            read.append([])
        elif isinstance(mark, str):
            read.append([mark])
        elif isinstance(mark, list) and all(isinstance(name, str) for name in mark):
            read.append(mark)
        else:
            raise UnreadableBallots(where, f"rank {rank} is {mark!r}, but must be a name or a list of names")
    return read, count


def _optional(document: dict[str, Any], field: str, kind: type) -> Any:
    value = document.get(field)
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise UnreadableBallots(field, f"{value!r} has the wrong type")
    return value

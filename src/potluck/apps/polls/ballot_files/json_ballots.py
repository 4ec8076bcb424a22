"""Ballots in JSON: {"candidates": [name], "ballots": [{"ranking": [name], "count": n}]}.

A ballot may have `ranks` instead, one list for each rank: empty where it was skipped, with several names or
"<overvote>" where it was overvoted. `title`, `seats` and `lotOrder` may be there too.
"""

import json
from typing import Any

import msgspec

from potluck.apps.polls.ballot_files.contents import (
    OVERVOTE,
    BallotFile,
    Names,
    Progress,
    UnreadableBallots,
    ranking_of,
)
from potluck.apps.polls.counting.ballots import UNNAMED_OVERVOTE, Mark, Ranking

__all__ = ["read_json", "write_json"]

TOLD_EVERY = 20_000
SKIPPED: tuple[Any, ...] = (None, "", [])


def read_json(text: str, progress: Progress | None = None) -> BallotFile:
    found = _decoded(text)
    if isinstance(found, list):
        found = {"ballots": found}
    if not isinstance(found, dict) or not isinstance(found.get("ballots"), list):
        raise UnreadableBallots("", 'expected {"candidates": [name], "ballots": [{"ranking": [name], "count": n}]}')
    ballots = found["ballots"]
    read = [_ballot(each, f"ballot {number}") for number, each in enumerate(ballots, 1)]
    if "candidates" in found:
        names = Names(_candidates(found["candidates"]))
    else:
        names = Names.found(name for ranks, _ in read for rank in ranks for name in rank if name != OVERVOTE)
    counts: dict[Ranking, int] = {}
    for number, (ranks, count) in enumerate(read, 1):
        ranking = ranking_of([names.mark(rank, f"ballot {number}") for rank in ranks])
        if count:
            counts[ranking] = counts.get(ranking, 0) + count
        if progress and number % TOLD_EVERY == 0:
            progress(number / len(read))
    lot_order = _optional(found, "lotOrder", list)
    return BallotFile(
        candidates=names.names,
        ballots=counts,
        title=_optional(found, "title", str),
        seats=_optional(found, "seats", int),
        lot_order=None if lot_order is None else [names.number(str(each), "lotOrder") for each in lot_order],
        undeclared=names.undeclared,
    )


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
    """In an order that depends on nothing but the ballots themselves."""

    def key(item: tuple[Ranking, int]) -> tuple[int, list[tuple[int, ...]]]:
        ranking, count = item
        return -count, [(mark,) if isinstance(mark, int) else mark for mark in ranking]

    return sorted(ballots.items(), key=key)


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
    for number, each in enumerate(listed, 1):
        name = each.get("name") if isinstance(each, dict) else each
        if not isinstance(name, str):
            raise UnreadableBallots("candidates", f"candidate {number} has no name")
        names.append(name)
    return names


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
        raise UnreadableBallots(where, f"its count is {count!r}, and should be a whole number of 0 or more")
    read: list[list[str]] = []
    for rank, mark in enumerate(ranks, 1):
        if mark in SKIPPED:
            read.append([])
        elif isinstance(mark, str):
            read.append([mark])
        elif isinstance(mark, list) and all(isinstance(name, str) for name in mark):
            read.append(mark)
        else:
            raise UnreadableBallots(where, f"rank {rank} is {mark!r}, and should be a name or a list of names")
    return read, count


def _optional(found: dict[str, Any], field: str, kind: type) -> Any:
    value = found.get(field)
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise UnreadableBallots(field, f"{value!r} is of the wrong kind")
    return value

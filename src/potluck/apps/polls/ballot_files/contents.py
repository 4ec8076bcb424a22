"""The contents of a ballot file, whatever its format, and how names in it are recognised."""

import unicodedata
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from potluck.apps.polls.counting import Method
from potluck.apps.polls.counting.ballots import UNNAMED_OVERVOTE, Mark, Ranking
from potluck.validation import one_line

# The mark in raw ballots for an overvoted rank that does not name its candidates.
OVERVOTE = "<overvote>"
# The name of all undeclared write-ins together in RCTab's files.
UNDECLARED = "undeclared write-ins"

# Called now and then with the part of the file that has been read, from 0 to 1.
Progress = Callable[[float], None]


class UnreadableBallots(ValueError):
    """A file that cannot be counted; the message says where and why."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}" if where else why)


class NotBallots(UnreadableBallots):
    """Not a ballot file of any known kind; the message lists the known ones."""

    def __init__(self, why: str) -> None:
        super().__init__("", f"{why}. Accepted are ballots in JSON, CSV, BLT and PrefLib's .soc, .soi, .toc and .toi")


class BallotFile(Struct, kw_only=True):
    candidates: list[str]
    ballots: dict[Ranking, int]
    title: str | None = None
    seats: int | None = None
    # The method of the ballots' own poll; None if the file has none.
    method: Method | None = None
    # Candidates by number, the most favoured first; None if the file has none.
    lot_order: list[int] | None = None
    undeclared: list[int] = []


def folded(name: str) -> str:
    """A key that is equal for two spellings of a name: Unicode form, case and spacing do not matter."""
    return " ".join(unicodedata.normalize("NFC", name).split()).casefold()


def _as_written(name: str) -> str:
    """The name as the file spells it, so that people find it in the results; but on one line, and trimmed."""
    return name.strip() if name.strip().isprintable() else " ".join(name.split())


class CandidateNumbers:
    """Candidates' numbers by name."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = [_as_written(name) for name in names]
        self._numbers: dict[str, int] = {}
        for number, name in enumerate(self.names, 1):
            if not name or name == OVERVOTE:
                raise UnreadableBallots("candidates", f"candidate {number} has no name")
            if wrong := one_line(name):
                raise UnreadableBallots("candidates", f"the name of candidate {number} {wrong}")
            other = self._numbers.setdefault(folded(name), number)
            if other != number:
                raise UnreadableBallots("candidates", f"“{name}” occurs twice, as candidates {other} and {number}")
        # Most names are written as in the list.
        self._exact = {name: number for number, name in enumerate(self.names, 1)}

    @classmethod
    def found(cls, names: Iterable[str]) -> "CandidateNumbers":
        """The names found on ballots, in alphabetical order, so that the order of the ballots does not matter."""
        spellings: dict[str, str] = {}
        for name in names:
            spelt = _as_written(name)
            key = folded(name)
            spellings[key] = min(spellings.get(key, spelt), spelt)
        return cls(spellings[key] for key in sorted(spellings))

    def number(self, name: str, where: str) -> int:
        number = self._exact.get(name) or self._numbers.get(folded(name))
        if number is None:
            raise UnreadableBallots(where, f"“{name}” is not a candidate")
        return number

    def mark(self, named: Sequence[str], where: str) -> Mark:
        """What was marked at one rank."""
        if not named:
            return ()
        if len(named) == 1 and named[0] != OVERVOTE:
            return self.number(named[0], where)
        if OVERVOTE in named:
            return UNNAMED_OVERVOTE
        numbers = dict.fromkeys(self.number(name, where) for name in named)
        return tuple(sorted(numbers)) if len(numbers) > 1 else next(iter(numbers))

    @property
    def undeclared(self) -> list[int]:
        return [number for number, name in enumerate(self.names, 1) if folded(name) == UNDECLARED]


def without(counts: dict[Ranking, int], new: dict[int, int]) -> dict[Ranking, int]:
    """The ballots without the candidates who have no new number, leaving no gap."""
    ballots: dict[Ranking, int] = {}
    for ranking, count in counts.items():
        marks: list[Mark] = []
        for mark in ranking:
            named = [new[number] for number in ((mark,) if isinstance(mark, int) else mark) if number in new]
            if named or mark == ():
                marks.append(named[0] if len(named) == 1 else tuple(named))
        left = ranking_of(marks)
        ballots[left] = ballots.get(left, 0) + count
    return ballots


def ranking_of(marks: Sequence[Mark]) -> Ranking:
    """The ranking without empty ranks at the end, which mean nothing."""
    end = len(marks)
    while end and marks[end - 1] == ():
        end -= 1
    return tuple(marks[:end])


def add_up(counted: dict[tuple[int, ...], int], marks: Sequence[Mark]) -> dict[Ranking, int]:
    """Rankings from tuples of indexes into `marks`, with their counts; empties `counted` as it goes, to save memory."""
    ballots: dict[Ranking, int] = {}
    mark = marks.__getitem__
    while counted:
        noted, many = counted.popitem()
        ranking = tuple(map(mark, noted))
        ballots[ranking] = ballots.get(ranking, 0) + many
    return ballots

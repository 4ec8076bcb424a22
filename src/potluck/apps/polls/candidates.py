"""Candidates by name and by number: which names are too alike, whom a ranking names, and the order of the lots."""

from collections.abc import Mapping, Sequence

from potluck.apps.polls.ballot_files.contents import OVERVOTE, UNDECLARED
from potluck.apps.polls.entities import Poll
from potluck.apps.polls.fields import LONGEST_NAME, MOST_CANDIDATES, seen_as
from potluck.people.errors import InvalidFields, WrongField
from potluck.people.secrets import Random

__all__ = ["Numbers", "described", "drawn", "look_alikes"]

LOT_BYTES = 16
# What ballot files mean by these names is no candidate.
TAKEN = frozenset({OVERVOTE, UNDECLARED})


def look_alikes(names: Sequence[str]) -> list[WrongField]:
    """Names that a voter, or a ballot file, would take for something else."""
    wrong: list[WrongField] = []
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        field, known_by = f"candidates[{place}]", seen_as(name)
        if known_by in TAKEN:
            wrong.append(WrongField(field, f"“{name}” means something else in ballot files: choose another name"))
        elif first.setdefault(known_by, place) != place:
            wrong.append(WrongField(field, f"“{name}” looks like “{names[first[known_by]]}”: names must differ"))
    return wrong


def described(names: Sequence[str], about: Mapping[str, str]) -> tuple[dict[str, str] | None, bool]:
    """What is said of each candidate, by the name as it is kept; and whether all of it is about candidates."""
    by_name = {seen_as(name): name for name in names}
    kept = {by_name.get(seen_as(given)): text for given, text in about.items()}
    return {name: kept[name] for name in names if kept.get(name)} or None, None not in kept


def drawn(candidates: int, random: Random) -> list[int]:
    """The candidates' numbers in an order that chance decides: the favoured first."""
    lots = {number: random(LOT_BYTES) for number in range(1, candidates + 1)}
    return sorted(lots, key=lots.__getitem__)


class Numbers:
    """A poll's candidates' numbers by name."""

    def __init__(self, poll: Poll) -> None:
        self._poll = poll
        self._exact = {name: number for number, name in enumerate(poll.candidates, 1)}
        self._seen_as = {seen_as(name): number for name, number in self._exact.items()}

    def number(self, name: str) -> int | None:
        """Whom this names, however it is spelt."""
        return self._exact.get(name) or self._seen_as.get(seen_as(name))

    def ranking(self, rankings: Sequence[str]) -> tuple[int, ...]:
        """Whom a voter ranks, first to last; InvalidFields for what the poll does not take as a ranking."""
        if not rankings:
            raise InvalidFields(WrongField("rankings", "Rank at least one candidate"))
        most = min(self._poll.max_rankings or MOST_CANDIDATES, len(self._poll.candidates))
        if len(rankings) > most:
            raise InvalidFields(WrongField("rankings", f"Rank at most {most} candidates"))
        numbers: list[int] = []
        wrong: list[WrongField] = []
        for place, name in enumerate(rankings):
            number = self.number(name)
            if number is None:
                wrong.append(WrongField(f"rankings[{place}]", f"“{_short(name)}” is not a candidate of this poll"))
            elif number in numbers:
                wrong.append(WrongField(f"rankings[{place}]", f"“{_short(name)}” is ranked twice"))
            else:
                numbers.append(number)
        if wrong:
            raise InvalidFields(*wrong)
        return tuple(numbers)


def _short(name: str) -> str:
    """So much of a name as may be said of it."""
    shown = name[:LONGEST_NAME].encode("utf-8", "replace").decode()
    return shown if len(name) <= LONGEST_NAME else f"{shown}…"

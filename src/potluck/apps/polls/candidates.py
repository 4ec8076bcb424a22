"""Candidates by name and number: names that are too similar, rankings of names, and the lots that break ties."""

from collections.abc import Mapping, Sequence
from random import Random

from potluck.apps.polls.ballot_files.contents import OVERVOTE, UNDECLARED
from potluck.apps.polls.entities import Poll
from potluck.apps.polls.fields import LONGEST_NAME, MOST_CANDIDATES, seen_as
from potluck.validation import FieldError, ValidationError
from potluck.web import _

LOT_BYTES = 16
# Ballot files reserve these names for something other than a candidate.
RESERVED_NAMES = frozenset({OVERVOTE, UNDECLARED})


def look_alikes(names: Sequence[str]) -> list[FieldError]:
    """Errors for names that voters would confuse with each other, or that ballot files reserve."""
    wrong: list[FieldError] = []
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        field, known_by = f"candidates[{place}]", seen_as(name)
        if known_by in RESERVED_NAMES:
            wrong.append(
                FieldError(field, _("“%(name)s” has another meaning in ballot files: choose another name", name=name))
            )
        elif first.setdefault(known_by, place) != place:
            other = names[first[known_by]]
            alike = _("“%(name)s” looks like “%(other)s”: names must differ", name=name, other=other)
            wrong.append(FieldError(field, alike))
    return wrong


def described(names: Sequence[str], about: Mapping[str, str]) -> tuple[dict[str, str] | None, bool]:
    """Candidates' descriptions by stored name; and whether every description is about a candidate."""
    by_name = {seen_as(name): name for name in names}
    descriptions = {by_name.get(seen_as(name)): text for name, text in about.items()}
    return {name: descriptions[name] for name in names if descriptions.get(name)} or None, None not in descriptions


def drawn(candidates: int, random: Random) -> list[int]:
    """The candidates' numbers in random order: a tie favours the earlier one."""
    lots = {number: random.randbytes(LOT_BYTES) for number in range(1, candidates + 1)}
    return sorted(lots, key=lots.__getitem__)


class Numbers:
    """The numbers of a poll's candidates, by name."""

    def __init__(self, poll: Poll) -> None:
        self._poll = poll
        self._exact = {name: number for number, name in enumerate(poll.candidates, 1)}
        self._seen_as = {seen_as(name): number for name, number in self._exact.items()}

    def number(self, name: str) -> int | None:
        """The number of the candidate with this name, or with one that looks the same."""
        return self._exact.get(name) or self._seen_as.get(seen_as(name))

    def ranking(self, rankings: Sequence[str]) -> tuple[int, ...]:
        """A voter's ranking as numbers, first choice first; ValidationError if the poll does not accept it."""
        if not rankings:
            raise ValidationError(FieldError("rankings", _("Rank at least one candidate")))
        most = min(self._poll.max_rankings or MOST_CANDIDATES, len(self._poll.candidates))
        if len(rankings) > most:
            raise ValidationError(FieldError("rankings", _("Rank at most %(most)s candidates", most=most)))
        numbers: list[int] = []
        wrong: list[FieldError] = []
        for place, name in enumerate(rankings):
            number = self.number(name)
            if number is None:
                wrong.append(
                    FieldError(f"rankings[{place}]", _("“%(name)s” is not a candidate of this poll", name=_short(name)))
                )
            elif number in numbers:
                wrong.append(FieldError(f"rankings[{place}]", _("“%(name)s” is ranked twice", name=_short(name))))
            else:
                numbers.append(number)
        if wrong:
            raise ValidationError(*wrong)
        return tuple(numbers)


def _short(name: str) -> str:
    """A name cut short and made printable for an error message."""
    shown = name[:LONGEST_NAME].encode("utf-8", "replace").decode()
    return shown if len(name) <= LONGEST_NAME else f"{shown}…"

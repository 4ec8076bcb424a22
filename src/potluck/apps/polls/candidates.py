"""Candidates by name and by number: which names are too alike, whom a ranking names, and the order of the lots."""

from collections.abc import Iterable, Sequence
from unicodedata import normalize

from potluck.apps.polls.ballot_files.contents import OVERVOTE, UNDECLARED, folded
from potluck.apps.polls.entities import MOST_CANDIDATES, Poll
from potluck.people.errors import InvalidFields, WrongField
from potluck.people.secrets import Random

__all__ = ["Numbers", "checked_candidates", "drawn", "is_text", "lot_order", "names_of", "seen_as", "tidy"]

FEWEST_CANDIDATES = 2
LONGEST_NAME = 100
LOT_BYTES = 16

# Joiners of scripts and of emoji. They are allowed, and make no name another one.
JOINERS = "\u200c\u200d"
# Printable, as Python has it, but nothing is seen of them: fillers, blanks and selectors of how a sign is drawn.
UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0" + "".join(
    map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
WITHOUT_UNSEEN = dict.fromkeys(map(ord, JOINERS + UNSEEN))
# What ballot files mean by these names is no candidate.
TAKEN = frozenset({OVERVOTE, UNDECLARED})


def tidy(name: str) -> str:
    """The name as it is kept: its accents composed, without space around it, and one space where there are several."""
    return " ".join(normalize("NFC", name).split())


def seen_as(name: str) -> str:
    """The same for names that a voter could not tell apart by form, case, spacing or what is not seen."""
    return normalize("NFC", folded(name.translate(WITHOUT_UNSEEN)))


def is_text(text: str, lines: bool = False) -> bool:
    """Whether it is text throughout; `lines`: it may have several."""
    return all(each.isprintable() or each in JOINERS or (lines and each in "\n\r\t") for each in text)


def checked_candidates(names: Sequence[str]) -> tuple[list[str], list[WrongField]]:
    """The names as they are kept, and all that is wrong with them."""
    if not FEWEST_CANDIDATES <= len(names) <= MOST_CANDIDATES:
        return [], [WrongField("candidates", f"There must be {FEWEST_CANDIDATES} to {MOST_CANDIDATES} candidates")]
    wrong: list[WrongField] = []
    kept: list[str] = []
    first: dict[str, int] = {}
    for place, given in enumerate(names):
        field = f"candidates[{place}]"
        name, known_by = tidy(given), seen_as(given)
        kept.append(name)
        if not 1 <= len(name) <= LONGEST_NAME or not is_text(name) or not known_by:
            wrong.append(
                WrongField(field, f"A candidate's name must have 1 to {LONGEST_NAME} characters, all printable")
            )
        elif known_by in TAKEN:
            wrong.append(WrongField(field, f"“{name}” means something else in ballot files: choose another name"))
        elif first.setdefault(known_by, place) != place:
            wrong.append(WrongField(field, f"“{name}” looks like “{kept[first[known_by]]}”: names must differ"))
    return kept, wrong


def drawn(candidates: int, random: Random) -> list[int]:
    """The candidates' numbers in an order that chance decides: the favoured first."""
    lots = {number: random(LOT_BYTES) for number in range(1, candidates + 1)}
    return sorted(lots, key=lots.__getitem__)


def lot_order(poll: Poll) -> list[int]:
    """The poll's lots; a poll without any has the candidates' own order."""
    return poll.lot_order or list(range(1, len(poll.candidates) + 1))


def names_of(poll: Poll, numbers: Iterable[int]) -> list[str]:
    return [poll.candidates[number - 1] for number in numbers]


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

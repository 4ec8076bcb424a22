"""Ballots as PrefLib keeps them: orders with or without ties, of all candidates or of some (.soc, .soi, .toc, .toi).

# TITLE: Debian Leader 2003
# NUMBER ALTERNATIVES: 3
# ALTERNATIVE NAME 1: Ann
12: 2,1             twelve ballots that rank 2, then 1
1: {1,3},2          1 and 3 at one rank

Before 2022 the files began with the number of candidates, their numbers and names line by line, a line with the numbers
of voters and orders, and then the orders: 12,2,1.
"""

import re
from collections.abc import Iterator

from potluck.apps.polls.ballot_files.contents import BallotFile, CandidateNumbers, NotBallots, UnreadableBallots
from potluck.apps.polls.ballot_files.source import BallotSource
from potluck.apps.polls.counting.ballots import Mark, Ranking

KINDS = ("soc", "soi", "toc", "toi")
MOST_CANDIDATES = 10_000
SAID = re.compile(r"#\s*([A-Z][A-Z ]*?)\s*(\d+)?\s*:\s*(.*)")
NAMED = re.compile(r"(\d{1,5}),(.*)", re.ASCII)
ORDER = re.compile(r"\s*(\d{1,18})\s*([:,])\s*([0-9,{}\s]*)", re.ASCII)
PLACE = re.compile(r"\{([^{}]*)\}|([^,{}]+)")


def is_preflib(start: str) -> bool:
    """Whether a file with this start is one of PrefLib's."""
    lines = [line for line in start.splitlines() if line.strip()]
    if not lines:
        return False
    if lines[0].startswith("#"):
        return any(
            match is not None and match[1] in ("NUMBER ALTERNATIVES", "ALTERNATIVE NAME")
            for match in map(SAID.fullmatch, lines)
        )
    return lines[0].strip().isdigit() and len(lines) > 1 and lines[1].startswith("1,")


def read_preflib(source: BallotSource) -> BallotFile:
    lines = ((number, line.strip()) for number, line in enumerate(source.lines(), 1))
    content = ((number, line) for number, line in lines if line)
    number, first = next(content, (1, ""))
    if first.startswith("#"):
        return _orders(content, *_head(number, first, content))
    return _orders(content, *_old_head(first, content))


Lines = Iterator[tuple[int, str]]


def _head(number: int, line: str, lines: Lines) -> tuple[list[str], str | None, tuple[int, str] | None]:
    """The names, the title, and the first line that is an order."""
    names: dict[int, str] = {}
    title: str | None = None
    many: int | None = None
    following: tuple[int, str] | None = (number, line)
    while following is not None and following[1].startswith("#"):
        if match := SAID.fullmatch(following[1]):
            what, which, value = match.groups()
            if what == "TITLE":
                title = value or None
            elif what == "NUMBER ALTERNATIVES" and value.isdigit() and len(value) < 9:
                many = int(value)
            elif what == "ALTERNATIVE NAME" and which is not None:
                names[int(which)] = value
        following = next(lines, None)
    many = len(names) if many is None else many
    if not 1 <= many <= MOST_CANDIDATES or sorted(names) != list(range(1, many + 1)):
        raise NotBallots(f"PrefLib's heading must name each of the {many} alternatives, and names {len(names)}")
    return [names[number] for number in range(1, many + 1)], title, following


def _old_head(first: str, lines: Lines) -> tuple[list[str], str | None, tuple[int, str] | None]:
    if not first.isascii() or not first.isdigit() or not 1 <= int(first[:9]) <= MOST_CANDIDATES:
        raise NotBallots(f"line 1: expected a heading of PrefLib's, or the number of candidates, not “{first[:30]}”")
    names = []
    for expected in range(1, int(first) + 1):
        number, line = next(lines, (0, ""))
        match = NAMED.fullmatch(line)
        if match is None or int(match[1]) != expected:
            raise UnreadableBallots(f"line {number}", f"expected candidate {expected} and the name, not “{line[:30]}”")
        names.append(match[2])
    # A line with the numbers of voters, votes and orders, which are not needed.
    next(lines, None)
    return names, None, next(lines, None)


def _orders(lines: Lines, candidates: list[str], title: str | None, first: tuple[int, str] | None) -> BallotFile:
    names = CandidateNumbers(candidates)
    ballots: dict[Ranking, int] = {}
    following = first
    while following is not None:
        number, line = following
        if not line.startswith("#"):
            order = ORDER.fullmatch(line)
            if order is None:
                raise UnreadableBallots(f"line {number}", f"expected a number of votes and an order, not “{line[:30]}”")
            ranking = tuple(_marks(order[3], len(candidates), number))
            if many := int(order[1]):
                ballots[ranking] = ballots.get(ranking, 0) + many
        following = next(lines, None)
    return BallotFile(candidates=names.names, ballots=ballots, title=title, undeclared=names.undeclared)


def _marks(order: str, candidates: int, line: int) -> Iterator[Mark]:
    if not re.fullmatch(r"\s*(?:(?:\{[^{}]*\}|[^,{}]+)\s*(?:,|$)\s*)*", order):
        raise UnreadableBallots(f"line {line}", f"“{order[:30]}” is not an order")
    for place in PLACE.finditer(order):
        words = [word.strip() for word in (place[1] if place[1] is not None else place[2]).split(",")]
        named = [int(word) if word.isdigit() and len(word) < 9 else 0 for word in words if word]
        for word, candidate in zip(words, named, strict=False):
            if not 1 <= candidate <= candidates:
                raise UnreadableBallots(f"line {line}", f"“{word[:30]}” is not one of the candidates 1 to {candidates}")
        if named:
            yield named[0] if len(set(named)) == 1 else tuple(sorted(set(named)))

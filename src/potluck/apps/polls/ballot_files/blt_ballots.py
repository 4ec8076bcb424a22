"""Ballots in BLT, as OpenSTV and OpaVote write it.

4 2                 candidates, seats
-3                  candidate 3 has withdrawn
12 2 1 4 0          twelve ballots that rank 2, then 1, then 4
1 3=4 - 1 0         an overvote, then a skipped rank
0                   no more ballots
"Ann"               the candidates in order, and then a title
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from potluck.apps.polls.ballot_files.contents import (
    BallotFile,
    CandidateNumbers,
    NotBallots,
    UnreadableBallots,
    ranking_of,
    without,
)
from potluck.apps.polls.ballot_files.json_ballots import commonest_first, usual_method
from potluck.apps.polls.ballot_files.source import DIFFERENT_AT_ONCE, BallotSource
from potluck.apps.polls.counting import METHODS, Method
from potluck.apps.polls.counting.ballots import UNNAMED_OVERVOTE, Mark, Ranking

MOST_CANDIDATES = 10_000
MOST_DIGITS = 18
WHOLE = re.compile(r"(\d{1,18})(?:\.0*)?", re.ASCII)
BALLOT_ID = re.compile(r"\([^()]*\)\s*")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


def read_blt(source: BallotSource) -> BallotFile:
    return _BltReading(source).read()


def write_blt(file: BallotFile) -> str:
    """Writes BLT; refuses an overvote that does not name its candidates, which BLT cannot express."""

    def written(mark: Mark) -> str:
        if mark == UNNAMED_OVERVOTE:
            raise UnreadableBallots("", "BLT cannot express an overvote without candidates; JSON and CSV can")
        if isinstance(mark, int):
            return str(mark)
        return "=".join(map(str, mark)) if mark else "-"

    def quoted(name: str) -> str:
        return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'

    lines = [f"{len(file.candidates)} {file.seats or 1}"]
    if file.lot_order is not None:
        # In BLT's order of ties the first is the first to leave.
        lines.append(f"[tie {' '.join(map(str, reversed(file.lot_order)))}]")
    if file.method not in (None, usual_method(file.seats)):
        lines.append(f"[method {file.method}]")
    for ranking, count in commonest_first(file.ballots):
        lines.append(" ".join([str(count), *map(written, ranking), "0"]))
    return "\n".join([*lines, "0", *map(quoted, file.candidates), quoted(file.title or "Ballots"), ""])


class _BltReading:
    def __init__(self, source: BallotSource) -> None:
        self.lines = _Lines(source)
        self.nicknames: dict[str, int] = {}
        self.withdrawn: set[int] = set()
        self.undeclared: set[int] = set()
        self.lot_order: list[int] | None = None
        self.method: Method | None = None

    def read(self) -> BallotFile:
        words = self._next("the numbers of candidates and seats").split()
        if len(words) != 2 or not all(WHOLE.fullmatch(word) for word in words):
            problem = f"expected the numbers of candidates and seats, not “{' '.join(words)[:60]}”"
            raise NotBallots(f"line {self.lines.number}: {problem}")
        self.candidates, seats = (int(float(word)) for word in words)
        if not 1 <= self.candidates <= MOST_CANDIDATES or not seats:
            raise self._refusal("there must be at least one candidate and one seat")
        self._options()
        counts = self._ballots()
        names, title = self._names()
        candidates = CandidateNumbers(names)
        left = [number for number in range(1, self.candidates + 1) if number not in self.withdrawn]
        new = {number: place for place, number in enumerate(left, 1)}
        return BallotFile(
            candidates=[candidates.names[number - 1] for number in left],
            ballots=without(counts, new) if self.withdrawn else counts,
            title=title,
            seats=seats,
            method=self.method,
            lot_order=None if self.lot_order is None else [new[number] for number in self.lot_order if number in new],
            undeclared=sorted(new[number] for number in {*candidates.undeclared, *self.undeclared} if number in new),
        )

    def _refusal(self, why: str) -> UnreadableBallots:
        return UnreadableBallots(f"line {self.lines.number}", why)

    def _next(self, expected: str) -> str:
        line = next(self.lines, None)
        if line is None:
            raise self._refusal(f"the file ends where {expected} should be")
        return line

    def _options(self) -> None:
        """The options before the ballots."""
        while True:
            text = self._next("a ballot, or 0 after the last of them,")
            if text.startswith("["):
                self._option(text)
            elif text.startswith("-"):
                self.withdrawn.update(self._candidate(word.lstrip("-")) for word in text.split())
            else:
                self.lines.back()
                return

    def _ballots(self) -> dict[Ranking, int]:
        counts: dict[Ranking, int] = {}
        number = {str(candidate).encode(): candidate for candidate in range(1, self.candidates + 1)}
        number |= {nickname.encode(): candidate for nickname, candidate in self.nicknames.items()}
        for lines in self.lines.ballots():
            for line, times in lines.items():
                words = line.split()
                try:
                    # Most lines are candidates' numbers, one per rank, between the number of ballots and a 0.
                    ranking: Ranking = tuple([number[word] for word in words[1:-1]])
                    many = int(words[0]) if words[0].isdigit() and words[-1] == b"0" and len(words) > 1 else -1
                except (KeyError, IndexError):
                    many = -1
                if many < 0 or len(words[0]) > MOST_DIGITS:
                    self.lines.now = line
                    text = self.lines.clean(line.decode().strip())
                    if not text:
                        continue
                    many, ranking = self._ballot(text)
                counts[ranking] = counts.get(ranking, 0) + many * times
        self.lines.now = None
        return {ranking: count for ranking, count in counts.items() if count}

    def _ballot(self, text: str) -> tuple[int, Ranking]:
        if text.startswith('"'):
            raise self._refusal("this is a name, but no line with 0 has ended the ballots")
        many, _, ranked = self._without_id(text).partition(" ")
        number = WHOLE.fullmatch(many)
        if number is None:
            raise self._refusal(f"a ballot starts with the number of such ballots, not with “{many[:30]}”")
        return int(number[1]), self._ranking(ranked)

    def _without_id(self, text: str) -> str:
        """A ballot with an id in parentheses counts once."""
        if not text.startswith("("):
            return text
        rest = BALLOT_ID.sub("", text, count=1)
        return f"1 {rest}"

    def _ranking(self, text: str) -> Ranking:
        words = text.split()
        if not words or words[-1] != "0" or "0" in words[:-1]:
            raise self._refusal("a ballot is one line and ends with 0")
        marks: list[Mark] = []
        for word in words[:-1]:
            if word == "-":
                marks.append(())
                continue
            named = sorted({self._candidate(part) for part in word.split("=")})
            marks.append(named[0] if len(named) == 1 else tuple(named))
        return ranking_of(marks)

    def _candidate(self, word: str) -> int:
        if word in self.nicknames:
            return self.nicknames[word]
        number = int(word) if word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS else 0
        if not 1 <= number <= self.candidates:
            raise self._refusal(f"“{word[:30]}” is not one of the candidates 1 to {self.candidates}")
        return number

    def _option(self, text: str) -> None:
        """An option of the program Droop; those that do not affect a count are ignored."""
        if not text.endswith("]"):
            raise self._refusal("an option is one line and ends with ]")
        name, *words = text[1:-1].split() or [""]
        match name:
            case "nick":
                if len(set(words)) != self.candidates:
                    raise self._refusal("the nicknames must name each candidate once")
                self.nicknames = {word: number for number, word in enumerate(words, 1)}
            case "tie":
                order = [self._candidate(word) for word in words]
                if len(set(order)) != self.candidates:
                    raise self._refusal("the order of ties must name each candidate once")
                self.lot_order = order[::-1]
            case "withdrawn":
                self.withdrawn.update(map(self._candidate, words))
            case "undeclared":
                self.undeclared.update(map(self._candidate, words))
            case "method":
                self.method = next((method for method in METHODS if words == [method]), None)

    def _names(self) -> tuple[list[str], str | None]:
        """The candidates' names, and the title if there is one after them."""
        texts = [(self.lines.number, name) for text in self.lines for name in _quoted(text)]
        names = [text for _, text in texts[: self.candidates]]
        if len(names) < self.candidates:
            last = texts[-1][0] if texts else self.lines.number
            raise UnreadableBallots(
                f"line {last}", f"there are {self.candidates} candidates, but only {len(names)} names"
            )
        return names, texts[self.candidates][1] if len(texts) > self.candidates else None


class _Lines:
    """Non-blank lines without comments, one by one; and between them the ballots, all at once."""

    def __init__(self, source: BallotSource) -> None:
        self._source = source
        self._in_comment = False
        self._lines = iter(source.lines())
        self._read = 0
        # The ballot being read, for the line number of an error.
        self.now: bytes | None = None

    @property
    def number(self) -> int:
        return self._read if self.now is None else self._source.number_of(self.now, self._first - 1)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while True:
            line = self.clean(next(self._lines).strip())
            self._read += 1
            if line:
                return line

    def clean(self, line: str) -> str:
        """The line without comments."""
        if self._in_comment or line.startswith("/*"):
            self._in_comment = "*/" not in line
            line = line.partition("*/")[2].strip()
        return _without_comment(line) if "#" in line else line

    def back(self) -> None:
        """Marks the line that was read last as the first of the ballots."""
        self._first = self._read

    def ballots(self) -> Iterator[Counter[bytes]]:
        """The ballots up to the line with a 0: each distinct line, and how often it occurs."""
        counted: Counter[bytes] = Counter()
        read = 0
        for lines in self._source.some_lines():
            place = self._end(lines, max(0, self._first - 1 - read))
            counted.update(lines[max(0, self._first - 1 - read) : place])
            if place < len(lines):
                yield counted
                # The names follow, read line by line.
                self._read = read + place + 1
                self._lines = islice(self._source.lines(), self._read, None)
                return
            read += len(lines)
            if len(counted) > DIFFERENT_AT_ONCE or self._source.comments:
                yield counted
                counted = Counter()
        yield counted
        raise UnreadableBallots(f"line {read}", "the file ends where a ballot, or 0 after the last of them, should be")

    def _end(self, lines: list[bytes], start: int) -> int:
        try:
            return lines.index(b"0", start)
        except ValueError:
            pass
        for place in range(start, len(lines)):
            if lines[place].lstrip()[:1] == b"0" and _without_comment(lines[place].decode().strip()) == "0":
                return place
        return len(lines)


def _quoted(line: str) -> list[str]:
    """The texts of a line: mostly one, which may then have quotes inside, or none around it."""
    if not line.startswith('"') or not line.endswith('"'):
        texts = [line.strip('"')]
    elif re.search(r'(?<!\\)"\s+"', line):
        texts = QUOTED.findall(line)
    else:
        texts = [line[1:-1]]
    return [re.sub(r'\\(["\\])', r"\1", text) for text in texts]


def _without_comment(line: str) -> str:
    quoted = escaped = False
    for place, sign in enumerate(line):
        if escaped or sign == "\\":
            escaped = not escaped
        elif sign == '"':
            quoted = not quoted
        elif sign == "#" and not quoted:
            return line[:place].strip()
    return line

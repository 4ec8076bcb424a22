"""What a voter marked, and how the rules on overvotes, skipped ranks and repeats interpret it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from potluck.apps.polls.counting.record import Cause
from potluck.apps.polls.counting.rules import CannotCount, Rules

# One rank: a candidate's number, counted from 1; () where it was left empty; several numbers for an overvote.
Mark = int | tuple[int, ...]
Ranking = tuple[Mark, ...]

# An overvote that does not say which candidates were marked.
UNNAMED_OVERVOTE: tuple[int, ...] = (0,)

# A ranking as interpreted by the rules: candidates in the order in which they get the vote. A number beyond the
# candidates' is a rank with several of them, which only the state of the count can resolve; a negative one exhausts
# the ballot there, by one of these causes (-1 is the first). A path that just stops has run out of choices.
Path = tuple[int, ...]
CAUSES: tuple[Cause, ...] = ("exhaustedChoices", "overvotes", "skippedRankings", "repeatedRankings")
RAN_OUT, OVERVOTED, SKIPPED, REPEATED = -1, -2, -3, -4


@dataclass(frozen=True, slots=True)
class Contest:
    """The ballots as the rules interpret them, ready to be counted by any method."""

    candidates: int
    lot_order: tuple[int, ...]
    undeclared: frozenset[int]
    paths: list[Path]
    counts: list[int]
    # What path entries beyond the candidates' numbers mean: several candidates at one rank.
    several: tuple[tuple[int, ...], ...]
    # Whether all paths consist of candidates' numbers only.
    plain: bool
    votes: int
    blank: int

    @property
    def declared(self) -> list[int]:
        return [number for number in range(1, self.candidates + 1) if number not in self.undeclared]


def tally(rankings: Iterable[Sequence[Mark]]) -> dict[Ranking, int]:
    """The number of votes for each ranking."""
    return Counter(map(tuple, rankings))


def prepare(candidates: int, ballots: Mapping[Ranking, int], lot_order: Sequence[int], rules: Rules) -> Contest:
    """Interpret every ranking by the rules; raises CannotCount for one with a number that is not a candidate's."""
    numbers = frozenset(range(1, candidates + 1))
    if candidates < 1:
        raise CannotCount("there is no candidate")
    if len(lot_order) != candidates or set(lot_order) != numbers:
        raise CannotCount(f"the lot order must name each of the {candidates} candidates once")
    rules.check(candidates)
    paths: list[Path] = []
    counts: list[int] = []
    reading = _BallotReading(candidates, rules)
    votes = blank = 0
    known = numbers.issuperset
    most = rules.max_rankings
    for ranking, count in ballots.items():
        if count <= 0:
            if count < 0:
                raise CannotCount(f"a ranking cannot have {count} votes")
            continue
        votes += count
        if most is not None:
            ranking = ranking[:most]
        # Most rankings name each candidate at most once and nothing else: they are their own path.
        if known(ranking) and len(set(ranking)) == len(ranking):
            if ranking:
                paths.append(ranking)  # type: ignore[arg-type]  # all of its marks are known to be numbers
                counts.append(count)
            else:
                blank += count
            continue
        path = reading.path(ranking)
        if path is None:
            blank += count
        else:
            paths.append(path)
            counts.append(count)
    return Contest(
        candidates=candidates,
        lot_order=tuple(lot_order),
        undeclared=frozenset(rules.undeclared),
        paths=paths,
        counts=counts,
        several=tuple(reading.several),
        plain=not reading.several and not reading.ended,
        votes=votes,
        blank=blank,
    )


class _BallotReading:
    """Turns marks into paths; each overvoted rank that the count must resolve gets a number of its own."""

    def __init__(self, candidates: int, rules: Rules) -> None:
        self.candidates = candidates
        self.rules = rules
        self.several: dict[tuple[int, ...], int] = {}
        self.ended = False

    def path(self, ranking: Ranking) -> Path | None:
        """The ranking as interpreted by the rules; None if nothing is marked at all."""
        rules = self.rules
        path: list[int] = []
        seen: set[int] = set()
        last = 0
        for rank, mark in enumerate(ranking, 1):
            if mark == ():
                continue
            if rules.skipped_ranks is not None and rank - last > rules.skipped_ranks + 1:
                return self._ending(path, SKIPPED)
            last = rank
            named = self._named(mark)
            if rules.repeats == "exhaust" and not seen.isdisjoint(named):
                return self._ending(path, REPEATED)
            if named == UNNAMED_OVERVOTE or len(named) > 1:
                if named != UNNAMED_OVERVOTE:
                    seen.update(named)
                if rules.overvote == "exhaust":
                    return self._ending(path, OVERVOTED)
                if rules.overvote == "exhaust-if-several":
                    path.append(self._number_of(named))
            elif named[0] not in path:
                seen.update(named)
                path.append(named[0])
        if not path and last:
            # Nothing is left but overvotes, which were skipped.
            return self._ending(path, RAN_OUT)
        return tuple(path) if last else None

    def _ending(self, path: list[int], cause: int) -> Path:
        self.ended = True
        return (*path, cause)

    def _named(self, mark: Mark) -> tuple[int, ...]:
        named = (mark,) if isinstance(mark, int) else tuple(dict.fromkeys(mark))
        if named != UNNAMED_OVERVOTE:
            for number in named:
                if not 1 <= number <= self.candidates:
                    raise CannotCount(f"a ranking names candidate {number}; there are {self.candidates}")
        return named

    def _number_of(self, named: tuple[int, ...]) -> int:
        if named == UNNAMED_OVERVOTE:
            raise CannotCount(
                "an overvote does not name its candidates, so exhaust-if-several cannot be applied; "
                "count it by exhaust or skip"
            )
        return self.several.setdefault(tuple(sorted(named)), self.candidates + 1 + len(self.several))

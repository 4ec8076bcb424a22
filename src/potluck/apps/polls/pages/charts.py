"""What a results page draws: a record of candidates by number becomes bars, rounds, tables and a flow. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup, escape

from potluck.apps.polls.counting import Record, Round
from potluck.apps.polls.counting.sentences import amount, outcome_sentence, percent, round_sentence
from potluck.apps.polls.entities import Method
from potluck.web.drawings import Flow, Move, flow

__all__ = ["Charts", "charts"]

# More bars than this are folded away, the rest of the last round summed up.
BARS_SHOWN = 8
LAST_ROUND_SHOWN = 5
# What a phone has room for; of longer counts, the first and last rounds and those around the one that is looked at.
ROUNDS_LISTED = 7
# More columns or rows than this are a page of their own.
CELLS_SHOWN = 400
PAIRS_SHOWN = 10
# Columns of the drawing: with more, no name would fit between the first two.
FLOW_ROUNDS = 5
# Candidates in its first column: their gaps must leave the ballots some height.
FLOW_CANDIDATES = 12
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

# Counted in rounds by ballots; the others count all at once, each in a unit of its own.
BY_ROUNDS: frozenset[Method] = frozenset({"irv", "stv", "scottish-stv"})
UNITS: dict[Method, tuple[str, str]] = {
    "schulze": ("other beaten", "others beaten"),
    "ranked-pairs": ("other beaten", "others beaten"),
    "borda": ("point", "points"),
}

# Stand for names while a sentence is put together, so that each can be marked where it stands; nobody types these.
OPENS, CLOSES = "\ue000", "\ue001"
NAME = f"{OPENS}[0-9]+{CLOSES}"
# A hundred names in a row say less than a few and how many more; the files have all of them.
NAMES_SAID = 4
MANY_NAMES = re.compile(f"(?:{NAME}, ){{{NAMES_SAID},}}{NAME} and {NAME}")


class Bar(NamedTuple):
    name: str
    value: str
    share: float
    note: str = ""
    lead: bool = False
    gain: float = 0.0
    gained: str = ""
    out: bool = False
    fate: str = ""


class RoundLink(NamedTuple):
    """A step of the stepper; without a number, a gap."""

    number: int
    current: bool = False


class RoundShown(NamedTuple):
    number: int
    sentence: Markup
    bars: list[Bar]
    folded: list[Bar]
    left: list[Bar]
    exhausted: str
    links: list[RoundLink]
    before: int
    after: int


class Cell(NamedTuple):
    value: str
    gained: str = ""
    gone: bool = False
    elected: bool = False


class Line(NamedTuple):
    name: str
    cells: list[Cell]
    lead: bool


class Pair(NamedTuple):
    value: str
    win: bool
    same: bool


class PairLine(NamedTuple):
    letter: str
    name: str
    cells: list[Pair]


class Said(NamedTuple):
    """Methods that would say the same."""

    methods: list[Method]
    winners: list[str]


class Locked(NamedTuple):
    winner: str
    loser: str
    votes: str
    against: str
    locked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Charts:
    """Everything on the page that is worked out of the record."""

    winners: list[str]
    sentence: Markup
    rounds: int
    last: list[Bar]
    others: str
    mark: float | None
    mark_means: str
    all_ballots: str
    round: RoundShown
    table: list[Line]
    exhausted: list[str]
    table_whole: bool
    flow: Flow | None
    flow_from: int
    flow_lead: str
    pairs: list[PairLine]
    pairs_whole: bool
    paths: list[PairLine]
    locked: list[Locked]
    condorcet: str | None
    others_say: list[Said]
    counted_in_rounds: bool


def charts(record: Record, names: Sequence[str], chosen: int | None = None, *, whole: bool = False) -> Charts | None:
    """What there is to draw, with this round looked at; None if nobody voted. `whole`: tables however large."""
    if not record.rounds:
        return None
    return _Drawing(record, names).all(chosen, whole)


class _Drawing:
    def __init__(self, record: Record, names: Sequence[str]) -> None:
        self.record = record
        self.names = names
        self.in_rounds = record.method in BY_ROUNDS
        self.unit: int = 10**record.decimals
        self.lead = record.winners[0] if record.winners else 0
        self.marked = [f"{OPENS}{number}{CLOSES}" for number in range(1, len(names) + 1)]
        self.standing = self._standing()

    def all(self, chosen: int | None, whole: bool) -> Charts:
        rounds = self.record.rounds
        number = min(max(chosen or 1, 1), len(rounds))
        last = self._last_round()
        final = [each for each in self._bars(len(rounds) - 1) if not each.out]
        drawn, drawn_from = self._flow()
        table_whole = whole or len(rounds) * len(self.names) <= CELLS_SHOWN
        pairs_whole = whole or len(self.names) <= PAIRS_SHOWN
        shown = self.standing if pairs_whole else self.standing[:PAIRS_SHOWN]
        return Charts(
            winners=self._named(self.record.winners),
            sentence=self._said(outcome_sentence(self.record, self.marked)),
            rounds=len(rounds),
            last=last,
            others=self._rest(final[len(last) :]),
            mark=self._mark(rounds[-1]),
            mark_means=self._mark_means(rounds[-1]),
            all_ballots=self._of_all_ballots(rounds[-1]),
            round=self._round(number),
            table=self._table(self.standing, table_whole),
            exhausted=[self._shown(sum(each.exhausted.values())) for each in rounds] if self.in_rounds else [],
            table_whole=table_whole,
            flow=drawn,
            flow_from=drawn_from,
            flow_lead=self.names[self.lead - 1] if self.lead else "",
            pairs=self._matrix(self.record.pairwise, shown),
            pairs_whole=pairs_whole,
            paths=self._matrix(self.record.paths, shown) if self.record.paths else [],
            locked=self._locked(whole),
            condorcet=None if self.record.condorcet_winner is None else self.names[self.record.condorcet_winner - 1],
            others_say=self._others(),
            counted_in_rounds=self.in_rounds,
        )

    # --- words and numbers --------------------------------------------------------------------------------------

    def _named(self, numbers: Iterable[int]) -> list[str]:
        return [self.names[number - 1] for number in numbers]

    def _shown(self, units: int) -> str:
        """An exact amount, thousands apart."""
        whole, point, part = amount(units, self.record.decimals).partition(".")
        return f"{int(whole):,}{point}{part}"

    def _said(self, sentence: str) -> Markup:
        """The sentence with each name marked, and kept apart from the words around it, whichever way it is written."""
        text = str(escape(MANY_NAMES.sub(_summed_up, sentence)))
        for number, name in enumerate(self.names, 1):
            text = text.replace(f"{OPENS}{number}{CLOSES}", f"<b><bdi>{escape(name)}</bdi></b>")
        return Markup(text)

    def _rest(self, bars: Sequence[Bar]) -> str:
        if not bars:
            return ""
        return f"and {len(bars):,} other{'' if len(bars) == 1 else 's'}, none of them with more"

    # --- who stands where ---------------------------------------------------------------------------------------

    def _standing(self) -> list[int]:
        """Everybody, the best first: winners, then by how far and with how much they came."""
        if self.record.order:
            return list(self.record.order)
        reached: dict[int, tuple[int, int]] = {}
        for index, each in enumerate(self.record.rounds):
            for number, votes in each.tallies.items():
                reached[number] = (index, votes)
        winners = {number: -place for place, number in enumerate(self.record.winners)}
        lots = {number: place for place, number in enumerate(self.record.lot_order)}
        everybody = range(1, len(self.names) + 1)
        return sorted(
            everybody,
            key=lambda each: (
                each not in winners,
                -winners.get(each, 0),
                *(-value for value in reached.get(each, (-1, 0))),
                lots.get(each, 0),
            ),
        )

    def _whole(self, round: Round) -> int:
        """What a full bar stands for."""
        if self.record.method == "irv" or (self.record.method == "stv" and self.record.rules.seats == 1):
            return sum(round.tallies.values())
        if self.record.method in ("stv", "scottish-stv", "plurality"):
            return self.record.votes * self.unit
        if self.record.method == "borda":
            return max([0, *round.tallies.values()])
        return len(self.names) - 1

    # --- bars ---------------------------------------------------------------------------------------------------

    def _bars(self, index: int) -> list[Bar]:
        """Those of a round: who stands in it, the most votes first, then who left in the one before."""
        rounds = self.record.rounds
        round = rounds[index]
        before = rounds[index - 1] if index and self.in_rounds else None
        whole = self._whole(round)
        place = {number: at for at, number in enumerate(self.standing)}
        bars: list[Bar] = []
        for number in sorted(round.tallies, key=lambda each: (-round.tallies[each], place[each])):
            votes = round.tallies[number]
            gain = 0 if before is None else max(0, votes - before.tallies.get(number, 0))
            bars.append(
                Bar(
                    name=self.names[number - 1],
                    value=self._shown(votes),
                    share=_share(votes, whole),
                    note=self._note(votes, whole),
                    lead=number in self.record.winners,
                    gain=_share(gain, whole),
                    gained=f"+{self._shown(gain)}" if gain else "",
                    fate="elected" if number in round.elected else "eliminated" if number in round.eliminated else "",
                )
            )
        if before is not None:
            gone = [number for number in before.tallies if number not in round.tallies]
            for number in sorted(gone, key=lambda each: (-before.tallies[each], place[each])):
                left_with = f"left with {self._shown(before.tallies[number])}"
                bars.append(Bar(name=self.names[number - 1], value="", share=0, note=left_with, out=True))
        return bars

    def _note(self, votes: int, whole: int) -> str:
        if self.record.method in UNITS:
            return UNITS[self.record.method][votes != 1]
        return percent(votes, whole) if whole else ""

    def _last_round(self) -> list[Bar]:
        """Without what came in it: who has how much in the end."""
        standing = [each for each in self._bars(len(self.record.rounds) - 1) if not each.out]
        shown = standing[: max(LAST_ROUND_SHOWN, len(self.record.winners))]
        return [each._replace(gain=0.0, gained="", fate="") for each in shown]

    def _mark(self, round: Round) -> float | None:
        """Where on a bar the line is that elects."""
        whole = self._whole(round)
        if round.threshold is None or not whole or not self.in_rounds:
            return None
        if self._by_majority:
            return 50.0
        return min(100.0, _share(round.threshold, whole))

    @property
    def _by_majority(self) -> bool:
        return self.record.method == "irv" or (self.record.method == "stv" and self.record.rules.seats == 1)

    def _mark_means(self, round: Round) -> str:
        if self._by_majority:
            return f"half of the {self._ballots(sum(round.tallies.values()))} still in play"
        return f"the quota of {self._ballots(round.threshold or 0)}"

    def _ballots(self, units: int) -> str:
        return f"{self._shown(units)} ballot{'' if units == self.unit else 's'}"

    def _of_all_ballots(self, round: Round) -> str:
        """The winner's share of every ballot that was cast, beside that of those still in play."""
        if not self._by_majority or not self.lead or self.lead not in round.tallies:
            return ""
        votes, everyone = round.tallies[self.lead], self.record.votes
        told = f"{self._shown(votes)} of all {self._ballots(everyone)} is {percent(votes, everyone)}"
        exhausted = sum(round.exhausted.values())
        if not exhausted:
            return ""
        return f"{told}; {self._shown(exhausted)} {'was' if exhausted == 1 else 'were'} exhausted: no choice left."

    # --- round by round -----------------------------------------------------------------------------------------

    def _round(self, number: int) -> RoundShown:
        rounds = self.record.rounds
        bars = self._bars(number - 1)
        standing = [each for each in bars if not each.out]
        exhausted = sum(rounds[number - 1].exhausted.values())
        return RoundShown(
            number=number,
            sentence=self._said(round_sentence(self.record, number - 1, self.marked)),
            bars=standing[:BARS_SHOWN],
            folded=standing[BARS_SHOWN:],
            left=[each for each in bars if each.out],
            exhausted=self._shown(exhausted) if exhausted else "",
            links=_links(number, len(rounds)),
            before=max(1, number - 1),
            after=min(len(rounds), number + 1),
        )

    def _table(self, order: Sequence[int], whole: bool) -> list[Line]:
        if not whole:
            return []
        lines = []
        for number in order:
            cells = []
            before: int | None = None
            for index, round in enumerate(self.record.rounds):
                votes = round.tallies.get(number)
                if votes is None:
                    cells.append(Cell("out", gone=True))
                else:
                    gain = votes - before if index and before is not None and self.in_rounds else 0
                    gained = f"{'+' if gain > 0 else '−'}{self._shown(abs(gain))}" if gain else ""
                    cells.append(Cell(self._shown(votes), gained, elected=number in round.elected))
                before = votes
            lines.append(Line(self.names[number - 1], cells, number in self.record.winners))
        return lines

    # --- pairs --------------------------------------------------------------------------------------------------

    def _matrix(self, matrix: Sequence[Sequence[int]], order: Sequence[int]) -> list[PairLine]:
        lines = []
        for place, number in enumerate(order):
            cells = [
                Pair("", False, True)
                if other == number
                else Pair(
                    f"{matrix[number - 1][other - 1]:,}",
                    matrix[number - 1][other - 1] > matrix[other - 1][number - 1],
                    False,
                )
                for other in order
            ]
            lines.append(PairLine(_letter(place, len(order)), self.names[number - 1], cells))
        return lines

    def _locked(self, whole: bool) -> list[Locked]:
        pairs = self.record.pairs if whole else self.record.pairs[: 2 * PAIRS_SHOWN]
        return [
            Locked(
                self.names[each.winner - 1],
                self.names[each.loser - 1],
                f"{each.votes:,}",
                f"{each.against:,}",
                each.locked,
            )
            for each in pairs
        ]

    def _others(self) -> list[Said]:
        by_winners: dict[tuple[int, ...], list[Method]] = {}
        for method, winners in self.record.other_methods.items():
            by_winners.setdefault(tuple(sorted(winners)), []).append(method)
        return [Said(methods, self._named(winners)) for winners, methods in by_winners.items()]

    # --- the flow -----------------------------------------------------------------------------------------------

    def _flow(self) -> tuple[Flow | None, int]:
        """How ballots moved, in the last rounds if there are many; not where part of a ballot moves."""
        rounds = self.record.rounds
        if not self._by_majority or len(rounds) < 2:
            return None, 0
        start = max(0, len(rounds) - FLOW_ROUNDS)
        while len(rounds[start].tallies) > FLOW_CANDIDATES and start < len(rounds) - 2:
            start += 1
        if len(rounds[start].tallies) > FLOW_CANDIDATES or not sum(rounds[start].tallies.values()):
            return None, 0
        shown = rounds[start:]
        tallies: list[Mapping[str, int]] = [
            {self.names[number - 1]: votes for number, votes in each.tallies.items()} for each in shown
        ]
        moves = [
            [
                Move(self.names[transfer.source - 1], None if target is None else self.names[target - 1], votes)
                for transfer in each.transfers
                for target, votes in (*transfer.to.items(), (None, sum(transfer.exhausted.values())))
                if votes
            ]
            for each in shown[:-1]
        ]
        drawn = flow(tallies, moves, self.names[self.lead - 1] if self.lead else "")
        headings = [
            mark._replace(text=f"{'' if place else 'Round '}{start + place + 1}")
            for place, mark in enumerate(drawn.rounds)
        ]
        return drawn._replace(rounds=headings), start + 1


def _summed_up(names: re.Match[str]) -> str:
    every = re.findall(NAME, names[0])
    return f"{', '.join(every[:NAMES_SAID])} and {len(every) - NAMES_SAID} others"


def _share(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 0.0


def _letter(place: int, of: int) -> str:
    return LETTERS[place] if of <= len(LETTERS) else str(place + 1)


def _links(number: int, rounds: int) -> list[RoundLink]:
    """The rounds to step to: all of them, or the first, the last and those around this one, with gaps between."""
    if rounds <= ROUNDS_LISTED:
        return [RoundLink(each, each == number) for each in range(1, rounds + 1)]
    near = range(max(2, min(number - 1, rounds - 4)), min(rounds - 1, max(number + 1, 5)) + 1)
    wanted = [1, *near, rounds]
    links: list[RoundLink] = []
    for each in wanted:
        if links and each > links[-1].number + 1:
            links.append(RoundLink(0))
        links.append(RoundLink(each, each == number))
    return links

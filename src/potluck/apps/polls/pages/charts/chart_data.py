"""What all charts of a record share: the candidates' order, the scale of bars, formatted amounts and sentences."""

import re
from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from potluck.apps.polls.counting import CountRecord, Round
from potluck.apps.polls.counting.amounts import grouped
from potluck.apps.polls.counting.rules import IN_ROUNDS
from potluck.web import ngettext

# These delimit placeholders for names while a sentence is built, so that each name can be marked up. They cannot occur
# in a name.
OPENS, CLOSES = "\ue000", "\ue001"
NAME = f"{OPENS}[0-9]+{CLOSES}"
# A few names and a number are easier to read than a hundred names; the downloads have all of them.
NAMES_LISTED = 4
MANY_NAMES = re.compile(f"(?:{NAME}, ){{{NAMES_LISTED},}}{NAME} and {NAME}")


class ChartData:
    """A record with its candidates' names, as the charts read it."""

    def __init__(self, record: CountRecord, names: Sequence[str], *, live: bool = False) -> None:
        self.record = record
        self.live = live
        """Whether votes may still come in, so that no candidate is elected yet."""
        self.names = names
        self.in_rounds = record.method in IN_ROUNDS
        self.by_majority = record.method == "irv" or (record.method == "stv" and record.rules.seats == 1)
        """Whether one candidate is elected, by more than half of the active ballots."""
        self.unit: int = 10**record.decimals
        self.lead = record.winners[0] if record.winners else 0
        self.marked = [f"{OPENS}{number}{CLOSES}" for number in range(1, len(names) + 1)]
        """Placeholders for the names in sentences, which `marked_up` replaces."""
        self.standing = self._standing()

    # --- words and numbers --------------------------------------------------------------------------------------

    def name(self, number: int) -> str:
        return self.names[number - 1]

    def named(self, numbers: Iterable[int]) -> list[str]:
        return [self.names[number - 1] for number in numbers]

    def shown(self, units: int) -> str:
        """An exact amount, with thousands separators."""
        return grouped(units, self.record.decimals)

    def ballots(self, units: int) -> str:
        # A part of a ballot counts as several.
        return ngettext(
            "%(votes)s ballot", "%(votes)s ballots", 1 if units == self.unit else 2, votes=self.shown(units)
        )

    def marked_up(self, sentence: str) -> Markup:
        """The sentence with each name in bold, and isolated from the direction of the text around it."""
        text = str(escape(MANY_NAMES.sub(_summed_up, str(sentence))))
        for number, name in enumerate(self.names, 1):
            text = text.replace(f"{OPENS}{number}{CLOSES}", f"<b><bdi>{escape(name)}</bdi></b>")
        return Markup(text)

    # --- order and scale ----------------------------------------------------------------------------------------

    def _standing(self) -> list[int]:
        """All candidates, best first: winners, then by the last round reached and the votes in it."""
        if self.record.order:
            return list(self.record.order)
        reached: dict[int, tuple[int, int]] = {}
        for index, round in enumerate(self.record.rounds):
            for number, votes in round.tallies.items():
                reached[number] = (index, votes)
        winners = {number: -place for place, number in enumerate(self.record.winners)}
        lots = {number: place for place, number in enumerate(self.record.lot_order)}
        return sorted(
            range(1, len(self.names) + 1),
            key=lambda number: (
                number not in winners,
                -winners.get(number, 0),
                *(-value for value in reached.get(number, (-1, 0))),
                lots.get(number, 0),
            ),
        )

    def whole(self, round: Round) -> int:
        """The amount that a full bar represents."""
        if self.by_majority:
            return sum(round.tallies.values())
        if self.record.method in ("stv", "scottish-stv", "plurality"):
            return self.record.votes * self.unit
        if self.record.method == "borda":
            return max([0, *round.tallies.values()])
        return len(self.names) - 1


def share(part: int, whole: int) -> float:
    """A percentage, for the width of a bar."""
    return round(100 * part / whole, 2) if whole else 0.0


def _summed_up(names: re.Match[str]) -> str:
    placeholders = re.findall(NAME, names[0])
    others = len(placeholders) - NAMES_LISTED
    first = ", ".join(placeholders[:NAMES_LISTED])
    return str(ngettext("%(names)s and %(num)s other", "%(names)s and %(num)s others", others, names=first))

"""What happened in a round, said in words."""

from collections import Counter
from collections.abc import Iterable, Sequence

from potluck.apps.polls.counting.record import Record, Round, Tie, Transfer

__all__ = ["ENDED", "amount", "listed", "outcome_sentence", "percent", "round_sentence", "tie_sentence"]


# Why ballots count for nobody any more, in a few words.
ENDED: dict[str, str] = {
    "exhaustedChoices": "no choice left",
    "overvotes": "ended at an overvote",
    "skippedRankings": "ended at skipped ranks",
    "repeatedRankings": "ended at a repeated name",
    "finalRoundSurplus": "surplus, all seats filled",
}


def amount(units: int, decimals: int) -> str:
    """An exact amount as people write it: 12, 6.84848, 0.5."""
    if not decimals:
        return str(units)
    whole, part = divmod(abs(units), 10**decimals)
    digits = f"{part:0{decimals}}".rstrip("0")
    return f"{'-' if units < 0 else ''}{whole}{'.' if digits else ''}{digits}"


def percent(part: int, whole: int) -> str:
    """The share to one decimal, half rounded up; exact, so that it is the same everywhere."""
    if not whole:
        return "0%"
    tenths = (part * 2000 + whole) // (2 * whole)
    return f"{amount(tenths, 1)}%"


def listed(names: Iterable[str]) -> str:
    *others, last = list(names) or ["nobody"]
    return f"{', '.join(others)} and {last}" if others else last


def round_sentence(record: Record, index: int, names: Sequence[str]) -> str:
    """What was decided in one round and why, and where votes went."""
    return _Saying(record, names).round(record.rounds[index])


def tie_sentence(record: Record, tie: Tie, names: Sequence[str]) -> str:
    """Who was tied, and what told them apart."""
    return _Saying(record, names).tie(tie)


def outcome_sentence(record: Record, names: Sequence[str]) -> str:
    """The result in one sentence."""
    if not record.winners:
        return "Nobody has been elected: there is no vote for anybody."
    winners = [names[each - 1] for each in record.winners]
    return f"{listed(winners)} {'is' if len(winners) == 1 else 'are'} elected."


class _Saying:
    def __init__(self, record: Record, names: Sequence[str]) -> None:
        self.record, self.all_names = record, names
        self.unit = 10**record.decimals

    def name(self, candidate: int) -> str:
        return self.all_names[candidate - 1]

    def names(self, candidates: Iterable[int]) -> str:
        return listed(map(self.name, candidates))

    def number(self, units: int) -> str:
        return amount(units, self.record.decimals)

    def votes(self, units: int) -> str:
        return f"{self.number(units)} vote{'' if units == self.unit else 's'}"

    def round(self, round: Round) -> str:
        sentences = [*self.happened(round), *map(self.tie, round.ties)]
        if round.reason == "batch":
            sentences.append(self.transfers("theirs", round.transfers))
        else:
            sentences += [self.transfers(self.name(each.source), [each]) for each in round.transfers]
        return " ".join(each for each in sentences if each)

    def happened(self, round: Round) -> Iterable[str]:
        match round.reason:
            case "majority" | "only-one-left" | "tied-at-the-end":
                yield self.winner(round)
            case "last-two":
                yield f"{self.standing(round)} are the last two, and the count ends."
            case "write-ins-leave":
                yield f"{self.names(round.eliminated)}, not having been declared, cannot win and leave first."
            case "batch":
                yield f"{self.nobody(round)} {self.hopeless(round)}"
            case "fewest":
                yield f"{self.nobody(round)} {self.loser(round)}"
            case "quota" | "seats-for-all" | "first-preferences":
                yield from self.elected(round)
            case "seats-filled":
                yield "All seats are filled; what the last elected had beyond the quota goes to nobody."
            case "surplus":
                yield f"{self.name(round.transfers[0].source)} passes on what was beyond the quota."
                yield from self.elected(round)
            case "exclusion":
                excluded = round.transfers[0].source
                why = (
                    "not having been declared, leaves first"
                    if excluded in self.record.rules.undeclared
                    else f"has the fewest votes, {self.number(round.transfers[0].total)}, and is excluded"
                )
                yield f"{self.name(excluded)} {why}."
                yield from self.elected(round)
            case "paths":
                yield self.by_order(round, "nobody else has a stronger chain of majorities to them than they have back")
            case "pairs":
                yield self.by_order(round, "no majority against them could be locked")
            case "points" | "most-first-preferences":
                yield self.by_tallies(round)

    def active(self, round: Round) -> int:
        return sum(round.tallies.values())

    def standing(self, round: Round) -> str:
        most_first = sorted(round.tallies, key=lambda each: (-round.tallies[each], each))
        return listed(f"{self.name(each)} with {self.votes(round.tallies[each])}" for each in most_first)

    def winner(self, round: Round) -> str:
        (winner,) = round.elected
        votes, active = round.tallies[winner], self.active(round)
        share = f"{percent(votes, active)} of them, {percent(votes, self.record.votes)} of all ballots"
        has = f"{self.name(winner)} has {self.number(votes)} of the {self.votes(active)} still active ({share})"
        if round.reason == "majority":
            return f"{has}, more than half, and is elected."
        if round.reason == "only-one-left":
            return f"{has}, is the only candidate left, and is elected."
        return f"{has} and is elected, the tie being broken."

    def nobody(self, round: Round) -> str:
        winner = next((each for past in self.record.rounds[: round.number] for each in past.elected), None)
        if self.record.rules.seats > 1:
            return f"Nobody{' else' if winner else ''} reaches the quota of {self.votes(round.threshold or 0)}."
        if winner is not None:
            return f"{self.name(winner)} has won already; the count goes on to the last two."
        active = self.number(self.active(round))
        return f"Nobody has {self.votes(round.threshold or 0)}, more than half of the {active} still active."

    def loser(self, round: Round) -> str:
        (loser,) = round.eliminated
        votes = round.tallies[loser]
        has = "has no votes" if not votes else f"has the fewest votes, {self.number(votes)},"
        return f"{self.name(loser)} {has} and is eliminated."

    def hopeless(self, round: Round) -> str:
        together = sum(round.tallies[each] for each in round.eliminated)
        after = min(votes for each, votes in round.tallies.items() if each not in round.eliminated)
        return (
            f"{self.names(round.eliminated)} have {self.votes(together)} together, fewer than the {self.number(after)} "
            "of whoever comes next, so none of them could catch up, and they are eliminated at once."
        )

    def elected(self, round: Round) -> Iterable[str]:
        quota = round.threshold or 0
        if round.reason == "first-preferences":
            yield f"First preferences; the quota is {self.votes(quota)}."
        reached = [each for each in round.elected if round.tallies[each] >= quota]
        rest = [each for each in round.elected if round.tallies[each] < quota]
        if reached:
            reach, are = ("reaches", "is") if len(reached) == 1 else ("reach", "are")
            had = listed(f"{self.name(each)} ({self.number(round.tallies[each])})" for each in reached)
            yield f"{had} {reach} the quota of {self.votes(quota)} and {are} elected."
        if rest:
            yield (
                f"No more candidates are left than seats, so {self.names(rest)} "
                f"{'is' if len(rest) == 1 else 'are'} elected without the quota."
            )
        moved = {transfer.source for transfer in round.transfers}
        over = [each for each in round.eliminated if each not in moved]
        if over:
            yield f"All seats are filled: {self.names(over)} {'is' if len(over) == 1 else 'are'} not elected."
        if round.reason == "first-preferences" and not round.elected:
            yield "Nobody reaches it."

    def by_order(self, round: Round, why: str) -> str:
        winner = self.record.condorcet_winner
        if len(round.elected) == 1 and winner == round.elected[0]:
            return f"{self.name(winner)} beats each of the others head to head and is elected."
        if len(round.elected) == 1:
            return f"Nobody beats all others head to head; {self.names(round.elected)} is elected, for {why}."
        return f"{self.names(round.elected)} are elected, the first {len(round.elected)} in the order of the method."

    def by_tallies(self, round: Round) -> str:
        what = "points" if round.reason == "points" else "first choices"
        had = listed(f"{self.name(each)} ({self.number(round.tallies[each])})" for each in round.elected)
        if len(round.elected) == 1:
            return f"{had} has the most {what} and is elected."
        return f"{had} have the most {what} and are elected."

    def tie(self, tie: Tie) -> str:
        tied = self.names(tie.candidates)
        each = f", each with {self.votes(tie.votes)}" if tie.votes is not None else ""
        if self.record.method == "borda" and tie.votes is not None:
            each = f", each with {tie.votes} points"
        if tie.over == "pairs":
            return (
                f"Equally strong majorities among {tied} contradict each other; the lot order drawn beforehand, "
                f"{self.names(tie.chosen)}, decides which are locked first."
            )
        fewer = tie.over == "elimination"
        purpose = {"elimination": "to be eliminated", "election": "to be elected", "surplus": "to pass on first"}
        sentences = [f"{tied} are tied {purpose[tie.over]}{each}."]
        for step in tie.steps:
            had = f"had {'fewer' if fewer else 'more'} votes in round {step.round}"
            sentences.append(f"{self.names(step.left)} {had}.")
        if tie.by_lot:
            equal = "No earlier round tells them apart, so" if self._looks_back else "So"
            what = "last" if fewer else "first"
            sentences.append(
                f"{equal} the lot order drawn beforehand decides: {self.names(tie.chosen)} "
                f"{'comes' if len(tie.chosen) == 1 else 'come'} {what} in it."
            )
        return " ".join(sentences)

    @property
    def _looks_back(self) -> bool:
        return self.record.rules.ties == "previous-rounds" and self.record.method in {"irv", "stv", "scottish-stv"}

    def transfers(self, whose: str, transfers: Sequence[Transfer]) -> str:
        total = sum(each.total for each in transfers)
        if not total:
            return ""
        to: Counter[int] = Counter()
        lost: Counter[str] = Counter()
        for each in transfers:
            to.update(each.to)
            lost.update(each.exhausted)
        most_first = sorted(to, key=lambda each: (-to[each], each))
        parts = [f"{self.number(to[each])} to {self.name(each)}" for each in most_first]
        unused = lost.pop("finalRoundSurplus", 0)
        if lost:
            parts.append(f"{self.number(lost.total())} to nobody, the ballots having ended")
        if unused:
            parts.append(f"{self.number(unused)} to nobody, all seats being filled")
        residual = sum(each.residual for each in transfers)
        if residual:
            parts.append(f"{self.number(residual)} lost by cutting off decimals")
        return f"Of {self.votes(total)} of {whose}: {', '.join(parts)}."

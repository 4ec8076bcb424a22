"""Sentences that explain what happened in a round."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from potluck.apps.polls.counting.pairwise import dominating
from potluck.apps.polls.counting.record import CountRecord, Round, Tie, TieOrder, Transfer
from potluck.apps.polls.counting.rules import Method

# Methods that count in rounds; the others count all at once.
IN_ROUNDS: frozenset[Method] = frozenset(
    {"irv", "sequential-irv", "bottoms-up", "stv", "scottish-stv", "minneapolis-stv", "wigm", "meek"}
)
# Methods in which a candidate with the quota is elected before the round's transfer, not after it.
ELECTED_BEFORE_TRANSFERS: frozenset[Method] = frozenset({"wigm", "minneapolis-stv"})

# Why votes no longer count for any candidate, in a few words.
ENDED: dict[str, str] = {
    "exhaustedChoices": "no choice left",
    "overvotes": "ended at an overvote",
    "skippedRankings": "ended at skipped ranks",
    "repeatedRankings": "ended at a repeated name",
    "finalRoundSurplus": "surplus, all seats filled",
    "notElected": "for candidates not elected, all seats filled",
}

# What broke a tie: votes in earlier rounds, votes head to head, or one of a record's tie orders.
DecidedBy = Literal["votes", "previous-rounds", "head-to-head", "lots", "given", "listed", "seed"]

# What decides where votes do not, as the subject of a sentence, and to end one with.
ORDERS: dict[TieOrder, tuple[str, str]] = {
    "lots": ("the lot order drawn beforehand", "by lot"),
    "given": ("the order that was given", "by the order that was given"),
    "listed": (
        "the order in which the candidates are listed, as no lots were drawn,",
        "by the order in which the candidates are listed, as no lots were drawn",
    ),
    "seed": ("a draw from the published seed", "by a draw from the published seed"),
}


def amount(units: int, decimals: int) -> str:
    """An exact amount as people write it: 12, 6.84848, 0.5."""
    if not decimals:
        return str(units)
    whole, part = divmod(abs(units), 10**decimals)
    digits = f"{part:0{decimals}}".rstrip("0")
    return f"{'-' if units < 0 else ''}{whole}{'.' if digits else ''}{digits}"


def grouped(units: int, decimals: int) -> str:
    """The same with thousands separators: 1,000,000, 6,084.848."""
    return with_separators(amount(units, decimals))


def with_separators(amount: str) -> str:
    whole, point, part = amount.partition(".")
    return f"{int(whole):,}{point}{part}" if whole != "-0" else f"-0{point}{part}"


def percent(part: int, whole: int) -> str:
    """The share to one decimal, half rounded up; but 100%, 50% and 0% only if they are exact."""
    if not whole:
        return "0%"
    tenths = (part * 2000 + whole) // (2 * whole)
    if tenths in (0, 500, 1000) and tenths * whole != part * 1000:
        return f"just {'over' if tenths * whole < part * 1000 else 'under'} {tenths // 10}%"
    return f"{amount(tenths, 1)}%"


def listed(names: Iterable[str]) -> str:
    *others, last = list(names) or ["no one"]
    return f"{', '.join(others)} and {last}" if others else last


def round_sentence(record: CountRecord, index: int, names: Sequence[str], *, live: bool = False) -> str:
    """What was decided in one round and why, and where votes went. While `live`, no candidate is elected yet."""
    return _Narrator(record, names, live).round(record.rounds[index])


def tie_sentence(record: CountRecord, tie: Tie, names: Sequence[str]) -> str:
    """Who was tied, and what decided."""
    return _Narrator(record, names).tie(tie)


def outcome_sentence(record: CountRecord, names: Sequence[str], *, live: bool = False) -> str:
    """The result in one sentence, then any tie that mattered, and a head-to-head winner who is not elected."""
    if not record.winners:
        no_winner = "No candidate leads yet" if live else "No candidate is elected"
        if record.rounds and record.rules.stop_after == len(record.rounds):
            return f"{no_winner}: the count was ended after round {len(record.rounds)}."
        if record.rounds:
            return f"{no_winner}: none that is left has enough votes."
        return f"{no_winner}: there are no votes for any of them."
    winners = [names[number - 1] for number in record.winners]
    one = len(winners) == 1
    outcome = ("leads" if one else "lead") if live else ("is elected" if one else "are elected")
    sentences = (
        f"{listed(winners)} {outcome}.",
        decided_sentence(record, names),
        beaten_sentence(record, names),
    )
    return " ".join(sentence for sentence in sentences if sentence)


def decided_by(record: CountRecord, tie: Tie) -> DecidedBy:
    """What broke this tie."""
    if tie.by_lot:
        return record.tie_order
    if tie.head_to_head:
        return "head-to-head"
    return "previous-rounds" if tie.steps else "votes"


def deciding_ties(record: CountRecord) -> list[tuple[Round, Tie]]:
    """Ties that may have affected who is elected, with their rounds.

    Candidates without votes leave one after the other, in any order, and nothing is transferred. For a single seat,
    contradicting majorities matter only among those who could win it.
    """
    return [(round, tie) for round in record.rounds for tie in round.ties if _matters(record, tie)]


def _matters(record: CountRecord, tie: Tie) -> bool:
    if tie.over == "elimination":
        return tie.votes != 0 or not set(record.winners).isdisjoint(tie.candidates)
    if tie.over == "pairs" and record.rules.seats == 1:
        undeclared = record.rules.undeclared
        declared = [number for number in range(1, record.candidates + 1) if number not in undeclared]
        return not set(dominating(record.pairwise, declared)).isdisjoint(tie.candidates)
    return True


def decided_sentence(record: CountRecord, names: Sequence[str]) -> str:
    """Every tie that mattered, and what broke it; empty if there was none."""
    ties = deciding_ties(record)
    sentences = []
    for _, tie in ties:
        if tie.over == "election":
            tied = listed(names[number - 1] for number in tie.candidates)
            sentences.append(f"The tie between {tied} was decided {_how(record, tie, names)}.")
    if any(tie.over == "pairs" for _, tie in ties):
        sentences.append(f"Which of equally strong majorities count was decided {ORDERS[record.tie_order][1]}.")
    on_the_way: dict[str, set[int]] = {}
    for round, tie in ties:
        if tie.over in ("elimination", "surplus"):
            on_the_way.setdefault(_how(record, tie), set()).add(round.number)
    for how, rounds in on_the_way.items():
        numbers = listed(map(str, sorted(rounds)))
        sentences.append(
            f"A tie in round {numbers} was decided {how}."
            if len(rounds) == 1
            else f"Ties in rounds {numbers} were decided {how}."
        )
    return " ".join(sentences)


def beaten_sentence(record: CountRecord, names: Sequence[str]) -> str:
    """Who would beat every other candidate head to head and is not elected; empty if there is no such candidate."""
    best = record.condorcet_winner
    if best is None or not record.winners or best in record.winners:
        return ""
    left = next((round.number for round in record.rounds if best in round.eliminated), None)
    out = "" if left is None or len(record.rounds) == 1 else f", but left in round {left} with too few votes"
    return f"Head to head, {names[best - 1]} beats each of the others{out}."


def _how(record: CountRecord, tie: Tie, names: Sequence[str] = ()) -> str:
    """What broke a tie, to end a sentence with; with `names`, in more detail."""
    match decided_by(record, tie):
        case "head-to-head":
            return "head to head"
        case "previous-rounds":
            last = tie.steps[-1]
            if not names:
                return "by an earlier round"
            return f"by round {last.round}, in which {listed(names[number - 1] for number in last.left)} had more votes"
        case _:
            return ORDERS[record.tie_order][1]


class _Narrator:
    def __init__(self, record: CountRecord, names: Sequence[str], live: bool = False) -> None:
        self.record, self.all_names, self.live = record, names, live
        self.unit = 10**record.decimals

    def name(self, candidate: int) -> str:
        return self.all_names[candidate - 1]

    def names(self, candidates: Iterable[int]) -> str:
        return listed(map(self.name, candidates))

    def number(self, units: int) -> str:
        return grouped(units, self.record.decimals)

    def elected(self, candidates: Sequence[int]) -> str:
        return "would be elected" if self.live else "is elected" if len(candidates) == 1 else "are elected"

    def votes(self, units: int) -> str:
        return f"{self.number(units)} vote{'' if units == self.unit else 's'}"

    def round(self, round: Round) -> str:
        sentences = [*self.happened(round), *map(self.tie, round.ties)]
        if round.reason == "batch":
            sentences.append(self.transfers("", round.transfers))
        else:
            sentences += [
                self.transfers(f" from {self.name(transfer.source)}", [transfer]) for transfer in round.transfers
            ]
        return " ".join(sentence for sentence in sentences if sentence)

    def happened(self, round: Round) -> Iterable[str]:
        match round.reason:
            case "majority" | "only-one-left" | "most-of-two" | "tied-at-the-end":
                yield self.winner(round)
            case "last-two":
                yield f"{self.standing(round)} are the last two, and the count ends."
            case "write-ins-leave":
                yield f"{self.names(round.eliminated)}, not declared as candidates, cannot win and leave first."
            case "minimum":
                yield f"{self.who_has(round)} fewer than {self.least()} and {self.leave(round)}."
            case "batch":
                yield f"{self.no_winner(round)} {self.hopeless(round)}"
            case "below-share":
                yield f"{self.who_has(round)} less than {self.share(round)} and {self.leave(round)}."
            case "share-for-all":
                standing, elected = self.standing(round), self.elected(round.elected)
                yield f"No candidate is below {self.share(round)} any more: {standing} {elected}."
            case "no-votes":
                yield f"{self.names(round.eliminated)} have no votes and leave together."
            case "fewest":
                yield f"{self.no_winner(round)} {self.loser(round)}"
            case "first-preferences":
                yield f"First preferences; the quota is {self.votes(round.threshold or 0)}."
                yield from self.reached(round)
                if not round.elected and self.record.method not in ELECTED_BEFORE_TRANSFERS | {"meek"}:
                    yield "No candidate reaches it."
                yield from self.finished(round)
            case "quota" | "seats-for-all" | "left-over":
                yield from self.reached(round)
                yield from self.finished(round)
            case "seats-filled":
                yield "All seats are filled; the surplus of the last elected is not transferred."
            case "surplus" | "exclusion" | "sure-losers":
                before = self.record.method in ELECTED_BEFORE_TRANSFERS
                if before:
                    yield from self.reached(round)
                yield from self.passed_on(round)
                if not before:
                    yield from self.reached(round)
                yield from self.finished(round)
            case "converged":
                loser = round.eliminated[0]
                quota = self.votes(round.threshold or 0)
                yield f"No {'other ' if round.keep else ''}candidate reaches the quota, now {quota}."
                yield f"{self.name(loser)} has the fewest votes and is defeated."
                yield from self.finished(round, but=loser)
            case "paths":
                yield self.by_order(round, "no other has a stronger chain of majorities to them than they have back")
            case "pairs":
                yield self.by_order(round, "no majority against them could be locked in")
            case "points" | "most-first-preferences":
                yield self.by_tallies(round)
        if round.keep:
            shares = listed(f"{self.name(number)} {self.number(part)}" for number, part in round.keep.items())
            yield f"Share kept of every vote that reaches them: {shares}."

    def who_has(self, round: Round) -> str:
        return f"{self.names(round.eliminated)} {'has' if len(round.eliminated) == 1 else 'have'}"

    def leave(self, round: Round) -> str:
        return "is eliminated" if len(round.eliminated) == 1 else "are eliminated at once"

    def least(self) -> str:
        least = self.record.rules.minimum_votes
        return f"{least} vote{'' if least == 1 else 's'}, the minimum,"

    def share(self, round: Round) -> str:
        return f"{self.votes(round.threshold or 0)}, {self.record.rules.share_percent}%"

    def passed_on(self, round: Round) -> Iterable[str]:
        """Whose votes were transferred in a round with fractional votes, and why."""
        if round.reason == "surplus":
            yield f"The surplus of {self.name(round.transfers[0].source)} is transferred."
            return
        undeclared = self.record.rules.undeclared
        given_up = {transfer.source: transfer.total for transfer in round.transfers}
        if round.reason == "exclusion":
            excluded = round.eliminated[0]
            votes = given_up.get(excluded, round.tallies[excluded])
            why = (
                "not declared as a candidate, leaves first"
                if excluded in undeclared
                else f"has the fewest votes, {self.number(votes)}, and is excluded"
            )
            yield f"{self.name(excluded)} {why}."
            return
        losers = [candidate for candidate in round.eliminated if candidate not in undeclared]
        if left := [candidate for candidate in round.eliminated if candidate in undeclared]:
            yield f"{self.names(left)}, not declared, cannot win and leave{'s' if len(left) == 1 else ''}."
        if losers and (given_up or round.transfers == ()):
            yield (
                f"{self.names(losers)} could not be elected even with every vote that may yet be transferred, "
                f"and {'is' if len(losers) == 1 else 'are'} defeated."
            )

    def active(self, round: Round) -> int:
        return sum(round.tallies.values())

    def standing(self, round: Round) -> str:
        most_first = sorted(round.tallies, key=lambda candidate: (-round.tallies[candidate], candidate))
        return listed(f"{self.name(candidate)} with {self.votes(round.tallies[candidate])}" for candidate in most_first)

    def winner(self, round: Round) -> str:
        (winner,) = round.elected
        votes, active = round.tallies[winner], self.active(round)
        share = f"{percent(votes, active)} of them, {percent(votes, self.record.votes)} of all ballots"
        elected = self.elected(round.elected)
        has = f"{self.name(winner)} has {self.number(votes)} of the {self.votes(active)} still active ({share})"
        if round.reason == "majority":
            return f"{has}, more than half, and {elected}."
        if round.reason == "only-one-left":
            return f"{has}, is the only candidate left, and {elected}."
        if round.reason == "most-of-two":
            return f"{has}, the most of the last two, and {elected}."
        return f"{has} and {elected}, the tie being broken."

    def no_winner(self, round: Round) -> str:
        if self.record.method == "bottoms-up":
            return ""
        past = [other for other in self.record.rounds[: round.number] if other.seat == round.seat]
        winner = next((candidate for before in past for candidate in before.elected), None)
        if self.record.method == "stv" and self.record.rules.seats > 1:
            return f"No {'other ' if winner else ''}candidate reaches the quota of {self.votes(round.threshold or 0)}."
        if winner is not None:
            return f"{self.name(winner)} has already won; the count continues until two are left."
        if self.record.rules.first_round_threshold:
            return f"No candidate has {self.votes(round.threshold or 0)}, more than half of the first round's."
        active = self.number(self.active(round))
        return f"No candidate has {self.votes(round.threshold or 0)}, more than half of the {active} still active."

    def loser(self, round: Round) -> str:
        (loser,) = round.eliminated
        votes = round.tallies[loser]
        has = "has no votes" if not votes else f"has the fewest votes, {self.number(votes)},"
        return f"{self.name(loser)} {has} and is eliminated."

    def hopeless(self, round: Round) -> str:
        together = sum(round.tallies[candidate] for candidate in round.eliminated)
        after = min(votes for candidate, votes in round.tallies.items() if candidate not in round.eliminated)
        return (
            f"{self.names(round.eliminated)} have {self.votes(together)} together, fewer than the {self.number(after)} "
            "of the next candidate, so none of them could catch up, and they are eliminated at once."
        )

    def had(self, round: Round, candidate: int) -> int:
        """The votes a candidate was elected with, also if the tally no longer has what was transferred."""
        if self.record.tallies_after_transfers and any(transfer.source == candidate for transfer in round.transfers):
            return self.record.rounds[round.number - 2].tallies[candidate]
        return round.tallies[candidate]

    def reached(self, round: Round) -> Iterable[str]:
        quota = round.threshold or 0
        reached = [candidate for candidate in round.elected if self.had(round, candidate) >= quota]
        if reached and self.record.method != "bottoms-up":
            reach = "reaches" if len(reached) == 1 else "reach"
            had = listed(f"{self.name(candidate)} ({self.number(self.had(round, candidate))})" for candidate in reached)
            yield f"{had} {reach} the quota of {self.votes(quota)} and {self.elected(reached)}."

    def finished(self, round: Round, but: int | None = None) -> Iterable[str]:
        """Who is elected because no others are left, and who is not because no seat is."""
        quota = round.threshold or 0
        if self.record.method == "bottoms-up":
            elected = self.elected(round.elected)
            yield f"No more candidates are left than seats, so {self.standing(round)} {elected}."
            return
        rest = [candidate for candidate in round.elected if self.had(round, candidate) < quota]
        if rest:
            yield (
                f"No more candidates are left than seats, so {self.names(rest)} {self.elected(rest)} without the quota."
            )
        over = []
        if len(self.record.rounds) == round.number:
            gone = {transfer.source for transfer in round.transfers} | {but}
            gone |= {round.eliminated[0]} if round.reason == "exclusion" else set()
            over = (
                [candidate for candidate in round.eliminated if candidate not in gone]
                if round.reason != "sure-losers"
                else []
            )
        if over:
            yield f"All seats are filled: {self.names(over)} {'is' if len(over) == 1 else 'are'} not elected."

    def by_order(self, round: Round, why: str) -> str:
        winner, elected = self.record.condorcet_winner, self.elected(round.elected)
        if len(round.elected) == 1 and winner == round.elected[0]:
            return f"{self.name(winner)} beats each of the others head to head and {elected}."
        if len(round.elected) == 1:
            return f"No candidate beats all others head to head; {self.names(round.elected)} {elected}, for {why}."
        return f"{self.names(round.elected)} {elected}, the first {len(round.elected)} in the order of the method."

    def by_tallies(self, round: Round) -> str:
        what = "points" if round.reason == "points" else "first choices"
        had = listed(f"{self.name(candidate)} ({self.number(round.tallies[candidate])})" for candidate in round.elected)
        if len(round.elected) == 1:
            return f"{had} has the most {what} and {self.elected(round.elected)}."
        return f"{had} have the most {what} and {self.elected(round.elected)}."

    def tie(self, tie: Tie) -> str:
        tied = self.names(tie.candidates)
        detail = f", each with {self.votes(tie.votes)}" if tie.votes is not None else ""
        if self.record.method == "borda" and tie.votes is not None:
            detail = f", each with {self.number(tie.votes)} points"
        order, _ = ORDERS[self.record.tie_order]
        if tie.over == "pairs":
            return (
                f"Equally strong majorities among {tied} contradict each other; {order}"
                f"{'' if order.endswith(',') else ','} {self.names(tie.chosen)}, decides which are locked first."
            )
        fewer = tie.over == "elimination"
        purpose = {"elimination": "to be eliminated", "election": "to be elected", "surplus": "to pass on first"}
        sentences = [f"{tied} are tied {purpose[tie.over]}{detail}."]
        for step in tie.steps:
            had = f"had {'fewer' if fewer else 'more'} votes in round {step.round}"
            sentences.append(f"{self.names(step.left)} {had}.")
        if tie.head_to_head:
            one = len(tie.head_to_head) == 1
            do = ("loses to" if one else "lose to") if fewer else ("beats" if one else "beat")
            before = tie.steps[-1].left if tie.steps else tie.candidates
            others = self.names(candidate for candidate in before if candidate not in tie.head_to_head)
            sentences.append(f"Head to head, {self.names(tie.head_to_head)} {do} {others}.")
        if tie.by_lot:
            equal = self.nothing_else()
            sentences.append(f"{equal} {order} decides: {self.names(tie.chosen)}{self.place(tie)}.")
        return " ".join(sentences)

    def place(self, tie: Tie) -> str:
        """The place of those chosen in the order that decides."""
        if self.record.tie_order == "seed":
            return ""
        tied = tie.head_to_head or (tie.steps[-1].left if tie.steps else tie.candidates)
        last = max(tied, key=self.record.lot_order.index)
        return f" {'comes' if len(tie.chosen) == 1 else 'come'} {'last' if tie.chosen == (last,) else 'first'} in it"

    def nothing_else(self) -> str:
        """What was tried before the deciding order."""
        looks_back = self.record.rules.ties != "lot" and self.record.method in IN_ROUNDS
        compares = self.record.rules.ties == "head-to-head"
        if looks_back and compares:
            return "No earlier round and no head-to-head comparison breaks the tie, so"
        if looks_back:
            return "No earlier round breaks the tie, so"
        return "Head to head they are equal too, so" if compares else "So"

    def transfers(self, source: str, transfers: Sequence[Transfer]) -> str:
        total = sum(transfer.total for transfer in transfers)
        if not total:
            return ""
        to: Counter[int] = Counter()
        lost: Counter[str] = Counter()
        for transfer in transfers:
            to.update(transfer.to)
            lost.update(transfer.exhausted)
        most_first = sorted(to, key=lambda number: (-to[number], number))
        parts = [f"{self.number(to[number])} to {self.name(number)}" for number in most_first]
        unused = lost.pop("finalRoundSurplus", 0)
        if lost:
            parts.append(f"{self.number(lost.total())} exhausted")
        if unused:
            parts.append(f"{self.number(unused)} not used, as all seats are filled")
        residual = sum(transfer.residual for transfer in transfers)
        if residual:
            parts.append(f"{self.number(residual)} lost by truncation")
        return f"Transfer of {self.votes(total)}{source}: {', '.join(parts)}."

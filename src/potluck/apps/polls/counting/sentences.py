"""Sentences that explain what happened in a round, and the result, in the current language."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from potluck.apps.polls.counting.amounts import grouped, in_votes, listed, percent
from potluck.apps.polls.counting.record import CountRecord, Round, Transfer
from potluck.apps.polls.counting.rules import Method
from potluck.apps.polls.counting.tie_sentences import decided_sentence, tie_sentence
from potluck.web import _, ngettext

# Methods in which a candidate with the quota is elected before the round's transfer, not after it.
ELECTED_BEFORE_TRANSFERS: frozenset[Method] = frozenset({"wigm", "minneapolis-stv"})


def round_sentence(record: CountRecord, index: int, names: Sequence[str], *, live: bool = False) -> str:
    """What was decided in one round and why, and where votes went. While `live`, no candidate is elected yet."""
    return _joined(_Narrator(record, names, live).round(record.rounds[index]))


def outcome_sentence(record: CountRecord, names: Sequence[str], *, live: bool = False) -> str:
    """The result in one sentence, then any tie that mattered, and a head-to-head winner who is not elected."""
    if not record.winners:
        return _joined(_without_winner(record, live))
    winners, count = listed(names[number - 1] for number in record.winners), len(record.winners)
    if live:
        outcome = ngettext("%(names)s leads.", "%(names)s lead.", count, names=winners)
    else:
        outcome = ngettext("%(names)s is elected.", "%(names)s are elected.", count, names=winners)
    return _joined((outcome, decided_sentence(record, names), beaten_sentence(record, names)))


def _without_winner(record: CountRecord, live: bool) -> Iterator[str]:
    yield _("No candidate leads yet.") if live else _("No candidate is elected.")
    if record.rounds and record.rules.stop_after == len(record.rounds):
        yield _("The count was ended after round %(round)s.", round=len(record.rounds))
    elif record.rounds:
        yield _("No remaining candidate has enough votes.")
    else:
        yield _("There are no votes.")


def beaten_sentence(record: CountRecord, names: Sequence[str]) -> str:
    """Who would beat every other candidate head to head and is not elected; empty if there is no such candidate."""
    best = record.condorcet_winner
    if best is None or not record.winners or best in record.winners:
        return ""
    name = names[best - 1]
    left = next((round.number for round in record.rounds if best in round.eliminated), None)
    if left is None or len(record.rounds) == 1:
        return str(_("Head to head, %(name)s beats each of the others.", name=name))
    sentence = _(
        "Head to head, %(name)s beats each of the others, but was eliminated in round %(round)s with too few votes.",
        name=name,
        round=left,
    )
    return str(sentence)


def _joined(sentences: Iterable[str]) -> str:
    return " ".join(str(sentence) for sentence in sentences if sentence)


class _Narrator:
    def __init__(self, record: CountRecord, names: Sequence[str], live: bool = False) -> None:
        self.record, self.all_names, self.live = record, names, live

    def name(self, candidate: int) -> str:
        return self.all_names[candidate - 1]

    def names(self, candidates: Iterable[int]) -> str:
        return listed(map(self.name, candidates))

    def number(self, units: int) -> str:
        return grouped(units, self.record.decimals)

    def votes(self, units: int) -> str:
        return in_votes(units, self.record.decimals)

    def elected(self, names: str, count: int) -> str:
        """That these candidates are elected, or would be."""
        if self.live:
            return ngettext("%(names)s would be elected.", "%(names)s would be elected.", count, names=names)
        return ngettext("%(names)s is elected.", "%(names)s are elected.", count, names=names)

    def round(self, round: Round) -> Iterator[str]:
        yield from self.happened(round)
        for tie in round.ties:
            yield tie_sentence(self.record, tie, self.all_names)
        if round.reason == "batch":
            yield self.transfers(round.transfers)
        else:
            for transfer in round.transfers:
                yield self.transfers([transfer], self.name(transfer.source))

    def happened(self, round: Round) -> Iterator[str]:
        match round.reason:
            case "majority" | "only-one-left" | "most-of-two" | "tied-at-the-end":
                yield from self.winner(round)
            case "last-two":
                yield _("%(names)s are the last two, and the count ends.", names=self.standing(round))
            case "write-ins-leave":
                names = self.names(round.eliminated)
                yield _("%(names)s, not declared as candidates, cannot win and leave first.", names=names)
            case "minimum":
                yield self.below(round, self.votes(self.record.rules.minimum_votes * 10**self.record.decimals))
            case "batch":
                yield self.no_winner(round)
                yield from self.hopeless(round)
            case "below-share":
                yield self.below(round, self.share(round))
            case "share-for-all":
                yield _("No candidate is below %(share)s any more.", share=self.share(round))
                yield self.elected(self.standing(round), len(round.elected))
            case "no-votes":
                yield _("%(names)s have no votes and leave together.", names=self.names(round.eliminated))
            case "fewest":
                yield self.no_winner(round)
                yield self.loser(round)
            case "first-preferences":
                yield _("First preferences; the quota is %(votes)s.", votes=self.votes(round.threshold or 0))
                yield from self.reached(round)
                if not round.elected and self.record.method not in ELECTED_BEFORE_TRANSFERS | {"meek"}:
                    yield _("No candidate reaches it.")
                yield from self.finished(round)
            case "quota" | "seats-for-all" | "left-over":
                yield from self.reached(round)
                yield from self.finished(round)
            case "seats-filled":
                yield _("All seats are filled; the surplus of the last elected is not transferred.")
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
                if round.keep:
                    yield _("No other candidate reaches the quota, now %(quota)s.", quota=quota)
                else:
                    yield _("No candidate reaches the quota, now %(quota)s.", quota=quota)
                yield _("%(name)s has the fewest votes and is defeated.", name=self.name(loser))
                yield from self.finished(round, but=loser)
            case "paths":
                yield from self.by_order(round)
                if self.is_beaten_by_some(round):
                    yield _("No other candidate has a stronger chain of majorities against them than they have back.")
            case "pairs":
                yield from self.by_order(round)
                if self.is_beaten_by_some(round):
                    yield _("No majority against them could be locked in.")
            case "points":
                yield ngettext(
                    "%(names)s has the most points.",
                    "%(names)s have the most points.",
                    len(round.elected),
                    names=self.with_tallies(round),
                )
                yield self.elected(self.names(round.elected), len(round.elected))
            case "most-first-preferences":
                yield ngettext(
                    "%(names)s has the most first choices.",
                    "%(names)s have the most first choices.",
                    len(round.elected),
                    names=self.with_tallies(round),
                )
                yield self.elected(self.names(round.elected), len(round.elected))
        if round.keep:
            shares = listed(f"{self.name(number)} {self.number(part)}" for number, part in round.keep.items())
            yield _("Share kept of every vote that reaches them: %(shares)s.", shares=shares)

    def below(self, round: Round, least: str) -> str:
        """Who is eliminated for having less than this."""
        return ngettext(
            "%(names)s has less than the minimum, %(least)s, and is eliminated.",
            "%(names)s have less than the minimum, %(least)s, and are eliminated at once.",
            len(round.eliminated),
            names=self.names(round.eliminated),
            least=least,
        )

    def share(self, round: Round) -> str:
        votes, share = self.votes(round.threshold or 0), self.record.rules.share_percent
        return str(_("%(votes)s (%(share)s%%)", votes=votes, share=share))

    def passed_on(self, round: Round) -> Iterator[str]:
        """Whose votes were transferred in a round with fractional votes, and why."""
        if round.reason == "surplus":
            yield _("The surplus of %(name)s is transferred.", name=self.name(round.transfers[0].source))
            return
        undeclared = self.record.rules.undeclared
        given_up = {transfer.source: transfer.total for transfer in round.transfers}
        if round.reason == "exclusion":
            excluded = round.eliminated[0]
            name, votes = self.name(excluded), given_up.get(excluded, round.tallies[excluded])
            if excluded in undeclared:
                yield _("%(name)s was not declared as a candidate and leaves first.", name=name)
            else:
                votes_text = self.number(votes)
                yield _("%(name)s has the fewest votes, %(votes)s, and is excluded.", name=name, votes=votes_text)
            return
        losers = [candidate for candidate in round.eliminated if candidate not in undeclared]
        if left := [candidate for candidate in round.eliminated if candidate in undeclared]:
            yield ngettext(
                "%(names)s was not declared, cannot win and leaves.",
                "%(names)s were not declared, cannot win and leave.",
                len(left),
                names=self.names(left),
            )
        if losers and (given_up or round.transfers == ()):
            yield ngettext(
                "%(names)s could not be elected even with every vote that may yet be transferred, and is defeated.",
                "%(names)s could not be elected even with every vote that may yet be transferred, and are defeated.",
                len(losers),
                names=self.names(losers),
            )

    def active(self, round: Round) -> int:
        return sum(round.tallies.values())

    def standing(self, round: Round) -> str:
        most_first = sorted(round.tallies, key=lambda candidate: (-round.tallies[candidate], candidate))
        return listed(
            _("%(name)s with %(votes)s", name=self.name(candidate), votes=self.votes(round.tallies[candidate]))
            for candidate in most_first
        )

    def winner(self, round: Round) -> Iterator[str]:
        (winner,) = round.elected
        votes, active = round.tallies[winner], self.active(round)
        yield _(
            "%(name)s has %(number)s of the %(votes)s still active (%(share)s of them, %(of_all)s of all ballots).",
            name=self.name(winner),
            number=self.number(votes),
            votes=self.votes(active),
            share=percent(votes, active),
            of_all=percent(votes, self.record.votes),
        )
        name = self.name(winner)
        match round.reason, self.live:
            case "majority", True:
                yield _("That’s more than half: %(name)s would be elected.", name=name)
            case "majority", False:
                yield _("That’s more than half: %(name)s is elected.", name=name)
            case "only-one-left", True:
                yield _("No other candidate is left: %(name)s would be elected.", name=name)
            case "only-one-left", False:
                yield _("No other candidate is left: %(name)s is elected.", name=name)
            case "most-of-two", True:
                yield _("That’s the most of the last two: %(name)s would be elected.", name=name)
            case "most-of-two", False:
                yield _("That’s the most of the last two: %(name)s is elected.", name=name)
            case _, True:
                yield _("With the tie broken, %(name)s would be elected.", name=name)
            case _:
                yield _("With the tie broken, %(name)s is elected.", name=name)

    def no_winner(self, round: Round) -> str:
        if self.record.method == "bottoms-up":
            return ""
        past = [other for other in self.record.rounds[: round.number] if other.seat == round.seat]
        winner = next((candidate for before in past for candidate in before.elected), None)
        votes = self.votes(round.threshold or 0)
        if self.record.method == "stv" and self.record.rules.seats > 1:
            if winner:
                return _("No other candidate reaches the quota of %(votes)s.", votes=votes)
            return _("No candidate reaches the quota of %(votes)s.", votes=votes)
        if winner is not None:
            return _("%(name)s has already won; the count continues until two are left.", name=self.name(winner))
        if self.record.rules.first_round_threshold:
            return _("No candidate has %(votes)s, more than half of the first round’s.", votes=votes)
        active = self.number(self.active(round))
        return _(
            "No candidate has %(votes)s, more than half of the %(active)s still active.", votes=votes, active=active
        )

    def loser(self, round: Round) -> str:
        (loser,) = round.eliminated
        name, votes = self.name(loser), round.tallies[loser]
        if not votes:
            return _("%(name)s has no votes and is eliminated.", name=name)
        number = self.number(votes)
        return _("%(name)s has the fewest votes, %(number)s, and is eliminated.", name=name, number=number)

    def hopeless(self, round: Round) -> Iterator[str]:
        together = sum(round.tallies[candidate] for candidate in round.eliminated)
        after = min(votes for candidate, votes in round.tallies.items() if candidate not in round.eliminated)
        yield _(
            "%(names)s have %(votes)s together, fewer than the %(next)s of the next candidate.",
            names=self.names(round.eliminated),
            votes=self.votes(together),
            next=self.number(after),
        )
        yield _("None of them could catch up, so they are eliminated at once.")

    def had(self, round: Round, candidate: int) -> int:
        """The votes a candidate was elected with, also if the tally no longer has what was transferred."""
        if self.record.tallies_after_transfers and any(transfer.source == candidate for transfer in round.transfers):
            return self.record.rounds[round.number - 2].tallies[candidate]
        return round.tallies[candidate]

    def reached(self, round: Round) -> Iterator[str]:
        quota = round.threshold or 0
        reached = [candidate for candidate in round.elected if self.had(round, candidate) >= quota]
        if not reached or self.record.method == "bottoms-up":
            return
        had = listed(f"{self.name(candidate)} ({self.number(self.had(round, candidate))})" for candidate in reached)
        if self.live:
            yield ngettext(
                "%(names)s reaches the quota of %(votes)s and would be elected.",
                "%(names)s reach the quota of %(votes)s and would be elected.",
                len(reached),
                names=had,
                votes=self.votes(quota),
            )
        else:
            yield ngettext(
                "%(names)s reaches the quota of %(votes)s and is elected.",
                "%(names)s reach the quota of %(votes)s and are elected.",
                len(reached),
                names=had,
                votes=self.votes(quota),
            )

    def finished(self, round: Round, but: int | None = None) -> Iterator[str]:
        """Who is elected because no others are left, and who is not because no seat is."""
        quota = round.threshold or 0
        if self.record.method == "bottoms-up":
            yield _("No more candidates are left than seats.")
            yield self.elected(self.standing(round), len(round.elected))
            return
        rest = [candidate for candidate in round.elected if self.had(round, candidate) < quota]
        if rest:
            yield _("No more candidates are left than seats.")
            if self.live:
                yield _("%(names)s would be elected without the quota.", names=self.names(rest))
            else:
                yield ngettext(
                    "%(names)s is elected without the quota.",
                    "%(names)s are elected without the quota.",
                    len(rest),
                    names=self.names(rest),
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
            yield ngettext(
                "All seats are filled: %(names)s is not elected.",
                "All seats are filled: %(names)s are not elected.",
                len(over),
                names=self.names(over),
            )

    def by_order(self, round: Round) -> Iterator[str]:
        names, count = self.names(round.elected), len(round.elected)
        if count > 1:
            yield ngettext(
                "%(names)s is first in the order of the method.",
                "%(names)s are the first %(num)s in the order of the method.",
                count,
                names=names,
            )
        elif self.record.condorcet_winner == round.elected[0]:
            yield _("%(name)s beats each of the others head to head.", name=names)
        else:
            yield _("No candidate beats all others head to head.")
        yield self.elected(names, count)

    def is_beaten_by_some(self, round: Round) -> bool:
        """Whether one is elected who does not beat each of the others."""
        return len(round.elected) == 1 and self.record.condorcet_winner != round.elected[0]

    def with_tallies(self, round: Round) -> str:
        return listed(f"{self.name(number)} ({self.number(round.tallies[number])})" for number in round.elected)

    def transfers(self, transfers: Sequence[Transfer], source: str = "") -> str:
        total = sum(transfer.total for transfer in transfers)
        if not total:
            return ""
        to: Counter[int] = Counter()
        lost: Counter[str] = Counter()
        for transfer in transfers:
            to.update(transfer.to)
            lost.update(transfer.exhausted)
        most_first = sorted(to, key=lambda number: (-to[number], number))
        parts = [
            _("%(number)s to %(name)s", number=self.number(to[number]), name=self.name(number)) for number in most_first
        ]
        unused = lost.pop("finalRoundSurplus", 0)
        if lost:
            parts.append(_("%(number)s exhausted", number=self.number(lost.total())))
        if unused:
            parts.append(_("%(number)s not used, as all seats are filled", number=self.number(unused)))
        residual = sum(transfer.residual for transfer in transfers)
        if residual:
            parts.append(_("%(number)s lost by truncation", number=self.number(residual)))
        votes, where = self.votes(total), ", ".join(map(str, parts))
        if not source:
            return _("Transfer of %(votes)s: %(where)s.", votes=votes, where=where)
        return _("Transfer of %(votes)s from %(name)s: %(where)s.", votes=votes, name=source, where=where)

"""Sentences about ties: who was tied, and what decided."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from potluck.apps.polls.counting.amounts import grouped, in_votes, listed
from potluck.apps.polls.counting.pairwise import dominating
from potluck.apps.polls.counting.record import CountRecord, Round, Tie, TieOrder
from potluck.apps.polls.counting.rules import IN_ROUNDS
from potluck.web import _, ngettext

# What broke a tie: votes in earlier rounds, votes head to head, or one of a record's tie orders.
DecidedBy = Literal["votes", "previous-rounds", "head-to-head", "lots", "given", "listed", "seed"]

DECIDED: dict[TieOrder, str] = {
    "lots": _("Lots decided."),
    "given": _("The given order decided."),
    "listed": _("No lots were drawn, so the order on the ballot decided."),
    "seed": _("A draw from the published seed decided."),
}
# The same with the names that were chosen, by whether they are at the end of the order or at its beginning.
CHOSEN_FIRST: dict[TieOrder, Callable[[int, str], str]] = {
    "lots": lambda count, names: ngettext(
        "The lot order drawn beforehand decides: %(names)s comes first.",
        "The lot order drawn beforehand decides: %(names)s come first.",
        count,
        names=names,
    ),
    "given": lambda count, names: ngettext(
        "The given order decides: %(names)s comes first.",
        "The given order decides: %(names)s come first.",
        count,
        names=names,
    ),
    "listed": lambda count, names: ngettext(
        "No lots were drawn, so the order on the ballot decides: %(names)s comes first.",
        "No lots were drawn, so the order on the ballot decides: %(names)s come first.",
        count,
        names=names,
    ),
    "seed": lambda count, names: _("A draw from the published seed decides: %(names)s.", names=names),
}
CHOSEN_LAST: dict[TieOrder, Callable[[int, str], str]] = {
    "lots": lambda count, names: ngettext(
        "The lot order drawn beforehand decides: %(names)s comes last.",
        "The lot order drawn beforehand decides: %(names)s come last.",
        count,
        names=names,
    ),
    "given": lambda count, names: ngettext(
        "The given order decides: %(names)s comes last.",
        "The given order decides: %(names)s come last.",
        count,
        names=names,
    ),
    "listed": lambda count, names: ngettext(
        "No lots were drawn, so the order on the ballot decides: %(names)s comes last.",
        "No lots were drawn, so the order on the ballot decides: %(names)s come last.",
        count,
        names=names,
    ),
    "seed": CHOSEN_FIRST["seed"],
}


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
    sentences: list[str] = []
    for _round, tie in ties:
        if tie.over == "election":
            tied = listed(names[number - 1] for number in tie.candidates)
            sentences += [_("%(names)s were tied.", names=tied), _how(record, tie, names)]
    if any(tie.over == "pairs" for _round, tie in ties):
        sentences += [_("Some majorities were equally strong."), DECIDED[record.tie_order]]
    on_the_way: dict[str, set[int]] = {}
    for round, tie in ties:
        if tie.over in ("elimination", "surplus"):
            on_the_way.setdefault(_how(record, tie), set()).add(round.number)
    for how, rounds in on_the_way.items():
        numbers = listed(map(str, sorted(rounds)))
        tied = ngettext(
            "There was a tie in round %(rounds)s.", "There were ties in rounds %(rounds)s.", len(rounds), rounds=numbers
        )
        sentences += [tied, how]
    return " ".join(map(str, sentences))


def _how(record: CountRecord, tie: Tie, names: Sequence[str] = ()) -> str:
    """What broke a tie; with `names`, in more detail."""
    match decided_by(record, tie):
        case "head-to-head":
            return _("The head-to-head comparison decided.")
        case "previous-rounds":
            last = tie.steps[-1]
            if not names:
                return _("An earlier round decided.")
            ahead = listed(names[number - 1] for number in last.left)
            return _("Round %(round)s decided, in which %(names)s had more votes.", round=last.round, names=ahead)
        case _:
            return DECIDED[record.tie_order]


def tie_sentence(record: CountRecord, tie: Tie, names: Sequence[str]) -> str:
    """Who was tied, and what decided."""
    return " ".join(map(str, _tie(record, tie, names)))


def _tie(record: CountRecord, tie: Tie, all_names: Sequence[str]) -> Iterator[str]:
    def named(candidates: Sequence[int]) -> str:
        return listed(all_names[number - 1] for number in candidates)

    if tie.over == "pairs":
        yield _("Equally strong majorities among %(names)s contradict each other.", names=named(tie.candidates))
        yield CHOSEN_FIRST[record.tie_order](len(tie.chosen), named(tie.chosen))
        return
    yield _tied(record, tie, named(tie.candidates))
    fewer = tie.over == "elimination"
    for step in tie.steps:
        left, round = named(step.left), step.round
        if fewer:
            yield _("%(names)s had fewer votes in round %(round)s.", names=left, round=round)
        else:
            yield _("%(names)s had more votes in round %(round)s.", names=left, round=round)
    if tie.head_to_head:
        before = tie.steps[-1].left if tie.steps else tie.candidates
        others = named([candidate for candidate in before if candidate not in tie.head_to_head])
        these, count = named(tie.head_to_head), len(tie.head_to_head)
        if fewer:
            yield ngettext(
                "Head to head, %(names)s loses to %(others)s.",
                "Head to head, %(names)s lose to %(others)s.",
                count,
                names=these,
                others=others,
            )
        else:
            yield ngettext(
                "Head to head, %(names)s beats %(others)s.",
                "Head to head, %(names)s beat %(others)s.",
                count,
                names=these,
                others=others,
            )
    if tie.by_lot:
        yield from _nothing_else(record)
        tied = tie.head_to_head or (tie.steps[-1].left if tie.steps else tie.candidates)
        last = record.tie_order != "seed" and tie.chosen == (max(tied, key=record.lot_order.index),)
        chosen = (CHOSEN_LAST if last else CHOSEN_FIRST)[record.tie_order]
        yield chosen(len(tie.chosen), named(tie.chosen))


def _tied(record: CountRecord, tie: Tie, names: str) -> str:
    """Who is tied for what, and with how many votes or points."""
    if tie.votes is None:
        if tie.over == "elimination":
            return _("%(names)s are tied to be eliminated.", names=names)
        if tie.over == "election":
            return _("%(names)s are tied to be elected.", names=names)
        return _("%(names)s are tied to pass on votes first.", names=names)
    if record.method == "borda":
        points = grouped(tie.votes, record.decimals)
        return _("%(names)s are tied to be elected, each with %(points)s points.", names=names, points=points)
    votes = in_votes(tie.votes, record.decimals)
    if tie.over == "elimination":
        return _("%(names)s are tied to be eliminated, each with %(votes)s.", names=names, votes=votes)
    if tie.over == "election":
        return _("%(names)s are tied to be elected, each with %(votes)s.", names=names, votes=votes)
    return _("%(names)s are tied to pass on votes first, each with %(votes)s.", names=names, votes=votes)


def _nothing_else(record: CountRecord) -> Iterator[str]:
    """What was tried before the deciding order."""
    looks_back = record.rules.ties != "lot" and record.method in IN_ROUNDS
    compares = record.rules.ties == "head-to-head"
    if looks_back and compares:
        yield _("No earlier round and no head-to-head comparison breaks the tie.")
    elif looks_back:
        yield _("No earlier round breaks the tie.")
    elif compares:
        yield _("Head to head they are equal, too.")

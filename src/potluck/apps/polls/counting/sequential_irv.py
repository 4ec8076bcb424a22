"""Sequential instant runoff: one seat after the other by irv, without the candidates elected before."""

from msgspec import structs

from potluck.apps.polls.counting.ballots import Contest
from potluck.apps.polls.counting.irv import irv
from potluck.apps.polls.counting.record import Round
from potluck.apps.polls.counting.rules import Rules
from potluck.apps.polls.counting.ties import Ties


def sequential_irv(contest: Contest, rules: Rules, ties: Ties) -> tuple[tuple[int, ...], tuple[Round, ...]]:
    """The winners in the order of their seats, and every seat's rounds, numbered consecutively."""
    winners: list[int] = []
    rounds: list[Round] = []
    for seat in range(1, rules.seats + 1):
        elected, of_this_seat = irv(contest, rules, ties, winners, seat)
        # Ties refer to rounds of the same seat, numbered from its first.
        before = len(rounds)
        rounds += [
            structs.replace(
                round,
                number=round.number + before,
                ties=tuple(
                    structs.replace(
                        tie, steps=tuple(structs.replace(step, round=step.round + before) for step in tie.steps)
                    )
                    for tie in round.ties
                ),
            )
            for round in of_this_seat
        ]
        winners += elected
        if not elected or len(winners) == len(contest.declared):
            break
    return tuple(winners), tuple(rounds)

"""The rounds of a record as steps for readers: candidates without a vote leave together, in one step."""

from msgspec import structs

from potluck.apps.polls.counting import CountRecord, Round, Tie
from potluck.apps.polls.counting.tie_sentences import deciding_ties


def in_steps(record: CountRecord) -> CountRecord:
    """The record with fewer rounds, renumbered; the stored record and the downloads keep the original rounds."""
    decisive = [tie for _, tie in deciding_ties(record)]
    groups: list[list[Round]] = []
    for round in record.rounds:
        if groups and _without_votes(round, decisive) and _without_votes(groups[-1][-1], decisive):
            groups[-1].append(round)
        else:
            groups.append([round])
    if len(groups) == len(record.rounds):
        return record
    numbers = {round.number: step for step, group in enumerate(groups, 1) for round in group}
    return structs.replace(record, rounds=tuple(_step(group, numbers, record) for group in groups))


def _without_votes(round: Round, decisive: list[Tie]) -> bool:
    """Whether one candidate leaves in this round, without a vote to pass on, and nothing else happens."""
    return (
        round.reason in ("fewest", "exclusion")
        and len(round.eliminated) == 1
        and not round.elected
        and not any(transfer.total for transfer in round.transfers)
        and not any(tie in decisive for tie in round.ties)
    )


def _step(rounds: list[Round], numbers: dict[int, int], record: CountRecord) -> Round:
    first = rounds[0]
    if len(rounds) > 1:
        shown = rounds[-1] if record.tallies_after_transfers else first
        eliminated = tuple(number for round in rounds for number in round.eliminated)
        first = structs.replace(shown, reason="no-votes", eliminated=eliminated, ties=(), transfers=())
    return structs.replace(
        first, number=numbers[rounds[0].number], ties=tuple(_tie(tie, numbers) for tie in first.ties)
    )


def _tie(tie: Tie, numbers: dict[int, int]) -> Tie:
    return structs.replace(tie, steps=tuple(structs.replace(step, round=numbers[step.round]) for step in tie.steps))

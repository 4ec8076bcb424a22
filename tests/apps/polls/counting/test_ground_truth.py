"""Published elections come out as published: every round's tallies, elected, eliminated, exhausted, transfers."""

from decimal import Decimal

import pytest
from msgspec import UNSET

from potluck.apps.polls.counting import count, results
from tests.apps.polls.counting import ground_truth


@pytest.mark.parametrize("listed", ground_truth.every())
def test_every_round_is_as_published(listed):
    election = ground_truth.election(listed)
    expected, names = election.expected, election.file.candidates
    record = count(len(names), election.file.ballots, election.rules, election.lot_order)
    counted = results(record, names)

    assert sorted(counted.winners) == sorted(expected["winners"])
    passes = [each["rounds"] for each in expected["passes"]] if "passes" in expected else [expected["rounds"]]
    assert len(counted.rounds) == sum(map(len, passes))
    seats = [seat for seat, rounds in enumerate(passes, 1) for _ in rounds]
    assert [each.seat for each in counted.rounds] == [seat if len(passes) > 1 else UNSET for seat in seats]
    for ours, published in zip(counted.rounds, (each for rounds in passes for each in rounds), strict=True):
        # A name for which there is no vote at all may be in the report and not on the ballots.
        on_ballots = {name: votes for name, votes in published["tallies"].items() if name in names or votes}
        assert ground_truth.amounts(ours.tallies) == ground_truth.amounts(on_ballots)
        assert set(ours.eliminated) == {name for name in published["eliminated"] if name in on_ballots or name in names}
        if "elected" in published:
            assert set(ours.elected) == set(published["elected"])
        for field in ("threshold", "quota"):
            if field in published:
                assert Decimal(ours.threshold) == Decimal(str(published[field]))
        exhausted = ground_truth.amounts(ours.exhausted)
        if "inactive" in published and (election.raw or not counted.blank):
            inactive = ground_truth.amounts(published["inactive"])
            assert exhausted == {cause: votes for cause, votes in inactive.items() if votes}
        for field in ("exhausted", "non_transferable"):
            if field in published:
                assert sum(exhausted.values()) == Decimal(str(published[field]))
        if "of_which_overvote" in published:
            assert exhausted.get("overvotes", 0) == published["of_which_overvote"]
        if "transfers" in published:
            assert _transfers(ours) == ground_truth.transfers(published["transfers"])
    if "condorcet_winner" in expected:
        assert counted.condorcet_winner == expected["condorcet_winner"]
    for name, row in expected.get("pairwise", {}).items():
        assert counted.pairwise[name] == {other: votes for other, votes in row.items() if other != name}
    if "summary" in expected:
        # Where somebody was excluded, ballots that name nobody else are not among those that we have.
        missing = int(expected["summary"]["totalNumBallots"]) - expected["ballots_total"]
        assert counted.votes == expected["ballots_total"]
        assert counted.blank == expected["summary"]["undervotes"] - missing


def _transfers(ours):
    moved = {}
    for each in ours.transfers:
        to = ground_truth.amounts(each.to)
        if each.exhausted:
            to["exhausted"] = sum(map(Decimal, each.exhausted.values()))
        if isinstance(each.residual, str):
            to["residual surplus"] = Decimal(each.residual)
        if to:
            moved[each.source] = to
    return moved

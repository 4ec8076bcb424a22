"""Which process reads which shard: equally many each, and no more changes hands than has to."""

import random
from collections import Counter

import pytest

from potluck.streams.shard_assignment import UnfinishedShard, assignment

Shards = dict[str, UnfinishedShard]


def free(*names: str) -> Shards:
    return {name: UnfinishedShard(None, None) for name in names}


def settled(members: list[str], shards: Shards, order: random.Random, *, spread: bool = True) -> int:
    """Have the members act in turn until none has anything to do; how many shards were let go."""
    moved = 0
    for _ in range(20):
        quiet = True
        for me in order.sample(members, len(members)):
            plan = assignment(me, members, shards, spread=spread)
            for name in plan.let_go:
                assert shards[name].owner == me
                shards[name] = shards[name]._replace(owner=None)
                moved += 1
            for name in plan.take:
                assert shards[name].owner not in members
                shards[name] = shards[name]._replace(owner=me)
            quiet = quiet and not plan.let_go and not plan.take
        if quiet:
            return moved
    raise AssertionError("it never settles")


def counts(shards: Shards) -> list[int]:
    return sorted(Counter(shard.owner for shard in shards.values()).values())


@pytest.mark.parametrize("seed", range(20))
def test_every_shard_has_an_owner_and_all_have_equally_many(seed: int) -> None:
    chance = random.Random(seed)
    shards = free(*(f"s{number}" for number in range(chance.randrange(1, 20))))
    members = [f"m{number}" for number in range(chance.randrange(1, 6))]
    settled(members, shards, chance)
    assert all(shard.owner in members for shard in shards.values())
    fair, more = divmod(len(shards), len(members))
    expected = [fair] * (len(members) - more) + [fair + 1] * more
    assert counts(shards) == sorted(count for count in expected if count)


@pytest.mark.parametrize("seed", range(10))
def test_one_that_joins_gets_its_share_and_the_others_keep_the_rest(seed: int) -> None:
    chance = random.Random(seed)
    shards = free(*(f"s{number}" for number in range(12)))
    settled(["a", "b"], shards, chance)
    assert settled(["a", "b", "c"], shards, chance) == 4
    assert counts(shards) == [4, 4, 4]


def test_the_shards_of_one_that_is_gone_are_taken_without_moving_others() -> None:
    chance = random.Random(1)
    shards = free(*(f"s{number}" for number in range(9)))
    settled(["a", "b", "c"], shards, chance)
    before = {name for name, shard in shards.items() if shard.owner != "c"}
    kept = {name: shards[name] for name in before}
    assert settled(["a", "b"], shards, chance) == 0
    assert {name: shards[name] for name in before} == kept
    assert counts(shards) == [4, 5]


def test_children_stay_with_the_process_that_reads_their_parent() -> None:
    shards = {
        "x": UnfinishedShard("a", "trimmed"),
        "x1": UnfinishedShard(None, "x"),
        "x2": UnfinishedShard(None, "x"),
        "y": UnfinishedShard("b", None),
    }
    assert assignment("b", ["a", "b"], shards) == ([], [])
    assert assignment("a", ["a", "b"], shards) == ([], ["x1", "x2"])
    shards |= {name: shards[name]._replace(owner="a") for name in ("x1", "x2")}
    # The parent is finished: of three lines, one of two processes has two.
    del shards["x"]
    assert settled(["a", "b"], shards, random.Random(1)) == 0
    # A third process gets one.
    assert settled(["a", "b", "c"], shards, random.Random(1)) == 1
    assert counts(shards) == [1, 1, 1]


def test_who_lets_a_shard_go_lets_its_children_go_too() -> None:
    shards = {
        "x": UnfinishedShard("a", None),
        "y": UnfinishedShard("a", None),
        "y1": UnfinishedShard("a", "y"),
    }
    assert assignment("a", ["a", "b"], shards) == (["y", "y1"], [])


def test_without_shards_there_is_nothing_to_do() -> None:
    assert assignment("a", ["a", "b"], {}) == ([], [])


@pytest.mark.parametrize("seed", range(10))
def test_without_spread_one_reads_everything_until_it_is_gone(seed: int) -> None:
    chance = random.Random(seed)
    shards = free(*(f"s{number}" for number in range(6)))
    settled(["c"], shards, chance, spread=False)
    assert settled(["a", "b", "c"], shards, chance, spread=False) == 0, "a newcomer takes nothing"
    assert {shard.owner for shard in shards.values()} == {"c"}
    settled(["a", "b"], shards, chance, spread=False)
    assert len({shard.owner for shard in shards.values()}) == 1
    # As after an upgrade from a version that shared them.
    mixed = {name: shard._replace(owner="ab"[place % 2]) for place, (name, shard) in enumerate(shards.items())}
    settled(["a", "b"], mixed, chance, spread=False)
    assert len({shard.owner for shard in mixed.values()}) == 1

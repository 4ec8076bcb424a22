"""Which shards a process lets go and takes, so that all processes of a group end up with equally many, or one with all.

Every process computes this for itself from the same rows. A shard that is split goes on in its children, which stay
with the process that reads their parent; so only the eldest unfinished shard of each line counts.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple


class UnfinishedShard(NamedTuple):
    """A shard that still has to be read, or has work left."""

    owner: str | None
    parent: str | None


class Assignment(NamedTuple):
    """What one process should do; the names of shards."""

    let_go: list[str]
    take: list[str]


def assignment(
    me: str, members: Collection[str], shards: Mapping[str, UnfinishedShard], *, spread: bool = True
) -> Assignment:
    """What `me`, one of the members, lets go and takes; without `spread`, one member ends up with everything."""
    roots = [name for name in sorted(shards) if shards[name].parent not in shards]
    held = Counter(shards[name].owner for name in roots)
    mine = [name for name in roots if shards[name].owner == me]
    by_size = sorted(members, key=lambda member: (-held[member], member))
    fair = _fair_share(by_size.index(me), len(members) if spread else 1, len(roots))
    kept, surplus = mine[:fair], mine[fair:]
    free = [name for name in roots if shards[name].owner not in members]
    # Each process begins elsewhere, so that several do not reach for the same shard.
    start = sorted(members).index(me) * len(free) // len(members)
    taken = [*free[start:], *free[:start]][: fair - len(kept)]
    let_go, take = [*surplus], [*taken]
    for name in sorted(shards):
        if name in roots:
            continue
        root = _root(name, shards)
        if root in surplus and shards[name].owner == me:
            let_go.append(name)
        elif shards[name].owner not in members and (root in kept or root in taken):
            take.append(name)
    return Assignment(let_go, take)


def _fair_share(place: int, sharers: int, count: int) -> int:
    """How many shards the member at this place should have: the one more that some must have is for those with most."""
    least, more = divmod(count, sharers)
    return least + (place < more) if place < sharers else 0


def _root(name: str, shards: Mapping[str, UnfinishedShard]) -> str:
    parent = shards[name].parent
    while parent is not None and parent in shards:
        name, parent = parent, shards[parent].parent
    return name

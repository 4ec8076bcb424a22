"""Rebuilds counts from the votes: if votes were put into the table without counts, or an audit found differences.

The differences are added to the counts, as a vote adds to them, on the condition that no shard has changed since the
votes were read. That also increments the shards, so that older records are no longer shown.
"""

from collections import Counter
from uuid import UUID

from msgspec import Struct

from potluck.apps.polls.candidates import Numbers
from potluck.apps.polls.entities import SHARDS, Count, Poll, Ranking, Shard, Vote
from potluck.store import Store
from potluck.table import Operation, WriteRefused, absent, put, the, update, upsert

ATTEMPTS = 5
# A transaction may have 100 actions, and the shards are ten of them.
COUNTS_AT_ONCE = 80


class VotesKeepComing(RuntimeError):
    """Every attempt was interrupted by new votes."""


class Recount(Struct, frozen=True, kw_only=True):
    votes: int
    """How many valid votes there are."""
    counted: int
    """How many were counted before."""
    changed: int
    """How many rankings had a wrong count."""
    unreadable: int
    """Votes that rank a name that is not a candidate; they are not counted."""


async def recounted(store: Store, poll: Poll) -> Recount:
    """Correct the counts to match the votes, and report what was wrong."""
    for _ in range(ATTEMPTS):
        before = await store.all(Shard.of_poll(poll.poll_id))
        votes, in_shards, unreadable = await tally_votes(store, poll)
        counts: dict[Ranking, int] = {row.ranking: row.count async for row in store.each(Count.of_poll(poll.poll_id))}
        if await store.all(Shard.of_poll(poll.poll_id)) != before:
            continue
        missing = {
            ranking: votes[ranking] - counts.get(ranking, 0)
            for ranking in sorted({*votes, *counts})
            if votes[ranking] != counts.get(ranking, 0)
        }
        shards = {row.shard: row for row in before}
        shards_right = all(in_shards[n] == (shards[n].votes if n in shards else 0) for n in range(SHARDS))
        recount = Recount(
            votes=votes.total(), counted=sum(counts.values()), changed=len(missing), unreadable=unreadable
        )
        if not missing and shards_right:
            return recount
        try:
            await _correct(store, poll.poll_id, missing, in_shards, shards)
        except WriteRefused:
            continue
        return recount
    raise VotesKeepComing


async def tally_votes(store: Store, poll: Poll) -> tuple[Counter[Ranking], Counter[int], int]:
    """The numbers of votes with each ranking, in each shard, and with a name that is not a candidate's."""
    numbers = Numbers(poll)
    votes: Counter[Ranking] = Counter()
    in_shards: Counter[int] = Counter()
    unreadable = 0
    async for vote in store.each(Vote.of_poll(poll.poll_id)):
        ranking = tuple(numbers.number(name) or 0 for name in vote.rankings)
        if 0 in ranking:
            unreadable += 1
            continue
        votes[ranking] += 1
        in_shards[vote.vote_id.int % SHARDS] += 1
    return votes, in_shards, unreadable


async def _correct(
    store: Store,
    poll_id: UUID,
    missing: dict[Ranking, int],
    in_shards: Counter[int],
    shards: dict[int, Shard],
) -> None:
    """The first write corrects all shards; every write increments the first, so that of two recounts one is refused."""
    rankings = list(missing)
    for start in range(0, max(1, len(rankings)), COUNTS_AT_ONCE):
        operations: list[Operation] = [
            upsert(Count.one(poll_id, ranking), the(Count.count).add(missing[ranking]))
            for ranking in rankings[start : start + COUNTS_AT_ONCE]
        ]
        for shard in range(SHARDS if start == 0 else 1):
            was = shards.get(shard)
            done = start // COUNTS_AT_ONCE
            if was is None and not done:
                new = Shard(poll_id=poll_id, shard=shard, votes_version=1, votes=in_shards[shard])
                operations.append(put(new, when=absent))
                continue
            changes = [the(Shard.votes_version).add(1)]
            if not done and was is not None and in_shards[shard] != was.votes:
                changes.append(the(Shard.votes).add(in_shards[shard] - was.votes))
            unchanged = the(Shard.votes_version) == (was.votes_version if was else 0) + done
            operations.append(update(Shard.one(poll_id, shard), *changes, when=unchanged))
        await store.transact(*operations)

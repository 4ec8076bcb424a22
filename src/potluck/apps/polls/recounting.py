"""Rebuilds counts from the votes: if votes were put into the table without counts, or an audit found differences.

The differences are added to the counts, as a vote adds to them, on the condition that no shard has changed since the
votes were read. That also increments the shards, so that older records are no longer shown.
"""

from collections import Counter
from uuid import UUID

from msgspec import Struct

from potluck.apps.polls.candidates import Numbers
from potluck.apps.polls.count_records import version_of, votes_of
from potluck.apps.polls.entities import Count, CountRow, Poll, Ranking, Shard, Vote
from potluck.store import Store
from potluck.table import Operation, WriteRefused, absent, put, the, update, upsert

ATTEMPTS = 5
# A transaction may have 100 actions, and the shards are up to 64 of them.
COUNTS_AT_ONCE = 30


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
        votes, unreadable = await tally_votes(store, poll)
        counts: Counter[Ranking] = Counter()
        async for row in store.each(CountRow.of_poll(poll.poll_id)):
            counts[row.ranking] += row.count
        if version_of(await store.all(Shard.of_poll(poll.poll_id))) != version_of(before):
            continue
        missing = {
            ranking: votes[ranking] - counts[ranking]
            for ranking in sorted({*votes, *counts})
            if votes[ranking] != counts[ranking]
        }
        recount = Recount(
            votes=votes.total(), counted=sum(counts.values()), changed=len(missing), unreadable=unreadable
        )
        if not missing and votes.total() == votes_of(before):
            return recount
        try:
            await _correct(store, poll.poll_id, missing, votes.total() - votes_of(before), before)
        except WriteRefused:
            continue
        return recount
    raise VotesKeepComing


async def tally_votes(store: Store, poll: Poll) -> tuple[Counter[Ranking], int]:
    """The numbers of votes with each ranking, and with a name that is not a candidate's."""
    numbers = Numbers(poll)
    votes: Counter[Ranking] = Counter()
    unreadable = 0
    async for vote in store.each(Vote.of_poll(poll.poll_id)):
        ranking = tuple(numbers.number(name) or 0 for name in vote.rankings)
        if 0 in ranking:
            unreadable += 1
            continue
        votes[ranking] += 1
    return votes, unreadable


async def _correct(
    store: Store, poll_id: UUID, missing: dict[Ranking, int], uncounted: int, shards: list[Shard]
) -> None:
    """The first write increments all shards, and corrects the first; every write increments that one, so that of two
    recounts one is refused."""
    rankings = list(missing)
    for start in range(0, max(1, len(rankings)), COUNTS_AT_ONCE):
        operations: list[Operation] = [
            upsert(Count.one(poll_id, ranking), the(Count.count).add(missing[ranking]))
            for ranking in rankings[start : start + COUNTS_AT_ONCE]
        ]
        done = start // COUNTS_AT_ONCE
        if not shards and not done:
            operations.append(put(Shard(poll_id=poll_id, shard=0, votes_version=1, votes=uncounted), when=absent))
        elif not shards:
            operations.append(_incremented(Shard(poll_id=poll_id, shard=0), done))
        elif done:
            operations.append(_incremented(shards[0], done))
        else:
            operations.append(_incremented(shards[0], 0, uncounted))
            operations += [_incremented(shard, 0) for shard in shards[1:]]
        await store.transact(*operations)


def _incremented(shard: Shard, done: int, uncounted: int = 0) -> Operation:
    """Increments the shard, which nothing but this recount has done since it was read."""
    changes = [the(Shard.votes_version).add(1), *([the(Shard.votes).add(uncounted)] if uncounted else [])]
    unchanged = the(Shard.votes_version) == shard.votes_version + done
    return update(Shard.one(shard.poll_id, shard.shard), *changes, when=unchanged)

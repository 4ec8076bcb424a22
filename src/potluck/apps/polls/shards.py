"""The shards of a poll, one of which every vote adds to: how they are created, and how they stop accepting votes.

No vote touches the poll's row. What a vote has to know is in the shard that it adds to anyway: its `fence`. A vote says
which version of the poll its rule read, and a shard refuses those at or below its fence. So closing a poll, or ending
it earlier, first changes the poll's row, which turns away everyone who reads it from then on, and then raises the fence
of every shard, which refuses those who read it before. Fences only rise, so this may be repeated, by anyone, any time.
Where a poll ends because its time is over, no write changes its row; so the first reader who sees that raises a fence
there too, and no first vote that was begun in time can create shards under a final result.

The first vote creates the shards in its own transaction, which writes the poll's row too: so it and an edit cannot both
succeed. Where votes meet in the shards (`crowded_rows.py`), one of them adds more in the same way.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from potluck.apps.polls.access import still_open
from potluck.apps.polls.crowded_rows import CrowdedRows
from potluck.apps.polls.entities import MOST_SHARDS, SHARDS, Poll, Shard
from potluck.apps.polls.fields import MOST_VOTES_OF_SHARD
from potluck.store import Store, all_done
from potluck.table import Condition, Operation, WriteRefused, absent, check, put, the, update, upsert
from potluck.web import Outcome, ProblemError, or_raise, or_retry


class PollClosed(ProblemError, slug="poll-closed", title="The poll is closed", detail="This poll is closed"):
    """The poll has expired, or its creator has closed it. Votes can no longer be cast or changed, and the results are
    final."""


class PollFull(ProblemError, slug="poll-full", title="The poll is full", detail="This poll accepts no more votes"):
    """A poll accepts two million votes or more, and this one has reached its limit. Votes that were counted stay."""


# --- what a vote adds to ----------------------------------------------------------------------------------------------


def in_shard(
    poll: Poll, votes: int, store: Store, crowded: CrowdedRows, now: datetime, admitted_by: int | None = None
) -> Sequence[Outcome]:
    """Count a vote, a change (0) or a withdrawal (-1) in one of the poll's shards, if votes are still accepted.

    `admitted_by` is the version of the shareable that the caller was admitted by, if the poll belongs to one.
    """
    if not poll.shards:
        return _with_new_shards(poll, SHARDS, votes, crowded, now, admitted_by)
    if crowded.must_add_shards(poll, now):
        return _with_new_shards(poll, MOST_SHARDS, votes, crowded, now, admitted_by)
    shard = Shard.one(poll.poll_id, crowded.some_shard(poll))
    # Negated, because a shard from before there were withdrawals may lack the number.
    accepts: Condition = (the(Shard.fence) < poll.version) & ~(the(Shard.votes) >= MOST_VOTES_OF_SHARD)
    if admitted_by is not None:
        accepts &= the(Shard.access_fence) < admitted_by

    async def why(refusal: WriteRefused) -> Exception | None:
        return await _why_refused(refusal, poll, shard.values["shard"], store, now)

    changes = [the(Shard.votes_version).add(1), *([the(Shard.votes).add(votes)] if votes else [])]
    write = update(shard, *changes, when=accepts)
    return [or_raise(write, why, contended=lambda: crowded.note_crowded(poll, now))]


def _with_new_shards(
    poll: Poll, number: int, votes: int, crowded: CrowdedRows, now: datetime, admitted_by: int | None
) -> list[Outcome]:
    """Create shards up to this number, and count in one of them. The poll is as it was read, and still open."""
    as_read = _still_open_at(poll, now) & the(Poll.shards).still(poll.shards)
    if admitted_by is not None:
        as_read &= the(Poll.access_fence) < admitted_by
    announced = update(Poll.one(poll.poll_id), the(Poll.shards).becomes(number), when=as_read, keep_version=True)
    new = range(poll.shards, number)
    chosen = new[crowded.some_shard(poll) % len(new)]
    rows = [_new_shard(poll, shard, votes, 1) if shard == chosen else _new_shard(poll, shard, 0, 0) for shard in new]
    # In a storm, others do the same at this moment: then the poll is read again, rather than this done once more.
    return [or_retry(write, contended=_nothing) for write in (announced, *rows)]


def _still_open_at(poll: Poll, now: datetime) -> Condition:
    """The condition that the poll is as it was read, and that no one has seen its end."""
    return the(Poll.version).still(poll.version) & (the(Poll.fence) < poll.version) & still_open(now)


def _nothing() -> None:
    pass


def _new_shard(poll: Poll, shard: int, votes: int, votes_version: int) -> Operation:
    """Creates a shard that counts this; a row from before shards had fences keeps what it counted."""
    return upsert(
        Shard.one(poll.poll_id, shard),
        the(Shard.votes_version).add(votes_version),
        the(Shard.votes).add(votes),
        the(Shard.fence).becomes(poll.version - 1),
        the(Shard.access_fence).becomes(poll.access_fence),
    )


async def _why_refused(refusal: WriteRefused, poll: Poll, number: int, store: Store, now: datetime) -> Exception | None:
    """The problem that a refused shard means; None to read the poll again."""
    shard = refusal.current
    if isinstance(shard, Shard) and shard.fence < poll.version and shard.votes >= MOST_VOTES_OF_SHARD:
        return PollFull()
    stored = await store.get(Poll.one(poll.poll_id))
    if stored is None or stored.version != poll.version:
        return None
    if shard is not None:
        # Everyone who read this version is refused, and there is no later one: the poll has ended by another clock.
        return PollClosed() if shard.fence >= poll.version else None
    # The row was lost. A recount corrects what it had counted.
    as_read = _still_open_at(poll, now)
    empty = Shard(poll_id=poll.poll_id, shard=number, fence=poll.version - 1, access_fence=poll.access_fence)
    with suppress(WriteRefused):
        await store.transact(check(Poll.one(poll.poll_id), when=as_read), put(empty, when=absent))
    return None


# --- fences -----------------------------------------------------------------------------------------------------------


def is_sealed(poll: Poll, shards: Iterable[Shard]) -> bool:
    """Whether no vote of callers who read the poll as it is, or earlier, can be counted any more."""
    return not _may_grow(poll) and (not poll.shards or all(shard.fence >= poll.version for shard in shards))


async def seal(store: Store, poll: Poll) -> None:
    """Accept no more votes of callers who read the poll at this version or before; reopening it makes a later one."""
    if _may_grow(poll):
        # Closing changes the version, which a vote that adds shards checks; the end of its time does not.
        as_read = the(Poll.version).still(poll.version) & (the(Poll.fence) < poll.version)
        with suppress(WriteRefused):
            await store.update(
                Poll.one(poll.poll_id), the(Poll.fence).becomes(poll.version), when=as_read, keep_version=True
            )
    await _raise(store, poll.poll_id, "fence", poll.version)


def _may_grow(poll: Poll) -> bool:
    """Whether votes of callers who read the poll as it is may create shards, as far as its row can tell."""
    return poll.closed_at is None and poll.fence < poll.version


async def refuse_readers_before(store: Store, poll: Poll) -> None:
    """Accept no more votes of callers who read the poll before this version."""
    await _raise(store, poll.poll_id, "fence", poll.version - 1)


async def refuse_admitted_before(store: Store, poll: Poll) -> None:
    """Accept no more votes of callers that the shareable admitted at the version of the poll's fence, or before."""
    await _raise(store, poll.poll_id, "access_fence", poll.access_fence)


async def _raise(store: Store, poll_id: UUID, fence: Literal["fence", "access_fence"], version: int) -> None:
    """Raise a fence of every shard, each in a write of its own, so that no vote in another shard is in its way."""
    async for _ in store.attempts("raising the fences of a poll"):
        lower = [shard for shard in await store.all(Shard.of_poll(poll_id)) if getattr(shard, fence) < version]
        if all(await all_done([_raised(store, shard, the(getattr(Shard, fence)), version) for shard in lower])):
            return


async def _raised(store: Store, shard: Shard, fence: Any, version: int) -> bool:
    """Whether it surely was; if not, it may have been raised further, or the poll is gone."""
    with suppress(WriteRefused):
        await store.update(Shard.one(shard.poll_id, shard.shard), fence.becomes(version), when=fence <= version)
        return True
    return False

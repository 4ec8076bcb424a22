"""Deleting a poll with every row under it, however many there are, even if the process is killed halfway.

The transaction that deletes a poll also puts a Deletion. After that nothing new is written under the poll: every write
there checks in the same transaction that the poll exists, or, as a vote does, updates a shard, and those are deleted
first. So the number of rows can only shrink: a small poll is gone when the call returns; for a large one, the consumer
of the table's stream deletes the rest, in steps, and then the Deletion. The work is idempotent, so it may be killed at
any time.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from potluck.apps.polls.entities import CreatedPoll, Deletion, Poll, PollRow, Shard
from potluck.store import Store, all_done
from potluck.streams import StepDone, Steps, Work
from potluck.table import Operation, delete, put, the

ROWS_AT_ONCE = 500
ROWS_PER_WRITER = 125
# How many rows are deleted before the call returns; a million votes would take minutes.
ROWS_PROMPTLY = 2_000
DELETIONS_AT_ONCE = 50


def deleting(poll: Poll, now: datetime) -> list[Operation]:
    """The operations that delete the poll, for one transaction; refused if it was changed since it was read."""
    operations: list[Operation] = [
        delete(poll, when=the(Poll.version).still(poll.version)),
        put(Deletion(poll_id=poll.poll_id, deleted_at=now)),
    ]
    if poll.creator_id is not None:
        operations.append(
            delete(CreatedPoll(creator_id=poll.creator_id, created_at=poll.created_at, poll_id=poll.poll_id))
        )
    return operations


class PollKey(NamedTuple):
    """One poll."""

    poll_id: UUID


class Deletions:
    """Deletes the rows of deleted polls, to the last one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.rows = Steps("rows", PollKey, self._delete_some)
        self.unfinished = Steps("unfinished", str, self._resume)

    async def finishing(self, deletion: Deletion) -> Work[PollKey]:
        """Delete what is left, then the deletion itself."""
        return self.rows.of(PollKey(deletion.poll_id))

    async def begin(self, deletion: Deletion) -> None:
        """Delete as much as a caller waits for; the consumer does the rest."""
        after = None
        for _ in range(0, ROWS_PROMPTLY, ROWS_AT_ONCE):
            after = (await self._delete_some(PollKey(deletion.poll_id), after)).then
            if after is None:
                return

    def resuming(self) -> Work[str]:
        """Continue every unfinished deletion."""
        return self.unfinished.of("")

    async def _delete_some(self, poll: PollKey, after: bool | None) -> StepDone:
        if after is None:
            # A vote that had read the poll is counted in a shard, or not at all.
            await self._store.write_each(map(delete, await self._store.all(Shard.of_poll(poll.poll_id))))
        rows = (await self._store.page(PollRow.of_poll(poll.poll_id), ROWS_AT_ONCE)).items
        if not rows:
            await self._store.delete(Deletion.one(poll.poll_id))
            return StepDone()
        parts = [rows[start : start + ROWS_PER_WRITER] for start in range(0, len(rows), ROWS_PER_WRITER)]
        await all_done([self._store.write_each(map(delete, part)) for part in parts])
        return StepDone(True)

    async def _resume(self, _: str, after: Mapping[str, Any] | None) -> StepDone:
        page = await self._store.page(Deletion.all_under_way(), DELETIONS_AT_ONCE, after)
        return StepDone(page.next, also=[self.rows.of(PollKey(deletion.poll_id)) for deletion in page.items])

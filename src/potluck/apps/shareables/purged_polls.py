"""The polls of purged shareables, those that expired a year ago.

Deleting a shareable deletes everything under it at once. The sweeper removes an expired one row by row instead, and its
poll is in another table: the consumer of this table's stream deletes that.
"""

from uuid import UUID

from potluck.apps.polls.deletion import deleting
from potluck.apps.polls.entities import Poll
from potluck.apps.shareables.entities import Shareable
from potluck.store import Store
from potluck.table import WriteRefused


class PollsOfPurged:
    """Deletes the polls of shareables that are gone."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def delete_poll(self, shareable: Shareable) -> None:
        """Delete the poll of a shareable that is gone."""
        if shareable.poll_id is not None:
            await self._delete(shareable.poll_id)

    async def delete_orphans(self) -> None:
        """Check every poll that belongs to a shareable, because removals may have been missed."""
        async for poll in self._store.each(Poll.every()):
            if poll.short_id is not None and await self._store.get(Shareable.one(poll.short_id)) is None:
                await self._delete(poll.poll_id)

    async def _delete(self, poll_id: UUID) -> None:
        """Delete the poll itself; its votes and counts follow as with any deleted poll."""
        while (poll := await self._store.get(Poll.one(poll_id))) is not None:
            try:
                await self._store.transact(*deleting(poll, self._store.clock().replace(microsecond=0)))
            except WriteRefused:
                continue

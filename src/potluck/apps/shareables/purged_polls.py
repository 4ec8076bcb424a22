"""The polls of purged shareables, those that expired a year ago.

Deleting a shareable deletes everything under it at once. The sweeper removes an expired one row by row instead, and its
poll is in another table: the consumer of this table's stream deletes that.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from potluck.apps.polls.deletion import deleting
from potluck.apps.polls.entities import Poll
from potluck.apps.shareables.entities import Shareable
from potluck.store import Store
from potluck.streams import StepDone, Steps, Work
from potluck.table import WriteRefused

# Rows of the polls' table that one step looks at.
POLLS_AT_ONCE = 50


class PollsOfPurged:
    """Deletes the polls of shareables that are gone."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.orphans = Steps("orphans", str, self._delete_orphans)

    async def delete_poll(self, shareable: Shareable) -> None:
        """Delete the poll of a shareable that is gone."""
        if shareable.poll_id is not None:
            await self._delete(shareable.poll_id)

    def deleting_orphans(self) -> Work[str]:
        """Check every poll that belongs to a shareable, because removals may have been missed."""
        return self.orphans.of("")

    async def _delete_orphans(self, _: str, after: Mapping[str, Any] | None) -> StepDone:
        page = await self._store.scan_page(Poll.every(), POLLS_AT_ONCE, after)
        for poll in page.items:
            if poll.short_id is not None and await self._store.get(Shareable.one(poll.short_id)) is None:
                await self._delete(poll.poll_id)
        return StepDone(page.next)

    async def _delete(self, poll_id: UUID) -> None:
        """Delete the poll itself; its votes and counts follow as with any deleted poll."""
        while (poll := await self._store.get(Poll.one(poll_id))) is not None:
            try:
                await self._store.transact(*deleting(poll, self._store.clock().replace(microsecond=0)))
            except WriteRefused:
                continue

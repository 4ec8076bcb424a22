"""What goes with whom: the poll with its shareable, and a maker's shareables with their account.

A shareable that is deleted takes everything along at once. One whose year is over is taken away by the sweeper, row by
row; of a poll, which lies in another table, the consumer of this table's stream deletes the rest.
"""

from collections.abc import AsyncIterator
from uuid import UUID

from msgspec import Struct

from potluck.apps.polls.deletion import deleting
from potluck.apps.polls.entities import Poll
from potluck.apps.shareables.entities import ChecklistItem, CreatedShareable, Shareable, shareables
from potluck.apps.shareables.items import ItemView, in_order
from potluck.apps.shareables.shareables import OwnShareable, deletion_of
from potluck.engines.recording import access_pattern
from potluck.store import Clock, Store
from potluck.streams import Change, Consumer, PositionLost
from potluck.table import WriteRefused
from potluck.table.entity import plan_of
from potluck.table.tables import Request
from potluck.web.views import view_plan

__all__ = ["AccountData", "PollsOfPurged"]


class ItemOfShareable(Struct, rename="camel", frozen=True, kw_only=True):
    """One item in its maker's export."""

    short_id: str
    item: ItemView


class AccountData:
    """Everything of one person."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        """The shareables they made signed in, and what is on their lists."""
        made = await self._store.all(CreatedShareable.of_creator(user_id))
        found = [each for each in await self._store.get_many([Shareable.one(row.short_id) for row in made]) if each]
        for shareable in found:
            yield "shareables", view_plan(OwnShareable).show(shareable)
        for shareable in found:
            for item in in_order(await self._store.all(ChecklistItem.of(shareable.short_id))):
                shown = view_plan(ItemView).show(item)
                yield "items", ItemOfShareable(short_id=shareable.short_id, item=shown)

    async def forget(self, user_id: UUID) -> None:
        """Delete every shareable they made signed in; called again, it finds less to do."""
        for made in await self._store.all(CreatedShareable.of_creator(user_id)):
            while (shareable := await self._store.get(Shareable.one(made.short_id))) is not None:
                deletion = await deletion_of(self._store, shareable, self._clock().replace(microsecond=0))
                try:
                    await self._store.transact(*deletion.operations)
                except WriteRefused:
                    # Changed or deleted meanwhile: whatever it is now, it goes.
                    continue
                if deletion.after is not None:
                    await deletion.after()
            await self._store.delete(made)


class PollsOfPurged:
    """Deletes the polls of shareables that are gone."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def consumer(self) -> Consumer:
        return Consumer(
            self._store.engine, "shareable-polls", shareables.name, self.handle, of=[Shareable], lost=self.lost
        )

    async def handle(self, change: Change) -> None:
        """What the consumer of the table's stream does with a change."""
        plan = plan_of(Shareable)
        if change.kind != "REMOVE" or change.old is None or not plan.matches(change.old):
            return
        shareable: Shareable = plan.coding.decode(change.old)
        if shareable.poll_id is not None:
            await self._delete(shareable.poll_id)

    async def lost(self, lost: PositionLost) -> None:
        """Changes may have been missed: every poll of a shareable is looked at."""
        plan, body = plan_of(Poll), {"TableName": plan_of(Poll).table.name}
        while True:
            with access_pattern("Poll of purged shareables"):
                answer = await self._store.repeat(Request("Scan", body))
            for poll in (plan.coding.decode(each) for each in answer["Items"] if plan.matches(each)):
                if poll.short_id is not None and await self._store.get(Shareable.one(poll.short_id)) is None:
                    await self._delete(poll.poll_id)
            if "LastEvaluatedKey" not in answer:
                return
            body |= {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    async def _delete(self, poll_id: UUID) -> None:
        """The poll for everybody; the rest of it follows as with every poll."""
        while (poll := await self._store.get(Poll.one(poll_id))) is not None:
            try:
                await self._store.transact(*deleting(poll, self._clock().replace(microsecond=0)))
            except WriteRefused:
                continue

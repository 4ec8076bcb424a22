"""What pointed to something that is deleted points to nothing, however many there are and whoever is killed when.

The transaction that deletes also puts a Deletion, and loosens the links that were found if they fit into it. No link
can be made after it, for whoever makes one checks in the same transaction that its target is there. So whatever links
are left then are found by looking once more: the consumer of the table's stream does that for every Deletion, in
batches, and takes the Deletion away when none is left. Done twice it does nothing, so it may be killed at any moment.
"""

import contextlib
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any
from uuid import UUID

from potluck.apps.shopping.entities import (
    Deletable,
    Deletion,
    EverythingOfFamily,
    InventoryItem,
    Member,
    PendingGuard,
    ShoppingListItem,
    StorageLocation,
    Store,
    inventory,
)
from potluck.apps.shopping.membership import Membership, Standing
from potluck.apps.shopping.turns import Again
from potluck.engines import DynamoError
from potluck.people.authentication import Alongside
from potluck.people.invitations import Invitations
from potluck.store import Clock
from potluck.store import Store as Rows
from potluck.streams import Change, PositionLost
from potluck.table import (
    Condition,
    OutcomeUnknown,
    Request,
    Unavailable,
    WriteRefused,
    delete,
    present,
    put,
    the,
    update,
)
from potluck.table.entity import plan_of
from potluck.table.operations import Operation

__all__ = ["APP", "LINKS_AT_ONCE", "Orphans"]

APP = "shopping"
"""What Shopping is called where people are invited."""

# A transaction takes 100 actions. Beside the links there are the caller's membership, the deleted row with the guard of
# its name, the guard of its pending items, the Deletion, and up to three that keep an idempotent answer.
LINKS_AT_ONCE = 90
# After so many refusals the deletion is recorded alone, and its links are left to the consumer.
TRIES_AT_ONCE = 3

Linked = ShoppingListItem | InventoryItem


class Orphans:
    """Deletes what others point to, and loosens what is left of the links."""

    def __init__(self, rows: Rows, clock: Clock, membership: Membership, invitations: Invitations) -> None:
        self._rows = rows
        self._clock = clock
        self._membership = membership
        self._invitations = invitations

    async def delete(
        self,
        standing: Standing,
        gone: InventoryItem | StorageLocation | Store,
        alongside: Alongside[None],
        when: Condition = present,
    ) -> None:
        """Delete it with its links, by one transaction where they fit; else it is recorded and carried on.

        WriteRefused with the operation on `gone` itself, if that is no longer as it was read.
        """
        what, gone_id = _named(gone)
        again = Again(f"deleting a {what}", self._rows.patience)
        while True:
            now = self._now()
            links = await self._links(gone.family_id, what, gone_id)
            together = len(links) <= LINKS_AT_ONCE and again.attempt < TRIES_AT_ONCE
            loosened = [loosening(each, gone_id, now) for each in links] if together else []
            try:
                await self._membership.transact(
                    standing,
                    delete(gone, when=when),
                    put(
                        Deletion(
                            family_id=gone.family_id,
                            what=what,
                            gone_id=gone_id,
                            deleted_by=standing.member.member_id,
                            created_at=now,
                        )
                    ),
                    *([delete(PendingGuard.by_item(gone.family_id, gone_id))] if what == "item" else []),
                    *loosened,
                    *alongside(None),
                )
                return
            except WriteRefused as refusal:
                if not any(refusal.operation is each for each in loosened):
                    raise
            await again.wait()

    # --- carrying it to the end ---------------------------------------------------------------------------------

    async def handle(self, change: Change) -> None:
        """What the consumer of the table's stream does with a change."""
        row = change.new
        if change.kind != "INSERT" or row is None or not plan_of(Deletion).matches(row):
            return
        try:
            await self.carry(plan_of(Deletion).coding.decode(row))
        except (Unavailable, OutcomeUnknown) as error:
            # Whatever keeps the engine busy passes; the consumer then waits instead of giving up.
            raise DynamoError("ThrottlingException", str(error)) from error

    async def lost(self, lost: PositionLost) -> None:
        """Changes may have been missed: every deletion that is under way is looked for, wherever it is."""
        async for deletion in self._everywhere():
            await self.carry(deletion)

    async def carry(self, deletion: Deletion) -> None:
        """Loosen every link that is left, then the deletion is over; again, it finds nothing to do."""
        if deletion.what == "family":
            await self._carry_family(deletion)
        else:
            again = Again("loosening links", self._rows.patience)
            while links := await self._links(deletion.family_id, deletion.what, deletion.gone_id):
                now = self._now()
                for start in range(0, len(links), LINKS_AT_ONCE):
                    await self._each(
                        [loosening(each, deletion.gone_id, now) for each in links[start : start + LINKS_AT_ONCE]]
                    )
                await again.wait()
        await self._rows.delete(Deletion.by_id(deletion.family_id, deletion.what, deletion.gone_id))

    async def _carry_family(self, deletion: Deletion) -> None:
        family_id = deletion.family_id
        await self._invitations.withdraw_all(APP, str(family_id))
        again = Again("deleting what a family had", self._rows.patience)
        while left := await self._left_of(family_id):
            # Whatever was refused changed since it was read, and is read again.
            with contextlib.suppress(WriteRefused):
                await self._rows.write_each(left)
            await again.wait()

    async def _left_of(self, family_id: UUID) -> list[Operation]:
        """What deletes all that is in the family's partition, but for the record that it is to go."""
        found = await self._rows.gather(EverythingOfFamily.of(family_id))
        assert found is not None
        return [
            *(delete(Member.by_id(family_id, each.member_id)) for each in found.members),
            *(delete(InventoryItem.by_id(family_id, each.item_id)) for each in found.inventory_items),
            *(delete(ShoppingListItem.by_id(family_id, each.shopping_item_id)) for each in found.shopping_items),
            # With the guards of their names
            *(delete(each) for each in (*found.locations, *found.stores)),
            *(delete(each) for each in (*found.pending_guards, *found.cleared_items)),
            *(delete(each) for each in found.deletions if each.what != "family"),
        ]

    async def _each(self, operations: list[Operation]) -> None:
        """All of them, together if none is refused; what somebody else has changed meanwhile is for the next look."""
        try:
            await self._rows.transact(*operations)
        except WriteRefused:
            for operation in operations:
                try:
                    await self._rows.transact(operation)
                except WriteRefused:
                    continue

    # --- finding --------------------------------------------------------------------------------------------------

    async def _links(self, family_id: UUID, what: Deletable, gone_id: UUID) -> list[Linked]:
        """Everything that points to it, by consistent reads: what an index overlooks would stay for ever."""
        links: list[Linked] = []
        if what == "item":
            links += await self._rows.all(ShoppingListItem.orphaned_by(family_id, gone_id))
        if what == "store":
            links += await self._rows.all(ShoppingListItem.unassigned_by(family_id, gone_id))
        if what in ("store", "location"):
            items = await self._rows.all(InventoryItem.all_of_family(family_id))
            links += [each for each in items if _points_to(each, gone_id)]
        return links

    async def _everywhere(self) -> AsyncIterator[Deletion]:
        plan = plan_of(Deletion)
        body: dict[str, Any] = {
            "TableName": inventory.name,
            "ConsistentRead": True,
            "FilterExpression": "#type = :type",
            "ExpressionAttributeNames": {"#type": "entityType"},
            "ExpressionAttributeValues": {":type": {"S": "Deletion"}},
        }
        while True:
            answer = await self._rows.repeat(Request("Scan", body))
            for row in answer["Items"]:
                yield plan.coding.decode(row)
            if "LastEvaluatedKey" not in answer:
                return
            body = {**body, "ExclusiveStartKey": answer["LastEvaluatedKey"]}

    def _now(self) -> datetime:
        return self._clock().replace(microsecond=0)


def loosening(row: Linked, gone_id: UUID, now: datetime) -> Operation:
    """The row without its link, and everything else as it was."""
    if isinstance(row, ShoppingListItem):
        link = the(ShoppingListItem.item_id) if row.item_id == gone_id else the(ShoppingListItem.store_id)
        return update(row, link.becomes(None), the(ShoppingListItem.updated_at).becomes(now))
    changes = []
    if row.location_id == gone_id:
        changes.append(the(InventoryItem.location_id).becomes(None))
    if row.preferred_store_id == gone_id:
        changes.append(the(InventoryItem.preferred_store_id).becomes(None))
    if gone_id in row.alternate_store_ids:
        left = tuple(each for each in row.alternate_store_ids if each != gone_id)
        changes.append(the(InventoryItem.alternate_store_ids).becomes(left))
    return update(row, *changes, the(InventoryItem.updated_at).becomes(now))


def _points_to(item: InventoryItem, gone_id: UUID) -> bool:
    return gone_id in (item.location_id, item.preferred_store_id, *item.alternate_store_ids)


def _named(gone: InventoryItem | StorageLocation | Store) -> tuple[Deletable, UUID]:
    match gone:
        case InventoryItem():
            return "item", gone.item_id
        case StorageLocation():
            return "location", gone.location_id
        case Store():
            return "store", gone.store_id

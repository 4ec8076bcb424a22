"""Deletes rows that other rows link to, and clears the links.

The deleting transaction also puts a Deletion, and clears the links that it found if they fit. No link can be made after
it, because every write that makes one checks in the same transaction that its target exists. So one more search finds
the rest: the consumer of the table's stream does it for every Deletion, in steps, and deletes the Deletion when no link
is left. The work is idempotent, so the consumer may be killed at any moment.
"""

import contextlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from potluck.apps.shopping.access import InFamily
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
)
from potluck.store import Store as Rows
from potluck.streams import StepDone, Steps, Work
from potluck.table import (
    Condition,
    Operation,
    WriteRefused,
    delete,
    present,
    put,
    the,
    update,
)
from potluck.web import Core, Outcome, or_retry

APP = "shopping"
"""The app's name in invitations."""

# A transaction takes 100 actions. In addition to the links there are the caller's row, the deleted row and the guard of
# its name, the guard of its pending items, the Deletion, and up to three actions that store an idempotent response.
LINKS_AT_ONCE = 90
# The rows of one step: a fraction of a second on either engine.
ROWS_PER_STEP = 270
# After this many refused attempts the row is deleted alone, and its links are left to the consumer.
TRIES_AT_ONCE = 3

Linked = ShoppingListItem | InventoryItem


async def deleting(
    at: InFamily, gone: InventoryItem | StorageLocation | Store, when: Condition = present
) -> list[Operation | Outcome]:
    """The operations that delete a row and, if they fit into one transaction, the links to it."""
    what, gone_id = _named(gone)
    links = await links_to(at.store, gone.family_id, what, gone_id)
    together = len(links) <= LINKS_AT_ONCE and at.attempt < TRIES_AT_ONCE
    deletion = Deletion(
        family_id=gone.family_id, what=what, gone_id=gone_id, deleted_by=at.principal.user_id, created_at=at.now
    )
    return [
        delete(gone, when=when),
        put(deletion),
        *([delete(PendingGuard.by_item(gone.family_id, gone_id))] if what == "item" else []),
        *(or_retry(unlinked(link, gone_id, at.now)) for link in links if together),
    ]


async def links_to(rows: Rows, family_id: UUID, what: Deletable, gone_id: UUID) -> list[Linked]:
    """All rows with a link to it, read consistently: a link that an index does not have yet would never be cleared."""
    links: list[Linked] = []
    if what == "item":
        links += await rows.all(ShoppingListItem.orphaned_by(family_id, gone_id))
    if what == "store":
        links += await rows.all(ShoppingListItem.unassigned_by(family_id, gone_id))
    if what in ("store", "location"):
        items = await rows.all(InventoryItem.all_of_family(family_id))
        links += [item for item in items if _links_to(item, gone_id)]
    return links


def unlinked(row: Linked, gone_id: UUID, now: datetime) -> Operation:
    """The update that clears a row's link and leaves its other fields alone."""
    if isinstance(row, ShoppingListItem):
        link = the(ShoppingListItem.item_id) if row.item_id == gone_id else the(ShoppingListItem.store_id)
        return update(row, link.becomes(None), the(ShoppingListItem.updated_at).becomes(now))
    changes = []
    if row.location_id == gone_id:
        changes.append(the(InventoryItem.location_id).becomes(None))
    if row.preferred_store_id == gone_id:
        changes.append(the(InventoryItem.preferred_store_id).becomes(None))
    if gone_id in row.alternate_store_ids:
        others = tuple(store_id for store_id in row.alternate_store_ids if store_id != gone_id)
        changes.append(the(InventoryItem.alternate_store_ids).becomes(others))
    return update(row, *changes, the(InventoryItem.updated_at).becomes(now))


class DeletionKey(NamedTuple):
    """One deletion."""

    family_id: UUID
    what: Deletable
    gone_id: UUID


class Cascade:
    """Finishes deletions."""

    def __init__(self, core: Core) -> None:
        self._store = core.store
        self._invitations = core.people.invitations
        self.deletions = Steps("deletion", DeletionKey, self._finish_some)
        self.unfinished = Steps("unfinished", str, self._resume)

    def resuming(self) -> Work[str]:
        """Look for unfinished deletions in the whole table, after changes may have been missed."""
        return self.unfinished.of("")

    async def finishing(self, deletion: Deletion) -> Work[DeletionKey]:
        """Clear all remaining links, then delete the Deletion."""
        return self.deletions.of(DeletionKey(deletion.family_id, deletion.what, deletion.gone_id))

    async def _resume(self, _: str, after: Mapping[str, Any] | None) -> StepDone:
        page = await self._store.scan_page(Deletion.every(), LINKS_AT_ONCE, after)
        return StepDone(page.next, also=[await self.finishing(deletion) for deletion in page.items])

    async def _finish_some(self, key: DeletionKey, after: bool | None) -> StepDone:
        if key.what == "family":
            if after is None:
                await self._invitations.withdraw_all(APP, str(key.family_id))
            left = await self._delete_some(key.family_id)
        else:
            left = await self._clear_some(key)
        if not left:
            await self._store.delete(Deletion.by_id(*key))
        return StepDone(True if left else None)

    async def _clear_some(self, key: DeletionKey) -> bool:
        """Clear some of the links to what is gone; whether there were any."""
        links = (await links_to(self._store, *key))[:ROWS_PER_STEP]
        now = self._store.clock().replace(microsecond=0)
        for start in range(0, len(links), LINKS_AT_ONCE):
            await self._write([unlinked(link, key.gone_id, now) for link in links[start : start + LINKS_AT_ONCE]])
        return bool(links)

    async def _delete_some(self, family_id: UUID) -> bool:
        """Delete some rows of a deleted family; whether there were any but the family's own Deletion."""
        page = await self._store.page(EverythingOfFamily.of(family_id).query, ROWS_PER_STEP)
        deletes = [write for row in page.items for write in _deleting_row(row)]
        # A refused row changed since it was read; the next step reads it again.
        with contextlib.suppress(WriteRefused):
            await self._store.write_each(deletes)
        return bool(deletes)

    async def _write(self, operations: list[Operation]) -> None:
        """Write all in one transaction, or one by one if it is refused; the next step retries rows that changed."""
        try:
            await self._store.transact(*operations)
        except WriteRefused:
            for operation in operations:
                with contextlib.suppress(WriteRefused):
                    await self._store.transact(operation)


def _deleting_row(row: Any) -> list[Operation]:
    """The delete of a row of a deleted family."""
    match row:
        case Member():
            return [delete(Member.by_id(row.family_id, row.member_id))]
        case ShoppingListItem():
            return [delete(ShoppingListItem.by_id(row.family_id, row.shopping_item_id))]
        case Deletion(what="family"):
            return []
    # By entity, so that the guards of their unique names go too
    return [delete(row)]


def _links_to(item: InventoryItem, gone_id: UUID) -> bool:
    return gone_id in (item.location_id, item.preferred_store_id, *item.alternate_store_ids)


def _named(gone: InventoryItem | StorageLocation | Store) -> tuple[Deletable, UUID]:
    match gone:
        case InventoryItem():
            return "item", gone.item_id
        case StorageLocation():
            return "location", gone.location_id
        case Store():
            return "store", gone.store_id

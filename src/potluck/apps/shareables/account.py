"""Account export and deletion: what an account's owner gets from shareables, and what is deleted with the account."""

from collections.abc import AsyncIterator
from uuid import UUID

from msgspec import Struct

from potluck.apps.shareables.entities import ChecklistItem, Shareable
from potluck.apps.shareables.items import ChecklistItemView, in_order
from potluck.apps.shareables.own_list import existing, own_list
from potluck.apps.shareables.shareables import OwnShareable, deletion_of
from potluck.store import Store
from potluck.table import WriteRefused


class ExportedItem(ChecklistItemView):
    """One item in an export, with the list that it is on."""

    short_id: str


class ShareablesData:
    """Exports and deletes one person's shareables."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        """The shareables that the person created while signed in, and the items on their lists."""
        shareables = await existing(self._store, await self._store.all(await own_list(self._store, user_id)))
        for shareable in shareables:
            yield "shareables", OwnShareable.show(shareable)
        for shareable in shareables:
            for item in in_order(await self._store.all(ChecklistItem.of(shareable.short_id))):
                yield "items", ExportedItem.show(item)

    async def forget(self, user_id: UUID) -> None:
        """Delete every shareable that the person created while signed in; safe to call again after an interruption."""
        for row in await self._store.all(await own_list(self._store, user_id)):
            async for _ in self._store.attempts("deleting a shareable"):
                shareable = await self._store.get(Shareable.one(row.short_id))
                if shareable is None:
                    break
                deletion = await deletion_of(self._store, shareable, self._store.clock().replace(microsecond=0))
                try:
                    await self._store.transact(*deletion.operations)
                except WriteRefused:
                    # Changed or deleted concurrently: delete it as it is now.
                    continue
                if deletion.after is not None:
                    await deletion.after()
                break
            await self._store.delete(row)

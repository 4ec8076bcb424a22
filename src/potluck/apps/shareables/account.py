"""What an account means to shareables: its export, and what is deleted with it."""

from collections.abc import AsyncIterator
from uuid import UUID

from msgspec import Struct

from potluck.apps.shareables.entities import ChecklistItem, Shareable
from potluck.apps.shareables.items import ChecklistItemView, in_order
from potluck.apps.shareables.own_list import own_list
from potluck.apps.shareables.shareables import OwnShareable, deletion_of
from potluck.store import Clock, Store, attempts
from potluck.table import WriteRefused
from potluck.web import view_plan


class ExportedItem(ChecklistItemView):
    """One item in its maker's export, with the list that it is on."""

    short_id: str


class ShareablesData:
    """Exports and deletes what one account has made."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        """The shareables made while signed in to this account, and the items on their lists."""
        made = await self._store.all(await own_list(self._store, user_id))
        found = [each for each in await self._store.get_many([Shareable.one(row.short_id) for row in made]) if each]
        for shareable in found:
            yield "shareables", view_plan(OwnShareable).show(shareable)
        for shareable in found:
            for item in in_order(await self._store.all(ChecklistItem.of(shareable.short_id))):
                yield "items", view_plan(ExportedItem).show(item)

    async def forget(self, user_id: UUID) -> None:
        """Delete every shareable made while signed in to this account; safe to call again."""
        for made in await self._store.all(await own_list(self._store, user_id)):
            async for _ in attempts("deleting a shareable", self._store.patience):
                shareable = await self._store.get(Shareable.one(made.short_id))
                if shareable is None:
                    break
                deletion = await deletion_of(self._store, shareable, self._clock().replace(microsecond=0))
                try:
                    await self._store.transact(*deletion.operations)
                except WriteRefused:
                    # Changed or deleted concurrently: delete it as it is now.
                    continue
                if deletion.after is not None:
                    await deletion.after()
                break
            await self._store.delete(made)

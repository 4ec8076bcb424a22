"""A person's data: exporting it, and deleting it with their account."""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any
from uuid import UUID

from msgspec import Struct

from potluck.apps.library.access import Viewer
from potluck.apps.library.collections import CollectionView
from potluck.apps.library.consistency import deleted_with
from potluck.apps.library.entities import (
    Book,
    Collection,
    Cover,
    Event,
    Library,
    Loan,
    OwnerRow,
    Share,
    SharedLibrary,
    Video,
)
from potluck.apps.library.fields import owner_of
from potluck.apps.library.item_views import LibraryItemView
from potluck.apps.library.libraries import LibraryView
from potluck.apps.library.shares import ShareView, ending_shares
from potluck.store import Store
from potluck.table import Operation, WriteRefused, delete
from potluck.web import View, Writes

AT_ONCE = 100


class HistoryRow(View[Event], without=("owner_id", "item_version")):
    """An item was lent or returned."""


class LoanRow(View[Loan], without=("owner_id",)):
    """A lent item, and when it is due."""


class SharedWithYou(View[SharedLibrary], without=("shared_to_id", "shared_from_id")):
    """A library that another person shares with them."""

    library_id: UUID


TABLES: dict[str, tuple[type[Any] | tuple[type[Any], ...], type[View[Any]]]] = {
    "libraries": (Library, LibraryView),
    "collections": (Collection, CollectionView),
    "items": ((Book, Video), LibraryItemView),
    "history": (Event, HistoryRow),
    "lent": (Loan, LoanRow),
    "shares": (Share, ShareView),
    "sharedWithYou": (SharedLibrary, SharedWithYou),
}


async def export(store: Store, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
    """One person's rows, one table after another."""
    owner_id = owner_of(user_id)
    viewer = Viewer(owner_id)
    for table, (kinds, view) in TABLES.items():
        async for row in store.each(OwnerRow.of_owner(owner_id)):
            if isinstance(row, kinds):
                yield table, view.show(row, viewer)


async def forget(store: Store, user_id: UUID) -> None:
    """Deletes everything a person owns; safe to run again after an interruption."""
    owner_id = owner_of(user_id)
    retries = store.attempts("deleting a person's libraries")
    # Once its row is gone, a library cannot be opened or added to.
    for library in await store.all(Library.of_owner(owner_id)):
        with suppress(WriteRefused):
            await store.delete(library)
    while left := (await store.page(OwnerRow.of_owner(owner_id), AT_ONCE)).items:
        own = [write for row in left if not isinstance(row, SharedLibrary) for write in deleted_with(row)]
        try:
            # Rows that are deleted with an item may be on this page themselves: each key is written once.
            await store.write_each({repr(write.key): write for write in own}.values())
            for row in left:
                if isinstance(row, SharedLibrary):
                    await store.transact(*await _leaving(store, row))
        except WriteRefused:
            # A refused row was changed meanwhile, and the next page finds it again.
            await anext(retries)
    covers = await store.all(Cover.of_owner(owner_id))
    await store.write_each(delete(Cover.one(owner_id, cover.item_id)) for cover in covers)


async def _leaving(store: Store, row: SharedLibrary) -> list[Operation]:
    """The writes that end a share of another person's library, on both sides."""
    library, share = await store.get_together(
        Library.one(row.shared_from_id, row.library_id),
        Share.one(row.shared_from_id, row.library_id, row.shared_to_id),
    )
    if library is None or share is None:
        return [delete(row), *([] if share is None else [delete(share)])]
    return Writes(None, *ending_shares(library, [share])).operations

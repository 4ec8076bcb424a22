"""The consistency manager: keeps copies of a value in other rows in line with the row that owns it.

It consumes the table's stream. A record only says where to look: the writes are computed from the current rows, so
handling a record twice, late or out of order does no harm, and the last of two renames wins everywhere.
Each batch is one transaction that also checks the name it copies, so that a stalled worker writes nothing stale.

| change | consequence |
|---|---|
| a collection is renamed | its items' CollectionName is updated, and with it their place in GSI1 |
| a collection is deleted | its items become standalone |
| a library or its owner is renamed | LibraryName and OwnerName of its items, SharedFromName of its shares are updated |
| a library is deleted | its content and its shares are deleted |
| an item is deleted | its history is deleted |
| an item with a long history moves | its history follows |
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.library.awaited_titles import no_longer_awaiting
from potluck.apps.library.entities import (
    Book,
    Collection,
    CollectionMember,
    Cover,
    Event,
    Item,
    Library,
    LibraryItem,
    LibraryRow,
    Loan,
    Relocation,
    Share,
    SharedLibrary,
    Video,
)
from potluck.apps.library.placement import names_still
from potluck.store import Store
from potluck.table import (
    AlikeUpdates,
    Operation,
    Query,
    WriteRefused,
    check,
    delete,
    put,
    the,
    update,
)

# Writing this many items blocks the event loop and the store's writer for a few milliseconds.
AT_ONCE = 40
# A transaction takes 100 actions, and one of them checks a name.
MOST_WRITES = 90
SIDE_BY_SIDE = 3
# As many as one BatchGetItem takes.
READ_AT_ONCE = 100

T = TypeVar("T")
Step = Sequence[Operation]
"""Writes that must stay in one transaction."""


class ConsistencyManager:
    """Updates copies and dependent rows; its methods handle changes to the library table."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def collection_renamed(self, before: Collection, after: Collection) -> None:
        """Give its items its new name, unless it was renamed again: that change has a record of its own.

        Otherwise each of several renames would rewrite a large collection while other people's changes wait.
        """
        now = await self._store.get(Collection.one(after.owner_id, after.library_id, after.collection_id))
        if now is None or now.name == after.name:
            await self.follow_collection(after)

    async def follow_collection(self, collection: Collection) -> None:
        """Give its items its current name; if it was deleted, make them standalone."""
        await self._update_items_of_collection(collection.owner_id, collection.library_id, collection.collection_id)

    async def library_renamed(self, before: Library, after: Library) -> None:
        """Give its items its new names, unless it was renamed again."""
        now = await self._store.get(Library.one(after.owner_id, after.library_id))
        if now is None or (now.library_name, now.owner_name) == (after.library_name, after.owner_name):
            await self.follow_library(after)

    async def follow_library(self, library: Library) -> None:
        """Give its items its current names; if it was deleted, delete everything in it."""
        await self._update_rows_of_library(library.owner_id, library.library_id)

    async def follow_item(self, item: Item | Relocation) -> None:
        """Keep the history with an item that was deleted or moved."""
        await self._update_history_of_item(item.owner_id, item.library_id, item.item_id)

    async def relocated_again(self, before: Relocation, after: Relocation) -> None:
        await self.follow_item(after)

    async def rebuild(self) -> None:
        """Scan the table after missed changes, and update everything its rows belong to."""
        libraries: set[tuple[str, UUID]] = set()
        collections: set[tuple[str, UUID, UUID]] = set()
        items: set[tuple[str, UUID, UUID]] = set()
        async for row in self._store.each(LibraryRow.every()):
            libraries.add((row.owner_id, row.library_id))
            if isinstance(row, Collection | CollectionMember):
                collections.add((row.owner_id, row.library_id, row.collection_id))
            if isinstance(row, Event | Relocation):
                items.add((row.owner_id, row.library_id, row.item_id))
        for library in sorted(libraries):
            await self._update_rows_of_library(*library)
        for collection in sorted(collections):
            await self._update_items_of_collection(*collection)
        for item in sorted(items):
            await self._update_history_of_item(*item)

    # --- collections --------------------------------------------------------------------------------------------------

    async def _update_items_of_collection(self, owner_id: str, library_id: UUID, collection_id: UUID) -> None:
        """Give its items its current name; if it was deleted, make them standalone."""
        ref = Collection.one(owner_id, library_id, collection_id)
        members = CollectionMember.of_collection(owner_id, library_id, collection_id)
        async for _ in self._store.attempts("following a collection"):
            collection = await self._store.get(ref)
            if collection is None:
                done = await self._write_all(self._item_releases(members))
            else:
                named = check(ref, when=the(Collection.name).still(collection.name))
                done = await self._write_all(self._item_renames(members, collection.name), named)
            if done:
                return

    async def _item_renames(self, members: Query[CollectionMember], name: str) -> AsyncIterator[Step]:
        alike = AlikeUpdates()
        async for page in self._pages(members):
            for item in (await self._items(page)).values():
                if item.collection_name != name:
                    # Only if it is still in the collection. No person edited it, so its version stays.
                    kind: Any = type(item)
                    same = the(kind.collection_id).still(item.collection_id)
                    yield (alike.update(item, the(kind.collection_name).becomes(name), when=same),)

    async def _item_releases(self, members: Query[CollectionMember]) -> AsyncIterator[Step]:
        async for page in self._pages(members):
            items = await self._items(page)
            for member in page:
                yield _without_its_collection(member, items.get(member.item_id))

    async def _items(self, members: Sequence[CollectionMember]) -> dict[UUID, Item]:
        """The items that these rows point to, without those that have left the collection meanwhile."""
        refs = [LibraryItem.one(member.owner_id, member.library_id, member.item_id) for member in members]
        items = await self._store.get_many(refs)
        return {
            member.item_id: item
            for member, item in zip(members, items, strict=True)
            if item is not None and item.collection_id == member.collection_id
        }

    # --- libraries ----------------------------------------------------------------------------------------------------

    async def _update_rows_of_library(self, owner_id: str, library_id: UUID) -> None:
        """Give its items its current name and its owner's; if it was deleted, delete its content."""
        ref = Library.one(owner_id, library_id)
        async for _ in self._store.attempts("following a library"):
            library = await self._store.get(ref)
            if library is None:
                done = await self._clear_library(owner_id, library_id)
            else:
                done = await self._copy_names(library)
            if done:
                return

    async def _copy_names(self, library: Library) -> bool:
        names = check(Library.one(library.owner_id, library.library_id), when=names_still(library))
        done = await self._write_all(self._library_item_renames(library), names)
        return await self._write_all(self._share_renames(library), names) and done

    async def _library_item_renames(self, library: Library) -> AsyncIterator[Step]:
        alike = AlikeUpdates()
        async for items in self._pages(LibraryItem.stored_in(library.owner_id, library.library_id)):
            for item in items:
                if (item.library_name, item.owner_name) != (library.library_name, library.owner_name):
                    kind: Any = type(item)
                    names = {kind.library_name: library.library_name, kind.owner_name: library.owner_name}
                    yield (alike.update(item, *(the(field).becomes(name) for field, name in names.items())),)

    async def _share_renames(self, library: Library) -> AsyncIterator[Step]:
        becomes = the(SharedLibrary.shared_from_name).becomes(library.owner_name)
        async for shares in self._pages(Share.of_library(library.owner_id, library.library_id)):
            refs = [SharedLibrary.one(share.shared_to_id, share.library_id) for share in shares]
            for ref, pointer in zip(refs, await self._store.get_many(refs), strict=True):
                if pointer is not None and pointer.shared_from_name != library.owner_name:
                    yield (update(ref, becomes),)

    async def _clear_library(self, owner_id: str, library_id: UUID) -> bool:
        """Delete the rows of a deleted library; True if there were none left."""
        library = LibraryRow.of_library(owner_id, library_id)
        done = await self._store.first(library) is None
        await self._write_all(_each(self._pages(library), deleted_with))
        return done

    # --- items --------------------------------------------------------------------------------------------------------

    async def _update_history_of_item(self, owner_id: str, library_id: UUID, item_id: UUID) -> None:
        """Keep the history with its item: move it along, or delete it."""
        item, moved = await self._store.get_together(
            LibraryItem.one(owner_id, library_id, item_id), Relocation.one(owner_id, library_id, item_id)
        )
        history = self._pages(Event.of_item(owner_id, library_id, item_id))
        if moved is not None:
            # The check stops the move if the item comes back or moves on meanwhile.
            ref = Relocation.one(owner_id, library_id, item_id)
            still = the(Relocation.moved_to).still(moved.moved_to)
            to = moved.moved_to
            along = _each(history, lambda event: (put(replace(event, library_id=to)), delete(event)))
            await self._write_all(along, check(ref, when=still))
            with suppress(WriteRefused):
                await self._store.transact(delete(ref, when=still))
        elif item is None:
            await self._write_all(_each(history, lambda event: (delete(event),)))

    # --- reading and writing ------------------------------------------------------------------------------------------

    async def _pages(self, query: Query[T]) -> AsyncIterator[list[T]]:
        """All results in small pages: one long read would block the event loop."""
        after = None
        while True:
            page = await self._store.page(query, READ_AT_ONCE, after)
            yield page.items
            after = page.next
            if after is None:
                return

    async def _write_all(self, steps: AsyncIterator[Step], *checks: Operation) -> bool:
        """Write all steps, many per transaction but none split across two; False if some met a conflict.

        A few transactions are in flight at once: while one is stored, the next is read and built.
        """
        under_way: set[asyncio.Task[bool]] = set()
        done = True
        try:
            async for batch in _batches(steps):
                under_way.add(asyncio.create_task(self._write(batch, *checks)))
                if len(under_way) == SIDE_BY_SIDE:
                    finished, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                    done &= all(task.result() for task in finished)
                # Yield to the event loop between batches.
                await asyncio.sleep(0)
            return all(await asyncio.gather(*under_way)) and done
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _write(self, steps: Sequence[Step], *checks: Operation) -> bool:
        """Write the steps in one transaction; if that is refused, write them one by one and return False."""
        try:
            await self._store.transact(*checks, *(write for step in steps for write in step))
            return True
        except WriteRefused:
            for step in steps:
                with suppress(WriteRefused):
                    await self._store.transact(*checks, *step)
            return False


# --- the writes -------------------------------------------------------------------------------------------------------


def _without_its_collection(member: CollectionMember, item: Item | None) -> Step:
    """Take an item out of its deleted collection, in one step: without the member row it could not be found again."""
    if item is None:
        return (delete(member),)
    kind: Any = type(item)
    same = the(kind.collection_id).still(item.collection_id)
    cleared = [the(field).becomes(None) for field in (kind.collection_id, kind.collection_name, kind.order)]
    return delete(member), update(item, *cleared, when=same, keep_version=True)


def deleted_with(row: Any) -> Step:
    """The deletes for a row of a deleted library, and for the rows elsewhere that depend on it."""
    match row:
        case Book() | Video():
            kind: Any = type(row)
            return [
                delete(kind.one(row.owner_id, row.library_id, row.item_id)),
                delete(Loan.one(row.owner_id, row.library_id, row.item_id)),
                delete(Cover.one(row.owner_id, row.item_id)),
                *no_longer_awaiting(row),
            ]
        case Share():
            return [delete(row), delete(SharedLibrary.one(row.shared_to_id, row.library_id))]
        case _:
            return [delete(row)]


async def _each(pages: AsyncIterator[list[T]], step: Callable[[T], Step]) -> AsyncIterator[Step]:
    async for page in pages:
        for row in page:
            yield step(row)


async def _batches(steps: AsyncIterator[Step]) -> AsyncIterator[list[Step]]:
    """The steps in batches for one transaction each, none of them split."""
    batch: list[Step] = []
    writes = 0
    async for step in steps:
        if len(batch) == AT_ONCE or writes + len(step) > MOST_WRITES:
            yield batch
            batch, writes = [], 0
        batch.append(step)
        writes += len(step)
    if batch:
        yield batch

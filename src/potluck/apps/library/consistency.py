"""The consistency manager: keeps copies of a value in other rows in line with the row that owns it.

It consumes the table's stream. A record only says where to look: the writes are computed from the current rows, so
handling a record twice, late or out of order does no harm, and the last of two renames wins everywhere.
Each batch is one transaction that also checks the name it copies, so that a stalled worker writes nothing stale.
A large library or collection is followed in steps, between which other changes are handled.

| change | consequence |
|---|---|
| a collection is renamed | its items' CollectionName is updated, and with it their place in GSI1 |
| a collection is deleted | its items become standalone |
| a library or its owner is renamed | LibraryName and OwnerName of its items, SharedFromName of its shares are updated |
| a library is deleted | its content and its shares are deleted |
| an item gets another number in its collection | it has the collection's name, even while a rename is followed |
| an item is deleted | its history is deleted |
| an item with a long history moves | its history follows |
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
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
from potluck.apps.library.placement import member_of, names_still
from potluck.store import Store
from potluck.streams import StepDone, Steps, Work
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
# The rows of one step: a fraction of a second on either engine.
ROWS_PER_STEP = 300
# Each of these rows may begin further work, and a transaction begins all that one step finds.
LOOK_AT_ONCE = 90

Writes = Sequence[Operation]
"""Writes that must stay in one transaction."""
Place = Mapping[str, Any] | None
"""Where a query goes on, as the store says it; None at its beginning."""


class LibraryKey(NamedTuple):
    """One library."""

    owner_id: str
    library_id: UUID


class CollectionKey(NamedTuple):
    """One collection."""

    owner_id: str
    library_id: UUID
    collection_id: UUID


class ItemKey(NamedTuple):
    """One item, in one of the libraries that it was in."""

    owner_id: str
    library_id: UUID
    item_id: UUID


class ConsistencyManager:
    """Updates copies and dependent rows; its methods handle changes to the library table."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.collections = Steps("collection", CollectionKey, self._follow_collection)
        self.libraries = Steps("library", LibraryKey, self._follow_library)
        self.shares = Steps("shares", LibraryKey, self._rename_shares)
        self.items = Steps("item", ItemKey, self._follow_item)
        self.everything = Steps("everything", str, self._look_at_some)

    @property
    def steps(self) -> list[Steps[Any]]:
        """All kinds of long work that it does."""
        return [self.collections, self.libraries, self.shares, self.items, self.everything]

    async def collection_renamed(self, before: Collection, after: Collection) -> Work[CollectionKey] | None:
        """Give its items its new name, unless it was renamed again: that change has a record of its own."""
        now = await self._store.get(Collection.one(after.owner_id, after.library_id, after.collection_id))
        return await self.collection_deleted(after) if now is None or now.name == after.name else None

    async def collection_deleted(self, collection: Collection) -> Work[CollectionKey]:
        """Make its items standalone; if there is such a collection again, give them its name."""
        return self.collections.of(_key_of_collection(collection))

    async def renumbered(self, before: Item, after: Item) -> None:
        """Give the item its collection's name: at its new number, work that goes through the collection may miss it."""
        key = ItemKey(after.owner_id, after.library_id, after.item_id)
        async for _ in self._store.attempts("following a collection"):
            item = await self._store.get(LibraryItem.one(*key))
            member = None if item is None else member_of(item)
            if item is None or member is None:
                return
            ref = Collection.one(*_key_of_collection(member))
            collection = await self._store.get(ref)
            if collection is None:
                done = await self._write_all([_without_its_collection(member, item)])
            else:
                named = check(ref, when=the(Collection.name).still(collection.name))
                done = await self._write_all(_collection_renames([item], collection.name), named)
            if done:
                return

    async def library_renamed(self, before: Library, after: Library) -> Work[LibraryKey] | None:
        """Give its items its new names, unless it was renamed again."""
        now = await self._store.get(Library.one(after.owner_id, after.library_id))
        if now is None or (now.library_name, now.owner_name) == (after.library_name, after.owner_name):
            return await self.library_deleted(after)
        return None

    async def library_deleted(self, library: Library) -> Work[LibraryKey]:
        """Delete everything in it; if there is such a library again, give its items its names."""
        return self.libraries.of(LibraryKey(library.owner_id, library.library_id))

    async def item_gone(self, item: Item | Relocation) -> Work[ItemKey]:
        """Keep the history with an item that was deleted or moved."""
        return self.items.of(ItemKey(item.owner_id, item.library_id, item.item_id))

    async def relocated_again(self, before: Relocation, after: Relocation) -> Work[ItemKey]:
        return await self.item_gone(after)

    def rebuilding(self) -> Work[str]:
        """After missed changes: look at every row of the table, and at what it belongs to."""
        return self.everything.of("")

    # --- collections --------------------------------------------------------------------------------------------------

    async def _follow_collection(self, key: CollectionKey, after: Place) -> StepDone:
        """Give some items the collection's current name; if it was deleted, make them standalone."""
        ref = Collection.one(*key)
        async for _ in self._store.attempts("following a collection"):
            collection = await self._store.get(ref)
            page = await self._page(CollectionMember.of_collection(*key), after)
            items = await self._items(page.items)
            if collection is None:
                done = await self._write_all(
                    _without_its_collection(member, items.get(member.item_id)) for member in page.items
                )
            else:
                named = check(ref, when=the(Collection.name).still(collection.name))
                done = await self._write_all(_collection_renames(items.values(), collection.name), named)
            if done:
                return StepDone(page.next)
        raise AssertionError("the attempts end by Unavailable")

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

    async def _follow_library(self, key: LibraryKey, after: Place) -> StepDone:
        """Give some items the library's current name and its owner's; if it was deleted, delete some of its content."""
        async for _ in self._store.attempts("following a library"):
            library = await self._store.get(Library.one(*key))
            if library is None:
                # From its beginning each time: an item that was put meanwhile may be anywhere.
                page = await self._page(LibraryRow.of_library(*key), None)
                await self._write_all(map(deleted_with, page.items))
                return StepDone({} if page.items else None)
            names = check(Library.one(*key), when=names_still(library))
            items = await self._page(LibraryItem.stored_in(*key), after or None)
            if await self._write_all(_library_renames(items.items, library), names):
                return StepDone(items.next, also=[] if items.next else [self.shares.of(key)])
        raise AssertionError("the attempts end by Unavailable")

    async def _rename_shares(self, key: LibraryKey, after: Place) -> StepDone:
        """Copy the name of the library's owner to some of its shares."""
        async for _ in self._store.attempts("following an owner"):
            library = await self._store.get(Library.one(*key))
            if library is None:
                break
            shares = await self._page(Share.of_library(*key), after)
            refs = [SharedLibrary.one(share.shared_to_id, share.library_id) for share in shares.items]
            becomes = the(SharedLibrary.shared_from_name).becomes(library.owner_name)
            pointers = zip(refs, await self._store.get_many(refs), strict=True)
            renames = (
                (update(ref, becomes),)
                for ref, pointer in pointers
                if pointer is not None and pointer.shared_from_name != library.owner_name
            )
            if await self._write_all(renames, check(Library.one(*key), when=names_still(library))):
                return StepDone(shares.next)
        return StepDone()

    # --- items --------------------------------------------------------------------------------------------------------

    async def _follow_item(self, key: ItemKey, after: Place) -> StepDone:
        """Keep some of the history with its item: move it along, or delete it."""
        ref = Relocation.one(*key)
        item, moved = await self._store.get_together(LibraryItem.one(*key), ref)
        if item is not None and moved is None:
            return StepDone()
        # From its beginning each time: what was moved or deleted is gone.
        page = await self._page(Event.of_item(*key), None)
        if moved is None:
            await self._write_all((delete(event),) for event in page.items)
            return StepDone({} if page.next else None)
        still = the(Relocation.moved_to).still(moved.moved_to)
        along = ((put(replace(event, library_id=moved.moved_to)), delete(event)) for event in page.items)
        # The check stops the move if the item comes back or moves on meanwhile.
        await self._write_all(along, check(ref, when=still))
        if page.next:
            return StepDone({})
        with suppress(WriteRefused):
            await self._store.transact(delete(ref, when=still))
        return StepDone()

    # --- everything ---------------------------------------------------------------------------------------------------

    async def _look_at_some(self, _: str, after: Place) -> StepDone:
        """Look at some rows of the table; what they belong to is followed by work of its own."""
        page = await self._store.scan_page(LibraryRow.every(), LOOK_AT_ONCE, after)
        works: dict[str, Work[Any]] = {}
        libraries = {LibraryKey(row.owner_id, row.library_id) for row in page.items}
        gone = await self._gone({key: Library.one(*key) for key in libraries})
        collections = {_key_of_collection(row) for row in page.items if isinstance(row, CollectionMember)}
        dissolved = await self._gone({key: Collection.one(*key) for key in collections})
        of_items = {ItemKey(row.owner_id, row.library_id, row.item_id) for row in page.items if isinstance(row, Event)}
        deleted = await self._gone({key: LibraryItem.one(*key) for key in of_items})
        for row in page.items:
            library = LibraryKey(row.owner_id, row.library_id)
            match row:
                case Library():
                    work: Work[Any] = self.libraries.of(library)
                case _ if library in gone:
                    work = self.libraries.of(library)
                case Collection():
                    work = self.collections.of(_key_of_collection(row))
                case CollectionMember() if _key_of_collection(row) in dissolved:
                    work = self.collections.of(_key_of_collection(row))
                case Relocation():
                    work = self.items.of(ItemKey(row.owner_id, row.library_id, row.item_id))
                case Event() if (item := ItemKey(row.owner_id, row.library_id, row.item_id)) in deleted:
                    work = self.items.of(item)
                case _:
                    continue
            works[work.name] = work
        return StepDone(page.next, also=[*works.values()])

    async def _gone(self, refs: Mapping[Any, Any]) -> set[Any]:
        """The keys whose row does not exist."""
        rows = await self._store.get_many([*refs.values()]) if refs else []
        return {key for key, row in zip(refs, rows, strict=True) if row is None}

    # --- reading and writing ------------------------------------------------------------------------------------------

    async def _page(self, query: Query[Any], after: Place) -> Any:
        return await self._store.page(query, ROWS_PER_STEP, after)

    async def _write_all(self, steps: Iterable[Writes], *checks: Operation) -> bool:
        """Write all, many per transaction but none split across two; False if some met a conflict.

        A few transactions are in flight at once: while one is stored, the next is built.
        """
        under_way: set[asyncio.Task[bool]] = set()
        done = True
        try:
            for batch in _batches(steps):
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

    async def _write(self, batch: Sequence[Writes], *checks: Operation) -> bool:
        """Write the batch in one transaction; if that is refused, write each on its own and return False."""
        try:
            await self._store.transact(*checks, *(write for writes in batch for write in writes))
            return True
        except WriteRefused:
            for writes in batch:
                with suppress(WriteRefused):
                    await self._store.transact(*checks, *writes)
            return False


# --- the writes -------------------------------------------------------------------------------------------------------


def _key_of_collection(row: Collection | CollectionMember) -> CollectionKey:
    return CollectionKey(row.owner_id, row.library_id, row.collection_id)


def _collection_renames(items: Iterable[Item], name: str) -> Iterable[Writes]:
    alike = AlikeUpdates()
    for item in items:
        if item.collection_name != name:
            # Only if it is still in the collection. No person edited it, so its version stays.
            kind: Any = type(item)
            same = the(kind.collection_id).still(item.collection_id)
            yield (alike.update(item, the(kind.collection_name).becomes(name), when=same),)


def _library_renames(items: Iterable[Item], library: Library) -> Iterable[Writes]:
    alike = AlikeUpdates()
    for item in items:
        if (item.library_name, item.owner_name) != (library.library_name, library.owner_name):
            kind: Any = type(item)
            names = {kind.library_name: library.library_name, kind.owner_name: library.owner_name}
            yield (alike.update(item, *(the(field).becomes(name) for field, name in names.items())),)


def _without_its_collection(member: CollectionMember, item: Item | None) -> Writes:
    """Take an item out of its deleted collection at once: without the member row it could not be found again."""
    if item is None:
        return (delete(member),)
    kind: Any = type(item)
    same = the(kind.collection_id).still(item.collection_id)
    cleared = [the(field).becomes(None) for field in (kind.collection_id, kind.collection_name, kind.order)]
    return delete(member), update(item, *cleared, when=same, keep_version=True)


def deleted_with(row: Any) -> Writes:
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


def _batches(steps: Iterable[Writes]) -> Iterable[list[Writes]]:
    """The writes in batches for one transaction each, none of them split."""
    batch: list[Writes] = []
    size = 0
    for writes in steps:
        if len(batch) == AT_ONCE or size + len(writes) > MOST_WRITES:
            yield batch
            batch, size = [], 0
        batch.append(writes)
        size += len(writes)
    if batch:
        yield batch

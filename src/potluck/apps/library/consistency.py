"""The consistency manager: keeps copies of a value in other rows in line with the row that owns it.

It consumes the table's stream. A change only says where to look: the writes are computed from the rows as they are
now, so handling a change twice, late or out of order does no harm, and of two renames the last one wins everywhere.
Each batch is one transaction that also checks the name it copies, so that a stalled worker writes nothing stale.

| change | consequence |
|---|---|
| a collection is renamed | its items' CollectionName is updated, and with it their place in GSI1 |
| a collection is deleted | its items become standalone |
| a library or its owner is renamed | LibraryName and OwnerName of its items, SharedFromName of its shares are updated |
| a library is deleted | everything in it is deleted, and its shares |
| an item is deleted | its history is deleted |
| an item with a long history moves | its history is moved after it |
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.library.awaited_titles import no_longer_awaiting
from potluck.apps.library.entities import (
    Book,
    Collection,
    CollectionMember,
    Cover,
    Event,
    InLibrary,
    Library,
    LibraryItem,
    LibraryRow,
    Loan,
    Relocation,
    Share,
    SharedLibrary,
    Video,
)
from potluck.apps.library.placement import Item, names_still
from potluck.store import Store, attempts
from potluck.table import AlikeUpdates, Asked, Operation, Query, WriteRefused, check, delete, put, the, update

# This many items keep the event loop and the store's writer busy for some milliseconds, and everyone else waiting.
AT_ONCE = 40
# A transaction takes 100 actions, and one of them checks a name.
MOST_WRITES = 90
SIDE_BY_SIDE = 3
# As many as one BatchGetItem takes.
READ_AT_ONCE = 100

T = TypeVar("T")
Step = Sequence[Operation]
"""Writes that must stay in one transaction."""


class UpdateJob(NamedTuple):
    """What to bring up to date: a library, one of its collections, or one of its items."""

    what: str
    owner_id: str
    library_id: UUID
    thing_id: UUID | None = None


class ConsistencyManager:
    """Brings copies and dependent rows up to date; its methods handle changes of the library table."""

    def __init__(self, store: Store) -> None:
        self._rows = store

    async def collection_renamed(self, before: Collection, after: Collection) -> None:
        """Give its items its new name, unless it was renamed again: then the later change follows.

        Otherwise renaming a large collection repeatedly would rewrite it each time, while everyone else's changes wait.
        """
        now = await self._rows.get(Collection.one(after.owner_id, after.library_id, after.collection_id))
        if now is None or now.name == after.name:
            await self.follow_collection(after)

    async def follow_collection(self, collection: Collection) -> None:
        """Give its items its current name; if it was deleted, make them standalone."""
        await self._until_done(_job("collection", collection))

    async def library_renamed(self, before: Library, after: Library) -> None:
        """Give its items its new names, unless it was renamed again."""
        now = await self._rows.get(Library.one(after.owner_id, after.library_id))
        if now is None or (now.library_name, now.owner_name) == (after.library_name, after.owner_name):
            await self.follow_library(after)

    async def follow_library(self, library: Library) -> None:
        """Give its items its current names; if it was deleted, delete everything in it."""
        await self._until_done(_job("library", library))

    async def follow_item(self, item: Item | Relocation) -> None:
        """Keep the history with an item that was deleted or moved."""
        await self._until_done(_job("item", item))

    async def relocated_again(self, before: Relocation, after: Relocation) -> None:
        await self.follow_item(after)

    async def rebuild(self) -> None:
        """Changes may have been missed: scan the table, and bring up to date whatever its rows belong to."""
        jobs: dict[UpdateJob, None] = {}
        async for row in self._rows.each(InLibrary.every()):
            jobs |= dict.fromkeys(jobs_of(row))
        for job in jobs:
            await self._until_done(job)

    async def _until_done(self, job: UpdateJob) -> None:
        match job:
            case UpdateJob("collection", owner_id, library_id, UUID() as thing_id):
                await self._collection(owner_id, library_id, thing_id)
            case UpdateJob("library", owner_id, library_id, None):
                await self._library(owner_id, library_id)
            case UpdateJob("item", owner_id, library_id, UUID() as thing_id):
                await self._item(owner_id, library_id, thing_id)

    # --- collections --------------------------------------------------------------------------------------------------

    async def _collection(self, owner_id: str, library_id: UUID, collection_id: UUID) -> None:
        """Give its items its current name; if it was deleted, make them standalone."""
        ref = Collection.one(owner_id, library_id, collection_id)
        members = CollectionMember.of_collection(owner_id, library_id, collection_id)
        async for _ in attempts("following a collection", self._rows.patience):
            collection = await self._rows.get(ref)
            if collection is None:
                done = await self._write_all(self._loosened(members))
            else:
                named = check(ref, when=the(Collection.name).still(collection.name))
                done = await self._write_all(self._named(members, collection.name), named)
            if done:
                return

    async def _named(self, members: Query[CollectionMember], name: str) -> AsyncIterator[Step]:
        renaming = AlikeUpdates(partial(_under_its_name, name=name))
        async for some in self._pages(members):
            for item in (await self._items(some)).values():
                if item.collection_name != name:
                    yield (renaming.of(item),)

    async def _loosened(self, members: Query[CollectionMember]) -> AsyncIterator[Step]:
        async for some in self._pages(members):
            found = await self._items(some)
            for each in some:
                yield _without_its_collection(each, found.get(each.item_id))

    async def _items(self, members: Sequence[CollectionMember]) -> dict[UUID, Item]:
        """The items that these rows point to, without those that have left the collection meanwhile."""
        refs = [LibraryItem.one(each.owner_id, each.library_id, each.item_id) for each in members]
        found = await self._rows.get_many(refs)
        return {
            each.item_id: item
            for each, item in zip(members, found, strict=True)
            if item is not None and item.collection_id == each.collection_id
        }

    # --- libraries ----------------------------------------------------------------------------------------------------

    async def _library(self, owner_id: str, library_id: UUID) -> None:
        """Give its items its current name and its owner's; if it was deleted, delete everything in it."""
        ref = Library.one(owner_id, library_id)
        async for _ in attempts("following a library", self._rows.patience):
            library = await self._rows.get(ref)
            if library is None:
                done = await self._cleared(owner_id, library_id)
            else:
                done = await self._named_after(library)
            if done:
                return

    async def _named_after(self, library: Library) -> bool:
        names = check(Library.one(library.owner_id, library.library_id), when=names_still(library))
        done = await self._write_all(self._of_library(library), names)
        return await self._write_all(self._pointing_to(library), names) and done

    async def _of_library(self, library: Library) -> AsyncIterator[Step]:
        renaming = AlikeUpdates(partial(_under_names_of, library=library))
        async for some in self._pages(LibraryItem.stored_in(library.owner_id, library.library_id)):
            for item in some:
                if (item.library_name, item.owner_name) != (library.library_name, library.owner_name):
                    yield (renaming.of(item),)

    async def _pointing_to(self, library: Library) -> AsyncIterator[Step]:
        becomes = the(SharedLibrary.shared_from_name).becomes(library.owner_name)
        async for some in self._pages(Share.of_library(library.owner_id, library.library_id)):
            refs = [SharedLibrary.one(each.shared_to_id, each.library_id) for each in some]
            for ref, pointer in zip(refs, await self._rows.get_many(refs), strict=True):
                if pointer is not None and pointer.shared_from_name != library.owner_name:
                    yield (update(ref, becomes),)

    async def _cleared(self, owner_id: str, library_id: UUID) -> bool:
        """Delete the rows of a deleted library; True if there were none left."""
        library = LibraryRow.of_library(owner_id, library_id)
        done = await self._rows.first(library) is None
        await self._write_all(_each(self._pages(library), deleted_with))
        return done

    # --- items --------------------------------------------------------------------------------------------------------

    async def _item(self, owner_id: str, library_id: UUID, item_id: UUID) -> None:
        """Keep the history with its item: move it along, or delete it."""
        item, moved = await self._rows.get_together(
            LibraryItem.one(owner_id, library_id, item_id), Relocation.one(owner_id, library_id, item_id)
        )
        history = self._pages(Event.of_item(owner_id, library_id, item_id))
        if moved is not None:
            # The check stops the move if the item comes back or moves on meanwhile.
            ref = Relocation.one(owner_id, library_id, item_id)
            still = the(Relocation.moved_to).still(moved.moved_to)
            to = moved.moved_to
            along = _each(history, lambda each: (put(replace(each, library_id=to)), delete(each)))
            await self._write_all(along, check(ref, when=still))
            with suppress(WriteRefused):
                await self._rows.transact(delete(ref, when=still))
        elif item is None:
            await self._write_all(_each(history, lambda each: (delete(each),)))

    # --- reading and writing ------------------------------------------------------------------------------------------

    async def _pages(self, query: Query[T]) -> AsyncIterator[list[T]]:
        """All results in small pages, because a long read would block the event loop."""
        after = None
        while True:
            page = await self._rows.page(query, READ_AT_ONCE, after)
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
            async for some in _batches(steps):
                under_way.add(asyncio.create_task(self._write(some, *checks)))
                if len(under_way) == SIDE_BY_SIDE:
                    finished, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                    done &= all(each.result() for each in finished)
                # Yield to the event loop between batches.
                await asyncio.sleep(0)
            return all(await asyncio.gather(*under_way)) and done
        finally:
            for each in under_way:
                each.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _write(self, steps: Sequence[Step], *checks: Operation) -> bool:
        """Write the steps in one transaction; if that is refused, write them one by one and return False."""
        try:
            await self._rows.transact(*checks, *(write for step in steps for write in step))
            return True
        except WriteRefused:
            for step in steps:
                with suppress(WriteRefused):
                    await self._rows.transact(*checks, *step)
            return False


# --- what rows belong to ----------------------------------------------------------------------------------------------


def jobs_of(row: Any) -> Iterable[UpdateJob]:
    """The jobs for whatever an existing row belongs to, when it is not known which changes were missed."""
    yield _job("library", row)
    if isinstance(row, Collection | CollectionMember):
        yield _job("collection", row)
    if isinstance(row, Event | Relocation):
        yield _job("item", row)


def _job(what: str, entity: Any) -> UpdateJob:
    things = {"collection": "collection_id", "item": "item_id"}
    thing_id = getattr(entity, things[what]) if what in things else None
    return UpdateJob(what, entity.owner_id, entity.library_id, thing_id)


# --- what follows -----------------------------------------------------------------------------------------------------


def _under_its_name(item: Item, name: str) -> Asked:
    """Give the item its collection's name, if it is still in it. No person edited it, so its version stays."""
    kind: Any = type(item)
    return [the(kind.collection_name).becomes(name)], the(kind.collection_id).still(item.collection_id)


def _under_names_of(item: Item, library: Library) -> Asked:
    kind: Any = type(item)
    named = {kind.library_name: library.library_name, kind.owner_name: library.owner_name}
    return [the(field).becomes(name) for field, name in named.items()], None


def _without_its_collection(member: CollectionMember, item: Item | None) -> Step:
    """Take an item out of its deleted collection. In one step: without the member row it could not be found again."""
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
    async for some in pages:
        for each in some:
            yield step(each)


async def _batches(steps: AsyncIterator[Step]) -> AsyncIterator[list[Step]]:
    """The steps in batches for one transaction each, none of them split."""
    some: list[Step] = []
    writes = 0
    async for step in steps:
        if len(some) == AT_ONCE or writes + len(step) > MOST_WRITES:
            yield some
            some, writes = [], 0
        some.append(step)
        writes += len(step)
    if some:
        yield some

"""The consistency manager: what is said in several rows follows the row that decides it.

It consumes the table's stream. A change says only where to look: what is to be written is worked out from the rows as
they are now, so a change that is handled twice, late or after another one does no harm, and of two renames the last
wins everywhere. Each batch is one transaction that also checks the name it copies, so that a worker who was away for
too long writes nothing.

| changed | followed by |
|---|---|
| a collection is renamed | its items' CollectionName, and with it their place in GSI1 |
| a collection is deleted | its items stand for themselves |
| a library is renamed, or its owner | its items' LibraryName and OwnerName; SharedFromName of its shares |
| a library is deleted | everything in it is deleted, and its shares |
| an item is deleted | its history is deleted |
| an item moved, with a long history | its history |
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.library.entities import (
    Book,
    Collection,
    CollectionMember,
    Cover,
    Event,
    Library,
    LibraryItem,
    LibraryRow,
    Loan,
    OwnerRow,
    Relocation,
    Share,
    SharedLibrary,
    Video,
    media_library,
)
from potluck.apps.library.fields import owner_of
from potluck.apps.library.shelving import Item, names_still
from potluck.people.entities import Account
from potluck.retries import attempts
from potluck.store import Store
from potluck.streams import Change, PositionLost
from potluck.table import Request, WriteRefused, check, delete, put, the, update
from potluck.table.entity import EntityPlan, plan_of
from potluck.table.operations import Operation

__all__ = ["CONSEQUENTIAL", "ConsistencyManager", "deleted_with"]

# A transaction takes 100 actions; one of them checks the name. A batch takes some milliseconds of the store's writer,
# which is how long others wait for it.
AT_ONCE = 40
SIDE_BY_SIDE = 3


T = TypeVar("T")


class Job(NamedTuple):
    """Something to look at: a library, one of its collections, or one of its items."""

    what: str
    owner_id: str
    library_id: UUID
    thing_id: UUID | None = None


class ConsistencyManager:
    """The consumers of the library's own stream and of the accounts' stream."""

    def __init__(self, rows: Store) -> None:
        self._rows = rows

    async def handle(self, change: Change) -> None:
        """What the consumer of the table's stream does with a change."""
        job = job_of(change)
        if job is not None and not await self._has_other_names(change.new):
            await self._until_done(job)

    async def _has_other_names(self, row: dict[str, Any] | None) -> bool:
        """Whether what was renamed is called something else by now: then a later change says so, and is followed once.

        Else whoever renames a large collection again and again would have it read through for each time, while the
        changes of everybody else wait.
        """
        named = _decoded(Library, row) or _decoded(Collection, row)
        if named is None:
            return False
        if isinstance(named, Library):
            library = await self._rows.get(Library.one(named.owner_id, named.library_id))
            names = (named.library_name, named.owner_name)
            return library is not None and (library.library_name, library.owner_name) != names
        collection = await self._rows.get(Collection.one(named.owner_id, named.library_id, named.collection_id))
        return collection is not None and collection.name != named.name

    async def lost(self, lost: PositionLost) -> None:
        """Changes may have been missed: every row in the table says what it belongs to, and that is looked at."""
        jobs: dict[Job, None] = {}
        async for row in self._everything():
            jobs |= dict.fromkeys(jobs_of(row))
        for job in jobs:
            await self._until_done(job)

    async def follow_owner(self, change: Change) -> None:
        """For the consumer of the accounts' stream: a new name of a person is that of their libraries' owner."""
        before, account = _decoded(Account, change.old), _decoded(Account, change.new)
        if before is None or account is None or before.name == account.name:
            return
        owner_id = owner_of(account.user_id)
        for row in await self._rows.all(OwnerRow.of_owner(owner_id)):
            with suppress(WriteRefused):
                if isinstance(row, Library):
                    # What is in the library follows from this change.
                    named = the(Library.owner_name).becomes(account.name)
                    await self._rows.update(Library.one(owner_id, row.library_id), named, keep_version=True)
                elif isinstance(row, SharedLibrary):
                    looking = Share.one(row.shared_from_id, row.library_id, owner_id)
                    await self._rows.update(looking, the(Share.name).becomes(account.name))

    async def _until_done(self, job: Job) -> None:
        match job:
            case Job("collection", owner_id, library_id, UUID() as thing_id):
                await self._collection(owner_id, library_id, thing_id)
            case Job("library", owner_id, library_id, None):
                await self._library(owner_id, library_id)
            case Job("item", owner_id, library_id, UUID() as thing_id):
                await self._item(owner_id, library_id, thing_id)

    # --- collections --------------------------------------------------------------------------------------------------

    async def _collection(self, owner_id: str, library_id: UUID, collection_id: UUID) -> None:
        """Its items have its name; without it, they stand for themselves."""
        ref = Collection.one(owner_id, library_id, collection_id)
        members = CollectionMember.of_collection(owner_id, library_id, collection_id)
        async for _ in attempts("following a collection", self._rows.patience):
            collection = await self._rows.get(ref)
            done = True
            async for some in _batches(self._rows.each(members), AT_ONCE * SIDE_BY_SIDE):
                found = await self._items(some)
                if collection is None:
                    done &= await self._write_each(some, partial(_loosened, found=found))
                else:
                    name = collection.name
                    stale = [each for each in found.values() if each.collection_name != name]
                    named = check(ref, when=the(Collection.name).still(name))
                    done &= await self._write_each(stale, partial(_in_collection, name=name), named)
            if done:
                return

    async def _items(self, members: Sequence[CollectionMember]) -> dict[UUID, Item]:
        """The items that these rows are of; not one that has gone elsewhere meanwhile."""
        refs = [LibraryItem.one(each.owner_id, each.library_id, each.item_id) for each in members]
        found = await self._rows.get_many(refs)
        return {
            each.item_id: item
            for each, item in zip(members, found, strict=True)
            if item is not None and item.collection_id == each.collection_id
        }

    # --- libraries ----------------------------------------------------------------------------------------------------

    async def _library(self, owner_id: str, library_id: UUID) -> None:
        """What is in it has its name and its owner's; without it, nothing is left."""
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
        check_names = check(Library.one(library.owner_id, library.library_id), when=names_still(library))
        done = True
        stored = LibraryItem.stored_in(library.owner_id, library.library_id)
        stale = (
            each
            async for each in self._rows.each(stored)
            if (each.library_name, each.owner_name) != (library.library_name, library.owner_name)
        )
        async for some in _batches(stale, AT_ONCE * SIDE_BY_SIDE):
            done &= await self._write_each(some, partial(_of_library, library=library), check_names)
        shared = await self._rows.all(Share.of_library(library.owner_id, library.library_id))
        pointers = await self._rows.get_many([SharedLibrary.one(each.shared_to_id, each.library_id) for each in shared])
        becomes = the(SharedLibrary.shared_from_name).becomes(library.owner_name)
        renamed = [
            update(SharedLibrary.one(each.shared_to_id, each.library_id), becomes)
            for each in pointers
            if each is not None and each.shared_from_name != library.owner_name
        ]
        for start in range(0, len(renamed), AT_ONCE):
            done &= await self._write(renamed[start : start + AT_ONCE], check_names)
        return done

    async def _cleared(self, owner_id: str, library_id: UUID) -> bool:
        """Everything of a library that is gone; True if nothing was left."""
        done = True
        # Each item is up to three rows.
        rows = self._rows.each(LibraryRow.of_library(owner_id, library_id))
        async for some in _batches(rows, AT_ONCE // 2):
            done = False
            await self._write([write for each in some for write in deleted_with(each)])
        return done

    # --- items --------------------------------------------------------------------------------------------------------

    async def _item(self, owner_id: str, library_id: UUID, item_id: UUID) -> None:
        """History stands where its item does: it goes along, or is deleted with it."""
        item, moved = await self._rows.get_together(
            LibraryItem.one(owner_id, library_id, item_id), Relocation.one(owner_id, library_id, item_id)
        )
        history = Event.of_item(owner_id, library_id, item_id)
        if moved is not None:
            # It may come back, or move on from here again: then this history is not to be taken there any more.
            ref = Relocation.one(owner_id, library_id, item_id)
            still = the(Relocation.moved_to).still(moved.moved_to)
            async for some in _batches(self._rows.each(history), AT_ONCE):
                along = [put(replace(each, library_id=moved.moved_to)) for each in some]
                await self._write([*along, *(delete(each) for each in some)], check(ref, when=still))
            with suppress(WriteRefused):
                await self._rows.transact(delete(ref, when=still))
        elif item is None:
            async for some in _batches(self._rows.each(history), AT_ONCE * 2):
                await self._write([delete(each) for each in some])

    # --- writing ------------------------------------------------------------------------------------------------------

    async def _write_each(
        self, things: Sequence[T], writes: Callable[[T], Sequence[Operation]], *checks: Operation
    ) -> bool:
        """What is to be written of each, in a few transactions side by side: while one is stored, the next is made."""

        async def some(start: int) -> bool:
            # Others have a turn in between.
            await asyncio.sleep(0)
            made = [write for each in things[start : start + AT_ONCE] for write in writes(each)]
            return await self._write(made, *checks)

        return all(await asyncio.gather(*(some(start) for start in range(0, len(things), AT_ONCE))))

    async def _write(self, operations: Sequence[Operation], *checks: Operation) -> bool:
        """All of them together, if none is refused; else one by one, and False: somebody else was faster with some."""
        if not operations:
            return True
        try:
            await self._rows.transact(*checks, *operations)
            return True
        except WriteRefused:
            for operation in operations:
                with suppress(WriteRefused):
                    await self._rows.transact(*checks, operation)
            return False

    async def _everything(self) -> AsyncIterator[dict[str, Any]]:
        body: dict[str, Any] = {"TableName": media_library.name, "ConsistentRead": True}
        while True:
            answer = await self._rows.repeat(Request("Scan", body))
            for row in answer["Items"]:
                yield row
            if "LastEvaluatedKey" not in answer:
                return
            body = {**body, "ExclusiveStartKey": answer["LastEvaluatedKey"]}


# --- what a change means ----------------------------------------------------------------------------------------------


CONSEQUENTIAL = (Collection, Library, Book, Video, Relocation)
"""The kinds from whose changes something follows."""


def job_of(change: Change) -> Job | None:
    """What is to be looked at after a change; None if nothing follows from it."""
    row = change.new or change.old
    assert row is not None
    changed_names = (
        change.old is None
        or change.new is None
        or any(change.old.get(name) != change.new.get(name) for name in ("Name", "LibraryName", "OwnerName"))
    )
    gone = change.new is None
    match row.get("EntityType", {}).get("S"):
        case "COLLECTION" if changed_names and change.old is not None:
            return _job("collection", _entity(Collection, row))
        case "LIBRARY" if changed_names and change.old is not None:
            return _job("library", _entity(Library, row))
        case "BOOK" if gone:
            return _job("item", _entity(Book, row))
        case "VIDEO" if gone:
            return _job("item", _entity(Video, row))
        case "RELOCATION" if not gone:
            return _job("item", _entity(Relocation, row))
        case _:
            return None


def jobs_of(row: dict[str, Any]) -> Iterable[Job]:
    """What a row that is there belongs to, where nobody knows what was missed."""
    for kind in (Library, Collection, CollectionMember, Book, Video, Event, Share, Relocation):
        if plan_of(kind).matches(row):
            entity = _entity(kind, row)
            yield _job("library", entity)
            if isinstance(entity, Collection | CollectionMember):
                yield _job("collection", entity)
            if isinstance(entity, Event | Relocation):
                yield _job("item", entity)


def _job(what: str, entity: Any) -> Job:
    things = {"collection": "collection_id", "item": "item_id"}
    thing_id = getattr(entity, things[what]) if what in things else None
    return Job(what, entity.owner_id, entity.library_id, thing_id)


def _entity(kind: type[Any], row: dict[str, Any]) -> Any:
    plan: EntityPlan = plan_of(kind)
    return plan.coding.decode(row)


def _decoded(kind: type[Any], row: dict[str, Any] | None) -> Any:
    return None if row is None or not plan_of(kind).matches(row) else _entity(kind, row)


# --- what follows -----------------------------------------------------------------------------------------------------


def _in_collection(item: Item, name: str) -> list[Operation]:
    """The item under another name of its collection; nobody changed it, so its version stays."""
    kind: Any = type(item)
    same = the(kind.collection_id).still(item.collection_id)
    return [update(item, the(kind.collection_name).becomes(name), when=same, keep_version=True)]


def _of_library(item: Item, library: Library) -> list[Operation]:
    kind: Any = type(item)
    named = (
        the(kind.library_name).becomes(library.library_name),
        the(kind.owner_name).becomes(library.owner_name),
    )
    return [update(kind.one(item.owner_id, item.library_id, item.item_id), *named, keep_version=True)]


def _loosened(member: CollectionMember, found: dict[UUID, Item]) -> list[Operation]:
    """An item without its collection, which is gone."""
    item = found.get(member.item_id)
    if item is None:
        return [delete(member)]
    kind: Any = type(item)
    same = the(kind.collection_id).still(item.collection_id)
    cleared = [the(field).becomes(None) for field in (kind.collection_id, kind.collection_name, kind.order)]
    return [delete(member), update(item, *cleared, when=same, keep_version=True)]


def deleted_with(row: Any) -> list[Operation]:
    """What deletes a row of a library that is gone, with what hangs on it elsewhere."""
    match row:
        case Book() | Video():
            kind: Any = type(row)
            return [
                delete(kind.one(row.owner_id, row.library_id, row.item_id)),
                delete(Loan.one(row.owner_id, row.library_id, row.item_id)),
                delete(Cover.one(row.owner_id, row.item_id)),
            ]
        case Share():
            return [delete(row), delete(SharedLibrary.one(row.shared_to_id, row.library_id))]
        case _:
            return [delete(row)]


async def _batches(rows: Any, size: int) -> AsyncIterator[list[Any]]:
    some: list[Any] = []
    async for row in rows:
        some.append(row)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some

"""What is said in several rows follows the row that decides it: to the end, once, and the last word wins.

Run as a program, this file is a worker that can be killed.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from potluck.apps.library import consistency
from potluck.apps.library.app import LibraryApp
from potluck.apps.library.collections import CollectionChange, change_collection, delete_collection
from potluck.apps.library.consistency import AT_ONCE, CollectionKey, ConsistencyManager
from potluck.apps.library.consumers import consumers_of
from potluck.apps.library.covers import Covers
from potluck.apps.library.entities import (
    Book,
    Collection,
    CollectionMember,
    Library,
    LibraryItem,
    SharedLibrary,
    media_library,
)
from potluck.apps.library.fields import owner_of
from potluck.apps.library.items import LibraryItemEdit
from potluck.apps.library.libraries import Forced, LibraryChange, change_library, delete_library
from potluck.apps.library.owner_names import OwnerNames
from potluck.apps.library.shares import all_shares
from potluck.people.entities import Account, accounts
from potluck.store import Store
from potluck.streams import Record, handing_over
from potluck.table import absent, put, the, update
from potluck.table.entity import plan_of
from potluck.web.direct_calls import Direct
from tests.apps.library.assembly import Shelves, core_on
from tests.apps.worlds import consumer_named
from tests.engine_targets import EMBEDDED, LOCAL, address, opened_at
from tests.patience import PATIENCE_SECONDS, until
from tests.people.assembly import Clock

ROOT = Path(__file__).resolve().parents[3]
MANY = 3 * AT_ONCE + 7


async def filled(shelves, count, name="Foo"):
    """A library with a collection of so many books, written straight into the table."""
    ada = await shelves.person()
    home = await shelves.library(ada)
    foo = await shelves.collection(ada, home, name)
    owner = owner_of(ada.user_id)
    made = [
        Book(
            owner_id=owner, library_id=home, item_id=UUID(int=number), title=f"T{number:05}", collection_id=foo,
            collection_name=name, order=1 + number % 1000, library_name="Home", owner_name="Ada",
        )
        for number in range(1, count + 1)
    ]  # fmt: skip
    for start in range(0, count, 45):
        some = made[start : start + 45]
        members = [
            CollectionMember(owner_id=owner, library_id=home, collection_id=foo, order=each.order, item_id=each.item_id)
            for each in some
        ]
        await shelves.store.transact(*map(put, members), *(put(each, when=absent) for each in some))
    await shelves.store.transact(
        update(Library.one(owner, home), the(Library.total_items).add(count)),
        update(Collection.one(owner, home, foo), the(Collection.item_count).add(count)),
    )
    return ada, home, foo


async def names(shelves, ada, home):
    items = await shelves.store.all(LibraryItem.stored_in(owner_of(ada.user_id), home))
    return {each.collection_name for each in items}


async def follow(shelves, owner, home, collection):
    """Do all the work that a change of the collection begins."""
    await shelves.manager.collections.of(CollectionKey(owner, home, collection)).completed(shelves.store)


def renaming(shelves, ada, home, foo, name, version):
    change = CollectionChange(version=version, name=name)
    return shelves.direct.do(change_collection, ada, change, version=version, library_id=home, collection_id=foo)


async def test_a_rename_reaches_every_item_and_its_place_in_the_list(shelves):
    ada, home, foo = await filled(shelves, MANY)
    async with shelves.consuming():
        await renaming(shelves, ada, home, foo, "Zoo", 1)

        async def followed():
            return await names(shelves, ada, home) == {"Zoo"}

        await until(followed)
    owner = owner_of(ada.user_id)
    items = await shelves.store.all(LibraryItem.stored_in(owner, home))
    assert {each.version for each in items} == {1}
    assert len(await shelves.store.all(LibraryItem.in_library(owner, home))) == MANY
    assert await shelves.counts_are_right(ada) == (MANY, MANY)


async def test_the_changes_by_which_items_follow_concern_nobody(embedded_shelves):
    shelves = embedded_shelves
    ada, home, _ = await filled(shelves, 1)
    item = await shelves.store.one(LibraryItem.one(owner_of(ada.user_id), home, UUID(int=1)))
    before, after = (plan_of(Book).coding.encode(replace(item, collection_name=each)) for each in ("Foo", "Zoo"))
    consistency, covers = (
        consumer_named(f"library-{each}", shelves.app.consumers()) for each in ("consistency", "covers")
    )

    def change(old: Any, new: Any) -> Record:
        images = {"OldImage": old, "NewImage": new}
        return Record("MediaLibrary", {"dynamodb": {name: image for name, image in images.items() if image}})

    assert [each.concerns(change(before, after)) for each in (consistency, covers)] == [False, False]
    assert consistency.concerns(change(before, None))
    pictured = {**after, "PictureUrl": {"S": "https://example.org/1.png"}}
    assert covers.concerns(change(after, pictured))
    assert not covers.concerns(change(pictured, {**pictured, "CoverHash": {"S": "0" * 64}}))


async def test_of_two_renames_the_last_wins_everywhere_also_if_the_first_is_handled_late(embedded_shelves):
    shelves = embedded_shelves
    ada, home, foo = await filled(shelves, MANY)
    await renaming(shelves, ada, home, foo, "Second", 1)
    await renaming(shelves, ada, home, foo, "Third", 2)
    owner = owner_of(ada.user_id)
    # As it is handled by whoever has the first change in hand, twice, and by whoever has the second.
    for _ in range(3):
        await follow(shelves, owner, home, foo)
        assert await names(shelves, ada, home) == {"Third"}


async def test_of_many_renames_only_the_last_is_followed(embedded_shelves):
    shelves = embedded_shelves
    ada, home, foo = await filled(shelves, MANY)
    ref = Collection.one(owner_of(ada.user_id), home, foo)
    rows = [plan_of(Collection).coding.encode(await shelves.store.one(ref))]
    for version, name in enumerate(("Second", "Third", "Fourth"), 1):
        await renaming(shelves, ada, home, foo, name, version)
        rows.append(plan_of(Collection).coding.encode(await shelves.store.one(ref)))
    consistency = shelves.consumer("library-consistency")
    for old, new in pairwise(rows):
        images = {"OldImage": old, "NewImage": new}
        with shelves.recording.scope() as calls:
            handled = await consistency.handled(Record("MediaLibrary", {"eventName": "MODIFY", "dynamodb": images}))
            for begun in handled.works:
                await begun.completed(shelves.store)
        if new is not rows[-1]:
            assert calls.operations == ["GetItem"]
    assert await names(shelves, ada, home) == {"Fourth"}


@pytest.mark.parametrize(
    ("count", "rows"), [(400, 10), pytest.param(100_000, consistency.ROWS_PER_STEP, marks=pytest.mark.soak)]
)
async def test_while_a_large_collection_is_renamed_others_are_followed_between_its_steps(
    embedded_shelves, monkeypatch, count, rows
):
    shelves = embedded_shelves
    steps = []
    follow_some = ConsistencyManager._follow_collection

    async def counted(self, key, after):
        steps.append(key.collection_id)
        return await follow_some(self, key, after)

    monkeypatch.setattr(ConsistencyManager, "_follow_collection", counted)
    monkeypatch.setattr(consistency, "ROWS_PER_STEP", rows)
    # Nothing says here that there are records, and these steps are short.
    monkeypatch.setattr(handing_over, "LOOK_BETWEEN_STEPS_SECONDS", 0.0)
    ada, home, foo = await filled(shelves, count)
    bo = await shelves.person("Bo")
    other = await shelves.library(bo, "Other")
    bar = await shelves.collection(bo, other, "Bar")
    await shelves.book(bo, other, "One", collection_id=bar)
    async with shelves.consuming():
        await renaming(shelves, ada, home, foo, "Zoo", 1)

        async def begun():
            return foo in steps

        await until(begun)
        await renaming(shelves, bo, other, bar, "Baz", 1)

        async def followed():
            return await names(shelves, bo, other) == {"Baz"}

        await until(followed)

        async def gone_on():
            return foo in steps[steps.index(bar) :]

        await until(gone_on)

        async def all_followed():
            return await names(shelves, ada, home) == {"Zoo"}

        if count < 1000:
            await until(all_followed)
            assert len(steps) <= count / rows + 3


async def test_a_worker_from_the_past_writes_nothing(interrupted_shelves):
    shelves = interrupted_shelves
    ada, home, foo = await filled(shelves, AT_ONCE)
    await renaming(shelves, ada, home, foo, "Second", 1)
    owner = owner_of(ada.user_id)
    # The collection is renamed between the worker's reads and its first write.
    shelves.meanwhile(lambda: renaming(shelves, ada, home, foo, "Third", 2))
    await follow(shelves, owner, home, foo)
    assert await names(shelves, ada, home) == {"Third"}


async def test_a_worker_that_read_an_owners_name_before_it_changed_writes_nothing(interrupted_shelves):
    shelves = interrupted_shelves
    ada = await shelves.person()
    home = await shelves.library(ada)
    account = Account.by_id(ada.user_id)

    async def named(name):
        active = the(Account.status).still("active")
        await shelves.store.update(account, the(Account.name).becomes(name), active, keep_version=True)

    await named("Augusta")
    shelves.meanwhile(lambda: named("Lady Lovelace"))
    names_of_owners = OwnerNames(shelves.store)
    await names_of_owners.owners.of(ada.user_id).step()
    library = Library.one(owner_of(ada.user_id), home)
    assert (await shelves.store.one(library)).owner_name == "Ada"
    await names_of_owners.owners.of(ada.user_id).step()
    assert (await shelves.store.one(library)).owner_name == "Lady Lovelace"


async def test_an_item_that_is_changed_meanwhile_keeps_the_change_and_gets_the_name(interrupted_shelves):
    shelves = interrupted_shelves
    ada, home, foo = await filled(shelves, AT_ONCE)
    await renaming(shelves, ada, home, foo, "Second", 1)
    owner = owner_of(ada.user_id)
    item = await shelves.store.one(LibraryItem.one(owner, home, UUID(int=1)))
    shelves.meanwhile(lambda: shelves.change(ada, item, LibraryItemEdit(version=1, title="Changed", order=5)))
    await follow(shelves, owner, home, foo)
    assert await names(shelves, ada, home) == {"Second"}
    after = await shelves.store.one(LibraryItem.one(owner, home, UUID(int=1)))
    assert (after.title, after.order, after.version) == ("Changed", 5, 2)
    assert await shelves.counts_are_right(ada) == (AT_ONCE, AT_ONCE)


async def test_without_its_collection_every_item_stands_for_itself(shelves):
    ada, home, foo = await filled(shelves, MANY)
    async with shelves.consuming():
        await shelves.direct.do(delete_collection, ada, library_id=home, collection_id=foo)

        async def followed():
            return await names(shelves, ada, home) == {None} and "COLLECTION_MEMBER" not in await shelves.kinds()

        await until(followed)
    items = await shelves.store.all(LibraryItem.stored_in(owner_of(ada.user_id), home))
    assert {(each.collection_id, each.order) for each in items} == {(None, None)}
    assert await shelves.counts_are_right(ada) == (MANY, 0)


async def test_an_item_that_is_changed_while_its_collection_goes_still_comes_to_stand_for_itself(interrupted_shelves):
    shelves = interrupted_shelves
    ada, home, foo = await filled(shelves, 3)
    await shelves.direct.do(delete_collection, ada, library_id=home, collection_id=foo)
    owner = owner_of(ada.user_id)
    item = await shelves.store.one(LibraryItem.one(owner, home, UUID(int=1)))
    shelves.meanwhile(lambda: shelves.change(ada, item, LibraryItemEdit(version=1, title="Changed")))
    await follow(shelves, owner, home, foo)
    items = await shelves.store.all(LibraryItem.stored_in(owner, home))
    assert {(each.collection_id, each.title) for each in items} == {
        (None, "Changed"),
        (None, "T00002"),
        (None, "T00003"),
    }
    assert await shelves.counts_are_right(ada) == (3, 0)


async def test_an_item_leaves_a_deleted_collection_before_the_consumer_comes(embedded_shelves):
    shelves = embedded_shelves
    ada, home, foo = await filled(shelves, 2)
    await shelves.direct.do(delete_collection, ada, library_id=home, collection_id=foo)
    item = await shelves.store.one(LibraryItem.one(owner_of(ada.user_id), home, UUID(int=1)))
    moved = await shelves.change(ada, item, LibraryItemEdit(version=1, collection_id=None))
    assert (moved.collection_id, moved.order) == (None, None)
    await follow(shelves, owner_of(ada.user_id), home, foo)
    assert await shelves.counts_are_right(ada) == (2, 0)


async def test_names_of_library_and_owner_reach_items_and_shares(shelves):
    ada, home, _ = await filled(shelves, MANY)
    bo = await shelves.guest(ada, home)
    owner, guest = owner_of(ada.user_id), owner_of(bo.user_id)
    async with shelves.consuming():
        change = LibraryChange(version=1, library_name="Attic")
        await shelves.direct.do(change_library, ada, change, version=1, library_id=home)
        for person, name in ((ada, "Ada King"), (bo, "Bob")):
            account = await shelves.store.one(Account.by_id(person.user_id))
            await shelves.store.update(account, the(Account.name).becomes(name))

        async def followed():
            items = await shelves.store.all(LibraryItem.stored_in(owner, home))
            pointer = await shelves.store.one(SharedLibrary.one(guest, home))
            (share,) = await shelves.direct.list(all_shares, ada, library_id=home)
            return (
                {(each.library_name, each.owner_name) for each in items} == {("Attic", "Ada King")}
                and pointer.shared_from_name == "Ada King"
                and share.name == "Bob"
            )

        await until(followed)
    assert (await shelves.store.one(Library.one(owner, home))).version == 2


async def test_nothing_of_a_deleted_library_is_left(shelves):
    ada, home, _ = await filled(shelves, MANY)
    await shelves.guest(ada, home)
    other = await shelves.library(ada, "Other")
    await shelves.book(ada, other, "Stays")
    async with shelves.consuming():
        await shelves.direct.do(delete_library, ada, Forced(), library_id=home)

        async def gone():
            return await shelves.kinds() == {"LIBRARY": 1, "Unique": 1, "BOOK": 1}

        await until(gone)


async def test_where_changes_were_lost_everything_is_looked_at(embedded_shelves):
    shelves = embedded_shelves
    ada, home, foo = await filled(shelves, 50)
    await renaming(shelves, ada, home, foo, "Second", 1)
    other = await shelves.library(ada, "Other")
    await shelves.book(ada, other, "Orphan")
    await shelves.direct.do(delete_library, ada, Forced(), library_id=other)
    await shelves.manager.rebuilding().completed(shelves.store)
    assert await names(shelves, ada, home) == {"Second"}
    assert (await shelves.kinds())["LIBRARY"] == 1
    assert (await shelves.kinds())["BOOK"] == 50


# --- kill -9 ----------------------------------------------------------------------------------------------------------


class Telling:
    """An engine that says so when a batch is written, and waits until it is told to go on, or nobody is there to."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        answer = await self.engine.call(operation, request)
        if operation == "TransactWriteItems" and "#item#" in json.dumps(request):
            print("followed", flush=True)
            await asyncio.to_thread(sys.stdin.readline)
        return answer

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)


async def work(where: dict[str, Any]) -> None:
    engine = Telling(await opened_at(where))
    clock = lambda: datetime.now(UTC)  # noqa: E731
    rows = Store(engine, clock)  # type: ignore[arg-type]
    consumers = consumers_of(rows, Covers(core_on(rows, clock)))
    consumer = consumer_named("library-consistency", consumers).bind(rows)
    print("ready", flush=True)
    await consumer.run()


@contextlib.asynccontextmanager
async def worker(where: dict[str, Any], told: int = asyncio.subprocess.DEVNULL):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, json.dumps(where)), stdin=told, stdout=asyncio.subprocess.PIPE, env=environment
    )
    try:
        assert await asyncio.wait_for(process.stdout.readline(), PATIENCE_SECONDS) == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def killed_in_the_middle(engine: str, folder: Path, count: int, batches: int, deleted: bool) -> None:
    where = address(engine, folder)
    opened = await opened_at(where)
    try:
        clock = Clock()
        rows = Store(opened, clock)
        await rows.create_tables(accounts, media_library)
        core = core_on(rows, clock)
        app = LibraryApp(core)
        shelves = Shelves(1, rows, opened, clock, core, app, Direct(core, LibraryApp.subjects, app.context))
        ada, home, foo = await filled(shelves, count)
        async with worker(where, told=asyncio.subprocess.PIPE) as first:
            if deleted:
                await shelves.direct.do(delete_collection, ada, library_id=home, collection_id=foo)
            else:
                await renaming(shelves, ada, home, foo, "Zoo", 1)
            for number in range(batches):
                if number:
                    first.stdin.write(b"\n")
                assert await asyncio.wait_for(first.stdout.readline(), PATIENCE_SECONDS) == b"followed\n"
            first.send_signal(signal.SIGKILL)
            assert await first.wait() == -signal.SIGKILL
        assert len(await names(shelves, ada, home)) == 2
        wanted = {None} if deleted else {"Zoo"}
        async with worker(where) as second:

            async def followed():
                return await names(shelves, ada, home) == wanted

            await until(followed, every=0.25)
            assert second.returncode is None
        items = await rows.all(LibraryItem.stored_in(owner_of(ada.user_id), home))
        # Nothing twice: whoever writes an item again would raise its version, or change what it has.
        expected = None if deleted else foo
        assert {(each.version, each.collection_id) for each in items} == {(1, expected)}
        assert await shelves.counts_are_right(ada) == (count, 0 if deleted else count)
        assert await shelves.consumer("library-consistency").parked() == []
    finally:
        await opened.close()


@pytest.mark.parametrize("deleted", [False, True], ids=["renamed", "deleted"])
async def test_a_worker_that_is_killed_is_taken_over(tmp_path, deleted):
    await killed_in_the_middle(EMBEDDED, tmp_path, 8 * AT_ONCE, 2, deleted)


@pytest.mark.soak
@pytest.mark.parametrize("engine", [EMBEDDED, LOCAL])
@pytest.mark.parametrize("batches", [1, 9, 17])
@pytest.mark.parametrize("deleted", [False, True], ids=["renamed", "deleted"])
async def test_a_worker_that_is_killed_at_any_time_is_taken_over(tmp_path, engine, batches, deleted):
    await killed_in_the_middle(engine, tmp_path, 20 * AT_ONCE, batches, deleted)


if __name__ == "__main__":
    asyncio.run(work(json.loads(sys.argv[1])))

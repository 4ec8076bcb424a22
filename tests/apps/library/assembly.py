"""Library as the suite assembles it, on any engine, with people who cost no password."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from potluck.apps.library.app import LibraryApp
from potluck.apps.library.collections import NewCollection, add_collection
from potluck.apps.library.consistency import ConsistencyManager
from potluck.apps.library.entities import (
    Collection,
    CollectionMember,
    Library,
    LibraryItem,
    media_library,
)
from potluck.apps.library.fields import owner_of
from potluck.apps.library.items import NewBook, add_book, change_item, one_item
from potluck.apps.library.libraries import APP, NewLibrary, create_library
from potluck.apps.library.shares import NewShare, join, share
from potluck.engines import Engine
from potluck.engines.recording import Recording
from potluck.people.authentication import Principal
from potluck.people.entities import accounts as accounts_table
from potluck.people.idempotency import StoredAnswers
from potluck.people.invitations import InvitationRows
from potluck.settings import Settings
from potluck.store import Store
from potluck.streams import RecordConsumer
from potluck.web.app import App, Core
from potluck.web.count_limits import CountLimits
from potluck.web.direct_calls import Direct
from potluck.web.live import Live
from potluck.web.outbound import Outbound
from potluck.web.rate_limits import RateLimiter
from potluck.web.storage_quota import StorageQuota
from tests.apps.worlds import Meanwhile, by_key, consumer_named, meanwhile, outcomes, registered
from tests.patience import stopped
from tests.people.assembly import Clock
from tests.stores import recorded_store

__all__ = ["Meanwhile", "Shelves", "assembled", "core_on", "outcomes"]


def core_on(store: Store, clock: Any) -> Core:
    """As much of a core as rules, search and consumers need."""
    people: Any = SimpleNamespace(invitations=InvitationRows(store, clock), answers=StoredAnswers(store, clock))
    nothing: Any = None
    settings = Settings(open_library=None)
    return Core(
        settings=settings, engine=store.engine, store=store, clock=clock, people=people,
        live=Live(store.engine, clock), cursors=nothing,
        rate_limiter=RateLimiter(clock), count_limits=CountLimits(store), storage_quota=StorageQuota(0),
    )  # fmt: skip


@dataclass
class Shelves:
    many: int
    store: Store
    recording: Recording
    clock: Clock
    core: Core
    app: App
    direct: Direct

    @property
    def manager(self) -> ConsistencyManager:
        return ConsistencyManager(self.store)

    def meanwhile(self, first: Callable[[], Awaitable[Any]]) -> None:
        """Do this before the next transaction."""
        meanwhile(self.store, first)

    async def person(self, name: str = "Ada") -> Principal:
        return await registered(self.store, name, f"{name.lower()}@example.org")

    async def library(self, owner: Principal, name: str = "Home") -> UUID:
        made = await self.direct.do(create_library, owner, NewLibrary(library_name=name))
        found: UUID = made.library_id
        return found

    async def collection(self, owner: Principal, library_id: UUID, name: str) -> UUID:
        made = await self.direct.do(add_collection, owner, NewCollection(name=name), library_id=library_id)
        found: UUID = made.collection_id
        return found

    async def book(self, owner: Principal, library_id: UUID, title: str, **said: Any) -> Any:
        return await self.direct.do(add_book, owner, NewBook(title=title, **said), library_id=library_id)

    async def change(self, owner: Principal, item: Any, change: Any) -> Any:
        """Changes an item as it is now, wherever the caller believes it to be."""
        ids = {"library_id": item.library_id, "item_id": item.item_id}
        return await self.direct.do(change_item, owner, change, version=change.version or None, **ids)

    async def seen(self, owner: Principal, item: Any) -> Any:
        return await self.direct.read(one_item, owner, library_id=item.library_id, item_id=item.item_id)

    async def guest(self, owner: Principal, library_id: UUID, name: str = "Bo") -> Principal:
        """Somebody with whom the library is shared."""
        person = await self.person(name)
        made = await self.direct.do(share, owner, NewShare(email=f"{name.lower()}@note.example"), library_id=library_id)
        await self.direct.join(person, made.token, APP, join)
        return person

    async def kinds(self) -> Counter[str]:
        """How many rows there are of each kind, guards included."""
        rows = await by_key(self.recording, media_library)
        return Counter(row["EntityType"]["S"] for row in rows.values())

    async def counts_are_right(self, owner: Principal) -> tuple[int, int]:
        """That every count equals a recount, and every member row its item; how many items and members there are."""
        owner_id = owner_of(owner.user_id)
        items = members = 0
        for listed in await self.store.all(Library.of_owner(owner_id)):
            # The list comes from an index, which may not have the last count yet.
            library = await self.store.one(Library.one(owner_id, listed.library_id))
            there = await self.store.all(LibraryItem.stored_in(owner_id, library.library_id))
            assert library.total_items == len(there)
            items += len(there)
            inside = Counter(each.collection_id for each in there if each.collection_id is not None)
            for collection in await self.store.all(Collection.in_library(owner_id, library.library_id)):
                assert collection.item_count == inside.pop(collection.collection_id, 0), collection
                found = await self.store.all(
                    CollectionMember.of_collection(owner_id, library.library_id, collection.collection_id)
                )
                expected = {
                    (each.order, each.item_id) for each in there if each.collection_id == collection.collection_id
                }
                assert {(each.order, each.item_id) for each in found} == expected
                assert len(found) == len(expected)
                members += len(found)
            assert not inside, "items of a collection that is not there"
        return items, members

    def consumer(self, name: str) -> RecordConsumer:
        return consumer_named(name, self.app.all_consumers()).bind(self.store)

    @contextlib.asynccontextmanager
    async def consuming(self) -> AsyncIterator[list[RecordConsumer]]:
        """The consumers of names and dependent rows at work, until the block ends."""
        consumers = [self.consumer(name) for name in ("library-consistency", "library-names")]
        tasks = [asyncio.create_task(each.run()) for each in consumers]
        try:
            yield consumers
        finally:
            await stopped(*tasks)
        for each in consumers:
            assert await each.parked() == []


@contextlib.asynccontextmanager
async def assembled(
    engine: str,
    folder: Path,
    *,
    wrap: Callable[[Engine], Engine] | None = None,
    many: int = 50,
    outbound: Outbound | None = None,
) -> AsyncIterator[Shelves]:
    async with recorded_store(engine, folder, accounts_table, media_library, wrap=wrap) as (wrapped, recording):
        clock = Clock()
        rows = Store(wrapped.engine, clock)
        core = core_on(rows, clock)
        app = LibraryApp(replace(core, outbound=outbound or Outbound()))
        try:
            yield Shelves(many, rows, recording, clock, core, app, Direct(core, LibraryApp.subjects, app.context))
        finally:
            await core.live.stop()

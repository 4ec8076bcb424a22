"""Shopping as the suite assembles it, on any engine, with a clock that is moved and people who cost no password."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from potluck.apps.shopping.entities import Deletion, inventory
from potluck.engines import Engine
from potluck.engines.recording import Recording
from potluck.people.authentication import Principal
from potluck.people.entities import accounts as accounts_table
from potluck.people.invitations import Invitations
from potluck.store import Store
from potluck.table.entity import plan_of
from tests.apps.shopping.services import Shopping, open_shopping
from tests.apps.worlds import Meanwhile, by_key, meanwhile, outcomes, registered
from tests.people.assembly import Clock
from tests.stores import NOW, recorded_store

__all__ = ["NOW", "Meanwhile", "Shop", "assembled", "outcomes"]


@dataclass
class Shop:
    many: int
    """How many do something at once."""
    store: Store
    recording: Recording
    clock: Clock
    invitations: Invitations
    shopping: Shopping

    def elsewhere(self) -> Shopping:
        """The same services as another process has them."""
        return open_shopping(self.store, self.clock, self.invitations)

    def meanwhile(self, first: Callable[[], Awaitable[Any]]) -> None:
        """Do this before the next transaction."""
        meanwhile(self.store, first)

    async def person(self, name: str = "Ada") -> Principal:
        """Someone with an account."""
        return await registered(self.store, name, f"{name.lower()}@example.org")

    async def family(self, name: str = "Lovelace", admin: str = "Ada") -> tuple[Principal, UUID]:
        """A family with its first admin."""
        person = await self.person(admin)
        return person, (await self.shopping.families.create(person, name)).family_id

    async def joined(self, admin: Principal, family_id: UUID, name: str = "Ben", role: str = "member") -> Principal:
        """Someone who accepted an invitation."""
        person = await self.person(name)
        made = await self.shopping.members.invite(admin, family_id, role)
        await self.shopping.members.accept(person, made.secret)
        return person

    async def dump(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Every row of the table, expired or not, by its key."""
        return await by_key(self.recording, inventory)

    async def kinds(self) -> dict[str, int]:
        """How many rows there are of each kind."""
        counted: dict[str, int] = {}
        for row in (await self.dump()).values():
            counted[row["entityType"]["S"]] = counted.get(row["entityType"]["S"], 0) + 1
        return counted

    async def carried(self) -> None:
        """Do what the consumer does, for every deletion that is under way."""
        for row in (await self.dump()).values():
            if row["entityType"]["S"] == "Deletion":
                await self.shopping.cascade.finish(plan_of(Deletion).coding.decode(row))


@contextlib.asynccontextmanager
async def assembled(
    engine: str, folder: Path, *, wrap: Callable[[Engine], Engine] | None = None, many: int = 50
) -> AsyncIterator[Shop]:
    async with recorded_store(engine, folder, accounts_table, inventory, wrap=wrap) as (wrapped, recording):
        clock = Clock()
        rows = Store(wrapped.engine, clock)
        invitations = Invitations(rows, clock)
        yield Shop(many, rows, recording, clock, invitations, open_shopping(rows, clock, invitations))

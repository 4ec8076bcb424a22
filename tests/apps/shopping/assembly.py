"""Shopping as the suite assembles it, on any engine, with a clock that is moved and people who cost no password."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from potluck.apps.shopping.entities import Deletion, inventory
from potluck.apps.shopping.errors import ShoppingError
from potluck.apps.shopping.service import Shopping, open_shopping
from potluck.engines import Engine
from potluck.engines.recording import Recording
from potluck.people.callers import Caller
from potluck.people.entities import Account
from potluck.people.entities import accounts as accounts_table
from potluck.people.errors import PeopleError
from potluck.people.invitations import Invitations
from potluck.store import Store
from potluck.table import absent
from potluck.table.entity import plan_of
from tests.people.assembly import Clock
from tests.stores import NOW, recorded_store

__all__ = ["NOW", "Meanwhile", "Shop", "assembled", "caller_of", "outcomes"]


def caller_of(user_id: UUID, name: str) -> Caller:
    return Caller(kind="session", user_id=user_id, name=name, hash="0" * 64, session_epoch=1, expires_at=None)


@dataclass
class Shop:
    many: int
    """How many do something at once."""
    rows: Store
    recording: Recording
    clock: Clock
    invitations: Invitations
    shopping: Shopping

    def elsewhere(self) -> Shopping:
        """The same services as another process has them."""
        return open_shopping(self.rows, self.clock, self.invitations)

    def meanwhile(self, first: Callable[[], Awaitable[Any]]) -> None:
        """Do this before the next transaction."""
        assert isinstance(self.rows.engine, Meanwhile)
        self.rows.engine.first = first

    async def person(self, name: str = "Ada") -> Caller:
        """Someone with an account."""
        account = Account(
            user_id=uuid4(),
            email=f"{name.lower()}@example.org",
            name=name,
            password_hash="-",
            created_at=NOW,
            updated_at=NOW,
        )
        await self.rows.put(account, when=absent)
        return caller_of(account.user_id, name)

    async def family(self, name: str = "Lovelace", admin: str = "Ada") -> tuple[Caller, UUID]:
        """A family with its first admin."""
        person = await self.person(admin)
        return person, (await self.shopping.families.create(person, name)).family_id

    async def joined(self, admin: Caller, family_id: UUID, name: str = "Ben", role: str = "member") -> Caller:
        """Someone who accepted an invitation."""
        person = await self.person(name)
        made = await self.shopping.members.invite(admin, family_id, role)
        await self.shopping.members.accept(person, made.secret)
        return person

    async def dump(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Every row of the table, expired or not, by its key."""
        found: dict[tuple[str, str], dict[str, Any]] = {}
        page: dict[str, Any] = {"TableName": inventory.name, "ConsistentRead": True}
        while True:
            answer = await self.recording.call("Scan", page)
            found |= {(row["PK"]["S"], row["SK"]["S"]): row for row in answer["Items"]}
            if "LastEvaluatedKey" not in answer:
                return found
            page["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

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
                await self.shopping.orphans.carry(plan_of(Deletion).coding.decode(row))


class Meanwhile:
    """An engine where something else is done just before a transaction, once it was told so."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.first: Callable[[], Awaitable[Any]] | None = None

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation == "TransactWriteItems" and self.first is not None:
            first, self.first = self.first, None
            await first()
        return await self.engine.call(operation, request)

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)

    async def close(self) -> None:
        await self.engine.close()


async def outcomes(*attempts: Awaitable[Any]) -> tuple[list[Any], list[Exception]]:
    """What came of attempts at once: answers, and refusals; anything else is raised."""
    done: list[Any] = []
    refused: list[Exception] = []
    for outcome in await asyncio.gather(*attempts, return_exceptions=True):
        if isinstance(outcome, ShoppingError | PeopleError):
            refused.append(outcome)
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            done.append(outcome)
    return done, refused


@contextlib.asynccontextmanager
async def assembled(
    engine: str, folder: Path, *, wrap: Callable[[Engine], Engine] | None = None, many: int = 50
) -> AsyncIterator[Shop]:
    async with recorded_store(engine, folder, accounts_table, inventory, wrap=wrap) as (wrapped, recording):
        clock = Clock()
        rows = Store(wrapped.engine, clock)
        invitations = Invitations(rows, clock)
        yield Shop(many, rows, recording, clock, invitations, open_shopping(rows, clock, invitations))

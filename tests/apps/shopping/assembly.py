"""Shopping as the suite assembles it, on any engine, with a clock that is moved and people who cost no password."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from potluck.apps.shopping.app import ShoppingApp
from potluck.apps.shopping.cascade import Cascade
from potluck.apps.shopping.entities import Deletion, inventory
from potluck.apps.shopping.families import families
from potluck.engines import Engine
from potluck.engines.recording import Recording
from potluck.people.authentication import Principal
from potluck.people.entities import accounts as accounts_table
from potluck.people.invitations import InvitationRows
from potluck.store import Store
from potluck.streams import RecordConsumer
from potluck.table.entity import plan_of
from potluck.web.app import Core, HomeCard
from potluck.web.direct_calls import Direct
from tests.apps.rule_calls import Rules
from tests.apps.worlds import Meanwhile, by_key, consumer_named, meanwhile, outcomes, registered
from tests.people.assembly import Clock
from tests.stores import NOW, recorded_store
from tests.web.cores import core_on

__all__ = ["NOW", "Meanwhile", "Shop", "assembled", "outcomes", "shop_on"]


@dataclass
class Shop:
    many: int
    """How many do something at once."""
    recording: Recording
    clock: Clock
    core: Core
    rules: Rules

    @property
    def store(self) -> Store:
        return self.core.store

    @property
    def invitations(self) -> InvitationRows:
        return self.core.people.invitations

    async def do(self, rule: Callable[..., Any], by: Principal, /, *ids: Any, **sent: Any) -> Any:
        """What a rule answers, called as tests/apps/rule_calls.py says."""
        return await self.rules.do(rule, by, *ids, **sent)

    async def accept(self, by: Principal, token: str) -> Any:
        """Join a family by an invitation."""
        return await self.rules.direct.join(by, token, families.app, families.join)

    def elsewhere(self) -> Rules:
        """The same rules as another process runs them."""
        return _rules_on(core_on(self.store, self.clock, self.invitations))

    def meanwhile(self, first: Callable[[], Awaitable[Any]]) -> None:
        """Do this before the next transaction."""
        meanwhile(self.store, first)

    async def person(self, name: str = "Ada") -> Principal:
        """Someone with an account."""
        return await registered(self.store, name, f"{name.lower()}@example.org")

    async def family(self, name: str = "Lovelace", admin: str = "Ada") -> tuple[Principal, UUID]:
        """A family with its first admin."""
        person = await self.person(admin)
        return person, (await self.do(families.create, person, name=name)).family_id

    async def joined(self, admin: Principal, family_id: UUID, name: str = "Ben", role: str = "member") -> Principal:
        """Someone who accepted an invitation."""
        person = await self.person(name)
        made = await self.do(families.invite, admin, family_id, role=role)
        await self.accept(person, made.token)
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
                work = await self.cascade.finishing(plan_of(Deletion).coding.decode(row))
                await work.completed(self.store)

    @property
    def cascade(self) -> Cascade:
        return Cascade(self.core)

    @property
    def places(self) -> Any:
        return self.app.places

    @property
    def app(self) -> ShoppingApp:
        return ShoppingApp(self.core)

    def export(self, user_id: UUID) -> Any:
        return self.app.export(user_id)

    async def home_card(self, by: Principal) -> HomeCard:
        return await self.app.home_card(by)

    def consumer(self, name: str) -> RecordConsumer:
        return consumer_named(name, self.app.all_consumers()).bind(self.store)


def _rules_on(core: Core) -> Rules:
    return Rules(Direct(core, ShoppingApp.subjects))


def shop_on(store: Store, recording: Any, clock: Any, many: int = 1) -> Shop:
    core = core_on(store, clock)
    return Shop(many, recording, clock, core, _rules_on(core))


@contextlib.asynccontextmanager
async def assembled(
    engine: str, folder: Path, *, wrap: Callable[[Engine], Engine] | None = None, many: int = 50
) -> AsyncIterator[Shop]:
    async with recorded_store(engine, folder, accounts_table, inventory, wrap=wrap) as (wrapped, recording):
        clock = Clock()
        yield shop_on(Store(wrapped.engine, clock), recording, clock, many)

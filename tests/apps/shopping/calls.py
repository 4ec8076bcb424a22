"""The suite with Shopping, as its JSON door is called: who asks, in which family, what is in the tables."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from potluck.apps.shopping.app import ShoppingApp
from potluck.engines import Engine
from potluck.web.app import App, Core
from potluck.web.http.application import Application
from tests.people.assembly import Clock
from tests.stores import NOW
from tests.web.suites import ask, client_at, data, problem, rows_left, signed_up, suite_on

__all__ = ["Calls", "Home", "calls_on", "data", "one_suite", "problem"]

Person = dict[str, Any]


@dataclass
class Calls:
    client: httpx.AsyncClient
    application: Application
    clock: Clock
    engine: Engine
    core: Core
    """The suite's own services: for what the operator and other apps do."""
    people_made: int = 0

    async def ask(self, method: str, path: str, body: Any = None, *, by: Any = None, **headers: str) -> httpx.Response:
        """Call under /api/v1, as somebody if it is said who; headers with _ for -."""
        return await ask(self.client, method, path, body, by=by, **headers)

    async def person(self, name: str = "Ada") -> Person:
        """Somebody with an account, who comes from an address of their own: so many from one are throttled."""
        self.people_made += 1
        async with client_at(self.application, f"10.0.0.{self.people_made}") as client:
            return await signed_up(client, f"{name.lower()}.{self.people_made}@example.org", name)

    async def home(self, admin: str = "Ada", name: str = "Lovelace") -> "Home":
        """A family with its first admin."""
        by = await self.person(admin)
        made = data(await self.ask("POST", "/families", {"name": name}, by=by), 201)
        return Home(self, by, made["familyId"])

    async def rows(self) -> dict[str, list[str]]:
        """Every row of every table, but for what consumers keep for themselves and callers leave by calling."""
        return await rows_left(self.engine)


@dataclass
class Home:
    """A family and who made it; what is asked is asked by them, if nobody else is named."""

    calls: Calls
    admin: Person
    family_id: str

    async def ask(
        self, method: str, path: str = "", body: Any = None, *, by: Person | None = None, **headers: str
    ) -> httpx.Response:
        """Call under the family."""
        return await self.calls.ask(method, f"/families/{self.family_id}{path}", body, by=by or self.admin, **headers)

    async def make(self, path: str, body: Any = None, *, by: Person | None = None, **said: Any) -> Any:
        """Make something with these fields."""
        return data(await self.ask("POST", path, {**(body or {}), **said}, by=by), 201)

    async def joined(self, name: str = "Ben", role: str = "member") -> Person:
        """Somebody else, invited and come."""
        invited = await self.make("/invitations", role=role)
        person = await self.calls.person(name)
        accepted = await self.calls.ask("POST", "/invitations/accept", {"token": invited["token"]}, by=person)
        assert data(accepted) == {"familyId": self.family_id}
        return person

    async def listed(self, query: str = "", *, by: Person | None = None) -> Any:
        return data(await self.ask("GET", f"/shopping-list{query}", by=by))


@contextlib.asynccontextmanager
async def calls_on(folder: Path) -> AsyncIterator[Calls]:
    clock = Clock()
    cores: list[Core] = []

    def known(core: Core) -> App:
        cores.append(core)
        return ShoppingApp(core)

    async with suite_on(folder, (known,), clock=clock) as (client, application):
        yield Calls(client, application, clock, cores[0].engine, cores[0])


def one_suite() -> Any:
    """Fixtures for a module whose tests share a suite, each with people and families of its own, at the same time.

    suite, calls, home = one_suite()
    pytestmark = pytest.mark.asyncio(loop_scope="module")
    """

    @pytest_asyncio.fixture(scope="module", loop_scope="module")
    async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Calls]:
        async with calls_on(tmp_path_factory.mktemp("suite")) as calls:
            yield calls

    @pytest.fixture
    def calls(suite: Calls) -> Calls:
        suite.clock.now = NOW
        return suite

    @pytest_asyncio.fixture(loop_scope="module")
    async def home(calls: Calls) -> Home:
        return await calls.home()

    return suite, calls, home

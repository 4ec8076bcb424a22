"""The suite with Shopping, as its JSON door is called: who asks, in which family, what is in the tables."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from litestar import Litestar

from potluck.apps.shopping.app import shopping_app
from potluck.engines import Engine
from tests.people.assembly import Clock
from tests.web.suites import API, bearer, rows_of, signed_up, suite_on

__all__ = ["Calls", "Home", "calls_on", "data", "problem"]

Person = dict[str, Any]


def data(answer: httpx.Response, status: int = 200) -> Any:
    """What was answered, if it was answered so."""
    assert answer.status_code == status, (answer.status_code, answer.text)
    return answer.json() if answer.content else None


def problem(answer: httpx.Response, status: int, slug: str) -> Any:
    """The problem that was answered, if it is this one."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    found = answer.json()
    assert (answer.status_code, found["type"]) == (status, f"/problems/{slug}"), answer.text
    return found


@dataclass
class Calls:
    client: httpx.AsyncClient
    application: Litestar
    clock: Clock
    engine: Engine

    async def ask(self, method: str, path: str, body: Any = None, *, by: Any = None, **headers: str) -> httpx.Response:
        """Call under /api/v1, as somebody if it is said who; headers with _ for -."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if by is not None:
            named |= bearer(by)
        sent: dict[str, Any] = {} if body is None else {"json": body}
        return await self.client.request(method, API + path, headers=named, **sent)

    async def person(self, name: str = "Ada") -> Person:
        return await signed_up(self.client, f"{name.lower()}@example.org", name)

    async def home(self, admin: str = "Ada", name: str = "Lovelace") -> "Home":
        """A family with its first admin."""
        by = await self.person(admin)
        made = data(await self.ask("POST", "/families", {"name": name}, by=by), 201)
        return Home(self, by, made["familyId"])

    async def rows(self) -> dict[str, list[str]]:
        """Every row of every table, but for what consumers keep for themselves and callers leave by calling."""
        found = await rows_of(self.engine)
        return {
            table: sorted(str(row) for row in rows if "THROTTLE#" not in str(row))
            for table, rows in found.items()
            if table != "BackgroundWork"
        }


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
    async with suite_on(folder, (shopping_app,), clock=clock) as (client, application):
        yield Calls(client, application, clock, application.state["engine"])

"""The suite with the journal, on any engine, called through its JSON API: athletes, coaches, sessions."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from potluck.apps.journal.app import JournalApp
from potluck.apps.journal.entities import roll_model
from potluck.web.app import App, Core
from potluck.web.http.application import Application
from tests.apps.worlds import by_key
from tests.engine_targets import address, calling
from tests.people.assembly import Clock
from tests.web.suites import ask, client_at, data, problem, signed_up, suite_on

__all__ = ["METRICS", "Gym", "Person", "data", "gym_on", "problem"]

Person = dict[str, Any]

METRICS = {"durationMinutes": 90, "intensity": 7, "rounds": 6, "giOrNoGi": "gi", "tags": []}


@dataclass
class Gym:
    client: httpx.AsyncClient
    application: Application
    clock: Clock
    core: Core
    people_made: int = 0

    async def person(self, name: str = "Mara") -> Person:
        """A person with an account. Each has an address of their own, because sign-ups from one are throttled."""
        self.people_made += 1
        async with client_at(self.application, f"10.0.0.{self.people_made}") as client:
            return await signed_up(client, f"{name.lower()}.{self.people_made}@example.org", name)

    async def ask(self, method: str, path: str, body: Any = None, *, by: Any = None, **headers: str) -> httpx.Response:
        """Call under the journal."""
        return await ask(self.client, method, f"/journal{path}", body, by=by, **headers)

    async def get(self, path: str, by: Person) -> Any:
        return data(await self.ask("GET", path, by=by))

    async def add_entry(
        self, by: Person, shared: str = "", private: str = "", date: str | None = None, **metrics: Any
    ) -> Any:
        """Write an entry."""
        said = {"sections": {"shared": shared, "private": private}, "sessionMetrics": METRICS | metrics}
        return data(await self.ask("POST", "/entries", said | ({"date": date} if date else {}), by=by), 201)

    async def change_entry(self, entry: Any, by: Person, **change: Any) -> Any:
        """Edit the current version of an entry."""
        return data(
            await self.ask("PATCH", f"/entries/{entry['entryId']}", {"version": entry["version"], **change}, by=by)
        )

    async def link(self, athlete: Person, coach: Person, **choice: str) -> None:
        """The coach accepts the athlete's invitation."""
        invitation = data(
            await self.ask("POST", "/links", {"coachEmail": "someone@example.org", **choice}, by=athlete), 201
        )
        accepted = await ask(self.client, "POST", "/invitations/accept", {"token": invitation["token"]}, by=coach)
        assert data(accepted) == {"userId": athlete["userId"]}

    async def coached(self) -> tuple[Person, Person]:
        """An athlete and their coach."""
        mara, renzo = await self.person("Mara"), await self.person("Renzo")
        await self.link(mara, renzo)
        return mara, renzo

    async def add_comment(self, entry: Any, by: Person, body: str = "Hips first.") -> Any:
        return data(await self.ask("POST", f"/entries/{entry['entryId']}/comments", {"body": body}, by=by), 201)

    async def found(self, q: str, by: Person, athlete: Person | None = None) -> list[str]:
        """The ids of the entries that a search finds."""
        of = "" if athlete is None else f"&athleteId={athlete['userId']}"
        return [each["entryId"] for each in (await self.get(f"/search?q={q}&limit=100{of}", by))["items"]]

    async def dump(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Every row of the table by its key."""
        return await by_key(self.core.engine, roll_model)

    async def words(self) -> set[tuple[str, str]]:
        """Every keyword row: the kind of its partition, and its word."""
        return {
            (partition.partition("#")[0], sort.split("#")[1])
            for partition, sort in await self.dump()
            if sort.startswith("KW#")
        }


@contextlib.asynccontextmanager
async def gym_on(engine: str, folder: Path, **options: Any) -> AsyncIterator[Gym]:
    clock = Clock()
    cores: list[Core] = []

    def known(core: Core) -> App:
        cores.append(core)
        return JournalApp(core)

    with calling(address(engine, folder)) as settings:
        async with suite_on(folder, (known,), clock=clock, **settings, **options) as (client, application):
            yield Gym(client, application, clock, cores[0])

"""The suite with Polls, as its two doors are called: by programs with keys, and by browsers with cookies."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from potluck.apps.polls.app import PollsApp
from potluck.engines import Engine
from potluck.web.http.application import Application
from tests.people.assembly import Clock
from tests.web.suites import ask, client_at, data, problem, rows_left, signed_up, suite_on

__all__ = ["CANDIDATES", "FROM_HERE", "Calls", "calls_on", "data", "problem"]

CANDIDATES = ("Lake cabin", "Mountain hut", "Seaside camp")
# What a browser says by itself of a form on one of our pages.
FROM_HERE = {"sec-fetch-site": "same-origin"}


@dataclass
class Calls:
    client: httpx.AsyncClient
    application: Application
    clock: Clock
    engine: Engine

    async def ask(self, method: str, path: str, body: Any = None, *, by: Any = None, **headers: str) -> httpx.Response:
        """Call under /api/v1, as somebody if it is said who; headers with _ for -."""
        return await ask(self.client, method, path, body, by=by, **headers)

    async def person(self, name: str = "Ada") -> dict[str, Any]:
        return await signed_up(self.client, f"{name.lower()}@example.org", name)

    async def poll(self, candidates: Sequence[str] = CANDIDATES, *, by: Any = None, **said: Any) -> dict[str, Any]:
        said.setdefault("title", "Where to?")
        made: dict[str, Any] = data(await self.ask("POST", "/polls", {"candidates": candidates, **said}, by=by), 201)
        return made

    async def vote(self, poll: dict[str, Any], *rankings: str, by: Any = None, **said: Any) -> dict[str, Any]:
        body = {"rankings": rankings or CANDIDATES, **said}
        cast: dict[str, Any] = data(await self.ask("POST", f"/polls/{poll['id']}/votes", body, by=by), 201)
        return cast

    def browser(self) -> httpx.AsyncClient:
        """Somebody's, with cookies of its own."""
        return client_at(self.application)

    async def rows(self) -> dict[str, list[str]]:
        """Every row of every table, but for what consumers keep for themselves and callers leave by calling."""
        return await rows_left(self.engine)


@contextlib.asynccontextmanager
async def calls_on(folder: Path) -> AsyncIterator[Calls]:
    clock = Clock()
    async with suite_on(folder, (PollsApp,), clock=clock) as (client, application):
        yield Calls(client, application, clock, application.state.engine)

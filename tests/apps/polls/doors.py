"""The suite with Polls, as its two doors are called: by programs with keys, and by browsers with cookies."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from litestar import Litestar

from potluck.apps.polls.app import polls_app
from potluck.engines import Engine
from tests.people.assembly import Clock
from tests.web.suites import API, bearer, client_at, rows_of, signed_up, suite_on

__all__ = ["CANDIDATES", "FROM_HERE", "Calls", "calls_on", "data", "problem"]

CANDIDATES = ("Lake cabin", "Mountain hut", "Seaside camp")
# What a browser says by itself of a form on one of our pages.
FROM_HERE = {"sec-fetch-site": "same-origin"}


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
        return {
            table: sorted(str(row) for row in rows if "THROTTLE#" not in str(row))
            for table, rows in (await rows_of(self.engine)).items()
            if table != "BackgroundWork"
        }


@contextlib.asynccontextmanager
async def calls_on(folder: Path) -> AsyncIterator[Calls]:
    clock = Clock()
    async with suite_on(folder, (polls_app,), clock=clock) as (client, application):
        yield Calls(client, application, clock, application.state["engine"])

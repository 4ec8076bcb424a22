"""The suite with Shareables, as programs call it, with a clock that is moved."""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from potluck.apps.polls.app import PollsApp
from potluck.apps.shareables.app import ShareablesApp
from potluck.apps.shareables.entities import short_id_pool
from potluck.engines import Engine
from potluck.people.passwords import Passwords
from potluck.web.http.application import Application
from tests.people.assembly import Clock, CountingHasher
from tests.stores import rows_in
from tests.web.contract.wire import Listener, listening
from tests.web.suites import API, ask, bearer, client_at, data, problem, signed_up, suite_on

__all__ = ["ADMIN", "VIEW", "Calls", "calls_on", "data", "problem"]

VIEW, ADMIN = "lemonade", "trestle-table"


@dataclass
class Calls:
    client: httpx.AsyncClient
    application: Application
    clock: Clock
    engine: Engine
    hasher: CountingHasher

    async def ask(self, method: str, path: str, body: Any = None, *, by: Any = None, **headers: str) -> httpx.Response:
        """Call under /api/v1, as somebody if it is said who; headers with _ for -."""
        return await ask(self.client, method, path, body, by=by, **headers)

    async def person(self, name: str = "Ada") -> dict[str, Any]:
        return await signed_up(self.client, f"{name.lower()}@example.org", name)

    def from_address(self, address: str) -> httpx.AsyncClient:
        return client_at(self.application, address)

    async def made(self, items: Sequence[str] = ("Tents", "Stove"), *, by: Any = None, **said: Any) -> dict[str, Any]:
        """A checklist, as its maker is told of it."""
        body = {"entity": "checklist", "name": "Packing", "items": [{"name": each} for each in items], **said}
        if body["entity"] == "poll":
            del body["items"]
        return await self.data("POST", "/shareables", body, 201, by=by)

    async def guarded(self, **said: Any) -> dict[str, Any]:
        """One that asks for a passcode."""
        return await self.made(viewPasscode=VIEW, adminPasscode=ADMIN, **said)

    async def poll(self, *candidates: str, **said: Any) -> dict[str, Any]:
        return await self.made(entity="poll", candidates=candidates or ("Lake", "Hut", "Sea"), **said)

    async def token(self, made: dict[str, Any], passcode: str = VIEW) -> str:
        found = await self.data("POST", f"/shareables/{made['shortId']}/sessions", {"passcode": passcode}, 201)
        return str(found["token"])

    async def seen(self, made: dict[str, Any], by: Any = None) -> dict[str, Any]:
        """As an admin sees it, or as somebody else does."""
        return await self.data("GET", f"/shareables/{made['shortId']}", by=by or made["adminToken"])

    async def data(self, method: str, path: str, body: Any = None, status: int = 200, **options: Any) -> Any:
        return data(await self.ask(method, path, body, **options), status)

    def listening(self, path: str, by: Any = None) -> contextlib.AbstractAsyncContextManager[Listener]:
        """An open event stream under /api/v1."""
        return listening(self.application, API + path, [] if by is None else list(bearer(by).items()))

    async def pool(self) -> list[str]:
        """The ids that are there to claim."""
        return [row["id"]["S"] for row in await rows_in(self.engine, short_id_pool.name)]

    async def rows(self) -> list[dict[str, Any]]:
        return await rows_in(self.engine, "Shareables")


@contextlib.asynccontextmanager
async def calls_on(
    folder: Path, *, wrap: Callable[[Engine], Engine] = lambda engine: engine, **options: Any
) -> AsyncIterator[Calls]:
    clock, hasher = Clock(), CountingHasher()
    apps = (ShareablesApp, PollsApp)
    async with suite_on(folder, apps, clock=clock, hashed_by=Passwords(hasher), wrap=wrap, **options) as (
        client,
        application,
    ):
        yield Calls(client, application, clock, application.state.engine, hasher)

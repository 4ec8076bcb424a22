"""The suite with the toy app, as people's tests call it: who asks, what was written, what is in the tables."""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx

from potluck.engines import Engine
from potluck.engines.recording import WRITES, Recording
from potluck.people.invitations import MadeInvitation
from potluck.web.app import App, Core
from potluck.web.http.application import Application
from potluck.web.people.account import AccountData
from tests.people import operator_calls
from tests.people.assembly import PASSWORD, Clock
from tests.toy import NotesApp
from tests.web.suites import ask, client_at, rows_of, signed_up, suite_on

__all__ = ["ANOTHER_PASSWORD", "PASSWORD", "Doors", "doors_on"]

ANOTHER_PASSWORD = "battery staple"


@dataclass
class Doors:
    client: httpx.AsyncClient
    application: Application
    clock: Clock
    recording: Recording
    core: Core
    account_data: AccountData

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        by: Any = None,
        at: httpx.AsyncClient | None = None,
        **headers: str,
    ) -> httpx.Response:
        """Call under /api/v1, as somebody if it is said who; headers with _ for -."""
        return await ask(at or self.client, method, path, body, by=by, **headers)

    async def join(self, email: str = "ada@example.org", name: str = "Ada") -> dict[str, Any]:
        return await signed_up(self.client, email, name)

    async def sign_in(
        self, email: str = "ada@example.org", password: str = PASSWORD, at: httpx.AsyncClient | None = None
    ) -> httpx.Response:
        return await self.ask("POST", "/sessions", {"email": email, "password": password}, at=at)

    def elsewhere(self, address: str) -> httpx.AsyncClient:
        return client_at(self.application, address)

    async def issue_reset(self, email: str) -> str:
        return await operator_calls.issue_reset(self.core, email)

    async def invite_newcomer(self) -> str:
        return await operator_calls.invite_newcomer(self.core)

    async def invite(self, app: str, place: str, role: str, by: UUID, email: str | None = None) -> MadeInvitation:
        return await operator_calls.invite(self.core, app, place, role, by, email)

    async def rows(self) -> dict[str, list[dict[str, Any]]]:
        return await rows_of(self.recording)

    @contextlib.contextmanager
    def written(self) -> Iterator[list[str]]:
        """What is written meanwhile, but for attempts that are counted and for what a consumer writes."""
        found: list[str] = []
        with self.recording.scope() as calls:
            yield found
        for call in calls:
            counted = "THROTTLE#" in repr(call.request)
            if call.operation in WRITES and call.error is None and "BackgroundWork" not in call.tables and not counted:
                found.append(f"{call.operation} {call.request}")


@contextlib.asynccontextmanager
async def doors_on(
    folder: Path, wrap: Callable[[Engine], Engine] = lambda engine: engine, **options: Any
) -> AsyncIterator[Doors]:
    clock = Clock()
    recordings: list[Recording] = []
    made: list[tuple[Core, App]] = []

    def recorded(engine: Engine) -> Engine:
        recordings.append(Recording(engine))
        return wrap(recordings[0])

    def known(core: Core) -> App:
        made.append((core, NotesApp(core)))
        return made[0][1]

    async with suite_on(folder, (known,), clock=clock, wrap=recorded, **options) as (client, application):
        core, app = made[0]
        yield Doors(client, application, clock, recordings[0], core, AccountData(core, [app]))

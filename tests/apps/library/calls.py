"""The suite with Library, to be called over HTTP."""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from potluck.apps.library.app import LibraryApp
from potluck.web.app import App, Core
from potluck.web.http.application import Application
from potluck.web.outbound import Outbound
from tests.web.suites import ask, data, problem, signed_up, suite_on

__all__ = ["Calls", "calls_on", "data", "problem"]

Person = dict[str, Any]


class Calls:
    def __init__(self, client: httpx.AsyncClient, application: Application) -> None:
        self.client, self.application = client, application

    async def person(self, name: str = "Ada") -> Person:
        return await signed_up(self.client, f"{name.lower()}@example.org", name)

    async def ask(self, method: str, path: str, body: Any = None, *, by: Person, **headers: str) -> httpx.Response:
        return await ask(self.client, method, path, body, by=by, **headers)

    async def make(self, path: str, body: Any, *, by: Person) -> Any:
        return data(await self.ask("POST", path, body, by=by), 201)

    async def get(self, path: str, *, by: Person) -> Any:
        return data(await self.ask("GET", path, by=by))

    async def library(self, owner: Person, name: str = "Home") -> str:
        """The address of a new library."""
        made = await self.make("/libraries", {"libraryName": name}, by=owner)
        return f"/libraries/{made['libraryId']}"

    async def invited(self, at: str, owner: Person, guest: Person) -> None:
        made = await self.make(f"{at}/shares", {"email": guest["email"]}, by=owner)
        data(await self.ask("POST", "/invitations/accept", {"token": made["token"]}, by=guest))

    async def found(self, query: str, *, by: Person) -> list[str]:
        answer = await self.client.get(
            "/api/v1/library-search", params={"q": query}, headers={"authorization": f"Bearer {by['token']}"}
        )
        return [each["title"] for each in data(answer)["items"]]


@contextlib.asynccontextmanager
async def calls_on(folder: Path, outbound: Callable[[], Outbound] = Outbound, **options: Any) -> AsyncIterator[Calls]:
    def made(core: Core) -> App:
        return LibraryApp(replace(core, outbound=outbound()))

    options.setdefault("open_library", None)
    async with suite_on(folder, [made], **options) as (client, application):
        yield Calls(client, application)

"""The whole suite for tests: assembled in this event loop, called without a socket, with passwords that cost little."""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send

from potluck.engines import Engine
from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.suite import assembled
from potluck.web.app import AppMaker
from potluck.web.http.application import Application
from potluck.web.server.fast_path import FastPath
from tests.people.assembly import PASSWORD, Clock, CountingHasher, looked_after
from tests.stores import rows_in
from tests.web.made_apps import app_with

__all__ = [
    "API",
    "PASSWORD",
    "app_with",
    "as_served",
    "ask",
    "bearer",
    "client_at",
    "data",
    "problem",
    "rows_left",
    "rows_of",
    "signed_up",
    "suite_on",
]

API = "/api/v1"
ORIGIN = "http://testserver"
HERE = "127.0.0.1"


@contextlib.asynccontextmanager
async def suite_on(
    folder: Path,
    apps: Sequence[AppMaker] = (),
    *,
    clock: Callable[[], Any] | None = None,
    hashed_by: Passwords | None = None,
    wrap: Callable[[Engine], Engine] = lambda engine: engine,
    first: bool = False,
    **options: Any,
) -> AsyncIterator[tuple[httpx.AsyncClient, Application]]:
    """The suite on a store of its own in this folder; further options are those of Settings.

    `first`: nobody was ever here, so that the first account is an admin's.
    """
    settings = Settings(data=folder / "data", **options)
    hashed_by = hashed_by or Passwords(CountingHasher())
    async with (
        assembled(settings, apps, clock=clock or Clock(), passwords=hashed_by, wrap=wrap) as application,
        client_at(application) as client,
    ):
        if not first:
            await looked_after(application.state.core.store)
        yield client, application


def client_at(application: Application, address: str = HERE, origin: str = ORIGIN) -> httpx.AsyncClient:
    """A client that calls from this address, with cookies of its own."""
    transport = httpx.ASGITransport(app=as_served(application), client=(address, 40_000))
    return httpx.AsyncClient(transport=transport, base_url=origin)


def as_served(application: Application) -> ASGIApp:
    """The application as our server calls it: a GET that it has in memory is answered without a call."""

    fast_path: FastPath | None = getattr(application.state, "fast_path", None)

    async def called(scope: Scope, receive: Receive, send: Send) -> None:
        found = fast_path.find(scope) if fast_path is not None and scope["method"] == "GET" else None
        if found is None:
            await application(scope, receive, send)
            return
        lines, body = found
        headers = [tuple(line.split(b": ", 1)) for line in lines.split(b"\r\n")[:-1]]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return called


async def signed_up(
    client: httpx.AsyncClient, email: str = "ada@example.org", name: str = "Ada", password: str = PASSWORD
) -> dict[str, Any]:
    """A new account: userId, email, name, token, tokenExpiresAt."""
    answer = await client.post(f"{API}/accounts", json={"email": email, "password": password, "name": name})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def bearer(who: dict[str, Any] | str) -> dict[str, str]:
    """The header that says who is calling: for a token, or for an answer that has one."""
    return {"authorization": f"Bearer {who if isinstance(who, str) else who['token']}"}


async def ask(
    client: httpx.AsyncClient, method: str, path: str, body: Any = None, *, by: Any = None, **headers: str
) -> httpx.Response:
    """Call under /api/v1, as somebody if it is said who; headers with _ for -."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if by is not None:
        named |= bearer(by)
    sent: dict[str, Any] = {} if body is None else {"json": body}
    return await client.request(method, API + path, headers=named, **sent)


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


async def rows_of(engine: Engine) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table, expired or not."""
    tables = (await engine.call("ListTables", {}))["TableNames"]
    return {table: await rows_in(engine, table) for table in tables}


async def rows_left(engine: Engine) -> dict[str, list[str]]:
    """Every row of every table, but for the number of admins, what consumers keep and callers leave by calling."""
    return {
        table: sorted(str(row) for row in rows if "THROTTLE#" not in str(row) and "'ADMINS'" not in str(row))
        for table, rows in (await rows_of(engine)).items()
        if table != "BackgroundWork"
    }

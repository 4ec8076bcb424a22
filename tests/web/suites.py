"""The whole suite for tests: assembled in this event loop, called without a socket, with passwords that cost little."""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
from litestar import Litestar

from potluck.engines import Engine
from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.suite import assembled
from potluck.web.app import AppMaker
from tests.people.assembly import PASSWORD, Clock, CountingHasher

__all__ = ["API", "PASSWORD", "bearer", "client_at", "rows_of", "signed_up", "suite_on"]

API = "/api/v1"
ORIGIN = "http://testserver"
HERE = "127.0.0.1"


@contextlib.asynccontextmanager
async def suite_on(
    folder: Path,
    apps: Sequence[AppMaker] = (),
    *,
    clock: Callable[[], Any] | None = None,
    passwords: Passwords | None = None,
    wrap: Callable[[Engine], Engine] = lambda engine: engine,
    **options: Any,
) -> AsyncIterator[tuple[httpx.AsyncClient, Litestar]]:
    """The suite on a store of its own in this folder; further options are those of Settings."""
    settings = Settings(data=folder / "data", **options)
    passwords = passwords or Passwords(CountingHasher())
    async with (
        assembled(settings, apps, clock=clock or Clock(), passwords=passwords, wrap=wrap) as application,
        client_at(application) as client,
    ):
        yield client, application


def client_at(application: Litestar, address: str = HERE, origin: str = ORIGIN) -> httpx.AsyncClient:
    """A client that calls from this address, with cookies of its own."""
    transport = httpx.ASGITransport(app=application, client=(address, 40_000))
    return httpx.AsyncClient(transport=transport, base_url=origin)


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


async def rows_of(engine: Engine) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table, expired or not."""
    tables = (await engine.call("ListTables", {}))["TableNames"]
    return {table: await _scanned(engine, table) for table in tables}


async def _scanned(engine: Engine, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    page: dict[str, Any] = {"TableName": table, "ConsistentRead": True}
    while True:
        answer = await engine.call("Scan", page)
        found += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return found
        page["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

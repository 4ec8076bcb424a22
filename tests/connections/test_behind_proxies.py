"""Both servers behind the proxies of `deploy/`: each person gets their own answers, and live updates come at once."""

import asyncio
import json
from contextlib import suppress
from ipaddress import ip_network

import httpx
import pytest

from potluck.apps.shopping.app import ShoppingApp
from tests.connections.proxies import PROXIES, proxy
from tests.connections.raw_requests import SERVERS, SMUGGLED, Framing, Target, chunked, counted, item
from tests.patience import PATIENCE_SECONDS, stopped
from tests.web.server_here import served_here
from tests.web.suites import API, PASSWORD, bearer, suite_on

# Skipped before a request, so that one that comes in several pieces need not begin where a piece does.
PADDING = b"\r\n" * 64 * 1024
READS = 1_500
ATTACKS = 20
BEHIND = pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.needs(name)) for name in PROXIES])


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return int(head[9:12]), await reader.readexactly(length)


async def read_own(path: str, name: str) -> None:
    """Read one's own item again and again, on one connection; every answer must be that."""
    reader, writer = await asyncio.open_unix_connection(path)
    for number in range(READS):
        own = f"{name} {number}"
        writer.write(counted(body=item(own)))
        status, body = await asyncio.wait_for(read_answer(reader), PATIENCE_SECONDS)
        assert (status, json.loads(body)) == (200, {"Item": {"id": {"S": own}}})
    writer.close()


async def attack(path: str, framing: Framing) -> list[int]:
    """Send upgrades whose body is a request, in two pieces, and return how each was answered."""
    statuses = []
    for _ in range(ATTACKS):
        reader, writer = await asyncio.open_unix_connection(path)
        sent = framing("connection: upgrade", "upgrade: x", body=PADDING + counted(body=item(SMUGGLED)))
        with suppress(ConnectionError):
            writer.write(sent[:2048])
            await writer.drain()
            writer.write(sent[2048:])
            await writer.drain()
        status = 0
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            status, _ = await asyncio.wait_for(read_answer(reader), PATIENCE_SECONDS)
        statuses.append(status)
        writer.close()
    return statuses


@pytest.mark.parametrize("server", SERVERS)
@BEHIND
async def test_every_answer_is_one_s_own_whatever_others_send(name: str, server: str) -> None:
    target = Target()
    async with target.served(server), proxy(name, target.port) as path:
        attacks = [asyncio.create_task(attack(path, framing)) for framing in (counted, chunked)]
        try:
            await asyncio.gather(read_own(path, "anna"), read_own(path, "ben"))
            statuses = await asyncio.gather(*attacks)
        finally:
            await stopped(*attacks)
    # The proxy's own, if the connection behind it was closed before it had sent everything.
    assert {status for each in statuses for status in each} <= {0, 400, 502}
    assert SMUGGLED not in target.executed
    assert len(target.executed) == 2 * READS


@BEHIND
async def test_events_come_through_at_once(name: str, tmp_path) -> None:
    async with (
        suite_on(tmp_path, [ShoppingApp], proxies=(ip_network("127.0.0.0/8"),)) as (_, application),
        served_here(application) as here,
        proxy(name, here.port) as path,
        httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(uds=path), base_url="http://potluck.example", timeout=PATIENCE_SECONDS
        ) as client,
    ):
        person = {"email": "ada@example.org", "password": PASSWORD, "name": "Ada"}
        by = bearer((await client.post(f"{API}/accounts", json=person)).json())
        family = (await client.post(f"{API}/families", json={"name": "Lovelace"}, headers=by)).json()["familyId"]
        at = f"{API}/families/{family}/shopping-list"
        async with client.stream("GET", f"{at}/events", headers=by) as stream:
            assert stream.status_code == 200
            lines = stream.aiter_lines()
            for number in range(3):
                # The next is added only after the last was seen: none waits in a buffer for more to come.
                added = await client.post(at, json={"name": f"Thing {number}"}, headers=by)
                assert added.status_code == 201
                async with asyncio.timeout(PATIENCE_SECONDS):
                    async for line in lines:
                        if f'"Thing {number}"' in line:
                            break
                    else:
                        raise AssertionError("the stream has ended")

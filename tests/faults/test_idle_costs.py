"""What a suite on DynamoDB costs while nobody is there, counted by a proxy between the two."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from potluck.apps.shareables import short_ids
from potluck.engines.aws import READS, STREAM_READS, WRITES
from potluck.people.entities import accounts
from potluck.settings import Settings
from potluck.streams.handing_over import PASSED_OVER_SAVE_SECONDS
from potluck.streams.processes import BEAT_SECONDS
from potluck.suite import APPS, assembled, opened
from tests.engine_targets import LOCAL, address

# After its start a suite looks around; then it is idle.
SETTLING_SECONDS = 20.0


class CountingProxy:
    """Sends every request on to DynamoDB Local, and counts them by operation."""

    def __init__(self, endpoint: str) -> None:
        self.asked: Counter[str] = Counter()
        self._endpoint = endpoint

    async def answer(self, request: web.Request) -> web.Response:
        self.asked[request.headers["X-Amz-Target"].rpartition(".")[2]] += 1
        headers = {name: value for name, value in request.headers.items() if name.lower() != "host"}
        async with self._session.post(self._endpoint, data=await request.read(), headers=headers) as answered:
            return web.Response(body=await answered.read(), status=answered.status)

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        application = web.Application()
        application.router.add_post("/", self.answer)
        runner = web.AppRunner(application)
        async with aiohttp.ClientSession() as self._session:
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            host, port = runner.addresses[0][:2]
            try:
                yield f"http://{host}:{port}"
            finally:
                await runner.cleanup()


@pytest.mark.soak
@pytest.mark.parametrize("seconds", [12.0, 120.0])
async def test_an_idle_suite_renews_three_rows_and_asks_each_stream_now_and_then(
    seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = address(LOCAL, tmp_path)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "tests")
    # The pool of ids is filled before the counting begins.
    monkeypatch.setattr(short_ids, "REST_SECONDS", 0.0)
    proxy = CountingProxy(where["endpoint"])
    options: dict[str, Any] = {
        "engine": "aws",
        "region": where["region"],
        "table_prefix": where["prefix"],
        "secret": "the secret of the tests, on every machine",
    }
    async with opened(Settings(data=tmp_path, endpoint=where["endpoint"], **options)) as (_, apps):
        followed = {accounts.name, *(each.table for app in apps for each in app.consumers() if hasattr(each, "table"))}
    async with proxy.listening() as endpoint, assembled(Settings(data=tmp_path, endpoint=endpoint, **options), APPS):
        # What was passed over while the suite began is noted once, after a while: not by who is idle.
        await asyncio.sleep(
            SETTLING_SECONDS + (PASSED_OVER_SAVE_SECONDS if seconds > PASSED_OVER_SAVE_SECONDS else 0.0)
        )
        proxy.asked.clear()
        started = time.monotonic()
        await asyncio.sleep(seconds)
        taken, asked = time.monotonic() - started, proxy.asked.copy()
    writes = sum(count for operation, count in asked.items() if operation in WRITES)
    reads = sum(count for operation, count in asked.items() if operation in READS | STREAM_READS)
    print(f"{taken:.0f} s, {len(followed)} tables: {dict(asked)}")
    assert sum(asked.values()) == writes + reads
    # Two leases and the row of this process; one more of each, for what was begun before.
    assert writes <= 2 * taken / 10 + taken / BEAT_SECONDS + 3
    assert reads <= len(followed) * taken + 1

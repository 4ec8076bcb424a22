"""What someone without an account can hold open or make here has a limit, and leaves room for everybody else."""

import contextlib

import pytest

from potluck.web.live import live
from tests.apps.polls.doors import Calls, calls_on
from tests.web.contract.wire import listening, sent
from tests.web.suites import API, bearer

HIS, HERS = "192.0.2.1", "192.0.2.2"


@pytest.fixture
async def calls(tmp_path):
    async with calls_on(tmp_path) as calls:
        yield calls


@pytest.mark.parametrize("path", [f"{API}/polls/{{id}}/events", "/polls/{id}/results/events"])
async def test_a_stranger_has_only_so_many_streams_open(calls: Calls, monkeypatch, path):
    monkeypatch.setattr(live, "MOST_STREAMS_OF_ONE", 3)
    path = path.format(id=(await calls.poll())["id"])
    ada = await calls.person()
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(3):
            his = await stack.enter_async_context(listening(calls.application, path, client=HIS))
            await his.until(begun=True)
        refused = await sent(calls.application, "GET", path, client=HIS)
        assert (refused.status, refused.media_type) == (429, "application/problem+json")
        assert int(refused.header("retry-after") or 0) > 0
        for client, headers in ((HERS, {}), (HIS, bearer(ada))):
            other = await stack.enter_async_context(
                listening(calls.application, path, headers.items(), client=client)
            )
            await other.until(begun=True)
            assert other.status == 200

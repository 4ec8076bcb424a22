from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.apps.shopping.assembly import Meanwhile, Shop, assembled
from tests.apps.shopping.calls import Calls, Home, calls_on
from tests.apps.worlds import busy
from tests.engine_targets import BOTH, EMBEDDED
from tests.people.assembly import WRAPPERS


@pytest.fixture(params=BOTH)
async def shop(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Shop]:
    async with assembled(request.param, tmp_path) as shop:
        yield shop


@pytest.fixture
async def embedded_shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """Where the engine does not matter."""
    async with assembled(EMBEDDED, tmp_path) as shop:
        yield shop


@pytest.fixture
async def interrupted_shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """Where something else can be done between the reads of a call and its transaction."""
    async with assembled(EMBEDDED, tmp_path, wrap=Meanwhile) as shop:
        yield shop


# Fifty on the embedded engine as it is, fewer behind every wrapper and on DynamoDB Local, where each takes its time.
BUSY = busy(50, 12, ("plain",))


@pytest.fixture(params=BUSY)
async def busy_shop(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Shop]:
    """Where transactions conflict, answers get lost, indexes lag or capacity is used up."""
    engine, wrapper, many = request.param
    async with assembled(engine, tmp_path, wrap=WRAPPERS[wrapper], many=many) as shop:
        yield shop


@pytest.fixture
async def calls(tmp_path: Path) -> AsyncIterator[Calls]:
    """The suite with Shopping, to be called over HTTP."""
    async with calls_on(tmp_path) as calls:
        yield calls


@pytest.fixture
async def home(calls: Calls) -> Home:
    """A family with its first admin, to be called over HTTP."""
    return await calls.home()

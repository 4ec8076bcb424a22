from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.apps.library.assembly import Meanwhile, Shelves, assembled
from tests.apps.worlds import busy
from tests.engine_targets import BOTH, EMBEDDED
from tests.people.assembly import WRAPPERS


@pytest.fixture(params=BOTH)
async def shelves(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Shelves]:
    async with assembled(request.param, tmp_path) as shelves:
        yield shelves


@pytest.fixture
async def embedded_shelves(tmp_path: Path) -> AsyncIterator[Shelves]:
    """Where the engine does not matter."""
    async with assembled(EMBEDDED, tmp_path) as shelves:
        yield shelves


@pytest.fixture
async def interrupted_shelves(tmp_path: Path) -> AsyncIterator[Shelves]:
    """Where something else can be done between the reads of a call and its transaction."""
    async with assembled(EMBEDDED, tmp_path, wrap=Meanwhile) as shelves:
        yield shelves


# Fifty on the embedded engine as it is, fewer behind every wrapper and on DynamoDB Local, where each takes its time.
@pytest.fixture(params=busy(50, 12, ("plain",)))
async def busy_shelves(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Shelves]:
    """Where transactions conflict, answers get lost, indexes lag or capacity is used up."""
    engine, wrapper, many = request.param
    async with assembled(engine, tmp_path, wrap=WRAPPERS[wrapper], many=many) as shelves:
        yield shelves

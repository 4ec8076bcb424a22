from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.apps.polls.assembly import Booth, Meanwhile, assembled
from tests.apps.worlds import busy
from tests.engine_targets import BOTH, EMBEDDED
from tests.people.assembly import WRAPPERS


@pytest.fixture(params=BOTH)
async def booth(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Booth]:
    async with assembled(request.param, tmp_path) as booth:
        yield booth


@pytest.fixture
async def embedded_booth(tmp_path: Path) -> AsyncIterator[Booth]:
    """Where the engine does not matter."""
    async with assembled(EMBEDDED, tmp_path) as booth:
        yield booth


@pytest.fixture
async def interrupted_booth(tmp_path: Path) -> AsyncIterator[Booth]:
    """Where something else can be done between the reads of a call and its transaction."""
    async with assembled(EMBEDDED, tmp_path, wrap=Meanwhile) as booth:
        yield booth


# Two hundred on the embedded engine, also where transactions conflict; fewer where each call takes its time.
BUSY = busy(200, 30, ("plain", "conflicting"))


@pytest.fixture(params=BUSY)
async def busy_booth(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Booth]:
    """Where transactions conflict, answers get lost, indexes lag or capacity is used up."""
    engine, wrapper, many = request.param
    async with assembled(engine, tmp_path, wrap=WRAPPERS[wrapper], many=many) as booth:
        yield booth

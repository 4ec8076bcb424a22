from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.engine_targets import EMBEDDED
from tests.web.contract.worlds import BUSY, LONG, world_on
from tests.web.people.doors import Doors


@pytest.fixture
async def doors(tmp_path: Path) -> AsyncIterator[Doors]:
    """Where the engine does not matter."""
    async with world_on(EMBEDDED, tmp_path) as doors:
        yield doors


@pytest.fixture(params=[*BUSY, *LONG], ids="-".join)
async def busy(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Doors]:
    """Where transactions conflict, answers get lost, indexes lag or capacity is used up."""
    engine, wrapper = request.param
    async with world_on(engine, tmp_path, wrapper) as doors:
        yield doors

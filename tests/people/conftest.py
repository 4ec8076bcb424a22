from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.engine_targets import BOTH, EMBEDDED, LOCAL
from tests.people.assembly import WRAPPERS, People, assembled


@pytest.fixture(params=BOTH)
async def people(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[People]:
    async with assembled(request.param, tmp_path) as people:
        yield people


@pytest.fixture
async def embedded_people(tmp_path: Path) -> AsyncIterator[People]:
    """Where the engine does not matter."""
    async with assembled(EMBEDDED, tmp_path) as people:
        yield people


@pytest.fixture(params=[*((EMBEDDED, wrapper) for wrapper in WRAPPERS), (LOCAL, "plain")], ids="-".join)
async def busy_people(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[People]:
    """Where transactions conflict, answers get lost, indexes lag or capacity is used up."""
    engine, wrapper = request.param
    async with assembled(engine, tmp_path, wrap=WRAPPERS[wrapper]) as people:
        yield people

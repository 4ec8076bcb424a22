from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.apps.journal.gym import Gym, gym_on
from tests.engine_targets import BOTH, EMBEDDED


@pytest.fixture(params=BOTH)
async def gym(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Gym]:
    async with gym_on(request.param, tmp_path) as gym:
        yield gym


@pytest.fixture
async def embedded_gym(tmp_path: Path) -> AsyncIterator[Gym]:
    """Where the engine does not matter."""
    async with gym_on(EMBEDDED, tmp_path) as gym:
        yield gym

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.apps.journal.gym import Gym, gym_on
from tests.engine_targets import BOTH, EMBEDDED


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """DynamoDB Local takes whatever credentials it is given."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "tests")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "tests")


@pytest.fixture(params=BOTH)
async def gym(request: pytest.FixtureRequest, tmp_path: Path, keys: None) -> AsyncIterator[Gym]:
    async with gym_on(request.param, tmp_path) as gym:
        yield gym


@pytest.fixture
async def embedded_gym(tmp_path: Path) -> AsyncIterator[Gym]:
    """Where the engine does not matter."""
    async with gym_on(EMBEDDED, tmp_path) as gym:
        yield gym

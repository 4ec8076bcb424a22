from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.apps.shopping.assembly import Meanwhile, Shop, assembled
from tests.engine_targets import BOTH, EMBEDDED, LOCAL
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


# Every wrapper on the embedded engine and DynamoDB Local as it is; the rest takes long, and is the long form.
BUSY = [
    pytest.param(
        (engine, wrapper),
        id=f"{engine}-{wrapper}",
        marks=[pytest.mark.soak] if engine == LOCAL and wrapper != "plain" else [],
    )
    for engine in BOTH
    for wrapper in WRAPPERS
]


@pytest.fixture(params=BUSY)
async def busy_shop(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Shop]:
    """Where transactions conflict, answers get lost, indexes lag or capacity is used up."""
    engine, wrapper = request.param
    async with assembled(engine, tmp_path, wrap=WRAPPERS[wrapper]) as shop:
        yield shop

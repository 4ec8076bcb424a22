from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.web.people.doors import Doors, doors_on


@pytest.fixture
async def doors(tmp_path: Path) -> AsyncIterator[Doors]:
    async with doors_on(tmp_path) as doors:
        yield doors

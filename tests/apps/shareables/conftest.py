from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.apps.shareables.doors import Calls, calls_on


@pytest.fixture
async def calls(tmp_path: Path) -> AsyncIterator[Calls]:
    async with calls_on(tmp_path) as calls:
        yield calls

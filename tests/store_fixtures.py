"""Fixtures of stores, each on both engines: filled once for all tests of a file, or new for every test."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio

from potluck.engines.recording import Recording
from potluck.store import Store
from potluck.table import Entity, Table, absent, put
from tests.engine_targets import BOTH, LOCAL
from tests.stores import recorded_store

__all__ = ["Opened", "filled_store", "new_store", "units_of_transaction"]


class Opened(NamedTuple):
    """A store, the record of its calls, and the name of its engine."""

    store: Store
    recording: Recording
    engine: str


def filled_store(*tables: Table, rows: Sequence[Entity]) -> Any:
    """A fixture: one store that holds these rows, for tests that only read. They have the loop scope "module"."""

    @pytest_asyncio.fixture(params=BOTH, scope="module", loop_scope="module")
    async def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Opened]:
        async with recorded_store(request.param, tmp_path_factory.mktemp("filled"), *tables) as (store, recording):
            await store.write_each(put(row, when=absent) for row in rows)
            yield Opened(store, recording, request.param)

    return filled


def new_store(*tables: Table) -> Any:
    """A fixture: a store with these tables and nothing in them."""

    @pytest.fixture(params=BOTH)
    async def new(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Opened]:
        async with recorded_store(request.param, tmp_path, *tables) as (store, recording):
            yield Opened(store, recording, request.param)

    return new


def units_of_transaction(engine: str, rows: int) -> float:
    """What a transaction takes that writes or checks so many rows of less than a kilobyte: two units each."""
    # DynamoDB Local says two for all of them together.
    return 2.0 if engine == LOCAL else 2.0 * rows

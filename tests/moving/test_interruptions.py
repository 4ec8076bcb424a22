"""An export or an import that is killed at any moment continues where it was, and ends as if nothing had happened."""

import random

import pytest

from potluck.dynamo.errors import StoreUnusable
from potluck.moving import exporting, importing
from potluck.moving.unfinished_imports import UnfinishedImport, must_be_whole
from potluck.store import Store
from tests.engine_targets import BOTH, EMBEDDED, opened
from tests.moving.stores import PLAIN, WORK, Dead, Dying, Paged, contents, exported, filled, imported
from tests.stores import NOW


@pytest.fixture(autouse=True)
def _in_many_steps(monkeypatch):
    monkeypatch.setattr(exporting, "FILE_ROWS", 100)
    monkeypatch.setattr(importing, "SAVE_EVERY_ROWS", 50)
    monkeypatch.setattr(importing, "BATCHES_AT_ONCE", 2)


@pytest.mark.parametrize("seed", range(2))
async def test_an_export_that_dies_again_and_again(seed, tmp_path):
    moments = random.Random(seed)
    async with opened(EMBEDDED, tmp_path) as engine:
        await filled(engine, PLAIN)
        whole = await exported(Paged(engine), tmp_path / "whole")
        deaths = 0
        while True:
            dying = Dying(Paged(engine), moments.randint(4, 9), answered=moments.random() < 0.5)
            try:
                sums = await exported(dying, tmp_path / "out")
                break
            except Dead:
                deaths += 1
        assert deaths > 1
        assert sums == whole
        assert not list((tmp_path / "out").rglob("*.partial"))


@pytest.mark.parametrize("name", BOTH)
async def test_an_import_that_dies_again_and_again(name, tmp_path):
    moments = random.Random(3)
    async with opened(EMBEDDED, tmp_path) as engine:
        await filled(engine, PLAIN)
        whole = await exported(Paged(engine), tmp_path / "out")
    (tmp_path / "there").mkdir()
    async with opened(name, tmp_path / "there") as there:
        store = Store(there, lambda: NOW)
        deaths = 0
        while True:
            dying = Dying(there, moments.randint(6, 14), answered=moments.random() < 0.5)
            try:
                assert await imported(dying, tmp_path / "out") == whole
                break
            except Dead:
                deaths += 1
            if await UnfinishedImport(store).mark() is not None:
                with pytest.raises(StoreUnusable, match="has not finished"):
                    await must_be_whole(store)
            # The lease of the one that was killed need not be waited for.
            await there.call("DeleteItem", {"TableName": WORK.table, "Key": WORK.key("LEASE#IMPORT", "LEASE")})
        assert deaths > 1
        assert await contents(there) == {(row["PK"]["S"], row["SK"]["S"]): row for row in PLAIN}
        await must_be_whole(store)
        assert list(await contents(there, WORK.table)) == [("MOVED", "MOVED")]

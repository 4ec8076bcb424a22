"""A store's files are for their owner alone, from the first byte."""

import asyncio
import logging
import os
import stat

import apsw
import pytest

from potluck.dynamo.database import Database
from potluck.dynamo.errors import StoreUnusable

pytestmark = pytest.mark.skipif(os.name != "posix", reason="only POSIX has these modes")


@pytest.fixture(autouse=True)
def a_generous_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder):
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir() if file.is_file()}


async def fill(database, items=1):
    await database.call(
        "CreateTable",
        {
            "TableName": "Notes",
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        },
    )
    for number in range(items):
        item = {"id": {"S": str(number)}, "text": {"S": "x" * 10_000}}
        await database.call("PutItem", {"TableName": "Notes", "Item": item})


class Modes(apsw.VFS):
    """SQLite's own way to files, which notes the mode of each at the moment that it has been opened."""

    def __init__(self):
        self.seen = {}
        super().__init__("modes", "", makedefault=True)

    def xOpen(self, name, flags):
        opened = super().xOpen(name, flags)
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path is not None:
            self.seen.setdefault(os.path.basename(path), stat.S_IMODE(os.stat(path).st_mode))
        return opened


async def test_everything_is_made_so_and_not_only_changed_later(tmp_path):
    noted = Modes()
    try:
        database = await Database.open(tmp_path / "store.db")
        await fill(database)
        await database.backup(tmp_path / "copy.db")
        assert {"store.db", "store.db-wal"} < set(noted.seen)
        assert any(name.endswith(".partial") for name in noted.seen)
        assert set(noted.seen.values()) == {0o600}, noted.seen
        assert modes(tmp_path) == dict.fromkeys(("store.db", "store.db-wal", "store.db-shm", "copy.db"), 0o600)
        await database.close()
    finally:
        noted.unregister()


async def test_a_backup_that_fails_leaves_nothing(tmp_path):
    database = await Database.open(tmp_path / "store.db")
    await fill(database)
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "copy.db").write_text("precious")
    with pytest.raises(FileExistsError):
        await database.backup(tmp_path / "backups" / "copy.db")
    assert [file.read_text() for file in (tmp_path / "backups").iterdir()] == ["precious"]
    await database.close()


async def test_of_two_backups_to_one_name_one_is_made_and_it_is_whole(tmp_path):
    database = await Database.open(tmp_path / "store.db")
    await fill(database, 200)
    outcomes = await asyncio.gather(*(database.backup(tmp_path / "copy.db") for _ in range(4)), return_exceptions=True)
    assert [type(each) for each in outcomes if each is not None] == [FileExistsError] * 3
    await database.close()
    copy = await Database.open(tmp_path / "copy.db")
    assert (await copy.call("Scan", {"TableName": "Notes", "Select": "COUNT"}))["Count"] > 0
    await copy.close()
    assert sorted(modes(tmp_path)) == ["copy.db", "store.db"]


async def test_a_store_of_an_earlier_version_is_closed_to_others_and_the_log_says_so(tmp_path, caplog):
    path = tmp_path / "store.db"
    first = await Database.open(path)
    await fill(first)
    for file in tmp_path.iterdir():
        file.chmod(0o644)
    with caplog.at_level(logging.WARNING, logger="potluck"):
        second = await Database.open(path)
    assert modes(tmp_path) == dict.fromkeys(("store.db", "store.db-wal", "store.db-shm"), 0o600)
    assert f"other users could read {path} (mode 644)" in caplog.text
    caplog.clear()
    third = await Database.open(path)
    assert not caplog.records
    for database in (third, second, first):
        await database.close()


async def test_where_the_store_is_a_link_the_file_that_it_leads_to_is_meant(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "store.db").symlink_to(tmp_path / "disk" / "real.db")
    database = await Database.open(tmp_path / "store.db")
    await fill(database)
    assert set(modes(tmp_path / "disk").values()) == {0o600}
    assert (tmp_path / "store.db").is_symlink()
    (tmp_path / "disk" / "real.db").chmod(0o644)
    await (await Database.open(tmp_path / "store.db")).close()
    assert modes(tmp_path / "disk")["real.db"] == 0o600
    await database.close()


async def test_a_file_that_is_no_store_keeps_its_mode(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("a shopping list, long enough that SQLite looks at it twice")
    file.chmod(0o644)
    with pytest.raises(StoreUnusable):
        await Database.open(file)
    assert modes(tmp_path) == {"notes.txt": 0o644}


async def test_a_store_that_belongs_to_another_is_used_with_a_warning(tmp_path, caplog, monkeypatch):
    path = tmp_path / "store.db"
    await (await Database.open(path)).close()
    path.chmod(0o666)

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "chmod", refuse)
    with caplog.at_level(logging.WARNING, logger="potluck"):
        await (await Database.open(path)).close()
    assert f"other users can read {path} (mode 666)" in caplog.text
    assert "only its owner can change that" in caplog.text

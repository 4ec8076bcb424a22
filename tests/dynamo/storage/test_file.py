"""What may and may not be opened as a store."""

import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from potluck.dynamo.database import Database
from potluck.dynamo.errors import CLOSED, DynamoError, StoreUnusable
from tests.patience import PATIENCE_SECONDS


async def test_a_text_file_is_not_a_store(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("a shopping list, long enough that SQLite looks at it twice")
    with pytest.raises(StoreUnusable, match="nor any SQLite file"):
        await Database.open(path)
    assert path.read_text().startswith("a shopping list")


async def test_another_programs_sqlite_file_is_left_alone(tmp_path):
    path = tmp_path / "other.db"
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE theirs(x)")
    other.close()
    with pytest.raises(StoreUnusable, match="Potluck did not make"):
        await Database.open(path)


async def test_a_store_of_a_later_format_is_refused(tmp_path):
    path = tmp_path / "later.db"
    await (await Database.open(path)).close()
    later = apsw.Connection(str(path))
    later.execute("PRAGMA user_version=1000")
    later.close()
    with pytest.raises(StoreUnusable, match="later version"):
        await Database.open(path)


async def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StoreUnusable, match="folder must exist"):
        await Database.open(tmp_path / "missing" / "store.db")


async def test_durability_settings_are_what_the_promise_needs(tmp_path):
    database = await Database.open(tmp_path / "store.db")
    for connection in (database.file.writer.connection, database.rows.connection):
        assert connection.execute("PRAGMA journal_mode").get == "wal"
        assert connection.execute("PRAGMA synchronous").get == 2
    await database.close()


async def test_a_temporary_store_leaves_nothing_behind():
    database = await Database.open()
    folder = Path(database.file.path).parent
    assert folder.exists()
    await database.close()
    assert not folder.exists()


def test_a_temporary_store_that_nobody_closed_is_gone_with_its_process():
    script = (
        "import asyncio; from potluck.dynamo.database import Database;"
        "store = asyncio.run(Database.open()); print(store.file.path)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert (ended.returncode, ended.stderr) == (0, "")
    folder = Path(ended.stdout.strip()).parent
    assert folder.name.startswith("potluck-")
    assert not folder.exists()


async def test_a_closed_store_says_so():
    database = await Database.open()
    await database.close()
    await database.close()
    with pytest.raises(DynamoError) as refusal:
        await database.call("ListTables", {})
    assert refusal.value.code == CLOSED

"""What is read of SQLite's index of its write-ahead log, and that nothing is believed which it does not say."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from potluck.acceleration import ALL
from potluck.dynamo.database import Database
from potluck.dynamo.errors import NotPlain
from potluck.dynamo.storage import file
from potluck.dynamo.storage.file import StoreFile
from potluck.dynamo.storage.wal_index import WORDS, WalIndex, commits_between
from potluck.store import Store
from potluck.table import absent
from tests.stores import NOW
from tests.table.clubs import Member, clubs

CLUB = UUID(int=1)
VERSION_AT, INITIALISED_AT, BYTES_OF_BOTH = 0, 12, 96
LOCKED = """
import fcntl, os, sys
opened = os.open(sys.argv[1], os.O_RDWR)
try:
    fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 128)
except BlockingIOError:
    print("locked")
"""
"""Whether any process has the byte of the `-shm` file that says that it is in use."""


@pytest.fixture
def store_file(tmp_path: Path) -> Iterator[StoreFile]:
    opened = StoreFile(tmp_path / "store.db", lambda stored: None)
    yield opened
    opened.close()


def member(number: int) -> Member:
    return Member(club_id=CLUB, member_id=UUID(int=number), name=f"Ana {number}")


def index_of(opened: StoreFile) -> WalIndex:
    index = opened.commits._index
    assert index is not None
    return index


def header_of(opened: StoreFile) -> bytes:
    header = index_of(opened).header()
    assert header is not None
    return header


def test_every_commit_is_one_more_and_a_checkpoint_is_none(store_file: StoreFile) -> None:
    execute = store_file.writer.connection.execute
    execute("CREATE TABLE some(number)")
    for _ in range(3):
        before = header_of(store_file)
        execute("INSERT INTO some VALUES (1)")
        assert commits_between(before, header_of(store_file)) == 1
    before = header_of(store_file)
    execute("SELECT * FROM some").fetchall()
    execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    assert index_of(store_file).first() == before
    execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    begun_anew = header_of(store_file)
    assert begun_anew != before
    assert commits_between(before, begun_anew) == 0


def test_a_log_that_was_recovered_is_another_one(store_file: StoreFile) -> None:
    """Whoever dies while writing the header leaves two that differ, and the next to look recovers the log."""
    execute = store_file.writer.connection.execute
    execute("CREATE TABLE some(number)")
    before = header_of(store_file)
    with open(f"{store_file.path}-shm", "r+b") as torn:
        torn.seek(WORDS.size)
        torn.write(bytes(8))
        torn.flush()
        assert index_of(store_file).header() is None
        execute("SELECT * FROM some").fetchall()
    assert index_of(store_file).first() != before
    assert header_of(store_file) != before


@pytest.mark.parametrize(
    ("at", "byte"), [(VERSION_AT, 0xFF), (INITIALISED_AT, 0), (INITIALISED_AT, 2), (20, 0xFF), (47, 0xFF)]
)
def test_a_header_that_is_not_whole_is_none(store_file: StoreFile, tmp_path: Path, at: int, byte: int) -> None:
    copy = tmp_path / "copy.db-shm"
    whole = Path(f"{store_file.path}-shm").read_bytes()
    index = WalIndex.of(str(tmp_path / "copy.db"))
    copy.write_bytes(whole)
    assert index.opened() is index
    assert index.header() == header_of(store_file)
    wrong = bytearray(whole[: WORDS.size])
    wrong[at] = wrong[at] ^ byte if byte == 0xFF else byte
    copy.write_bytes(bytes(wrong * 2) + whole[BYTES_OF_BOTH:])
    assert index.header() is None
    copy.write_bytes(bytes(wrong) + whole[WORDS.size :])
    assert index.header() is None
    index.release()


@pytest.mark.parametrize("size", [None, 0, 3])
def test_where_there_is_no_index_there_is_nothing_to_look_at(tmp_path: Path, size: int | None) -> None:
    """As where SQLite keeps it in memory, because one process has the file to itself."""
    if size is not None:
        (tmp_path / "store.db-shm").write_bytes(bytes(size))
    index = WalIndex.of(str(tmp_path / "store.db"))
    assert index.opened() is None
    index.release()


async def test_an_index_that_does_not_show_a_commit_is_not_believed_again(tmp_path: Path) -> None:
    async with await Database.open(tmp_path / "store.db", accelerations=ALL) as database:
        store = Store(database, lambda: NOW, accelerations=ALL)
        await store.create_tables(clubs)
        shutil.copyfile(f"{database.file.path}-shm", tmp_path / "stale.db-shm")
        index = WalIndex.of(str(tmp_path / "stale.db"))
        database.file.commits._index = index.opened()
        database.state()
        await store.put(member(1), when=absent)
        with pytest.raises(NotPlain):
            database.state()
        for number in (2, 3):
            await store.put(member(number), when=absent)
            assert len(await store.all(Member.of_club(CLUB))) == number
        index.release()


def test_the_index_of_a_store_that_takes_the_place_of_an_open_one_is_another(tmp_path: Path) -> None:
    beside = tmp_path / "store.db-shm"
    beside.write_bytes(bytes(32768))
    index = WalIndex.of(str(tmp_path / "store.db"))
    assert index.opened() is index
    beside.unlink()
    beside.write_bytes(bytes(32768))
    another = WalIndex.of(str(tmp_path / "store.db"))
    assert another.opened() is None
    for each in (index, another):
        each.release()


def test_a_store_keeps_its_locks_when_another_of_the_same_file_closes_as_it_opens(
    store_file: StoreFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected = file.open_connection

    def while_the_other_closes(path: str, **options: object) -> object:
        connection = connected(path, **options)  # type: ignore[arg-type]
        store_file.close()
        return connection

    monkeypatch.setattr(file, "open_connection", while_the_other_closes)
    opened = StoreFile(store_file.path, lambda stored: None)
    told = subprocess.run(
        [sys.executable, "-c", LOCKED, f"{opened.path}-shm"], capture_output=True, text=True, timeout=60, check=True
    )
    assert told.stdout == "locked\n"
    opened.close()

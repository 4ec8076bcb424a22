"""Damaged stores are refused at start, or answered with an error of their own; healthy ones are never refused."""

import asyncio
import logging
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from potluck.commands.main import main
from potluck.dynamo.database import Database
from potluck.dynamo.errors import StoreDamaged, StoreUnusable
from potluck.dynamo.storage.clean_close import is_marked_open
from potluck.states import STORE_DAMAGED, lasting
from tests.faults.held_open import TABLE, fill, item
from tests.faults.power_cut_vfs import FaultyDisk
from tests.patience import PATIENCE_SECONDS, until
from tests.processes import POTLUCK

ROOT = Path(__file__).resolve().parents[2]
PAGE = 4096
ITEMS = 60


@contextmanager
def held_open(path: Path, first: int = 0, last: int = ITEMS):
    """A process that has written these items and keeps the store open; killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.held_open", str(path), str(first), str(last)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "written\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def killed_store(path: Path) -> Path:
    """A store whose process was killed, with a log."""
    with held_open(path):
        pass
    assert beside(path, "-wal").stat().st_size > PAGE
    return path


async def closed_store(path: Path) -> Path:
    async with await Database.open(path) as database:
        await fill(database, 0, ITEMS)
    assert not beside(path, "-wal").exists()
    return path


def beside(path: Path, ending: str) -> Path:
    return Path(f"{path}{ending}")


def flip(path: Path, at: int) -> None:
    """Invert one byte; a second time restores it."""
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 0xFF]))


def content_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


async def items_in(path: Path) -> int:
    async with await Database.open(path) as database:
        return (await database.call("Scan", {"TableName": TABLE, "Select": "COUNT"}))["Count"]


async def refusal_of(path: Path) -> str:
    """Why the store is refused; the same when it is tried again, and its file stays as it was."""
    before = content_of(path)
    with pytest.raises(StoreUnusable) as first:
        await Database.open(path)
    with pytest.raises(StoreUnusable) as second:
        await Database.open(path)
    assert str(first.value) == str(second.value)
    assert content_of(path) == before
    return str(first.value)


# --- healthy -----------------------------------------------------------------------------------------------------


async def test_a_store_that_was_closed_starts_without_a_log(tmp_path):
    path = await closed_store(tmp_path / "store.db")
    assert os.listdir(tmp_path) == ["store.db"]
    assert await items_in(path) == ITEMS


async def test_a_killed_store_starts_from_its_log(tmp_path):
    path = killed_store(tmp_path / "store.db")
    assert await items_in(path) == ITEMS
    assert await items_in(path) == ITEMS


@pytest.mark.parametrize("left", [b"", b"\xff" * 32768, None], ids=["empty", "garbage", "missing"])
async def test_a_killed_store_starts_whatever_its_index_of_the_log_says(tmp_path, left):
    path = killed_store(tmp_path / "store.db")
    if left is None:
        beside(path, "-shm").unlink()
    else:
        beside(path, "-shm").write_bytes(left)
    assert await items_in(path) == ITEMS


async def test_a_killed_store_starts_with_the_index_of_an_earlier_log(tmp_path):
    path = killed_store(tmp_path / "store.db")
    earlier = beside(path, "-shm").read_bytes()
    assert await items_in(path) == ITEMS
    with held_open(path, ITEMS, ITEMS + 2):
        pass
    beside(path, "-shm").write_bytes(earlier)
    assert await items_in(path) == ITEMS + 2


async def test_frames_that_were_never_acknowledged_may_be_lost(tmp_path):
    path = killed_store(tmp_path / "store.db")
    with beside(path, "-wal").open("ab") as log:
        log.write(b"\x01" * 1000)
    assert await items_in(path) == ITEMS


async def test_a_store_that_nobody_closed_starts(tmp_path):
    path = tmp_path / "store.db"
    with held_open(path) as process:
        process.stdin.write("\n")
        process.stdin.flush()
        process.wait(timeout=PATIENCE_SECONDS)
    assert await items_in(path) == ITEMS


async def test_a_file_from_before_the_mark_starts(tmp_path):
    path = await closed_store(tmp_path / "store.db")
    connection = apsw.Connection(str(path))
    assert not is_marked_open(connection)
    connection.close()
    assert await items_in(path) == ITEMS


@pytest.mark.parametrize("when", range(1, 60, 5))
async def test_a_power_cut_while_opening_and_closing_leaves_a_store_that_starts(tmp_path, when):
    path = await closed_store(tmp_path / "store.db")
    with FaultyDisk(seed=when) as disk:
        disk.cut_after(when)
        database = await Database.open(path, vfs=disk.vfs_name)
        await fill(database, ITEMS, ITEMS + 1)
        await database.close()
        second = await Database.open(path, vfs=disk.vfs_name)
        await second.close()
        disk.cut()
        after = tmp_path / "after"
        after.mkdir()
        disk.restore(after)
    assert await items_in(after / "store.db") in (ITEMS, ITEMS + 1)


# --- the log is lost ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("left", [None, 0, 32], ids=["missing", "empty", "header"])
async def test_a_killed_store_without_its_log_is_refused(tmp_path, left):
    path = killed_store(tmp_path / "store.db")
    if left is None:
        beside(path, "-wal").unlink()
    else:
        os.truncate(beside(path, "-wal"), left)
        beside(path, "-shm").unlink()
    message = await refusal_of(path)
    assert f"{path}-wal is missing" in message
    assert "potluck restore" in message


async def test_a_file_that_was_copied_from_a_running_store_without_its_log_is_refused(tmp_path):
    with held_open(tmp_path / "store.db"):
        copy = shutil.copy(tmp_path / "store.db", tmp_path / "copy.db")
        assert "was not closed" in await refusal_of(Path(copy))


async def test_a_log_that_was_cut_short_is_refused(tmp_path):
    path = killed_store(tmp_path / "store.db")
    log = beside(path, "-wal")
    os.truncate(log, log.stat().st_size // 2)
    assert "was cut short" in await refusal_of(path)


@pytest.mark.parametrize("index", ["kept", "gone"])
@pytest.mark.parametrize("at", [0, 3, 6, 10, 17, 25, 31])
async def test_a_log_whose_header_is_damaged_is_refused_each_time(tmp_path, at, index):
    path = killed_store(tmp_path / "store.db")
    if index == "gone":
        beside(path, "-shm").unlink()
    flip(beside(path, "-wal"), at)
    for _ in range(2):
        assert "potluck accept-lost-writes" in await refusal_of(path)
    flip(beside(path, "-wal"), at)
    assert await items_in(path) == ITEMS


async def test_a_log_whose_header_is_damaged_can_be_accepted(tmp_path):
    path = await closed_store(tmp_path / "store.db")
    with held_open(path, ITEMS, ITEMS + 1):
        pass
    flip(beside(path, "-wal"), 0)
    assert await asyncio.to_thread(main, ["accept-lost-writes", "--file", str(path), "--yes"]) == 0
    assert await items_in(path) == ITEMS


async def test_a_log_whose_store_is_missing_or_empty_is_refused(tmp_path):
    path = killed_store(tmp_path / "store.db")
    path.unlink()
    assert "put the file back" in await refusal_of(path)
    path.touch()
    assert "put the file back" in await refusal_of(path)
    assert beside(path, "-wal").stat().st_size > PAGE


async def test_a_process_that_stays_says_again_that_the_store_is_open(tmp_path):
    path = tmp_path / "store.db"
    async with await Database.open(path) as staying:

        async def says_open() -> bool:
            return is_marked_open(staying.rows.connection)

        await fill(staying, 0, 1)
        for number in range(1, 4):
            other = await Database.open(path)
            await other.close()
            await fill(staying, number, number + 1)
            await until(says_open)
    assert not beside(path, "-wal").exists()
    assert await items_in(path) == 4


async def test_the_store_of_a_process_that_was_killed_after_another_closed_it_needs_its_log(tmp_path):
    path = tmp_path / "store.db"
    with held_open(path, 0, 5):
        async with await Database.open(path) as database:
            await fill(database, 5, 6)
    shutil.copytree(tmp_path, tmp_path / "whole")
    beside(path, "-wal").unlink()
    # Closing merged nothing, as the other still had it open.
    assert "was not closed" in await refusal_of(path) or await items_in(path) == 6
    assert await items_in(tmp_path / "whole" / "store.db") == 6


async def test_lost_writes_can_be_accepted(tmp_path, capsys):
    path = killed_store(tmp_path / "store.db")
    beside(path, "-wal").unlink()
    await refusal_of(path)
    accept = ["accept-lost-writes", "--file", str(path)]
    assert await asyncio.to_thread(main, accept) == 1
    assert "although they were confirmed" in capsys.readouterr().out
    await refusal_of(path)
    assert await asyncio.to_thread(main, [*accept, "--yes"]) == 0
    async with await Database.open(path) as database:
        await fill(database, 0, 1)
    assert await asyncio.to_thread(main, [*accept, "--yes"]) == 0
    assert "Nothing is missing" in capsys.readouterr().out


async def test_a_log_that_was_cut_short_can_be_accepted(tmp_path):
    path = killed_store(tmp_path / "store.db")
    os.truncate(beside(path, "-wal"), beside(path, "-wal").stat().st_size // 2)
    assert await asyncio.to_thread(main, ["accept-lost-writes", "--file", str(path), "--yes"]) == 0
    assert 0 < await items_in(path) < ITEMS


# --- the file is damaged -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 50, 100, 1000, PAGE - 1, PAGE, PAGE + 17, 3 * PAGE, -PAGE, -1])
async def test_a_file_that_was_cut_short_is_refused(tmp_path, size):
    path = await closed_store(tmp_path / "store.db")
    os.truncate(path, size if size > 0 else path.stat().st_size + size)
    assert "potluck restore" in await refusal_of(path)


async def test_a_file_that_was_cut_short_is_refused_although_its_log_is_there(tmp_path):
    path = await closed_store(tmp_path / "store.db")
    with held_open(path, ITEMS, ITEMS + 1):
        pass
    os.truncate(path, 10 * PAGE)
    assert "was cut short" in await refusal_of(path)


@pytest.mark.parametrize(
    ("at", "content"),
    [
        (0, b"\xff" * 16),
        (16, (8192).to_bytes(2, "big")),
        (16, (512).to_bytes(2, "big")),
        (16, b"\x00\x00"),
        (16, b"\x12\x34"),
        (20, b"\xff"),
        (28, (1_000_000).to_bytes(4, "big")),
        (100, b"\xff" * 64),
        (200, b"\xff" * 3896),
        (0, b"\x00" * PAGE),
    ],
    ids=["magic", "8192", "512", "zero", "no-page-size", "reserved", "pages", "page", "schema", "zeroed"],
)
async def test_a_damaged_first_page_is_refused(tmp_path, at, content):
    path = await closed_store(tmp_path / "store.db")
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)
    assert "potluck restore" in await refusal_of(path)


async def test_a_damaged_catalog_is_refused(tmp_path):
    path = await closed_store(tmp_path / "store.db")
    damage_page(path, root_of(path, "tables"))
    assert "is damaged" in await refusal_of(path)


def root_of(path: Path, table: str) -> int:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return connection.execute("SELECT rootpage FROM sqlite_schema WHERE name=?", (table,)).get
    finally:
        connection.close()


def damage_page(path: Path, number: int) -> None:
    with path.open("r+b") as file:
        file.seek((number - 1) * PAGE)
        file.write(b"\xa5" * PAGE)


def page_of(path: Path, text: str) -> int:
    """The first page that has this text."""
    at = path.read_bytes().index(text.encode())
    return at // PAGE + 1


async def test_a_damaged_page_has_an_error_of_its_own(tmp_path, caplog):
    path = await closed_store(tmp_path / "store.db")
    damage_page(path, page_of(path, "thing-00030-xxx"))
    async with await Database.open(path) as database:
        assert not database.is_damaged()
        key = {"pk": {"S": "thing-00030"}}
        for operation, request in (
            ("GetItem", {"Key": key}),
            ("Scan", {}),
            ("DeleteItem", {"Key": key}),
            ("PutItem", {"Item": item(30)}),
        ):
            with pytest.raises(StoreDamaged):
                await database.call(operation, {"TableName": TABLE, **request})
        assert database.is_damaged()
        with pytest.raises(StoreDamaged):
            database.row(TABLE, key)
        # The rest answers.
        assert (await database.call("GetItem", {"TableName": TABLE, "Key": {"pk": {"S": "thing-00001"}}}))["Item"]
        assert lasting() == [STORE_DAMAGED]
        await database.call("PutItem", {"TableName": TABLE, "Item": item(1) | {"more": {"S": "yes"}}})
    advice = [each for each in caplog.records if "restore a backup" in each.getMessage()]
    assert [each.levelno for each in advice] == [logging.ERROR]
    assert "Stop every program" in advice[0].getMessage()
    # It is known after a restart, and to every process, before the page is met again.
    assert lasting() == []
    async with await Database.open(path) as database:
        assert database.is_damaged()
        assert lasting() == [STORE_DAMAGED]
        beside(path, "-damaged").unlink()
        assert not database.is_damaged()
        database.file.damage.look()
        assert lasting() == []


async def test_a_damaged_index_has_an_error_of_its_own(tmp_path):
    path = await closed_store(tmp_path / "store.db")
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE sql LIKE '%base INTEGER%'")]
    connection.close()
    damage_page(path, root_of(path, names[0]))
    async with await Database.open(path) as database:
        query = {
            "TableName": TABLE,
            "IndexName": "ByKind",
            "KeyConditionExpression": "kind = :k",
            "ExpressionAttributeValues": {":k": {"S": "kind-1"}},
        }
        with pytest.raises(StoreDamaged):
            await database.call("Query", query)
        assert database.is_damaged()
        assert (await database.call("Scan", {"TableName": TABLE, "Select": "COUNT"}))["Count"] == ITEMS


async def test_a_row_that_cannot_be_decoded_is_damage(tmp_path):
    path = await closed_store(tmp_path / "store.db")
    content = bytearray(path.read_bytes())
    at = content.index(b"thing-00030-xxx")
    content[at - 30 : at] = b"\xc1" * 30
    path.write_bytes(bytes(content))
    async with await Database.open(path) as database:
        with pytest.raises(StoreDamaged):
            await database.call("Scan", {"TableName": TABLE})
        assert database.is_damaged()


async def test_a_damaged_page_stops_a_backup_in_one_sentence(tmp_path, capsys):
    path = await closed_store(tmp_path / "store.db")
    damage_page(path, page_of(path, "thing-00030-xxx"))
    copied = await asyncio.to_thread(main, ["backup", str(tmp_path / "copy.db"), "--file", str(path)])
    assert copied == 1
    assert "is damaged" in capsys.readouterr().err
    assert not (tmp_path / "copy.db").exists()


# --- the commands ------------------------------------------------------------------------------------------------


def potluck(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("POTLUCK_")}
    return subprocess.run(
        [*POTLUCK, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a secret and no store."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    (folder / "secret").write_text("x" * 64)
    (folder / "secret").chmod(0o600)
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ("serve", "--port", "0"),
        ("invite",),
        ("demo",),
        ("backup", "copy.db"),
        ("reset-password", "ada@example.com"),
        ("accept-new-secret", "--yes"),
        ("polls", "recount"),
    ],
    ids=lambda command: command[0],
)
def test_an_empty_store_next_to_its_secret_is_refused_by_every_command(data, monkeypatch, capsys, command):
    (data / "potluck.db").touch()
    monkeypatch.chdir(data.parent)
    monkeypatch.setenv("POTLUCK_REGISTRATION", "invited")
    assert main(command) == 1
    said = capsys.readouterr().err
    assert said.startswith("potluck: data/potluck.db is empty")
    assert said.count("\n") == 1
    assert (data / "potluck.db").stat().st_size == 0


async def test_a_damaged_file_is_one_sentence_of_every_command(tmp_path, data):
    path = await closed_store(data / "potluck.db")
    os.truncate(path, 5 * PAGE)
    for command in (
        ("serve", "--port", "0"),
        ("dynamodb", "--port", "0", "--file", "data/potluck.db"),
        ("backup", "copy.db"),
        ("reset-password", "ada@example.com"),
    ):
        ended = await asyncio.to_thread(potluck, *command, cwd=tmp_path)
        assert ended.returncode == 1, command
        assert ended.stderr.startswith("potluck: "), command
        assert ended.stderr.count("\n") == 1, ended.stderr
        assert "potluck restore" in ended.stderr

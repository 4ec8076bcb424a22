"""The faulty disk does what its name says; otherwise the tests that rest on it could not fail."""

from pathlib import Path

import apsw
import pytest

from tests.faults.power_cut_vfs import FaultyDisk, SlowSyncDisk, apply_change, sectors


def connect(path: Path, disk: FaultyDisk | SlowSyncDisk, synchronous: str) -> apsw.Connection:
    connection = apsw.Connection(str(path), vfs=disk.vfs_name)
    assert connection.pragma("journal_mode", "wal") == "wal"
    connection.pragma("synchronous", synchronous)
    connection.execute("CREATE TABLE IF NOT EXISTS numbers (n INTEGER PRIMARY KEY, filling TEXT)")
    return connection


def survivors_of_a_cut(tmp_path: Path, synchronous: str, seed: int) -> tuple[int, int]:
    """Commit rows until the power goes; how many were committed, and how many are there afterwards."""
    before, after = tmp_path / f"before-{seed}", tmp_path / f"after-{seed}"
    before.mkdir()
    after.mkdir()
    committed = 0
    with FaultyDisk(seed) as disk:
        connection = connect(before / "numbers.db", disk, synchronous)
        disk.cut_after(disk.random.randint(1, 120))
        while not disk.is_cut.is_set():
            connection.execute("INSERT INTO numbers VALUES (?, ?)", (committed, "x" * 900))
            committed += not disk.is_cut.is_set()
        connection.close()
        disk.restore(after)
    survivor = apsw.Connection(str(after / "numbers.db"))
    assert survivor.pragma("integrity_check") == "ok"
    tables = survivor.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'numbers'").get
    found = survivor.execute("SELECT count(*) FROM numbers").get if tables else 0
    survivor.close()
    return committed, found


def test_full_synchronous_keeps_every_commit(tmp_path):
    for seed in range(30):
        committed, found = survivors_of_a_cut(tmp_path, "full", seed)
        assert committed <= found <= committed + 1


@pytest.mark.parametrize("synchronous", ["off", "normal"])
def test_a_laxer_setting_is_caught(tmp_path, synchronous):
    lost = 0
    for seed in range(30):
        committed, found = survivors_of_a_cut(tmp_path, synchronous, seed)
        lost += found < committed
    assert lost >= 10


def test_a_file_that_was_never_synced_may_be_gone(tmp_path):
    gone = 0
    for seed in range(20):
        before, after = tmp_path / f"before-{seed}", tmp_path / f"after-{seed}"
        before.mkdir()
        after.mkdir()
        with FaultyDisk(seed) as disk:
            connection = apsw.Connection(str(before / "new.db"), vfs=disk.vfs_name)
            connection.pragma("synchronous", "off")
            connection.execute("CREATE TABLE t (a)")
            disk.cut()
            connection.close()
            disk.restore(after)
        gone += not (after / "new.db").exists()
    assert 0 < gone < 20


def test_a_full_disk_refuses_and_recovers(tmp_path):
    with FaultyDisk() as disk:
        connection = connect(tmp_path / "numbers.db", disk, "full")
        disk.room = disk.used() + 20_000
        rows = [(number, "x" * 900) for number in range(100)]
        with pytest.raises(apsw.FullError):
            connection.executemany("INSERT INTO numbers VALUES (?, ?)", rows)
        kept = connection.execute("SELECT count(*) FROM numbers").get
        assert 0 < kept < 100
        disk.room = None
        connection.execute("INSERT INTO numbers VALUES (1000, '')")
        assert connection.execute("SELECT count(*) FROM numbers").get == kept + 1
        assert connection.pragma("integrity_check") == "ok"
        connection.close()


def test_syncs_are_slowed(tmp_path):
    with SlowSyncDisk(0.0) as disk:
        connection = connect(tmp_path / "numbers.db", disk, "full")
        before = disk.syncs
        for number in range(5):
            connection.execute("INSERT INTO numbers VALUES (?, '')", (number,))
        assert disk.syncs - before == 5
        connection.close()


def test_a_write_is_torn_at_sector_edges():
    change = (500, bytes(range(256)) * 5)
    parts = sectors(change)
    assert [offset for offset, _ in parts] == [500, 512, 1024, 1536]
    whole, pieces = bytearray(), bytearray()
    apply_change(whole, change)
    for part in parts:
        apply_change(pieces, part)
    assert whole == pieces

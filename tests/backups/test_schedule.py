"""Scheduled backups: made when due, checked, and only then older ones are removed; a kill leaves no half one."""

import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import apsw
import pytest
from msgspec.structs import replace

from potluck.backups import ScheduledBackups, check_backup, kept_backups, last_failure
from potluck.commands.main import main
from potluck.dynamo.errors import StoreUnusable
from potluck.engines import offered_by
from potluck.people.entities import Account
from potluck.settings import BackupSettings, Settings
from potluck.states import BACKUP_FAILING, lasting
from potluck.suite import opened
from potluck.table import absent, put
from tests.faults.power_cut_vfs import FaultyDisk
from tests.patience import until
from tests.people.assembly import Clock, looked_after
from tests.people.test_entities import ada, adas_address

DAY = 86_400


class Running:
    """A suite's store with backups on a schedule, and a clock that is moved."""

    def __init__(self, core, settings, clock):
        self.core, self.settings, self.clock = core, settings, clock
        self.seconds = 0.0
        lease = core.lease("BACKUPS")
        self.backups = ScheduledBackups(
            settings, core.engine, lease, core.clock, monotonic=lambda: self.seconds, look_seconds=0.01
        )

    @property
    def folder(self):
        return self.settings.backup.to

    def kept(self):
        return [backup.path.name for backup in kept_backups(self.folder)]

    def forward(self, **by):
        self.clock.forward(**by)
        self.seconds += timedelta(**by).total_seconds()


@asynccontextmanager
async def running(tmp_path, every=DAY, keep=3):
    backup = BackupSettings(every=every, keep=keep, to=tmp_path / "backups")
    settings = Settings(data=tmp_path / "data", backup=backup)
    clock = Clock()
    async with opened(settings, clock=clock) as (core, _):
        await looked_after(core.store)
        await core.store.transact(put(ada, when=absent), put(adas_address, when=absent))
        yield Running(core, settings, clock)


async def test_one_is_due_at_first_and_then_when_the_time_has_come(tmp_path):
    async with running(tmp_path) as suite:
        assert suite.backups.is_due()
        backup = await suite.backups.attempt()
        assert backup.at == suite.clock()
        assert not suite.backups.is_due()
        suite.forward(hours=23, minutes=59)
        assert not suite.backups.is_due()
        suite.forward(minutes=1)
        assert suite.backups.is_due()


async def test_what_is_made_can_be_restored_with_all_that_was_there(tmp_path):
    async with running(tmp_path) as suite:
        backup = await suite.backups.attempt()
        items = check_backup(backup.path)
        # Ada, her address, the number of admins, the secret's check.
        assert items["Accounts"] == 4
        assert backup.path.stat().st_mode & 0o777 == 0o600
    assert await asyncio.to_thread(main, ["restore", str(backup.path), "--data", str(tmp_path / "restored")]) == 0
    async with opened(Settings(data=tmp_path / "restored"), clock=Clock()) as (core, _):
        assert await core.store.get(Account.by_id(ada.user_id)) == ada


async def test_the_newest_are_kept_and_other_files_are_left_alone(tmp_path):
    async with running(tmp_path, keep=2) as suite:
        suite.folder.mkdir()
        (suite.folder / "notes.txt").write_text("mine")
        made = []
        for _ in range(4):
            made.append((await suite.backups.attempt()).path.name)
            suite.forward(days=1)
        assert suite.kept() == made[:1:-1]
        assert (suite.folder / "notes.txt").read_text() == "mine"


async def test_a_clock_that_was_ahead_does_not_keep_backups_from_being_made(tmp_path):
    async with running(tmp_path) as suite:
        suite.clock.forward(days=400)
        await suite.backups.attempt()
        suite.clock.forward(days=-400)
        assert suite.backups.is_due()
        await suite.backups.attempt()
        assert not suite.backups.is_due()


async def test_backups_of_a_clock_that_was_ahead_push_none_of_now_out(tmp_path):
    async with running(tmp_path, keep=2) as suite:
        suite.forward(days=400)
        for _ in range(2):
            await suite.backups.attempt()
            suite.forward(days=1)
        suite.clock.forward(days=-402)
        made = await suite.backups.attempt()
        assert made.path.name in suite.kept()
        assert len(suite.kept()) == 2
        assert not suite.backups.is_due()


# --- failures ---------------------------------------------------------------------------------------------------------


def spoilt(path: Path) -> None:
    """Overwrite a page in the middle, as a bad disk does."""
    with path.open("rb+") as file:
        file.seek(path.stat().st_size // 2 // 4096 * 4096)
        file.write(os.urandom(4096))


def changed(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def without_a_row(path: Path) -> None:
    connection = apsw.Connection(str(path))
    (table,) = [name for (name,) in connection.execute("SELECT of FROM counts WHERE items=4")][:1]
    connection.close()
    changed(path, f'DELETE FROM "{table}" WHERE key=(SELECT key FROM "{table}" LIMIT 1)')


def with_another_secret(path: Path) -> None:
    changed(path, "UPDATE kept SET content='0123456789012345678901234567890123456789'")


def without_a_secret(path: Path) -> None:
    changed(path, "DROP TABLE kept")


def without_a_table(path: Path) -> None:
    changed(path, "DELETE FROM tables WHERE name LIKE '%Polls%'")


def cut_short(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


HARM = [spoilt, without_a_row, with_another_secret, without_a_secret, without_a_table, cut_short]


class Wrapped:
    """An engine that makes backups in another way."""

    def __init__(self, engine, backup):
        self.engine, self.backup = engine, backup

    async def call(self, operation, request):
        return await self.engine.call(operation, request)


@pytest.mark.parametrize("harm", HARM)
async def test_a_backup_that_could_not_be_restored_is_found_out_and_the_older_ones_stay(tmp_path, harm):
    async with running(tmp_path, keep=1) as suite:
        good = (await suite.backups.attempt()).path.name
        suite.forward(days=1)
        write = offered_by(suite.core.engine, "backup")

        async def harmed(path, **options):
            await write(path, **options)
            harm(Path(path))

        suite.backups._engine = Wrapped(suite.core.engine, harmed)
        assert await suite.backups.attempt() is None
        assert suite.kept() == [good]
        assert BACKUP_FAILING in lasting()
        assert last_failure(suite.settings.data).at == suite.clock()
        # It is tried again sooner than after a day; then all is well, and what was spoilt is removed.
        assert not suite.backups.is_due()
        suite.forward(minutes=10)
        assert suite.backups.is_due()
        suite.backups._engine = suite.core.engine
        latest = await suite.backups.attempt()
        assert [path.name for path in suite.folder.iterdir()] == [latest.path.name]
        assert BACKUP_FAILING not in lasting()
        assert last_failure(suite.settings.data) is None


async def test_a_disk_without_room_is_told_before_it_is_filled(tmp_path, monkeypatch):
    async with running(tmp_path) as suite:
        suite.folder.mkdir()
        disk = shutil.disk_usage(suite.folder)
        monkeypatch.setattr("shutil.disk_usage", lambda _: disk._replace(free=1_000_000))
        assert await suite.backups.attempt() is None
        assert "there is not enough room for a backup" in last_failure(suite.settings.data).reason
        assert list(suite.folder.iterdir()) == []
        # People can still write.
        await suite.core.store.put(replace(ada, user_id=uuid4()), when=absent)


async def test_a_disk_that_fills_up_under_a_backup_costs_nothing_but_that_one(tmp_path):
    with FaultyDisk(seed=3, default=True) as disk:
        async with running(tmp_path, keep=1) as suite:
            good = (await suite.backups.attempt()).path.name
            suite.forward(days=1)
            # Room for half a copy.
            disk.room = disk.used() + (suite.folder / good).stat().st_size // 2
            assert await suite.backups.attempt() is None
            assert disk.refused_writes
            assert "there is not enough room for a copy" in last_failure(suite.settings.data).reason
            assert [path.name for path in suite.folder.iterdir()] == [good]
            # What it took is free again: people write, and the next one is made.
            await suite.core.store.put(replace(ada, user_id=uuid4()), when=absent)
            disk.room = None
            assert (await suite.backups.attempt()).at == suite.clock()


async def test_a_folder_that_cannot_be_made_is_a_failure_in_a_sentence(tmp_path):
    async with running(tmp_path) as suite:
        suite.folder.write_text("a file")
        assert await suite.backups.attempt() is None
        assert str(suite.folder) in last_failure(suite.settings.data).reason


async def test_the_process_with_the_lease_makes_them_and_another_takes_over(tmp_path):
    async with running(tmp_path) as suite:
        other = Running(suite.core, suite.settings, suite.clock)
        tasks = {each: asyncio.create_task(each.backups.run()) for each in (suite, other)}

        async def kept(number):
            return len(suite.kept()) == number

        await until(lambda: kept(1))
        (holder,) = [each for each in tasks if each.backups._lease.held]
        tasks[holder].cancel()
        suite.clock.forward(days=1)
        await until(lambda: kept(2))
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)


async def test_a_suite_that_stops_drops_the_backup_that_it_was_making(tmp_path):
    async with running(tmp_path) as suite:
        begun, loop = asyncio.Event(), asyncio.get_running_loop()

        async def endless(path, *, files, progress):
            def work():
                Path(path).write_bytes(b"half")
                loop.call_soon_threadsafe(begun.set)
                while True:
                    progress(0.5)

            await asyncio.to_thread(work)

        suite.backups._engine = Wrapped(suite.core.engine, endless)
        task = asyncio.create_task(suite.backups.attempt())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert suite.kept() == []


# --- kill -9 ----------------------------------------------------------------------------------------------------------

MAKING = """
import asyncio, sys
from datetime import UTC, datetime
from pathlib import Path
from potluck.backups import ScheduledBackups
from potluck.settings import BackupSettings, Settings
from potluck.suite import opened

folder = Path(sys.argv[1])

async def main():
    settings = Settings(data=folder / "data", backup=BackupSettings(every=300, keep=2, to=folder / "backups"))
    seconds = datetime.now(UTC).timestamp() + int(sys.argv[2])
    made = 0
    async with opened(settings) as (core, _):
        backups = ScheduledBackups(
            settings, core.engine, core.lease("BACKUPS"), lambda: datetime.fromtimestamp(seconds + made, UTC)
        )
        while True:
            print("begin", flush=True)
            assert await backups.attempt() is not None
            made += 1

asyncio.run(main())
"""


@pytest.mark.parametrize("turns", [2, pytest.param(30, marks=pytest.mark.soak)])
def test_a_kill_in_the_middle_leaves_only_whole_backups(tmp_path, turns):
    rng = random.Random(11)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("POTLUCK_")}
    for turn in range(turns):
        process = subprocess.Popen(
            [sys.executable, "-c", MAKING, str(tmp_path), str(turn * 1000)],
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        for _ in range(rng.randint(2, 4)):
            assert process.stdout.readline() == "begin\n"
        # Somewhere in the next one.
        try:
            process.wait(timeout=rng.random() * 0.05)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        kept = kept_backups(tmp_path / "backups")
        assert 1 <= len(kept) <= 3
        for backup in kept:
            assert check_backup(backup.path)["Accounts"] >= 1
        # Of what was left behind, the next one removes what there was before: this is one backup and its journal.
        assert len(list((tmp_path / "backups").iterdir())) - len(kept) <= 2


def test_a_file_that_is_no_backup_is_refused(tmp_path):
    (tmp_path / "file").write_text("hello" * 1000)
    with pytest.raises(StoreUnusable, match="damaged, or not a store"):
        check_backup(tmp_path / "file")

"""`potluck doctor` finds what is wrong, by the real fault, and says what to do; on a sound installation it says so."""

import asyncio
import json
import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import apsw
import pytest
from msgspec.structs import replace

from potluck.backups import ScheduledBackups
from potluck.commands.main import main
from potluck.commands.stores import open_store
from potluck.doctor import about_settings
from potluck.doctor.service import _clock
from potluck.moving.unfinished_imports import UnfinishedImport
from potluck.people.entities import Account
from potluck.settings import BackupSettings, Settings
from potluck.suite import opened
from potluck.table import absent, put
from tests.people.test_entities import ada
from tests.processes import running, stopped

DAY = 86_400


@pytest.fixture
def folder(tmp_path):
    """A sound data folder, with one change in it."""
    folder = tmp_path / "data"

    async def fill():
        async with opened(Settings(data=folder)) as (core, _):
            await core.store.transact(put(ada, when=absent))

    asyncio.run(fill())
    return folder


def examined(capsys, folder, status):
    """The diagnoses by their check, if the exit status is this one."""
    assert main(["doctor", "--data", str(folder), "--format", "json"]) == status
    found = json.loads(capsys.readouterr().out)
    return {diagnosis["check"]: (diagnosis["status"], diagnosis["text"]) for diagnosis in found}


def test_a_sound_installation_has_a_line_for_each_check(folder, capsys):
    assert main(["doctor", "--data", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    checks = [line.split()[1] for line in lines]
    assert checks == [
        *("origin", "proxies", "workers", "folder", "files", "store", "clock", "secret", "tables", "admins", "room"),
        *("budget", "backups", "suite"),
    ]
    assert not any(line.startswith("FIX") for line in lines)


def test_it_changes_nothing(folder, capsys):
    def contents():
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "potluck.db"}

    before = contents()
    examined(capsys, folder, 0)
    assert contents() == before
    assert not (folder.parent / "nowhere").exists()
    found = examined(capsys, folder.parent / "nowhere", 1)
    assert found["folder"][0] == "problem"
    assert not (folder.parent / "nowhere").exists()


def test_files_and_folder_that_others_can_read(folder, capsys):
    folder.chmod(0o755)
    (folder / "secret").chmod(0o644)
    found = examined(capsys, folder, 1)
    assert found["folder"] == ("problem", f"others on this machine can open {folder} (mode 755): chmod 700 {folder}")
    assert found["files"][1].endswith(f"chmod 600 {folder / 'secret'}")


def test_a_secret_that_is_lost_or_another(folder, capsys, monkeypatch):
    monkeypatch.setenv("POTLUCK_SECRET", "another secret of thirty-two characters")
    assert "was created with another secret than POTLUCK_SECRET" in examined(capsys, folder, 1)["secret"][1]
    monkeypatch.delenv("POTLUCK_SECRET")
    (folder / "secret").unlink()
    assert examined(capsys, folder, 1)["secret"][1].startswith("there is no secret: ")
    # It made no new one.
    assert not (folder / "secret").exists()


def test_a_store_with_a_damaged_page(folder, capsys):
    store = folder / "potluck.db"
    with store.open("rb+") as file:
        for page in range(20, store.stat().st_size // 4096):
            file.seek(page * 4096)
            file.write(os.urandom(4096))
    kind, text = examined(capsys, folder, 1)["store"]
    assert kind == "problem"
    assert "restore" in text


def test_a_store_without_a_table(folder, capsys):
    connection = apsw.Connection(str(folder / "potluck.db"))
    connection.execute("UPDATE numbers SET last = last + 1 WHERE kind='catalog'")
    connection.execute("DELETE FROM tables WHERE name LIKE '%ShortIdPool%'")
    connection.close()
    assert examined(capsys, folder, 1)["tables"] == (
        "problem",
        "ShortIdPool are not as this version needs them: start `potluck serve` once",
    )


def test_an_import_that_has_not_finished(folder, capsys):
    async def begin():
        async with open_store(Settings(data=folder)) as store:
            await UnfinishedImport(store).begin("an export", 1)

    asyncio.run(begin())
    found = examined(capsys, folder, 1)
    assert found["tables"] == (
        "problem",
        "an import into this store has not finished: run `potluck import` again with the same folder",
    )


def test_a_clock_that_is_behind_the_store(folder, capsys):
    connection = apsw.Connection(str(folder / "potluck.db"))
    ahead = (datetime.now(UTC) + timedelta(days=2)).timestamp()
    for (number,) in connection.execute("SELECT number FROM streams").fetchall():
        connection.execute(f"UPDATE changes_{number} SET at=?", (ahead,))
    connection.close()
    kind, text = examined(capsys, folder, 1)["clock"]
    assert (kind, text[:30]) == ("problem", "it is 48 hours behind the stor")


def test_a_store_without_admins_is_advised(folder, capsys):
    async def come():
        from potluck.people.entities import Administration

        async with opened(Settings(data=folder)) as (core, _):
            await core.store.put(Administration(admins=0))
            assert await core.store.get(Account.by_id(ada.user_id))

    asyncio.run(come())
    assert examined(capsys, folder, 0)["admins"][1].endswith("`potluck people promote EMAIL` makes someone one")


def test_so_is_one_from_before_there_were_admins(folder, capsys):
    async def be_older():
        from potluck.people.entities import Administration, SecretCheck

        async with opened(Settings(data=folder)) as (core, _):
            recorded = await core.store.one(SecretCheck.of_store())
            await core.store.put(replace(recorded, has_admins=False))
            assert await core.store.get(Administration.of_store()) is None

    asyncio.run(be_older())
    assert examined(capsys, folder, 0)["admins"][1].endswith("`potluck people promote EMAIL` makes someone one")


def test_backups_that_are_late_missing_or_failing(folder, capsys, monkeypatch, tmp_path):
    to = tmp_path / "backups"
    monkeypatch.setenv("POTLUCK_BACKUP_EVERY", "24h")
    monkeypatch.setenv("POTLUCK_BACKUP_TO", str(to))
    assert examined(capsys, folder, 1)["backups"][1].startswith(f"there is none in {to} yet")
    settings = Settings(data=folder, backup=BackupSettings(every=DAY, to=to))

    async def back_up(ago):
        async with opened(settings) as (core, _):
            clock = lambda: datetime.now(UTC) - ago  # noqa: E731
            return await ScheduledBackups(settings, core.engine, core.lease("BACKUPS"), clock).attempt()

    assert asyncio.run(back_up(timedelta(hours=30))) is not None
    kind, text = examined(capsys, folder, 1)["backups"]
    assert (kind, text.endswith("It is late: is `potluck serve` running, with the same settings?")) == ("problem", True)
    assert asyncio.run(back_up(timedelta())) is not None
    assert examined(capsys, folder, 0)["backups"][0] == "ok"
    to.rename(tmp_path / "elsewhere")
    to.write_text("in the way")
    assert asyncio.run(back_up(timedelta())) is None
    with suppress(FileNotFoundError):
        to.unlink()
    (tmp_path / "elsewhere").rename(to)
    assert main(["doctor", "--data", str(folder)]) == 1
    assert "the last attempt failed, at " in capsys.readouterr().out


def test_the_suite_that_runs_says_how_it_is(folder, capsys):
    with running("serve", "--data", str(folder), "--port", "0", cwd=folder.parent) as (process, _):
        kind, text = examined(capsys, folder, 0)["suite"]
        assert (kind, text.endswith("and is ready")) == ("ok", True)
        stopped(process)
    # Killed, so that it could not remove the file that names its port.
    (folder / "port").write_text("1")
    assert examined(capsys, folder, 1)["suite"][0] == "problem"


@pytest.mark.parametrize(
    ("environment", "check", "status", "said"),
    [
        ({"POTLUCK_ORIGIN": "https://potluck.example"}, "proxies", "problem", "Set it to the proxy's address"),
        ({"POTLUCK_PROXIES": "0.0.0.0/0"}, "proxies", "problem", "anyone can claim to be another client"),
        (
            {"POTLUCK_ORIGIN": "https://potluck.example", "POTLUCK_PROXIES": "127.0.0.1"},
            "proxies",
            "ok",
            "127.0.0.1/32 may say who the client is",
        ),
        ({"POTLUCK_HOST": "0.0.0.0"}, "origin", "note", "POTLUCK_ORIGIN is not set"),
        ({"POTLUCK_HOST": "0.0.0.0", "POTLUCK_ORIGIN": "http://potluck.lan"}, "origin", "note", "is not encrypted"),
        ({"POTLUCK_WORKERS": "64"}, "workers", "note", "64 workers share"),
    ],
)
def test_settings_that_contradict_each_other(environment, check, status, said):
    found = {diagnosis.check: diagnosis for diagnosis in about_settings(Settings.from_environment(environment))}
    assert found[check].status == status
    assert said in found[check].text


# --- Amazon DynamoDB --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("off", "status"), [(0, "ok"), (-20, "ok"), (120, "problem"), (-3600, "problem")])
def test_the_clock_is_compared_with_the_services(off, status):
    class Dated(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response_only(404)
            self.send_header("date", format_datetime(datetime.now(UTC) + timedelta(seconds=off), usegmt=True))
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Dated)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        diagnosis = _clock(f"http://127.0.0.1:{server.server_port}/")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert diagnosis.status == status
    assert diagnosis.check == "clock"


def test_an_endpoint_that_is_not_there_is_a_finding(monkeypatch, capsys):
    for name, value in {
        "POTLUCK_ENGINE": "aws",
        "POTLUCK_REGION": "eu-central-1",
        "POTLUCK_ENDPOINT": "http://127.0.0.1:1",
        "POTLUCK_SECRET": "a secret of thirty-two characters",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "y",
    }.items():
        monkeypatch.setenv(name, value)
    assert main(["doctor"]) == 1
    assert "no connection to http://127.0.0.1:1/: connection refused" in capsys.readouterr().out

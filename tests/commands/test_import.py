"""`potluck export` and `potluck import`: on the other side, people sign in and every app goes on."""

import asyncio
import contextlib
import io
import json
import os
import signal
import subprocess
import time
import zipfile
from unittest import mock
from uuid import UUID

import pytest

from potluck.apps.polls import entities as polls
from potluck.apps.shopping import entities as shopping
from potluck.commands.demo import filled
from potluck.commands.main import main
from potluck.dynamo.errors import StoreUnusable
from potluck.engines.embedded import open_embedded
from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.store import Store
from potluck.streams import WorkTable
from potluck.streams.log import open_log
from potluck.suite import APPS, assembled, opened, system_clock
from tests.engine_targets import EMBEDDED, LOCAL, address, calling, opened_at
from tests.patience import PATIENCE_SECONDS, until
from tests.people.assembly import CountingHasher
from tests.processes import POTLUCK
from tests.stores import rows_in
from tests.web.suites import API, bearer, client_at

SECRET = "the suite's own, which no export holds"
WORK = WorkTable()
ID = UUID(int=7)
ROWS = 5000


def potluck(*arguments, **environment):
    """A command as a person runs it, with no settings but these; what it answers and prints."""
    out, err = io.StringIO(), io.StringIO()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("POTLUCK_")}
    with (
        mock.patch.dict(os.environ, kept | environment, clear=True),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        status = main([*map(str, arguments)])
    return status, out.getvalue(), err.getvalue()


async def aside(*arguments, **environment):
    return await asyncio.to_thread(potluck, *arguments, **environment)


def cheap():
    return Passwords(CountingHasher())


async def work_rows(engine):
    return {(row["PK"]["S"], row["SK"]["S"]): row for row in await rows_in(engine, WORK.table)}


async def leave_work_undone(data):
    """Deletions that no consumer has finished: one whose consumer had run, and one whose consumer never had."""
    engine = await open_embedded(data / "potluck.db")
    try:
        store = Store(engine, system_clock)
        await store.put(
            shopping.Deletion(family_id=ID, what="store", gone_id=ID, deleted_by=ID, created_at=system_clock())
        )
        await store.put(polls.Deletion(poll_id=ID, deleted_at=system_clock()))
        await WORK.create_if_missing(engine)
        consumer = "CONSUMER#shopping-deletions"
        for row in (
            {**WORK.key("LEASE#CONSUMERS", "LEASE"), "Owner": {"S": "elsewhere"}, "Renewals": {"N": "9"}},
            {**WORK.key(consumer, "STREAM"), "StreamArn": {"S": "arn:aws:dynamodb:x:1:table/Inventory/stream/2020"}},
            {**WORK.key(consumer, "SHARD#2020#shard-1"), "Shard": {"S": "shard-1"}, "ReadAt": {"N": "1"}},
            {**WORK.key(consumer, "PARKED#2020#17"), "Error": {"S": "Oh"}, "Record": {"S": "{}"}, "At": {"N": "1"}},
        ):
            await engine.call("PutItem", {"TableName": WORK.table, "Item": row})
    finally:
        await engine.close()


async def deletions(engine):
    store = Store(engine, system_clock)
    return [
        deletion
        for query in (shopping.Deletion.by_id(ID, "store", ID), polls.Deletion.one(ID))
        if (deletion := await store.get(query)) is not None
    ]


async def signed_in(client, person):
    answer = await client.post(f"{API}/sessions", json={"email": person.email, "password": person.password})
    assert answer.status_code == 201, answer.text
    return bearer(answer.json())


async def everything_of(client, person):
    """All that the person has in any app, as they export it."""
    by = await signed_in(client, person)
    answer = await client.get(f"{API}/me/export", headers=by)
    assert answer.status_code == 200
    files = zipfile.ZipFile(io.BytesIO(answer.content))
    names = [
        name for name in files.namelist() if name.endswith(".json") and name not in ("manifest.json", "people.json")
    ]
    assert len(names) >= len(APPS)
    return {name: json.loads(files.read(name)) for name in names}


@pytest.mark.parametrize("name", [pytest.param(EMBEDDED, marks=pytest.mark.soak), LOCAL])
async def test_on_the_other_side_everything_goes_on(name, tmp_path, monkeypatch):
    here = Settings(data=tmp_path / "here", secret=SECRET)
    demo = await filled(here, lambda _: None, passwords=cheap())
    async with assembled(here, passwords=cheap()) as application, client_at(application) as client:
        mara, leo = demo.sign_ins[:2]
        before = await everything_of(client, mara)
        token = (
            await client.post(f"{API}/me/tokens", json={"name": "P"}, headers=await signed_in(client, mara))
        ).json()
        families = (await client.get(f"{API}/families", headers=bearer(token))).json()["items"]
    # As before a first start: its consumers begin anew, except where this leaves a position.
    engine = await open_embedded(here.file)
    for key in await work_rows(engine):
        await engine.call("DeleteItem", {"TableName": WORK.table, "Key": WORK.key(*key)})
    await engine.close()
    await leave_work_undone(here.data)

    status, out, err = await aside("export", tmp_path / "out", "--data", here.data)
    assert status == 0, err
    assert "POTLUCK_SECRET" in err

    (tmp_path / "there").mkdir()
    where = address(name, tmp_path / "there" / "data")
    (tmp_path / "there" / "data").mkdir(mode=0o700)
    with calling(where) as options:
        options["secret"] = SECRET
        variables = {
            "POTLUCK_DATA": str(tmp_path / "there" / "data"),
            **{f"POTLUCK_{option.upper()}": value for option, value in options.items()},
        }
        status, told, err = await aside("import", tmp_path / "out", **variables)
        assert status == 0, err
        assert "you can start Potluck" in err
        assert told.splitlines()[1:] == out.splitlines()[1:]

        there = Settings(data=tmp_path / "there" / "data", **options)
        engine = await opened_at({**where, **({"path": str(there.file)} if name == EMBEDDED else {})})
        moved = await work_rows(engine)
        consumer = "CONSUMER#shopping-deletions"
        assert moved.keys() == {(consumer, "STREAM"), (consumer, "PARKED#2020#17"), ("MOVED", "MOVED")}
        assert len(await deletions(engine)) == 2
        log = await open_log(engine, shopping.inventory.name)
        assert not (await log.read(log.newest()[0], None).page()).records, "rows that were imported are no changes"

        async with assembled(there, passwords=cheap()) as application, client_at(application) as client:

            async def finished():
                return not await deletions(engine)

            await until(finished)
            assert await everything_of(client, mara) == before
            listed = await client.get(f"{API}/families", headers=bearer(token))
            assert listed.json()["items"] == families
            for app in APPS:
                by = {**await signed_in(client, leo), "accept": "text/html"}
                assert (await client.get(app.address, headers=by, follow_redirects=True)).status_code == 200
            path = f"{API}/families/{families[0]['familyId']}/shopping-list"
            added = await client.post(path, json={"name": "Moving boxes"}, headers=bearer(token))
            assert added.status_code == 201, added.text
        await engine.close()


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.fixture
async def here(tmp_path):
    """A store with its tables, and not much in them."""
    settings = Settings(data=tmp_path / "here", secret=SECRET)
    async with opened(settings):
        pass
    return settings.data


def refused(done):
    status, out, err = done
    assert (status, out) == (1, "")
    assert err.startswith("potluck: ")
    assert err.count("\n") == 1
    return err


async def test_the_secret_is_asked_for_and_another_is_refused(here, tmp_path):
    assert (await aside("export", tmp_path / "out", "--data", here))[0] == 0
    status, _, err = await aside("import", tmp_path / "out", "--data", tmp_path / "one")
    assert status == 0
    assert f"copy that file to {tmp_path / 'one' / 'secret'}" in err
    status, _, err = await aside(
        "import", tmp_path / "out", "--data", tmp_path / "two", POTLUCK_SECRET="another secret, as long as it must be"
    )
    assert status == 0
    assert "was created with another secret than POTLUCK_SECRET" in err
    async with opened(Settings(data=tmp_path / "one", secret=SECRET)):
        pass


async def test_no_store_no_folder_and_no_second_time_are_one_sentence_each(here, tmp_path):
    assert "there is no store" in refused(await aside("export", tmp_path / "out", "--data", tmp_path / "nowhere"))
    assert not (tmp_path / "out").exists()
    assert "there is no folder" in refused(await aside("import", tmp_path / "out", "--data", tmp_path / "there"))
    assert (await aside("export", tmp_path / "out", "--data", here))[0] == 0
    assert "is not empty" in refused(await aside("export", tmp_path / "out", "--data", here))
    assert (await aside("import", tmp_path / "out", "--data", tmp_path / "there"))[0] == 0
    again = refused(await aside("import", tmp_path / "out", "--data", tmp_path / "there"))
    assert "is not empty, and an import never overwrites anything" in again
    (tmp_path / "empty").mkdir()
    assert "it lacks the tables" in refused(await aside("import", tmp_path / "empty", "--data", tmp_path / "more"))
    assert not (tmp_path / "more").exists()


async def test_an_unfinished_export_is_not_imported_and_an_unfinished_import_not_served(here, tmp_path):
    out, there = tmp_path / "out", tmp_path / "there"
    assert (await aside("export", out, "--data", here))[0] == 0
    (out / "unfinished.json").write_text(json.dumps({"id": "1", "source": "x"}))
    assert "run `potluck export` again" in refused(await aside("import", out, "--data", there))
    (out / "unfinished.json").unlink()

    (file,) = (out / "Accounts").rglob("data/*.json.gz")
    content = file.read_bytes()
    file.write_bytes(content[:-1])
    assert "is damaged" in refused(await aside("import", out, "--data", there))
    (there / "secret").write_text(SECRET)
    (there / "secret").chmod(0o600)
    with pytest.raises(StoreUnusable, match="has not finished"):
        async with opened(Settings(data=there)):
            pass
    for command in (["invite"], ["export", tmp_path / "more"]):
        told = refused(await aside(*command, "--data", there, POTLUCK_REGISTRATION="invited"))
        assert "an import into this store has not finished" in told
    file.write_bytes(content)
    assert (await aside("import", out, "--data", there))[0] == 0
    assert (await aside("invite", "--data", there, POTLUCK_REGISTRATION="invited"))[0] == 0


async def test_an_export_is_for_its_owner_alone(here, tmp_path):
    before = os.umask(0)
    try:
        assert (await aside("export", tmp_path / "out", "--data", here))[0] == 0
    finally:
        os.umask(before)
    assert {file.stat().st_mode & 0o077 for file in (tmp_path / "out").rglob("*") if file.is_file()} == {0}
    assert (tmp_path / "out").stat().st_mode & 0o077 == 0


# --- kill -9 ----------------------------------------------------------------------------------------------------------


def killed(*arguments, after):
    """Run a command, and kill it once this is true; whether it was killed before it ended by itself."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("POTLUCK_")}
    process = subprocess.Popen([*POTLUCK, *map(str, arguments)], env=environment, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None and not after() and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


async def with_many_rows(settings):
    async with opened(settings) as (core, _):
        for number in range(0, ROWS, 25):
            rows = [WORK.key(f"K{row % 7}", f"{row:06}") for row in range(number, number + 25)]
            puts = {shopping.inventory.name: [{"PutRequest": {"Item": row}} for row in rows]}
            await core.engine.call("BatchWriteItem", {"RequestItems": puts})


def test_both_commands_go_on_after_a_kill(tmp_path):
    here = Settings(data=tmp_path / "here", secret=SECRET)
    asyncio.run(with_many_rows(here))
    out, there = tmp_path / "out", tmp_path / "there"
    assert killed("export", out, "--data", here.data, after=lambda: any(out.rglob("*.gz.partial")))
    status, told, err = potluck("export", out, "--data", here.data)
    assert status == 0, err
    # Slowly enough that it is killed in the middle.
    slowly = ("import", out, "--data", there, "--rate", "4000")
    assert killed(*slowly, after=lambda: (there / "potluck.db-wal").exists() and size(there) > 300_000)
    status, arrived, err = potluck("import", out, "--data", there)
    assert status == 0, err
    assert arrived.splitlines()[1:] == told.splitlines()[1:]


def size(data):
    return sum(file.stat().st_size for file in data.glob("potluck.db*"))

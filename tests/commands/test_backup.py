"""A backup is all that is needed to go on: store and secret in one file, tried on another machine."""

import asyncio
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

import httpx
import pytest

from potluck.commands.main import main
from potluck.dynamo.database import Database
from potluck.dynamo.storage.creation import create_file
from potluck.engines import open_engine
from potluck.people.entities import SecretCheck, accounts
from potluck.settings import Settings, SettingsError
from potluck.store import Store
from potluck.suite import assembled, system_clock
from potluck.web.suite_secret import load_secret
from tests.apps.polls.doors import CANDIDATES, FROM_HERE
from tests.patience import PATIENCE_SECONDS
from tests.processes import POTLUCK, running, stopped
from tests.web.suites import API, PASSWORD, bearer

LAKE, HUT, CAMP = CANDIDATES
GIVEN = "given by the operator, and long enough"
POSIX = pytest.mark.skipif(os.name != "posix", reason="only POSIX has these modes")


def with_nothing_set(environment):
    return {name: value for name, value in os.environ.items() if not name.startswith("POTLUCK_")} | environment


def potluck(*arguments, cwd, **environment):
    """A command as a person runs it, in a terminal where nothing is set but this; in this process, which is quicker."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, with_nothing_set(environment), clear=True),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        status = main([*map(str, arguments)])
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


def potluck_process(*arguments, cwd):
    """The same in a process of its own."""
    return subprocess.run(
        [*POTLUCK, *arguments],
        cwd=cwd,
        env=with_nothing_set({}),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )


def refused(done):
    """The sentence of a command that was refused."""
    assert (done.returncode, done.stdout) == (1, ""), done
    assert done.stderr.startswith("potluck: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@contextlib.contextmanager
def writing(client, path, by):
    """Somebody who adds one thing after the other, all the while; gives what has been answered so far."""
    answered, stop = [], threading.Event()

    def write():
        while not stop.is_set():
            made = client.post(path, json={"name": f"Thing {len(answered)}"}, headers=by)
            assert made.status_code == 201, made.text
            answered.append(made.json()["name"])

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield answered
    finally:
        stop.set()
        thread.join(PATIENCE_SECONDS)


@dataclass
class Remembered:
    """What people and their programs hold of the time before."""

    tokens: dict[str, dict[str, str]] = field(default_factory=dict)
    cookies: httpx.Cookies = field(default_factory=httpx.Cookies)
    polls: dict[str, dict[str, Any]] = field(default_factory=dict)
    votes: dict[str, dict[str, Any]] = field(default_factory=dict)
    codes: list[str] = field(default_factory=list)
    list_path: str = ""
    position: str = ""
    cursor: str = ""
    first_page: list[str] = field(default_factory=list)
    invitation: str = ""
    repeatable: httpx.Response | None = None


def said(answer, status=200):
    assert answer.status_code == status, answer.text
    return answer.json() if answer.content else None


def vote(client, poll, *rankings, by=None, status=201, **shown):
    return said(client.post(f"/polls/{poll['id']}/votes", json={"rankings": rankings, **shown}, headers=by), status)


REPEATED = {"idempotency-key": "a program's own, made up once"}


def before(client, browser):
    """Everything that is given out, by a suite that runs."""
    held = Remembered()
    for name in ("ada", "ben", "eve"):
        account = {"email": f"{name}@example.org", "password": PASSWORD, "name": name}
        held.tokens[name] = bearer(said(client.post("/accounts", json=account), 201))
    ada, ben = held.tokens["ada"], held.tokens["ben"]
    held.tokens["program"] = bearer(said(client.post("/me/tokens", json={"name": "P"}, headers=ada), 201))
    form = {"email": "ada@example.org", "password": PASSWORD}
    assert browser.post("/sign-in", data=form, headers=FROM_HERE).status_code == 303

    for policy in ("open", "codes", "accounts"):
        poll = {"title": policy, "candidates": CANDIDATES, "voterPolicy": policy}
        held.polls[policy] = said(client.post("/polls", json=poll, headers=ada), 201)
    held.votes["open"] = vote(client, held.polls["open"], LAKE, voterKey="Grandma")
    codes = f"/polls/{held.polls['codes']['id']}/codes"
    held.codes = said(client.post(codes, json={"count": 2}, headers=ada), 201)["codes"]
    held.votes["codes"] = vote(client, held.polls["codes"], LAKE, code=held.codes[0])
    held.votes["accounts"] = vote(client, held.polls["accounts"], LAKE, by=ben)
    page = f"/polls/{held.polls['open']['id']}"
    assert browser.get(page, headers={"accept": "text/html"}).status_code == 200
    assert browser.post(f"{page}/vote", data={"rank-1": "1"}, headers=FROM_HERE).status_code == 303
    held.cookies = httpx.Cookies(browser.cookies)

    family = said(client.post("/families", json={"name": "Lovelace"}, headers=ada), 201)["familyId"]
    held.list_path = f"/families/{family}/shopping-list"
    for name in ("Tea", "Milk", "Bread"):
        said(client.post(held.list_path, json={"name": name}, headers=ada), 201)
    first = said(client.get(held.list_path, params={"limit": 2}, headers=ada))
    held.cursor, held.first_page = first["nextCursor"], [each["name"] for each in first["items"]]
    held.position = first["position"]
    said(client.post(held.list_path, json={"name": "After the position"}, headers=ada), 201)
    invitations = f"/families/{family}/invitations"
    held.invitation = said(client.post(invitations, json={"role": "member"}, headers=ada), 201)["token"]
    held.repeatable = client.post(held.list_path, json={"name": "Once"}, headers=ada | REPEATED)
    said(held.repeatable, 201)
    return held


def names_since(client, path, position, by):
    names = []
    while True:
        told = said(client.get(f"{path}/changes", params={"since": position}, headers=by))
        assert told["reset"] is False
        names += [each["item"]["name"] for each in told["changes"]]
        position = told["position"]
        if not told["more"]:
            return names


def position_after(name, client, held):
    """The position behind the change that made this; a worker may be told of it a moment later."""
    while True:
        told = said(
            client.get(f"{held.list_path}/changes", params={"since": held.position}, headers=held.tokens["ada"])
        )
        for change in told["changes"]:
            if change["item"]["name"] == name:
                return change["position"]
        if told["more"]:
            held = replace(held, position=told["position"])


def after(client, browser, held, acknowledged):
    """Each of these is good, or used up, as it was."""
    ada, ben, eve, program = (held.tokens[name] for name in ("ada", "ben", "eve", "program"))
    for by in (ada, ben, eve, program):
        assert said(client.get("/me", headers=by))["email"].endswith("@example.org")
    browser.cookies.update(held.cookies)
    assert "ada@example.org" in browser.get("/account", headers={"accept": "text/html"}).text

    # Nobody votes twice, and everybody changes their own.
    polls, votes = held.polls, held.votes
    again = {"open": {"voterKey": "Grandma"}, "codes": {"code": held.codes[0]}, "accounts": {}}
    for policy, shown in again.items():
        told = vote(client, polls[policy], HUT, by=ben if policy == "accounts" else None, status=409, **shown)
        assert told["type"] == "/problems/already-voted"
        changed = client.put(
            f"/polls/{polls[policy]['id']}/votes/{votes[policy]['id']}",
            json={"rankings": [CAMP]},
            headers={"x-edit-key": votes[policy]["editKey"]},
        )
        assert said(changed)["rankings"] == [CAMP]
    page = f"/polls/{polls['open']['id']}"
    assert "Change vote" in browser.get(page, headers={"accept": "text/html"}).text
    browser.cookies.delete("potluck-poll-vote")  # The voter's key alone tells that it is the same browser.
    browser.post(f"{page}/vote", data={"rank-2": "1"}, headers=FROM_HERE)
    assert said(client.get(f"{page}/results", headers=ada))["votes"] == 2

    # A code that was left is good once; whoever has not voted votes.
    vote(client, polls["codes"], HUT, code=held.codes[1])
    vote(client, polls["codes"], HUT, code=held.codes[1], status=409)
    vote(client, polls["accounts"], HUT, by=eve)
    for policy, votes_there in {"codes": 2, "accounts": 2}.items():
        assert said(client.get(f"/polls/{polls[policy]['id']}/results", headers=ada))["votes"] == votes_there

    # Lists go on, in parts and live.
    second = said(client.get(held.list_path, params={"limit": 2, "cursor": held.cursor}, headers=ada))
    assert not {each["name"] for each in second["items"]} & set(held.first_page)
    said(client.post(held.list_path, json={"name": "On the new machine"}, headers=ada), 201)
    told = names_since(client, held.list_path, held.position, ada)
    assert "After the position" in told
    assert set(acknowledged) < set(told), "what was answered before the backup began is in it"
    with client.stream("GET", f"{held.list_path}/events", params={"since": held.position}, headers=ada) as events:
        for line in events.iter_lines():
            assert "reset" not in line
            if "On the new machine" in line:
                break

    joined = client.post("/invitations/accept", json={"token": held.invitation}, headers=eve)
    assert said(joined)["familyId"] in held.list_path
    repeated = client.post(held.list_path, json={"name": "Once"}, headers=ada | REPEATED)
    assert (repeated.status_code, repeated.content) == (201, held.repeatable.content)
    other = client.post(held.list_path, json={"name": "Twice"}, headers=ada | REPEATED)
    assert other.status_code == 422


def client_of(address):
    return httpx.Client(base_url=address + API, timeout=PATIENCE_SECONDS)


def browser_of(address):
    return httpx.Client(base_url=address, timeout=PATIENCE_SECONDS)


def test_a_backup_of_a_suite_that_runs_goes_on_where_it_was_on_another_machine(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    with (
        running("serve", "--port", "0", "--workers", "2", cwd=here) as (_, address),
        client_of(address) as client,
        browser_of(address) as browser,
    ):
        held = before(client, browser)
        with writing(client, held.list_path, held.tokens["ada"]) as answered:
            while len(answered) < 20:
                time.sleep(0.01)
            acknowledged = list(answered)
            done = potluck_process("backup", "nightly", cwd=here)
            assert done.returncode == 0, done.stderr
            at_most = len(answered) + 1
        assert "and its secret to nightly" in done.stdout
        assert "also the secret" in done.stderr
        # Whoever goes on here reads on; the other machine is to know nothing of that.
        said(client.post(held.list_path, json={"name": "Lost"}, headers=held.tokens["ada"]), 201)
        lost = position_after("Lost", client, held)
    shutil.move(here / "nightly", there / "brought along")
    done = potluck_process("restore", "brought along", cwd=there)
    assert done.returncode == 0, done.stderr
    assert "and its secret" in done.stdout
    modes = {file.name: file.stat().st_mode & 0o777 for file in (there / "data").iterdir()}
    assert modes == {"potluck.db": 0o600, "secret": 0o600}
    with running("serve", "--port", "0", cwd=there) as (process, address):
        with client_of(address) as client, browser_of(address) as browser:
            by = held.tokens["ada"]
            # A position that only the lost store gave out is told to read everything, and from then on misses nothing.
            told = said(client.get(f"{held.list_path}/changes", params={"since": lost}, headers=by))
            assert told["reset"] is True
            after(client, browser, held, acknowledged)
            things = [name for name in names_since(client, held.list_path, held.position, by) if "Thing" in name]
            assert len(set(things)) <= at_most
            assert "On the new machine" in names_since(client, held.list_path, told["position"], by)
        assert stopped(process) == 0


@pytest.fixture
def stored(tmp_path):
    """A folder with a store that the suite has made."""
    asyncio.run(started(Settings(data=tmp_path / "data")))
    return tmp_path


async def started(settings, apps=()):
    async with assembled(settings, apps):
        pass


def backed_up(folder, name="backup", **environment):
    done = potluck("backup", name, cwd=folder, **environment)
    assert done.returncode == 0, done.stderr
    return folder / name


def everything_in(folder):
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


# --- backup ----------------------------------------------------------------------------------------------------------


def test_backup_never_overwrites_and_does_not_copy_nothing(stored, tmp_path):
    (tmp_path / "precious").write_text("precious")
    assert "exists already" in refused(potluck("backup", "precious", cwd=stored))
    assert (tmp_path / "precious").read_text() == "precious"
    assert "there is no store" in refused(potluck("backup", "copy", "--data", "elsewhere", cwd=stored))
    assert not (stored / "elsewhere").exists()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["data", "precious"]


def test_on_amazon_dynamodb_there_is_another_way(stored):
    for command in ("backup", "restore"):
        told = refused(potluck(command, "copy", cwd=stored, POTLUCK_ENGINE="aws"))
        assert "point-in-time recovery" in told
    assert not (stored / "copy").exists()


@POSIX
def test_a_backup_is_for_its_owner_alone_whatever_the_umask(stored):
    before = os.umask(0)
    try:
        backup = backed_up(stored)
    finally:
        os.umask(before)
    assert backup.stat().st_mode & 0o777 == 0o600


def test_backup_refuses_a_store_whose_secret_is_missing_or_another(stored):
    assert "was created with another secret than POTLUCK_SECRET" in refused(
        potluck("backup", "copy", cwd=stored, POTLUCK_SECRET=GIVEN)
    )
    (stored / "data" / "secret").unlink()
    assert "its secret is not" in refused(potluck("backup", "copy", cwd=stored))
    assert not (stored / "copy").exists()


def test_a_secret_that_no_file_could_keep_is_told_when_the_backup_is_made(tmp_path):
    odd = GIVEN + " "
    asyncio.run(started(Settings(data=tmp_path / "data", secret=odd)))
    assert "begins or ends with a space" in refused(potluck("backup", "copy", cwd=tmp_path, POTLUCK_SECRET=odd))


async def test_the_engine_alone_is_copied_without_a_secret_and_the_copy_is_a_store(tmp_path):
    async with await Database.open(tmp_path / "tables.db") as database:
        await Store(database, system_clock).create_tables(accounts)
        done = await asyncio.to_thread(potluck, "backup", "copy.db", "--file", "tables.db", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert "secret" not in done.stdout + done.stderr
    async with await Database.open(tmp_path / "copy.db") as copy:
        assert (await copy.call("ListTables", {}))["TableNames"] == [accounts.name]


def test_a_backup_into_a_folder_that_is_not_there_is_one_sentence(tmp_path, capsys):
    store = tmp_path / "tables.db"
    create_file(str(store))
    assert main(["backup", str(tmp_path / "nowhere" / "copy.db"), "--file", str(store)]) == 1
    assert capsys.readouterr().err == f"potluck: there is no folder {tmp_path / 'nowhere'} to put copy.db in\n"


# --- restore ---------------------------------------------------------------------------------------------------------


def test_restore_does_not_overwrite_and_puts_aside_when_told(stored):
    backup = backed_up(stored)
    whole = everything_in(stored / "data")
    assert "--replace" in refused(potluck("restore", backup, cwd=stored))
    assert everything_in(stored / "data") == whole
    done = potluck("restore", backup, "--replace", cwd=stored)
    assert done.returncode == 0, done.stderr
    (aside,) = (stored / "data").glob("replaced-*")
    assert str(aside.relative_to(stored)) in done.stderr
    assert aside.stat().st_mode & 0o777 == 0o700
    assert sorted(file.name for file in aside.iterdir()) == ["potluck.db"], "the secret was the same"
    asyncio.run(started(Settings(data=stored / "data")))


def test_restore_over_another_store_puts_its_secret_aside_too(stored, tmp_path):
    backup = backed_up(stored)
    secret = (stored / "data" / "secret").read_bytes()
    other = tmp_path / "other"
    asyncio.run(started(Settings(data=other)))
    others = (other / "secret").read_bytes()
    (other / "potluck.db").unlink()
    assert "differs from the backup's secret" in refused(potluck("restore", backup, "--data", other, cwd=tmp_path))
    assert (other / "secret").read_bytes() == others
    done = potluck("restore", backup, "--data", other, "--replace", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (other / "secret").read_bytes() == secret
    assert [file.read_bytes() for file in other.glob("replaced-*/secret")] == [others]


def test_restore_refuses_a_store_in_use(stored):
    backup = backed_up(stored)
    with running("serve", "--port", "0", cwd=stored) as (process, address):
        assert "stop Potluck first" in refused(potluck("restore", backup, "--replace", cwd=stored))
        assert httpx.get(f"{address}/readyz").status_code == 200
        assert stopped(process) == 0
    assert sorted(file.name for file in (stored / "data").iterdir()) == ["potluck.db", "secret"]


def test_a_log_that_lost_its_file_is_not_taken_for_the_backups(stored):
    backup = backed_up(stored)
    (stored / "data" / "potluck.db").unlink()
    (stored / "data" / "potluck.db-wal").write_bytes(b"of a store that is gone")
    assert "potluck.db-wal is here already" in refused(potluck("restore", backup, cwd=stored))


def test_a_damaged_store_can_be_replaced(stored):
    backup = backed_up(stored)
    (stored / "data" / "potluck.db").write_text("no store any more" * 1000)
    assert potluck("restore", backup, "--replace", cwd=stored).returncode == 0
    asyncio.run(started(Settings(data=stored / "data")))


def test_a_damaged_backup_is_refused_and_nothing_is_touched(stored):
    backup = backed_up(stored)
    os.truncate(backup, backup.stat().st_size // 2)
    whole = everything_in(stored / "data")
    assert "is damaged" in refused(potluck("restore", backup, "--replace", cwd=stored))
    assert everything_in(stored / "data") == whole
    assert "there is no backup" in refused(potluck("restore", "nowhere", cwd=stored))


def test_a_secret_that_was_given_comes_back_as_a_file_and_another_one_is_refused(tmp_path):
    asyncio.run(started(Settings(data=tmp_path / "data", secret=GIVEN)))
    backup = backed_up(tmp_path, POTLUCK_SECRET=GIVEN)
    other = tmp_path / "other"
    assert "POTLUCK_SECRET differs from" in refused(
        potluck("restore", backup, "--data", other, cwd=tmp_path, POTLUCK_SECRET=GIVEN[::-1])
    )
    assert potluck("restore", backup, "--data", other, cwd=tmp_path).returncode == 0
    assert load_secret(Settings(data=other)) == GIVEN.encode()
    asyncio.run(started(Settings(data=other)))
    asyncio.run(started(Settings(data=other, secret=GIVEN)))


def test_a_backup_without_a_secret_is_restored_and_does_not_start_without_it(stored):
    done = potluck("backup", "as before", "--file", "data/potluck.db", cwd=stored)
    assert done.returncode == 0, done.stderr
    done = potluck("restore", "as before", "--data", "other", cwd=stored)
    assert done.returncode == 0
    assert "holds no secret" in done.stderr
    assert "its secret is not" in refused(potluck("serve", "--port", "0", "--data", "other", cwd=stored))
    shutil.copy(stored / "data" / "secret", stored / "other" / "secret")
    asyncio.run(started(Settings(data=stored / "other")))


# --- a store and its secret ------------------------------------------------------------------------------------------


def test_a_copy_by_hand_without_the_secret_does_not_start(stored):
    (stored / "other").mkdir()
    shutil.copy(stored / "data" / "potluck.db", stored / "other")
    told = refused(potluck_process("serve", "--port", "0", "--workers", "2", "--data", "other", cwd=stored))
    assert "other/potluck.db is here, but its secret is not" in told
    assert "POTLUCK_SECRET" in told
    assert "other/secret" in told
    assert "accept-new-secret" in told
    assert [file.name for file in (stored / "other").iterdir()] == ["potluck.db"], "no other secret was made for it"


def test_a_store_does_not_start_with_another_secret(stored):
    told = refused(potluck("serve", "--port", "0", cwd=stored, POTLUCK_SECRET=GIVEN))
    assert told.startswith("potluck: data/potluck.db was created with another secret than POTLUCK_SECRET. ")
    (stored / "data" / "secret").write_text(GIVEN)
    told = refused(potluck("demo", cwd=stored))
    assert told.startswith("potluck: data/potluck.db was created with another secret than the one in data/secret. ")
    assert GIVEN not in told


async def test_the_store_keeps_nothing_that_tells_the_secret(stored):
    secret = load_secret(Settings(data=stored / "data"))
    for file in (stored / "data").glob("potluck.db*"):
        assert secret not in file.read_bytes()
        assert bytes.fromhex(secret.decode()) not in file.read_bytes()


async def test_a_store_of_an_earlier_version_is_held_to_the_secret_that_it_is_first_opened_with(stored):
    settings = Settings(data=stored / "data")
    engine = await open_engine(path=settings.file)
    await Store(engine, system_clock).delete(SecretCheck.of_store())
    await engine.close()
    await started(settings)
    with pytest.raises(SettingsError):
        await started(Settings(data=stored / "data", secret=GIVEN))


async def test_of_machines_that_start_at_once_on_one_dynamodb_one_secret_wins(tmp_path, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    with running("dynamodb", "--port", "0", cwd=tmp_path) as (_, address):
        machines = [
            Settings(
                engine="aws", endpoint=address, region="us-east-1", data=tmp_path, secret=f"machine {number} {'x' * 32}"
            )
            for number in range(3)
        ]
        came = await asyncio.gather(*map(started, machines), return_exceptions=True)
        (first,) = [machine for machine, outcome in zip(machines, came, strict=True) if outcome is None]
        for outcome in came:
            if outcome is not None:
                assert isinstance(outcome, SettingsError), outcome
                assert "Every machine needs the same: set POTLUCK_SECRET here" in str(outcome)
        secret = load_secret(first).decode()
        for machine in machines:
            given = Settings(engine="aws", endpoint=address, region="us-east-1", data=machine.data, secret=secret)
            await started(given)


def test_workers_that_start_at_once_in_a_new_folder_agree(tmp_path):
    with running("serve", "--port", "0", "--workers", "3", cwd=tmp_path) as (process, address):
        assert httpx.get(f"{address}/readyz").status_code == 200
        assert stopped(process) == 0
    asyncio.run(started(Settings(data=tmp_path / "data")))


# --- another secret, on purpose --------------------------------------------------------------------------------------


def test_a_lost_secret_is_given_up_only_on_purpose_and_it_is_said_what_that_costs(tmp_path):
    with running("serve", "--port", "0", cwd=tmp_path) as (process, address):
        with client_of(address) as client, browser_of(address) as browser:
            held = before(client, browser)
        assert "stop Potluck first" in refused(potluck("accept-new-secret", "--yes", cwd=tmp_path))
        assert stopped(process) == 0
    (tmp_path / "data" / "secret").unlink()
    done = potluck("accept-new-secret", cwd=tmp_path)
    assert done.returncode == 1
    assert "can vote there once more" in done.stdout
    assert "--yes" in done.stderr
    assert not (tmp_path / "data" / "secret").exists()
    done = potluck("accept-new-secret", "--yes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "nothing was changed" in potluck("accept-new-secret", "--yes", cwd=tmp_path).stdout
    with running("serve", "--port", "0", cwd=tmp_path) as (process, address), client_of(address) as client:
        ada, ben = held.tokens["ada"], held.tokens["ben"]
        # What is said to stay good, and what is said to be lost.
        for by in (ada, held.tokens["program"]):
            said(client.get("/me", headers=by))
        path = f"/polls/{held.polls['open']['id']}"
        edited = {"x-edit-key": held.votes["open"]["editKey"]}
        said(client.put(f"{path}/votes/{held.votes['open']['id']}", json={"rankings": [HUT]}, headers=edited))
        said(client.post(f"{path}/close", headers={"x-admin-key": held.polls["open"]["adminKey"]}))
        joined = {"token": held.invitation}
        said(client.post("/invitations/accept", json=joined, headers=held.tokens["eve"]))
        vote(client, held.polls["accounts"], HUT, by=ben)
        vote(client, held.polls["codes"], HUT, code=held.codes[1], status=403)
        assert client.get(held.list_path, params={"cursor": held.cursor}, headers=ada).status_code == 422
        since = client.get(f"{held.list_path}/changes", params={"since": held.position}, headers=ada)
        assert since.status_code == 422
        repeated = client.post(held.list_path, json={"name": "Once"}, headers=ada | REPEATED)
        assert repeated.status_code == 422


# --- who can look ----------------------------------------------------------------------------------------------------


@POSIX
def test_what_the_commands_make_is_for_its_owner_alone(tmp_path):
    before = os.umask(0)
    try:
        with running("dynamodb", "--port", "0", "--file", "tables.db", cwd=tmp_path) as (process, _):
            assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}
            assert stopped(process) == 0
        with running("serve", "--port", "0", cwd=tmp_path) as (process, _):
            assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
            assert {file.stat().st_mode & 0o777 for file in (tmp_path / "data").iterdir()} == {0o600}
            assert stopped(process) == 0
    finally:
        os.umask(before)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_what_root_restores_belongs_to_whoever_has_the_folder(stored):
    backup = backed_up(stored)
    (stored / "other").mkdir()
    os.chown(stored / "other", 12345, 12345)
    assert potluck("restore", backup, "--data", "other", cwd=stored).returncode == 0
    owners = {file.name: file.stat().st_uid for file in (stored / "other").iterdir()}
    assert owners == {"potluck.db": 12345, "secret": 12345}


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_root_gives_away_no_file_that_a_link_in_the_folder_leads_to(stored):
    backup = backed_up(stored)
    roots_own = stored / "roots-own"
    roots_own.write_bytes((stored / "data" / "secret").read_bytes())
    (stored / "other").mkdir()
    (stored / "other" / "secret").symlink_to(roots_own)
    os.chown(stored / "other", 12345, 12345)
    assert potluck("restore", backup, "--data", "other", cwd=stored).returncode == 0
    assert roots_own.stat().st_uid == 0


@POSIX
@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_a_folder_that_others_can_look_into_is_told_of_at_the_start(stored, mode):
    (stored / "data").chmod(mode)
    with running("serve", "--port", "0", cwd=stored) as (process, _):
        assert stopped(process) == 0
        told = process.stdout.read()
    assert ("Others on this machine can look into data (mode 755): chmod 700 data" in told) == (mode == 0o755)


async def test_who_invites_needs_no_secret_where_the_service_alone_has_it(tmp_path):
    await started(Settings(data=tmp_path / "data", secret=GIVEN))
    done = await asyncio.to_thread(potluck, "invite", cwd=tmp_path, POTLUCK_REGISTRATION="invited")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "data" / "secret").exists()


def test_a_bar_is_shown_where_somebody_looks_at_a_long_backup(stored, monkeypatch):
    class Terminal:
        shown = ""

        def isatty(self):
            return True

        def write(self, text):
            self.shown += text

        def flush(self):
            pass

    async def fill():
        async with await Database.open(stored / "data" / "potluck.db") as database:
            for number in range(200):
                item = {"PK": {"S": f"X#{number}"}, "SK": {"S": "X"}, "text": {"S": "x" * 20_000}}
                await database.call("PutItem", {"TableName": accounts.name, "Item": item})

    asyncio.run(fill())
    screen = Terminal()
    monkeypatch.setattr("potluck.dynamo.storage.backup.STEPS_BETWEEN_REPORTS", 100)
    monkeypatch.setattr("potluck.commands.progress_bar.REDRAWN_EVERY", 0.0)
    monkeypatch.setattr(sys, "stderr", screen)
    assert main(["backup", str(stored / "copy"), "--data", str(stored / "data")]) == 0
    parts = [int(part) for part in re.findall(r"copying \[[#.]{30}\] +(\d+)%", screen.shown)]
    assert len(parts) > 3
    assert parts == sorted(parts)
    assert parts[-1] > 50
    assert main(["restore", str(stored / "copy"), "--data", str(stored / "other")]) == 0
    assert "restoring [" in screen.shown

import asyncio
import contextlib
import re
import socket
import subprocess
import sys
import urllib.request
from datetime import UTC, datetime
from importlib.metadata import version
from uuid import UUID

import apsw
import boto3
import pytest

from potluck import cli
from potluck.apps.polls.entities import Count, Poll, Vote, ranked_choice_polls
from potluck.apps.shopping.entities import Member, inventory
from potluck.dynamo.storage.creation import create_file
from potluck.engines import open_engine
from potluck.people.entities import EmailAddress, accounts
from potluck.people.errors import InvitationInvalid, ResetInvalid
from potluck.people.services import open_people
from potluck.store import Store
from potluck.table import absent, put
from tests.commands import POTLUCK, running, stopped


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    for name in (
        "serve",
        "dynamodb",
        "backup",
        "restore",
        "accept-new-secret",
        "accept-lost-writes",
        "reset-password",
        "invite",
        "polls",
        "backfill",
        "count",
        "demo",
        "design",
        "POTLUCK_DATA",
        "POTLUCK_ORIGIN",
    ):
        assert name in said


def test_version_is_the_packages(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"potluck {version('potluck')}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["cook"],
        ["backup"],
        ["backup", "copy", "--data", "data", "--file", "tables.db"],
        ["restore"],
        ["reset-password"],
        ["backfill", "polls"],
    ],
)
def test_a_wrong_call_is_told_how_to_call(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert "usage: potluck" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "given", "said"),
    [
        ("--port", "no", "argument --port: 'no' is not a number from 0 to 65535"),
        ("--port", "70000", "argument --port: '70000' is not a number from 0 to 65535"),
        ("--workers", "0", "argument --workers: '0' is not a number from 1 to 64"),
    ],
)
def test_a_wrong_number_is_told_in_plain_words(option, given, said, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["serve", option, given])
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f"potluck serve: error: {said}\n")


def test_a_wrong_setting_does_not_keep_help_away(monkeypatch, capsys):
    monkeypatch.setenv("POTLUCK_PORT", "many")
    for arguments in (["--help"], ["serve", "--help"]):
        with pytest.raises(SystemExit) as ended:
            cli.main(arguments)
        assert ended.value.code == 0
        assert "usage: potluck" in capsys.readouterr().out


def test_a_backup_into_a_folder_that_is_not_there_is_one_sentence(tmp_path, capsys):
    store = tmp_path / "tables.db"
    create_file(str(store))
    assert cli.main(["backup", str(tmp_path / "nowhere" / "copy.db"), "--file", str(store)]) == 1
    assert capsys.readouterr().err == f"potluck: there is no folder {tmp_path / 'nowhere'} to put copy.db in\n"


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["invite"], ["demo"]])
def test_amazon_dynamodb_without_its_extra_is_one_sentence(monkeypatch, tmp_path, capsys, command):
    monkeypatch.setenv("POTLUCK_ENGINE", "aws")
    monkeypatch.setenv("POTLUCK_REGISTRATION", "invited")
    monkeypatch.setitem(sys.modules, "potluck.engines.aws", None)
    monkeypatch.chdir(tmp_path)
    assert cli.main(command) == 1
    said = capsys.readouterr().err
    assert said.startswith("potluck: POTLUCK_ENGINE is 'aws', and ")
    assert said.endswith(" is not installed: pip install 'potluck[aws]'\n")


def test_a_store_that_cannot_be_written_is_one_sentence(monkeypatch, tmp_path, capsys):
    def refused(*_, **__):
        raise apsw.ReadOnlyError("attempt to write a readonly database")

    # Root may write whatever its mode, so the file system cannot be asked to refuse.
    monkeypatch.setattr("potluck.dynamo.storage.connection.prepared", refused)
    store = tmp_path / "data" / "potluck.db"
    store.parent.mkdir()
    store.write_bytes(b"SQLite format 3")
    assert cli.main(["reset-password", "ada@example.com", "--data", str(store.parent)]) == 1
    assert capsys.readouterr().err == (
        f"potluck: {store} cannot be written: a store needs its file and its folder to be writable\n"
    )


def test_links_name_the_port_that_is_really_used(tmp_path, monkeypatch, capsys):
    with running("serve", "--port", "0", cwd=tmp_path) as (process, address):
        with urllib.request.urlopen(f"{address}/schema") as answer:
            assert f"POTLUCK={address}\n" in answer.read().decode()
        monkeypatch.setenv("POTLUCK_REGISTRATION", "invited")
        assert cli.main(["invite", "--data", str(tmp_path / "data")]) == 0
        assert capsys.readouterr().out.startswith(f"{address}/sign-up#")
        assert stopped(process) == 0
    assert cli.main(["invite", "--data", str(tmp_path / "data")]) == 0
    assert capsys.readouterr().out.startswith("http://127.0.0.1:8000/sign-up#")


def test_a_wrong_setting_is_one_sentence(monkeypatch, capsys):
    monkeypatch.setenv("POTLUCK_PORT", "many")
    assert cli.main(["serve"]) == 1
    assert capsys.readouterr().err == "potluck: POTLUCK_PORT is 'many'; it must be a number from 0 to 65535\n"


def test_help_does_not_wait_for_the_web_framework():
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, potluck.cli; print({'starlette', 'apsw', 'uvicorn'} & set(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout == "set()\n"


def test_a_data_folder_that_cannot_be_made_is_one_sentence(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert cli.main(["serve", "--data", str(tmp_path / "file" / "data")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("potluck: ")
    assert said.count("\n") == 1


def test_serve_prints_where_it_answers_and_stops_when_asked(tmp_path):
    with running("serve", "--port", "0", cwd=tmp_path) as (process, address):
        with urllib.request.urlopen(f"{address}/healthz") as answer:
            assert answer.status == 200
        assert (tmp_path / "data" / "potluck.db").is_file()
        assert stopped(process) == 0


def test_several_workers_serve_one_store(tmp_path):
    with running("serve", "--port", "0", "--workers", "2", cwd=tmp_path) as (process, address):
        with urllib.request.urlopen(f"{address}/healthz") as answer:
            assert answer.status == 200
        assert (tmp_path / "data" / "secret").stat().st_mode & 0o777 == 0o600
        assert stopped(process) == 0


def test_a_port_that_is_taken_is_one_sentence(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert cli.main(["serve", "--port", port, "--data", str(tmp_path / "data")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"potluck: something else listens on 127.0.0.1:{port}")
    assert said.count("\n") == 1


def test_a_file_that_is_no_store_is_one_sentence(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "potluck.db").write_text("a shopping list, on paper" * 100)
    ended = subprocess.run(
        [*POTLUCK, "serve", "--port", "0", "--workers", "2"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("potluck: ")
    assert "potluck.db" in ended.stderr
    assert ended.stderr.count("\n") == 1


@contextlib.asynccontextmanager
async def people_in(folder, registration="invited"):
    engine = await open_engine(path=folder / "potluck.db")
    people = open_people(Store(engine, lambda: datetime.now(UTC)), lambda: datetime.now(UTC), registration)
    try:
        yield people
    finally:
        people.close()
        await engine.close()


async def link(capsys, *arguments):
    """What a command prints to be handed over, split before the secret."""
    status = await asyncio.to_thread(cli.main, arguments)
    said = capsys.readouterr()
    assert status == 0, said.err
    assert said.out.count("\n") == 1
    assert re.fullmatch(r"[^#]+#pl[ir]_[0-9a-f]{64}\n", said.out)
    return said.out.strip().split("#")


async def test_the_operator_invites_the_first_person_and_helps_who_forgot(tmp_path, monkeypatch, capsys):
    data = tmp_path / "data"
    monkeypatch.setenv("POTLUCK_DATA", str(data))
    monkeypatch.setenv("POTLUCK_ORIGIN", "https://potluck.example/")
    monkeypatch.setenv("POTLUCK_REGISTRATION", "invited")
    # Before the suite has ever run here.
    address, invitation = await link(capsys, "invite")
    assert address == "https://potluck.example/sign-up"
    # The store stays open, as it is while the suite runs.
    async with people_in(data) as people:
        ada = await people.accounts.register("Ada@example.org", "correct horse", "Ada", invitation=invitation)
        with pytest.raises(InvitationInvalid):
            await people.accounts.register("ben@example.org", "correct horse", "Ben", invitation=invitation)
        address, first = await link(capsys, "reset-password", "ada@EXAMPLE.org")
        assert address == "https://potluck.example/reset"
        _, second = await link(capsys, "reset-password", "ada@example.org")
        with pytest.raises(ResetInvalid):
            await people.resets.redeem(first, "battery staple")
        assert await people.resets.redeem(second, "battery staple") == ada.account.user_id
        assert await people.sessions.open("ada@example.org", "battery staple", None)


@pytest.mark.parametrize(
    ("arguments", "registration", "said"),
    [
        (["reset-password", "nobody@example.org"], "open", "no account has the e-mail address nobody@example.org"),
        (
            ["reset-password", "nobody"],
            "open",
            "E-mail must be an address such as ada@example.org, of at most 254 characters",
        ),
        (["invite"], "open", "anybody can register at http://127.0.0.1:8000/sign-up without an invitation"),
        (["invite"], "closed", "nobody can register, not even with an invitation"),
    ],
)
def test_what_the_operator_cannot_do_is_one_sentence(tmp_path, monkeypatch, capsys, arguments, registration, said):
    monkeypatch.setenv("POTLUCK_DATA", str(tmp_path))
    monkeypatch.setenv("POTLUCK_REGISTRATION", "invited")
    assert cli.main(["invite"]) == 0
    capsys.readouterr()
    monkeypatch.setenv("POTLUCK_REGISTRATION", registration)
    assert cli.main(arguments) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("potluck: ")
    assert told.err.endswith(f"{said}\n")
    assert told.err.count("\n") == 1


def test_there_is_no_password_to_reset_where_there_is_no_store(tmp_path, capsys):
    assert cli.main(["reset-password", "ada@example.org", "--data", str(tmp_path / "data")]) == 1
    assert "there is no store at" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


async def test_recount_builds_counts_from_votes_while_the_store_is_open(tmp_path, capsys):
    data, poll_id = tmp_path / "data", UUID("123e4567-e89b-12d3-a456-426614174000")
    at = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
    arguments = ["polls", "recount", "--data", str(data)]
    assert cli.main(arguments) == 1
    assert "there is no store at" in capsys.readouterr().err

    async def recount(*polls):
        status = await asyncio.to_thread(cli.main, [*arguments, *map(str, polls)])
        return status, *capsys.readouterr()

    data.mkdir()
    engine = await open_engine(path=data / "potluck.db")
    try:
        store = Store(engine, lambda: at)
        await store.create_tables(ranked_choice_polls)
        poll = Poll(poll_id=poll_id, title="Languages", candidates=["Go", "Rust"], created_at=at)
        await store.put(poll, when=absent)
        for number, name in enumerate(["Go", "Go", "Rust", "Zig"]):
            await store.put(Vote(poll_id=poll_id, vote_id=UUID(int=number), rankings=[name], voted_at=at))
        told = f"{poll_id}: votes: 3, counted before: 0, counts changed: 2"
        unreadable = "; naming somebody who is no candidate, and counting for nothing: 1\n"
        capsys.readouterr()
        assert await recount() == (0, told + unreadable, "")
        assert {each.ranking: each.count for each in await store.all(Count.of_poll(poll_id))} == {(1,): 2, (2,): 1}
        again = f"{poll_id}: votes: 3, counted before: 3, counts changed: 0{unreadable}"
        assert await recount(UUID(int=0), poll_id) == (1, again, f"{UUID(int=0)}: there is no such poll\n")
        status, said, told = await recount("mine")
        assert (status, said) == (1, "")
        assert told.startswith("potluck: a poll is named by its id")
    finally:
        await engine.close()


@contextlib.asynccontextmanager
async def families_in(folder, families):
    """An open store with a member in each family, whose row lacks the key that finds them by person."""
    folder.mkdir()
    engine = await open_engine(path=folder / "potluck.db")
    try:
        store = Store(engine, lambda: datetime.now(UTC))
        await store.create_tables(inventory)
        at = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
        for number in range(families):
            ada = {"member_id": UUID(int=1), "name": "Ada", "email": "ada@example.org"}
            member = Member(family_id=UUID(int=number), created_at=at, updated_at=at, **ada)
            row = put(member, when=absent).request().body["Item"]
            old = {name: value for name, value in row.items() if name not in ("GSI1PK", "GSI1SK")}
            await engine.call("PutItem", {"TableName": inventory.name, "Item": old})
        yield store
    finally:
        await engine.close()


async def test_backfill_gives_old_rows_their_keys_while_the_store_is_open(tmp_path, capsys):
    arguments = ["backfill", "shopping", "Member", "--data", str(tmp_path / "data")]
    async with families_in(tmp_path / "data", 3) as store:
        assert await store.all(Member.families_of(UUID(int=1), "active")) == []
        for rewritten in (3, 0):
            assert await asyncio.to_thread(cli.main, arguments) == 0
            assert capsys.readouterr() == (f"Member: rows read: 3, rewritten: {rewritten}\n", "")
            assert len(await store.all(Member.families_of(UUID(int=1), "active"))) == 3


async def test_backfill_gives_addresses_their_normal_form(tmp_path, capsys):
    (tmp_path / "data").mkdir()
    engine = await open_engine(path=tmp_path / "data" / "potluck.db")
    try:
        store = Store(engine, lambda: datetime.now(UTC))
        await store.create_tables(accounts)
        await store.put(EmailAddress(folded="ada@bücher.example", user_id=UUID(int=1)))
        for rewritten in (1, 0):
            arguments = ["backfill", "people", "EmailAddress", "--data", str(tmp_path / "data")]
            assert await asyncio.to_thread(cli.main, arguments) == 0
            assert capsys.readouterr() == (f"EmailAddress: rows read: 1, rewritten: {rewritten}\n", "")
        assert await store.get(EmailAddress.by_folded("ada@xn--bcher-kva.example")) is not None
    finally:
        await engine.close()


async def test_backfill_shows_a_bar_on_a_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("potluck.store.backfill.ROWS_AT_ONCE", 1)
    monkeypatch.setattr("potluck.progress_bar.REDRAWN_EVERY", 0.0)
    async with families_in(tmp_path / "data", 4):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        arguments = ["backfill", "shopping", "Member", "--data", str(tmp_path / "data")]
        assert await asyncio.to_thread(cli.main, arguments) == 0
    shown = re.findall(r"rewriting \[[#.]{30}\] +(\d+)%", capsys.readouterr().err)
    assert shown[:4] == ["25", "50", "75", "100"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pools", "Poll"], "there is no app and no module pools; the apps are journal, library, polls, shareables,"),
        (["polls", "Pole"], "polls has no entity Pole; its entities are Code, Count, CreatedPoll, Deletion, Poll, "),
        (["polls", "Poll"], "the store has no table ranked-choice-polls; `potluck serve` creates it\n"),
        (["shopping", "Member"], "a row of Member cannot be rewritten: Member at "),
    ],
)
async def test_what_backfill_cannot_do_is_one_sentence(tmp_path, capsys, arguments, said):
    async with families_in(tmp_path / "data", 1) as store:
        key = Member.by_id(UUID(int=0), UUID(int=1)).key
        unnamed = {"UpdateExpression": "REMOVE #name", "ExpressionAttributeNames": {"#name": "name"}}
        await store.engine.call("UpdateItem", {"TableName": inventory.name, "Key": key, **unnamed})
        assert await asyncio.to_thread(cli.main, ["backfill", *arguments, "--data", str(tmp_path / "data")]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"potluck: {said}")
    assert told.err.count("\n") == 1


def test_there_is_nothing_to_backfill_where_there_is_no_store(tmp_path, capsys):
    assert cli.main(["backfill", "polls", "Poll", "--data", str(tmp_path / "data")]) == 1
    assert "there is no store at" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_the_package_runs_as_the_command():
    ran = subprocess.run([sys.executable, "-m", "potluck", "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout == f"potluck {version('potluck')}\n"


def test_the_commands_for_people_work_on_the_service_too(tmp_path, monkeypatch, capsys):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    with running("dynamodb", "--port", "0", cwd=tmp_path) as (_, address):
        monkeypatch.setenv("POTLUCK_ENGINE", "aws")
        monkeypatch.setenv("POTLUCK_ENDPOINT", address)
        monkeypatch.setenv("POTLUCK_REGION", "us-east-1")
        assert cli.main(["reset-password", "ada@example.org"]) == 1
        assert capsys.readouterr().err.count("\n") == 1
        monkeypatch.setenv("POTLUCK_REGISTRATION", "invited")
        assert cli.main(["invite"]) == 0
        assert "/sign-up#pli_" in capsys.readouterr().out
        assert cli.main(["reset-password", "ada@example.org"]) == 1
        assert "no account has the e-mail address" in capsys.readouterr().err


def test_dynamodb_serves_the_engine_to_an_sdk_and_keeps_its_file(tmp_path):
    def client(address):
        return boto3.client(
            "dynamodb",
            endpoint_url=address,
            region_name="us-east-1",
            aws_access_key_id="x",
            aws_secret_access_key="x",
        )

    with running("dynamodb", "--port", "0", "--file", "kept.db", cwd=tmp_path) as (process, address):
        client(address).create_table(
            TableName="Kept",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        )
        client(address).put_item(TableName="Kept", Item={"id": {"S": "one"}})
        stopped(process)
    with running("dynamodb", "--port", "0", "--file", "kept.db", cwd=tmp_path) as (_, address):
        assert client(address).get_item(TableName="Kept", Key={"id": {"S": "one"}})["Item"] == {"id": {"S": "one"}}

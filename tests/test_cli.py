import asyncio
import subprocess
import sys
import urllib.request
from importlib.metadata import version

import boto3
import pytest

from potluck import cli
from potluck.dynamo.database import Database
from tests.commands import POTLUCK, running, stopped


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    for name in ("serve", "dynamodb", "backup", "POTLUCK_DATA"):
        assert name in said


def test_version_is_the_packages(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"potluck {version('potluck')}\n"


@pytest.mark.parametrize(
    "arguments", [[], ["cook"], ["serve", "--port", "no"], ["serve", "--port", "70000"], ["backup"]]
)
def test_a_wrong_call_is_told_how_to_call(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert "usage: potluck" in capsys.readouterr().err


def test_a_wrong_setting_is_one_sentence(monkeypatch, capsys):
    monkeypatch.setenv("POTLUCK_PORT", "many")
    assert cli.main(["serve"]) == 1
    assert capsys.readouterr().err == "potluck: POTLUCK_PORT is 'many'; it must be a number from 0 to 65535\n"


def test_help_does_not_wait_for_the_web_framework():
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, potluck.cli; print({'litestar', 'apsw', 'uvicorn'} & set(sys.modules))"],
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


async def test_backup_copies_a_store_that_is_open(tmp_path):
    database = await Database.open(tmp_path / "potluck.db")
    try:
        await database.call(
            "CreateTable",
            {
                "TableName": "Kept",
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            },
        )
        await database.call("PutItem", {"TableName": "Kept", "Item": {"id": {"S": "one"}}})
        command = [*POTLUCK, "backup", "copy.db", "--data", "."]
        done = await asyncio.to_thread(subprocess.run, command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "copy.db" in done.stdout
    finally:
        await database.close()

    copy = await Database.open(tmp_path / "copy.db")
    try:
        got = await copy.call("GetItem", {"TableName": "Kept", "Key": {"id": {"S": "one"}}})
        assert got["Item"] == {"id": {"S": "one"}}
    finally:
        await copy.close()


def test_backup_refuses_to_overwrite_and_to_copy_nothing(tmp_path, capsys):
    assert cli.main(["backup", str(tmp_path / "copy.db"), "--data", str(tmp_path)]) == 1
    assert "there is no store" in capsys.readouterr().err
    (tmp_path / "potluck.db").touch()
    (tmp_path / "copy.db").write_text("precious")
    assert cli.main(["backup", str(tmp_path / "copy.db"), "--data", str(tmp_path)]) == 1
    assert "exists already" in capsys.readouterr().err
    assert (tmp_path / "copy.db").read_text() == "precious"

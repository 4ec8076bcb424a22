"""The fixtures of the pytest plugin, as pytest finds them by itself."""

import os
import subprocess
import sys
import textwrap
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import boto3
import pytest
from msgspec import Meta

from potluck.seeds.contents import SeedError
from potluck.table import Entity, Table
from potluck.testing import targets
from tests.references import dynamodb_local
from tests.seeds.notes import BATCH, CREATE, write

REQUEST = {
    "TableName": "Notes",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
}


def test_a_resource_and_a_client_see_the_same_tables(dynamodb, dynamodb_client, dynamodb_table):
    table = dynamodb_table(REQUEST)
    table.put_item(Item={"id": "first", "text": "bring salad"})
    assert dynamodb.Table("Notes").item_count == 1
    found = dynamodb_client.get_item(TableName="Notes", Key={"id": {"S": "first"}})
    assert found["Item"]["text"] == {"S": "bring salad"}


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_begins_without_tables(dynamodb, dynamodb_table, turn):
    assert list(dynamodb.tables.all()) == []
    dynamodb_table(REQUEST)


def test_clients_that_the_code_under_test_makes_are_answered_too(dynamodb_table):
    dynamodb_table(REQUEST)
    assert boto3.client("dynamodb").list_tables()["TableNames"] == ["Notes"]
    other = boto3.Session(region_name="eu-north-1").client("dynamodb")
    assert other.list_tables()["TableNames"] == [], "a region has tables of its own"


def test_another_program_reaches_the_tables(dynamodb_table, dynamodb_endpoint):
    dynamodb_table(REQUEST).put_item(Item={"id": "first"})
    program = (
        "import boto3, sys; print(boto3.client('dynamodb', endpoint_url=sys.argv[1]).scan(TableName='Notes')['Count'])"
    )
    ran = subprocess.run([sys.executable, "-c", program, dynamodb_endpoint], capture_output=True, text=True, check=True)
    assert ran.stdout == "1\n"


def test_a_folder_of_seeds(dynamodb_seed, dynamodb, tmp_path):
    seeded = dynamodb_seed(write(tmp_path, table__json=CREATE, notes__json=BATCH))
    assert seeded.items == {"Notes": 2}
    item = dynamodb.Table("Notes").get_item(Key={"id": "first"})["Item"]
    assert bytes(item["photo"]) == b"\0\xff\0"


def test_a_bad_seed_is_named(dynamodb_seed, dynamodb, tmp_path):
    for item in ({"x": {"S": "y"}}, {"id": "first"}, {"id": {"B": "*"}}):
        with pytest.raises(SeedError, match=r"Notes\.items\.json: item 1 of Notes cannot be put"):
            dynamodb_seed(write(tmp_path, table__json=CREATE, Notes__items__json={"Items": [item]}))
        assert list(dynamodb.tables.all()) == []


def test_a_table_of_the_library(dynamodb_table):
    notes = Table("Notes", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")})

    class Note(Entity, table=notes, key=("NOTE#{note}", "NOTE"), GSI1=("ALL", "{note}")):
        note: Annotated[str, Meta(max_length=60)]

    table = dynamodb_table(notes)
    assert [index["IndexName"] for index in table.global_secondary_indexes] == ["GSI1"]


def test_items_expire_when_the_clock_says_so(dynamodb_client, dynamodb_table, dynamodb_clock):
    start = dynamodb_clock.freeze(datetime(2030, 1, 1, tzinfo=UTC))
    table = dynamodb_table(REQUEST)
    dynamodb_client.update_time_to_live(
        TableName="Notes", TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"}
    )
    table.put_item(Item={"id": "first", "until": int(start.timestamp()) + 3600})
    dynamodb_clock.move(minutes=59)
    assert "Item" in table.get_item(Key={"id": "first"})
    assert dynamodb_clock.move(minutes=2) == datetime(2030, 1, 1, 1, 1, tzinfo=UTC)
    assert "Item" not in table.get_item(Key={"id": "first"})


def test_a_frozen_clock_stands_and_a_moved_one_goes_on(dynamodb_clock):
    assert dynamodb_clock.freeze() == dynamodb_clock.now == dynamodb_clock.now
    with pytest.raises(ValueError, match="needs a time zone"):
        dynamodb_clock.freeze(datetime(2030, 1, 1))


def test_a_store_can_be_reset_and_copied(dynamodb_store, dynamodb_client, dynamodb_table):
    dynamodb_table(REQUEST)
    with dynamodb_store.copy() as copy:
        dynamodb_store.reset()
        assert dynamodb_client.list_tables()["TableNames"] == []
        assert copy.call("ListTables", {})["TableNames"] == ["Notes"]


def test_the_environment_is_as_before(monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "of-mine")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    before = dict(os.environ)
    session = boto3.DEFAULT_SESSION
    with targets.potluck(lambda: 0.0):
        assert os.environ["AWS_ACCESS_KEY_ID"] == "testing"
        assert "AWS_PROFILE" not in os.environ
    assert dict(os.environ) == before
    assert boto3.DEFAULT_SESSION is session


# --- a project of its own --------------------------------------------------------------------------------------------

PROJECT = """
    import json

    import boto3

    def test_a_note_is_kept(dynamodb, dynamodb_client, dynamodb_table, dynamodb_endpoint):
        table = dynamodb_table({
            "TableName": "Notes",
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        })
        table.put_item(Item={"id": "first"})
        assert boto3.resource("dynamodb").Table("Notes").scan()["Count"] == 1
        assert dynamodb_client.list_tables()["TableNames"] == ["Notes"]
        assert dynamodb_endpoint.startswith("http://127.0.0.1:")

    def test_another_begins_anew(dynamodb):
        assert list(dynamodb.tables.all()) == []
        dynamodb.create_table(
            TableName="Left", BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        )

    def test_a_folder_of_seeds(dynamodb_seed, dynamodb_client, tmp_path):
        (tmp_path / "table.json").write_text(json.dumps({
            "TableName": "Notes",
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        }))
        item = {"id": {"S": "first"}, "photo": {"B": "AP8A"}}
        (tmp_path / "Notes.items.json").write_text(json.dumps({"Items": [item]}))
        assert dynamodb_seed(tmp_path).items == {"Notes": 1}
        assert dynamodb_client.scan(TableName="Notes")["Items"][0]["photo"] == {"B": b"\\0\\xff\\0"}

    def test_the_store_in_this_process(dynamodb_store):
        dynamodb_store.call("ListTables", {})
"""


def run_project(folder: Path, *options: str) -> str:
    (folder / "test_notes.py").write_text(textwrap.dedent(PROJECT))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTEST_"))}
    # That pytest finds the plugin by itself is seen above; the other plugins here take seconds to import.
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    plugins = ["-p", "potluck.testing.plugin", "-p", "xdist.plugin", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", *plugins, "--rootdir", str(folder), str(folder)]
    ran = subprocess.run([*command, *options], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return ran.stdout.splitlines()[-1] if ran.returncode == 0 else ran.stdout + ran.stderr


def test_a_project_needs_no_configuration_and_may_share_its_tests_out(tmp_path):
    assert run_project(tmp_path, "-n", "2").startswith("4 passed")


@pytest.mark.needs("dynamodb-local")
def test_the_same_tests_run_on_dynamodb_local_and_leave_nothing_behind(tmp_path):
    with dynamodb_local(for_speed=False) as reference:
        last = run_project(tmp_path, "--dynamodb", "local", "--dynamodb-endpoint", reference.endpoint)
        assert last.startswith("3 passed, 1 skipped"), last


def test_the_plugin_imports_nothing_until_it_is_used():
    code = "import potluck.testing.plugin, sys; print({'boto3', 'potluck.dynamo', 'apsw'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from potluck.commands.main import main
from potluck.commands.table_modules import suite_tables
from potluck.engines.recording import Recording
from potluck.suite import APPS
from tests.processes import running
from tests.web.suites import suite_on


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running("dynamodb", "--port", "0", "--shared", cwd=tmp_path_factory.mktemp("dynamodb")) as (_, address):
        yield address


@pytest.fixture
def dynamodb(endpoint: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Any:
    """A client of a DynamoDB that the settings choose, with a table prefix of this test."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "tests")
    prefix = f"{request.node.name[5:40].replace('[', '.')}-"
    for name, value in {
        "ENGINE": "aws",
        "REGION": "us-east-1",
        "ENDPOINT": endpoint,
        "TABLE_PREFIX": prefix,
    }.items():
        monkeypatch.setenv(f"POTLUCK_{name}", value)
    client = boto3.client("dynamodb", region_name="us-east-1", endpoint_url=endpoint)
    client.prefix = prefix
    return client


def test_create_makes_every_table_and_leaves_what_is_there_alone(dynamodb, capsys):
    assert main(["tables", "verify"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said == [
        f"{dynamodb.prefix}{table.name}: the table is missing: run `potluck tables create`" for table in suite_tables()
    ]
    assert main(["tables", "create"]) == 0
    assert capsys.readouterr().out.count("created what was missing\n") == len(suite_tables())
    assert main(["tables", "create"]) == 0
    assert capsys.readouterr().out.count("was complete\n") == len(suite_tables())
    assert main(["tables", "verify"]) == 0
    assert capsys.readouterr().out == f"{len(suite_tables())} tables match their design\n"


def test_each_difference_is_reported_with_what_to_do(dynamodb, capsys):
    assert main(["tables", "create"]) == 0
    prefix = dynamodb.prefix
    key = [{"AttributeName": "PK", "KeyType": "HASH"}]
    types = [{"AttributeName": "PK", "AttributeType": "N"}]
    dynamodb.delete_table(TableName=f"{prefix}RollModel")
    dynamodb.create_table(
        TableName=f"{prefix}RollModel", KeySchema=key, AttributeDefinitions=types, BillingMode="PAY_PER_REQUEST"
    )
    library = f"{prefix}MediaLibrary"
    dynamodb.update_table(TableName=library, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "GSI1"}}])
    another = {
        "IndexName": "Another",
        "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    dynamodb.update_table(
        TableName=library,
        AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[{"Create": another}],
    )
    dynamodb.update_table(TableName=f"{prefix}Accounts", StreamSpecification={"StreamEnabled": False})
    dynamodb.update_time_to_live(
        TableName=f"{prefix}Shareables", TimeToLiveSpecification={"Enabled": False, "AttributeName": "ttl"}
    )
    capsys.readouterr()
    assert main(["tables", "verify"]) == 1
    said = "\n".join(line.removeprefix(prefix) for line in capsys.readouterr().out.splitlines())
    for difference in (
        "RollModel: its key is PK, and should be PK and SK: it cannot be changed: ",
        "RollModel: the key attribute PK has the type N, and should have S: ",
        "RollModel: it has no stream, so there are no live updates",
        "MediaLibrary: the index GSI1 is missing: run `potluck tables create`",
        "MediaLibrary: the index Another is not used: delete it",
        "Accounts: it has no stream, so there are no live updates and no background work follows its changes: run "
        "`potluck tables create`",
        "Shareables: its rows do not expire by ttl: run `potluck tables create`",
    ):
        assert difference in said
    # What can be added is added; the rest is still reported.
    assert main(["tables", "create"]) == 0
    capsys.readouterr()
    assert main(["tables", "verify"]) == 1
    said = capsys.readouterr().out
    assert "GSI1" not in said
    assert "Shareables" not in said
    assert "RollModel: its key is PK" in said


def test_a_policy_names_the_tables_of_one_installation(monkeypatch, capsys):
    arguments = ["--region", "eu-central-1", "--account", "123456789012", "--prefix", "club-"]
    assert main(["tables", "policy", "--role", "web", *arguments]) == 0
    web = json.loads(capsys.readouterr().out)
    resources = {resource for statement in web["Statement"] for resource in statement["Resource"]}
    assert "arn:aws:dynamodb:eu-central-1:123456789012:table/club-MediaLibrary/index/GSI1" in resources
    assert all(name.startswith("arn:aws:dynamodb:eu-central-1:123456789012:table/club-") for name in resources)
    assert not any("BackgroundWork" in name for name in resources if "/stream" in name)
    assert main(["tables", "policy", "--role", "web", "--role", "consumers", *arguments]) == 0
    both = json.loads(capsys.readouterr().out)
    assert {statement["Sid"] for statement in both["Statement"]} > {statement["Sid"] for statement in web["Statement"]}
    with pytest.raises(SystemExit):
        main(["tables", "policy", "--account", "mine"])
    assert "has 12 digits" in capsys.readouterr().err


def test_the_embedded_store_needs_no_command(capsys):
    assert main(["tables", "create"]) == 1
    assert "set POTLUCK_ENGINE=aws for Amazon DynamoDB" in capsys.readouterr().err


async def test_a_running_suite_has_no_other_tables(tmp_path: Path) -> None:
    recordings: list[Recording] = []

    def recording(engine: Any) -> Recording:
        recordings.append(Recording(engine))
        return recordings[0]

    async with suite_on(tmp_path, APPS, wrap=recording):
        names = (await recordings[0].call("ListTables", {}))["TableNames"]
    assert sorted(names) == sorted(table.name for table in suite_tables())

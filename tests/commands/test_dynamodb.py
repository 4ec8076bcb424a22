import asyncio
import subprocess

import boto3

from potluck.commands.main import main
from potluck.dynamo import SyncDatabase
from tests.patience import until
from tests.processes import POTLUCK, running, stopped
from tests.seeds.notes import BATCH, CREATE, write


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


def test_dynamodb_serves_what_a_folder_of_seeds_has(tmp_path):
    write(tmp_path / "seeds", table__json=CREATE, notes__json=BATCH)
    serve = ("dynamodb", "--port", "0", "--file", "kept.db", "--seed", "seeds")
    with running(*serve, cwd=tmp_path, AWS_REGION="eu-central-1") as (process, address):
        dynamodb = boto3.client(
            "dynamodb",
            endpoint_url=address,
            region_name="eu-central-1",
            aws_access_key_id="x",
            aws_secret_access_key="x",
        )
        assert dynamodb.scan(TableName="Notes")["Count"] == 2
        dynamodb.delete_item(TableName="Notes", Key={"id": {"S": "first"}})
        assert stopped(process) == 0
        assert "Seeded from seeds: 1 table, 2 items" in process.stdout.read()
    with running(*serve, cwd=tmp_path, AWS_REGION="eu-central-1") as (process, _):
        assert stopped(process) == 0
        assert "Left alone, because they were there already: Notes" in process.stdout.read()


def test_dynamodb_serves_nothing_if_a_seed_is_wrong(tmp_path, capsys):
    folder = write(tmp_path / "seeds", table__json=CREATE, Notes__items__json={"Items": [{"x": {"S": "y"}}]})
    assert main(["dynamodb", "--port", "0", "--seed", str(folder)]) == 1
    out, problem = capsys.readouterr()
    assert out == ""
    assert "Notes.items.json: item 1 of Notes cannot be put" in problem


def test_dynamodb_that_is_stopped_while_it_reads_seeds_leaves_no_table(tmp_path):
    items = {"Items": [{"id": {"S": str(number)}} for number in range(50_000)]}
    write(tmp_path / "seeds", table__json=CREATE, Notes__items__json=items)
    serve = ("dynamodb", "--port", "0", "--file", "kept.db", "--seed", "seeds")

    async def opened() -> bool:
        return (tmp_path / "kept.db").exists()

    with subprocess.Popen([*POTLUCK, *serve], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        # Once there is a file, it listens to signals.
        asyncio.run(until(opened))
        assert stopped(process) == 0
        assert "Stopped before all of seeds was read" in process.stdout.read()
    with SyncDatabase.open(tmp_path / "kept.db") as store:
        assert store.call("ListTables", {})["TableNames"] == []

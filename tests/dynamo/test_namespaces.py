"""Regions and accounts are namespaces of their own over HTTP; calls in process, and older files, have one."""

import asyncio

import apsw
import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from potluck.dynamo.database import Database
from potluck.dynamo.namespaces import DEFAULT, Namespace, name_of, namespace_of
from potluck.dynamo.server import serving

TABLE = {
    "TableName": "Things",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
}


def client(port: int, region: str = "us-east-1", key: str = "any", service: str = "dynamodb"):
    return boto3.client(
        service,
        endpoint_url=f"http://127.0.0.1:{port}",
        region_name=region,
        aws_access_key_id=key,
        aws_secret_access_key="any",
        config=Config(retries={"total_max_attempts": 1}),
    )


def code_of(refused: pytest.ExceptionInfo[ClientError]) -> str:
    return refused.value.response["Error"]["Code"]


async def served(database, check, **options) -> None:
    async with serving(database, **options) as port:
        await asyncio.to_thread(check, port)


def test_a_key_says_account_region_and_name():
    elsewhere = Namespace("123456789012", "eu-west-1")
    assert DEFAULT.key("Things") == "Things"
    for namespace in (DEFAULT, elsewhere):
        assert namespace_of(namespace.key("Things")) == namespace
        assert name_of(namespace.key("Things")) == "Things"


async def test_each_region_and_each_account_has_tables_of_its_own(tmp_path):
    def check(port: int) -> None:
        here, there = client(port), client(port, "eu-west-1")
        account = client(port, key="123456789012")
        for number, each in enumerate((here, there, account)):
            assert each.list_tables()["TableNames"] == []
            with pytest.raises(ClientError) as refused:
                each.describe_table(TableName="Things")
            assert code_of(refused) == "ResourceNotFoundException"
            each.create_table(**TABLE)
            each.put_item(TableName="Things", Item={"pk": {"S": "same"}, "n": {"N": str(number)}})
        for number, each in enumerate((here, there, account)):
            assert each.list_tables()["TableNames"] == ["Things"]
            item = each.get_item(TableName="Things", Key={"pk": {"S": "same"}})["Item"]
            assert item["n"] == {"N": str(number)}
        # Keys that are no account ids share the default account.
        assert client(port, key="somebody else").list_tables()["TableNames"] == ["Things"]
        there.delete_table(TableName="Things")
        assert there.list_tables()["TableNames"] == []
        assert here.list_tables()["TableNames"] == ["Things"]

    async with await Database.open(tmp_path / "store.db") as database:
        await served(database, check)
        # In process, the default namespace.
        assert (await database.call("ListTables", {}))["TableNames"] == ["Things"]
        found = await database.call("GetItem", {"TableName": "Things", "Key": {"pk": {"S": "same"}}})
        assert found["Item"]["n"] == {"N": "0"}


async def test_arns_and_streams_carry_the_namespace():
    def check(port: int) -> None:
        region, key = "ap-south-1", "210987654321"
        dynamodb, streams = client(port, region, key), client(port, region, key, "dynamodbstreams")
        described = dynamodb.create_table(**TABLE)["TableDescription"]
        arn = f"arn:aws:dynamodb:{region}:{key}:table/Things"
        assert described["TableArn"] == arn
        assert described["LatestStreamArn"].startswith(f"{arn}/stream/")
        dynamodb.put_item(TableName=arn, Item={"pk": {"S": "one"}})
        dynamodb.tag_resource(ResourceArn=arn, Tags=[{"Key": "a", "Value": "b"}])
        assert dynamodb.list_tags_of_resource(ResourceArn=arn)["Tags"] == [{"Key": "a", "Value": "b"}]
        (listed,) = streams.list_streams()["Streams"]
        assert listed["StreamArn"] == described["LatestStreamArn"]
        assert listed["TableName"] == "Things"
        shard = streams.describe_stream(StreamArn=listed["StreamArn"])["StreamDescription"]["Shards"][0]["ShardId"]
        at = {"StreamArn": listed["StreamArn"], "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        iterator = streams.get_shard_iterator(**at)["ShardIterator"]
        (record,) = streams.get_records(ShardIterator=iterator)["Records"]
        assert record["awsRegion"] == region
        # Another region has neither the table nor its stream.
        elsewhere, its_streams = client(port, "eu-west-1", key), client(port, "eu-west-1", key, "dynamodbstreams")
        assert its_streams.list_streams()["Streams"] == []
        for refused_call in (
            lambda: elsewhere.describe_table(TableName=arn),
            lambda: elsewhere.put_item(TableName=arn, Item={"pk": {"S": "two"}}),
            lambda: elsewhere.list_tags_of_resource(ResourceArn=arn),
            lambda: its_streams.describe_stream(StreamArn=listed["StreamArn"]),
            lambda: its_streams.get_records(ShardIterator=iterator),
        ):
            with pytest.raises(ClientError) as refused:
                refused_call()
            assert code_of(refused) == "ResourceNotFoundException"

    async with await Database.open() as database:
        await served(database, check)


async def test_a_client_token_counts_in_its_own_namespace():
    def check(port: int) -> None:
        for region in ("us-east-1", "eu-west-1"):
            each = client(port, region)
            each.create_table(**TABLE)
            put = {"Put": {"TableName": "Things", "Item": {"pk": {"S": "one"}}}}
            each.transact_write_items(TransactItems=[put], ClientRequestToken="same")
            assert "Item" in each.get_item(TableName="Things", Key={"pk": {"S": "one"}})

    async with await Database.open() as database:
        await served(database, check)


async def test_a_presigned_request_has_its_namespace_too():
    def check(port: int) -> None:
        client(port, "eu-west-1").create_table(**TABLE)
        from urllib.request import Request, urlopen

        scope = "any%2F20260101%2Feu-west-1%2Fdynamodb%2Faws4_request"
        signed = (
            "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20260101T000000Z&X-Amz-SignedHeaders=host&X-Amz-Signature=x"
        )
        request = Request(
            f"http://127.0.0.1:{port}/?X-Amz-Credential={scope}&{signed}",
            b"{}",
            {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"},
        )
        with urlopen(request) as answer:
            assert answer.read() == b'{"TableNames":["Things"]}'

    async with await Database.open() as database:
        await served(database, check)


async def test_tables_can_be_shared():
    def check(port: int) -> None:
        client(port).create_table(**TABLE)
        assert client(port, "eu-west-1", "123456789012").list_tables()["TableNames"] == ["Things"]

    async with await Database.open() as database:
        await served(database, check, shared=True)


async def test_a_file_from_before_shows_its_tables_to_everybody(tmp_path):
    path = tmp_path / "store.db"
    async with await Database.open(path) as database:
        await database.call("CreateTable", TABLE)
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM numbers WHERE kind='namespaces'")
    connection.close()

    def check(port: int) -> None:
        elsewhere = client(port, "eu-west-1", "123456789012")
        assert elsewhere.list_tables()["TableNames"] == ["Things"]
        elsewhere.create_table(**{**TABLE, "TableName": "Others"})
        assert client(port).list_tables()["TableNames"] == ["Others", "Things"]

    async with await Database.open(path) as database:
        await served(database, check)
        assert (await database.call("ListTables", {}))["TableNames"] == ["Others", "Things"]


async def test_namespaces_survive_a_restart_and_expire_their_items(tmp_path):
    path, now = tmp_path / "store.db", [1_000_000.0]
    elsewhere = Namespace("123456789012", "eu-west-1")
    async with await Database.open(path, clock=lambda: now[0]) as database:
        there = database.within(elsewhere)
        await there.call("CreateTable", TABLE)
        ttl = {"TableName": "Things", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}}
        await there.call("UpdateTimeToLive", ttl)
        await there.call("PutItem", {"TableName": "Things", "Item": {"pk": {"S": "a"}, "ttl": {"N": "1000010"}}})
    async with await Database.open(path, clock=lambda: now[0]) as database:
        there = database.within(elsewhere)
        assert (await there.call("Scan", {"TableName": "Things"}))["Count"] == 1
        assert (await database.call("ListTables", {}))["TableNames"] == []
        now[0] += 20
        assert await database.sweep() == 1
        assert (await there.call("Scan", {"TableName": "Things"}))["Count"] == 0

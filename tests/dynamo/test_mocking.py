"""boto3 and aiobotocore without a socket."""

import asyncio
import os
import socket
import subprocess
import sys
import threading
import unittest
from datetime import datetime

import aiobotocore.session
import boto3
import botocore.session
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ParamValidationError
from botocore.stub import Stubber

from potluck.dynamo import Database, SyncDatabase, attach, detach, mocked
from potluck.dynamo.botocore_answers import answered, encode, parser, refused
from potluck.dynamo.errors import DynamoError
from tests.engine_targets import table

NOTES = table("Notes", stream=True)
KEY = {"PK": {"S": "a"}, "SK": {"S": "b"}}
NOBODY = {
    "endpoint_url": "http://127.0.0.1:1",
    "region_name": "us-east-1",
    "aws_access_key_id": "any",
    "aws_secret_access_key": "any",
    "config": botocore.config.Config(retries={"total_max_attempts": 1}, connect_timeout=5),
}


@pytest.fixture(autouse=True)
def no_socket(monkeypatch):
    """Nobody connects, except to a port where nobody listens."""

    connect = socket.socket.connect

    def refuse(self, address):
        assert address == ("127.0.0.1", 1), f"a connection to {address}"
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture
def bare(monkeypatch):
    """Nothing in the environment is about AWS."""
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)


def names(client=None):
    return (client or boto3.client("dynamodb")).list_tables()["TableNames"]


# --- every client ----------------------------------------------------------------------------------------------------


def test_a_client_made_in_the_block_needs_neither_credentials_nor_region(bare):
    with mocked():
        client = boto3.client("dynamodb")
        client.create_table(**NOTES)
        client.put_item(TableName="Notes", Item=KEY)
        assert client.get_item(TableName="Notes", Key=KEY)["Item"] == KEY


def test_resources_and_streams_are_answered_too():
    with mocked():
        notes = boto3.resource("dynamodb").create_table(**NOTES)
        notes.wait_until_exists()
        notes.put_item(Item={"PK": "a", "SK": "b", "size": 3, "body": b"bytes"})
        assert notes.get_item(Key={"PK": "a", "SK": "b"})["Item"]["body"].value == b"bytes"
        assert isinstance(notes.creation_date_time, datetime)
        streams = boto3.client("dynamodbstreams")
        (stream,) = streams.list_streams(TableName="Notes")["Streams"]
        shard = streams.describe_stream(StreamArn=stream["StreamArn"])["StreamDescription"]["Shards"][0]["ShardId"]
        start = {"StreamArn": stream["StreamArn"], "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        records = streams.get_records(ShardIterator=streams.get_shard_iterator(**start)["ShardIterator"])["Records"]
        assert records[0]["dynamodb"]["NewImage"]["body"] == {"B": b"bytes"}
        assert isinstance(records[0]["dynamodb"]["ApproximateCreationDateTime"], datetime)


def test_each_block_has_a_store_of_its_own_and_the_outer_one_comes_back():
    with mocked():
        boto3.client("dynamodb").create_table(**NOTES)
        with mocked():
            assert names() == []
        assert names() == ["Notes"]
    with mocked():
        assert names() == []


def test_a_store_that_was_given_keeps_what_was_written():
    with SyncDatabase.open() as store:
        with mocked(store):
            boto3.client("dynamodb").create_table(**NOTES)
        assert store.call("ListTables", {}) == {"TableNames": ["Notes"]}


def test_after_the_block_calls_are_sent_again():
    client = boto3.client("dynamodb", **NOBODY)
    with mocked():
        assert names(client) == []
    with pytest.raises(EndpointConnectionError):
        client.list_tables()


def test_other_services_are_sent():
    with mocked(), pytest.raises(EndpointConnectionError):
        boto3.client("sqs", **NOBODY).list_queues()


def test_a_client_from_before_anyone_imported_the_engine_is_answered():
    code = (
        "import boto3\n"
        "early = boto3.client('dynamodb', region_name='us-east-1', aws_access_key_id='a', aws_secret_access_key='b',"
        " endpoint_url='http://127.0.0.1:1')\n"
        "session = boto3.Session()\n"
        "from potluck.dynamo import mocked\n"
        "with mocked():\n"
        "    later = session.client('dynamodb', region_name='us-east-1')\n"
        "    print(early.list_tables()['TableNames'], later.list_tables()['TableNames'])\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stdout == "[] []\n", ran.stderr


def test_environment_and_default_session_are_as_before(bare, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "a profile that does not exist")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    before, session = dict(os.environ), boto3.DEFAULT_SESSION
    with mocked():
        assert boto3.client("dynamodb").meta.region_name == "eu-west-1"
        with mocked():
            assert "AWS_PROFILE" not in os.environ
        assert os.environ["AWS_ACCESS_KEY_ID"] == "testing"
    assert (dict(os.environ), boto3.DEFAULT_SESSION) == (before, session)


def test_credentials_that_are_set_stay(bare, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    with mocked():
        assert os.environ["AWS_ACCESS_KEY_ID"] == "mine"
    with mocked(environment=False):
        assert "AWS_DEFAULT_REGION" not in os.environ


def test_regions_and_accounts_have_tables_of_their_own():
    with mocked():
        boto3.client("dynamodb", region_name="eu-west-1").create_table(**NOTES)
        assert names(boto3.client("dynamodb", region_name="us-east-1")) == []
        assert names(boto3.client("dynamodb", region_name="eu-west-1")) == ["Notes"]
        keys = {"aws_access_key_id": "123456789012", "aws_secret_access_key": "any"}
        other = boto3.client("dynamodb", region_name="eu-west-1", **keys)
        assert names(other) == []
        other.create_table(**NOTES)
        assert ":123456789012:" in other.describe_table(TableName="Notes")["Table"]["TableArn"]


def test_threads_are_in_the_block():
    found = []
    with mocked():
        boto3.client("dynamodb").create_table(**NOTES)
        thread = threading.Thread(target=lambda: found.extend(names()))
        thread.start()
        thread.join()
    assert found == ["Notes"]


async def test_tasks_that_overlap_keep_their_own_stores():
    entered = asyncio.Barrier(2)

    @mocked()
    async def alone(name):
        client = boto3.client("dynamodb")
        await entered.wait()
        client.create_table(**table(name))
        await entered.wait()
        return names(client)

    assert await asyncio.gather(alone("First"), alone("Second")) == [["First"], ["Second"]]


# --- as a decorator --------------------------------------------------------------------------------------------------


def test_a_function_has_a_store_for_each_call():
    @mocked()
    def create():
        """Creates."""
        boto3.client("dynamodb").create_table(**NOTES)
        return names()

    assert (create(), create()) == (["Notes"], ["Notes"])
    assert create.__doc__ == "Creates."


@pytest.fixture
@mocked()
def client():
    client = boto3.client("dynamodb")
    client.create_table(**NOTES)
    yield client
    assert names(client) == ["Notes"]


def test_a_fixture_that_yields_keeps_its_store(client):
    assert names(client) == ["Notes"]


@mocked()
class TestOfPytest:
    def setup_method(self):
        boto3.client("dynamodb").create_table(**NOTES)

    def test_what_is_set_up_is_there(self):
        assert names() == ["Notes"]
        boto3.client("dynamodb").delete_table(TableName="Notes")

    def test_and_for_each_test_anew(self):
        assert names() == ["Notes"]


@mocked()
class TestOfUnittest(unittest.TestCase):
    def setUp(self):
        boto3.client("dynamodb").create_table(**NOTES)

    def test_what_is_set_up_is_there(self):
        assert names() == ["Notes"]
        boto3.client("dynamodb").delete_table(TableName="Notes")

    def test_and_for_each_test_anew(self):
        assert names() == ["Notes"]


@mocked()
class TestWithoutSetUp:
    def test_it_is_mocked_too(self):
        assert names() == []


# --- one client ------------------------------------------------------------------------------------------------------


def test_an_attached_client_is_answered_and_no_other():
    with SyncDatabase.open() as store:
        client = attach(boto3.client("dynamodb", **NOBODY), store)
        client.create_table(**NOTES)
        assert names(client) == ["Notes"]
        with pytest.raises(EndpointConnectionError):
            boto3.client("dynamodb", **NOBODY).list_tables()
        with mocked():
            assert names(client) == ["Notes"], "the client's own store comes first"
        detach(client)
        with pytest.raises(EndpointConnectionError):
            client.list_tables()


def test_a_client_can_be_attached_to_another_store():
    client = boto3.client("dynamodb", **NOBODY)
    with SyncDatabase.open() as first, SyncDatabase.open() as second:
        attach(client, first).create_table(**NOTES)
        assert names(attach(client, second)) == []
        assert names(attach(client, first)) == ["Notes"]


def test_a_resource_can_be_attached():
    with SyncDatabase.open() as store:
        resource = attach(boto3.resource("dynamodb", **NOBODY), store)
        assert list(resource.tables.all()) == []


def test_a_store_in_a_file_can_be_attached(tmp_path):
    with SyncDatabase.open(tmp_path / "notes.db") as store:
        attach(boto3.client("dynamodb", **NOBODY), store).create_table(**NOTES)
    with SyncDatabase.open(tmp_path / "notes.db") as store:
        assert names(attach(boto3.client("dynamodb", **NOBODY), store)) == ["Notes"]


def test_what_cannot_be_attached_is_refused(tmp_path):
    with SyncDatabase.open() as store, pytest.raises(TypeError, match="no client of DynamoDB"):
        attach(boto3.client("sqs", **NOBODY), store)

    async def open_and_attach():
        async with await Database.open() as database:
            attach(boto3.client("dynamodb", **NOBODY), database)

    with pytest.raises(TypeError, match="attach a SyncDatabase"):
        asyncio.run(open_and_attach())


# --- aiobotocore -----------------------------------------------------------------------------------------------------


async def test_clients_of_aiobotocore_are_answered(bare):
    with mocked():
        async with aiobotocore.session.get_session().create_client("dynamodb") as client:
            await client.create_table(**NOTES)
            await client.put_item(TableName="Notes", Item=KEY | {"body": {"B": b"bytes"}})
            assert (await client.get_item(TableName="Notes", Key=KEY))["Item"]["body"] == {"B": b"bytes"}
            pages = [page async for page in client.get_paginator("scan").paginate(TableName="Notes")]
            assert [page["Count"] for page in pages] == [1]
            with pytest.raises(client.exceptions.ResourceNotFoundException):
                await client.describe_table(TableName="Missing")


async def test_clients_of_aiobotocore_wait_for_a_database(tmp_path):
    async with (
        await Database.open(tmp_path / "notes.db") as database,
        aiobotocore.session.get_session().create_client("dynamodb", **NOBODY | {"config": None}) as client,
    ):
        attach(client, database)
        await client.create_table(**NOTES)
        assert await database.call("ListTables", {}) == {"TableNames": ["Notes"]}


# --- what callers get ------------------------------------------------------------------------------------------------


@pytest.fixture
def model():
    return botocore.session.Session().get_service_model("dynamodb").operation_model


def parsed(response, model, status=200):
    body = {"status_code": status, "headers": {}, "body": encode(response)}
    return parser.parse(body, model.output_shape)


def exactly(value):
    """The value with its types, because 1 equals 1.0 and True."""
    if isinstance(value, dict):
        return {name: exactly(part) for name, part in value.items()}
    return [exactly(part) for part in value] if isinstance(value, list) else (type(value), value)


VALUE = {
    "M": {"l": {"L": [{"B": "Ynl0ZXM="}, {"BS": ["YQ==", "Yg=="]}, {"NULL": True}]}, "n": {"NS": ["1", "2"]}},
}


@pytest.mark.parametrize(
    ("operation", "response"),
    [
        ("GetItem", {}),
        ("GetItem", {"Item": KEY | {"v": VALUE, "b": {"BOOL": False}}, "ConsumedCapacity": {"CapacityUnits": 1}}),
        ("BatchGetItem", {"Responses": {"Notes": [KEY | {"v": VALUE}]}, "UnprocessedKeys": {}}),
        ("Query", {"Items": [{"v": VALUE}], "Count": 1, "ScannedCount": 2, "LastEvaluatedKey": {"v": {"B": "YQ=="}}}),
        ("DescribeTable", {"Table": {"CreationDateTime": 1.5, "Unknown": 1, "ItemCount": 3}, "Unknown": {}}),
        ("DeleteItem", {"Attributes": None, "ItemCollectionMetrics": {"SizeEstimateRangeGB": [0, 1]}}),
    ],
)
def test_responses_are_what_botocore_makes_of_them(model, operation, response):
    _, answer = answered(response, model(operation))
    expected = parsed(response, model(operation))
    for each in (answer, expected):
        del each["ResponseMetadata"]
    assert exactly(answer) == exactly(expected)


def test_errors_are_what_botocore_makes_of_them():
    with mocked():
        client = boto3.client("dynamodb")
        client.create_table(**NOTES)
        client.put_item(TableName="Notes", Item=KEY | {"body": {"B": b"bytes"}})
        condition = {
            "ConditionExpression": "attribute_not_exists(PK)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        with pytest.raises(client.exceptions.ConditionalCheckFailedException) as refusal:
            client.put_item(TableName="Notes", Item=KEY, **condition)
        assert refusal.value.response["Item"]["body"] == {"B": b"bytes"}
        assert refusal.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
        put = {"TableName": "Notes", "Item": KEY, **condition}
        with pytest.raises(client.exceptions.TransactionCanceledException) as refusal:
            client.transact_write_items(TransactItems=[{"Put": put}])
        (reason,) = refusal.value.response["CancellationReasons"]
        assert (reason["Code"], reason["Item"]["body"]) == ("ConditionalCheckFailed", {"B": b"bytes"})
        with pytest.raises(ClientError, match="UnknownOperationException"):
            client.create_backup(TableName="Notes", BackupName="backup")
        with pytest.raises(ParamValidationError):
            client.get_item(TableName="Notes")


def test_an_error_of_the_engine_itself_has_status_500(model):
    http, answer = refused(DynamoError("InternalServerError", "broken"), model("GetItem"))
    assert (http.status_code, answer["Error"]) == (500, {"Code": "InternalServerError", "Message": "broken"})


def test_what_a_caller_changes_is_not_changed_in_the_store():
    with mocked():
        client = boto3.client("dynamodb")
        client.create_table(**NOTES, Tags=[{"Key": "a", "Value": "b"}])
        client.describe_table(TableName="Notes")["Table"]["KeySchema"].clear()
        client.put_item(TableName="Notes", Item=KEY | {"v": {"M": {}}})
        client.get_item(TableName="Notes", Key=KEY)["Item"]["v"]["M"]["new"] = {"S": "x"}
        assert len(client.describe_table(TableName="Notes")["Table"]["KeySchema"]) == 2
        assert client.get_item(TableName="Notes", Key=KEY)["Item"]["v"] == {"M": {}}


def test_a_stubbed_client_stays_stubbed():
    with mocked():
        client = boto3.client("dynamodb")
        with Stubber(client) as stubber:
            stubber.add_response("list_tables", {"TableNames": ["Stubbed"]})
            assert names(client) == ["Stubbed"]
        assert names(client) == []


def test_handlers_before_and_after_the_call_are_called():
    seen = []
    with mocked():
        client = boto3.client("dynamodb")
        client.meta.events.register("before-call.dynamodb.ListTables", lambda **_: seen.append("before"))
        client.meta.events.register("after-call.dynamodb", lambda http_response, **_: seen.append(http_response))
        client.list_tables()
    assert (seen[0], seen[1].status_code) == ("before", 200)

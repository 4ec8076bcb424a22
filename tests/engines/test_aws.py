"""The aws engine: what goes wrong between here and the service, and prefixed table names."""

import asyncio
import contextlib
import json
import socket
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from potluck.engines import ANSWER_LOST, CLOSED, REQUEST_NOT_SENT, DynamoError
from potluck.engines import aws as aws_engine
from potluck.engines.aws import Aws
from potluck.engines.prefixing import Prefixing
from potluck.states import ENGINE_UNREACHABLE, THROTTLED, lasting
from tests.engine_targets import LOCAL, address, table
from tests.patience import PATIENCE_SECONDS, stopped
from tests.references import REGION

Answer = Callable[[dict[str, str], bytes], Awaitable[bytes | None]]


def http(status: str, body: bytes, **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Service:
    """A server that answers, or breaks, as a test wants, and counts what it was sent."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], Any]] = []
        self.answers: list[bytes | None] = []
        self.delay = 0.0
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:-2]
                headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in head)}
                body = await reader.readexactly(int(headers["content-length"]))
                self.requests.append((headers, json.loads(body)))
                await asyncio.sleep(self.delay)
                answer = self.answers.pop(0) if self.answers else http("200 OK", b"{}")
                if answer is None:
                    break
                writer.write(answer)
                await writer.drain()
        writer.close()


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    service = Service()
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0)
    service.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield service
    server.close()


@contextlib.asynccontextmanager
async def aws_at(url: str) -> AsyncIterator[Aws]:
    aws = await Aws.open(REGION, url, access_key="AKIDEXAMPLE", secret_key="tests", session_token="temporary")
    try:
        yield aws
    finally:
        await aws.close()


async def failure(call: Awaitable[Any]) -> DynamoError:
    with pytest.raises(DynamoError) as refused:
        await call
    return refused.value


async def test_requests_are_signed_and_addressed(service: Service) -> None:
    async with aws_at(service.url) as aws:
        await aws.call("PutItem", {"TableName": "T", "Item": {}})
        await aws.call("ListStreams", {})
    (put, body), (streams, _) = service.requests
    assert body == {"TableName": "T", "Item": {}}
    assert put["x-amz-target"] == "DynamoDB_20120810.PutItem"
    assert streams["x-amz-target"] == "DynamoDBStreams_20120810.ListStreams"
    assert put["content-type"] == "application/x-amz-json-1.0"
    assert put["x-amz-security-token"] == "temporary"
    assert put["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert f"/{REGION}/dynamodb/aws4_request" in put["authorization"]


async def test_nobody_there_means_nothing_was_sent() -> None:
    # A port that nobody else can be given, and nobody listens at.
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        async with aws_at(f"http://127.0.0.1:{silent.getsockname()[1]}") as aws:
            assert (await failure(aws.call("PutItem", {"TableName": "T"}))).code == REQUEST_NOT_SENT


async def test_nobody_there_is_a_state_with_one_line_until_calls_are_answered_again(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(aws_engine, "CALM_SECONDS", 0.0)
    async with aws_at(service.url) as aws:
        await aws.call("ListTables", {})
        assert lasting() == []
        there, aws._urls = aws._urls, dict.fromkeys(aws._urls, "http://127.0.0.1:9/")
        for _ in range(50):
            await failure(aws.call("ListTables", {}))
        assert lasting() == [ENGINE_UNREACHABLE]
        aws._urls = there
        await aws.call("ListTables", {})
    said = [record.getMessage().partition(" after")[0] for record in caplog.records]
    assert said[0] == "DynamoDB does not answer: RequestNotSent at http://127.0.0.1:9/"
    assert said[1:] == ["DynamoDB does not answer: over"]
    assert lasting() == []


async def test_being_throttled_is_a_state_until_it_has_stayed_away(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    body = json.dumps({"__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException", "message": "slow down"})
    async with aws_at(service.url) as aws:
        for _ in range(20):
            service.answers = [http("400 Bad Request", body.encode())]
            await failure(aws.call("ListTables", {}))
            await aws.call("ListTables", {})
        assert lasting() == [THROTTLED]
    said = [record.getMessage() for record in caplog.records]
    assert said == ["DynamoDB throttles: ListTables got ThrottlingException"]


async def test_a_write_whose_answer_is_lost_is_not_sent_again(service: Service) -> None:
    service.answers = [None]
    async with aws_at(service.url) as aws:
        assert (await failure(aws.call("UpdateItem", {"TableName": "T"}))).code == ANSWER_LOST
    assert len(service.requests) == 1


async def test_a_read_whose_answer_is_lost_is_sent_once_more(service: Service) -> None:
    service.answers = [None, http("200 OK", b'{"Item": {}}')]
    async with aws_at(service.url) as aws:
        assert await aws.call("GetItem", {"TableName": "T"}) == {"Item": {}}
        service.answers = [None, None, None]
        assert (await failure(aws.call("GetItem", {"TableName": "T"}))).code == ANSWER_LOST
    assert len(service.requests) == 4


async def test_a_transaction_carries_a_token_so_that_it_may_be_sent_again(service: Service) -> None:
    service.answers = [None]
    async with aws_at(service.url) as aws:
        await aws.call("TransactWriteItems", {"TransactItems": []})
        await aws.call("TransactWriteItems", {"TransactItems": [], "ClientRequestToken": "mine"})
    first, again, other = (body["ClientRequestToken"] for _, body in service.requests)
    assert first == again
    assert other == "mine"


async def test_a_damaged_answer_is_a_lost_one(service: Service) -> None:
    good, bad = b'{"Item": {}}', b'{"Item": []}'
    service.answers = [http("200 OK", bad, **{"x-amz-crc32": str(zlib.crc32(good))})] * 2
    service.answers += [http("200 OK", good, **{"x-amz-crc32": str(zlib.crc32(good))})]
    async with aws_at(service.url) as aws:
        assert (await failure(aws.call("GetItem", {"TableName": "T"}))).code == ANSWER_LOST
        assert await aws.call("GetItem", {"TableName": "T"}) == {"Item": {}}


@pytest.mark.parametrize(
    ("status", "body", "code", "message"),
    [
        (
            "400 Bad Request",
            b'{"__type":"com.amazon#ThrottlingException","message":"slow"}',
            "ThrottlingException",
            "slow",
        ),
        ("400 Bad Request", b'{"__type":"ValidationException","Message":"no"}', "ValidationException", "no"),
        ("500 Internal Server Error", b"oops", "InternalServerError", "oops"),
        ("503 Service Unavailable", b"<html>", "ServiceUnavailable", "<html>"),
        ("413 Too Large", b"", "Http413", ""),
    ],
)
async def test_refusals_become_dynamo_errors(
    service: Service, status: str, body: bytes, code: str, message: str
) -> None:
    service.answers = [http(status, body)]
    async with aws_at(service.url) as aws:
        error = await failure(aws.call("PutItem", {"TableName": "T"}))
    assert (error.code, error.message) == (code, message)
    assert len(service.requests) == 1


async def test_closing_lets_calls_under_way_finish(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aws_engine, "CLOSING_GRACE_SECONDS", PATIENCE_SECONDS)
    service.delay = 0.3
    async with aws_at(service.url) as aws:
        pending = asyncio.create_task(aws.call("PutItem", {"TableName": "T"}))
        await asyncio.sleep(0.1)
        await aws.close()
        assert await pending == {}
        assert (await failure(aws.call("PutItem", {"TableName": "T"}))).code == CLOSED
        assert (await failure(aws.changed("T", 1))).code == CLOSED


async def test_what_json_cannot_say_is_refused(service: Service) -> None:
    async with aws_at(service.url) as aws:
        error = await failure(aws.call("PutItem", {"TableName": "T", "Item": {"a": {"S": object()}}}))
    assert error.code == "SerializationException"
    assert service.requests == []


# --- on DynamoDB Local -----------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def two_installations(tmp_path: Any) -> AsyncIterator[tuple[Prefixing, Prefixing, Aws]]:
    where = address(LOCAL, tmp_path)
    async with aws_at(where["endpoint"]) as aws:
        yield Prefixing(aws, where["prefix"]), Prefixing(aws, "other-" + where["prefix"]), aws


async def test_installations_with_different_prefixes_do_not_meet(tmp_path: Any) -> None:
    async with two_installations(tmp_path) as (ours, theirs, aws):
        for name in ("Things", "Words", "Zebras"):
            created = await ours.call("CreateTable", table(name, stream=True))
            assert created["TableDescription"]["TableName"] == name
        await theirs.call("CreateTable", table("Things", stream=True))
        key = {"PK": {"S": "a"}, "SK": {"S": "b"}}
        await theirs.call("PutItem", {"TableName": "Things", "Item": key})
        assert await ours.call("GetItem", {"TableName": "Things", "Key": key}) == {}

        assert (await ours.call("ListTables", {}))["TableNames"] == ["Things", "Words", "Zebras"]
        page = await ours.call("ListTables", {"Limit": 2})
        assert page == {"TableNames": ["Things", "Words"], "LastEvaluatedTableName": "Words"}
        page = await ours.call("ListTables", {"Limit": 2, "ExclusiveStartTableName": "Words"})
        assert page == {"TableNames": ["Zebras"]}
        assert (await ours.call("DescribeTable", {"TableName": "Words"}))["Table"]["TableName"] == "Words"

        streams = (await ours.call("ListStreams", {"TableName": "Things"}))["Streams"]
        assert [stream["TableName"] for stream in streams] == ["Things"]
        described = await ours.call("DescribeStream", {"StreamArn": streams[0]["StreamArn"]})
        assert described["StreamDescription"]["TableName"] == "Things"
        # From just before it, for the service lists a hundred, and other tests' tables may be more.
        before = {"ExclusiveStartTableName": f"{ours.prefix}Thing"}
        assert f"{ours.prefix}Things" in (await aws.call("ListTables", before))["TableNames"]


async def test_the_prefix_goes_into_batches_and_transactions_and_out_of_their_answers(tmp_path: Any) -> None:
    async with two_installations(tmp_path) as (ours, _, _):
        for name in ("Things", "Words"):
            await ours.call("CreateTable", table(name))
        key = {"PK": {"S": "a"}, "SK": {"S": "b"}}
        counted = {"ReturnConsumedCapacity": "TOTAL"}
        puts = {name: [{"PutRequest": {"Item": key}}] for name in ("Things", "Words")}
        written = await ours.call("BatchWriteItem", {"RequestItems": puts, **counted})
        assert {each["TableName"] for each in written["ConsumedCapacity"]} == {"Things", "Words"}
        read = await ours.call("BatchGetItem", {"RequestItems": {"Things": {"Keys": [key]}}, **counted})
        assert read["Responses"] == {"Things": [key]}
        actions = [
            {"Put": {"TableName": "Things", "Item": key}},
            {"Delete": {"TableName": "Words", "Key": key}},
        ]
        done = await ours.call("TransactWriteItems", {"TransactItems": actions, **counted})
        assert {each["TableName"] for each in done["ConsumedCapacity"]} == {"Things", "Words"}
        got = await ours.call("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "Things", "Key": key}}]})
        assert got["Responses"] == [{"Item": key}]


async def test_unprocessed_parts_lose_the_prefix_and_keep_theirs_out() -> None:
    class Full:
        async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
            metrics = {table: [{"SizeEstimateRangeGB": [0, 1]}] for table in request["RequestItems"]}
            return {"UnprocessedItems": request["RequestItems"], "ItemCollectionMetrics": metrics}

        async def changed(self, table: str, timeout: float) -> bool:
            return table == "p-Things"

        async def close(self) -> None: ...

    engine = Prefixing(Full(), "p-")
    writes = {"Things": [{"DeleteRequest": {"Key": {}}}]}
    answer = await engine.call("BatchWriteItem", {"RequestItems": writes})
    assert answer["UnprocessedItems"] == writes
    assert list(answer["ItemCollectionMetrics"]) == ["Things"]
    assert await engine.changed("Things", 1)


async def test_changed_asks_the_service_nothing_and_tells_of_writes_of_this_process(service: Service) -> None:
    async with aws_at(service.url) as aws:
        assert not await aws.changed("T", 0.01)
        waiting = [asyncio.create_task(aws.changed("T", PATIENCE_SECONDS)) for _ in range(20)]
        elsewhere = asyncio.create_task(aws.changed("Elsewhere", PATIENCE_SECONDS))
        await asyncio.sleep(0)
        assert service.requests == []
        await aws.call("PutItem", {"TableName": "T"})
        assert all(await asyncio.gather(*waiting))
        # Its record may not be in the stream yet.
        assert await aws.changed("T", 0.01)
        assert not elsewhere.done()
        await stopped(elsewhere)
    assert len(service.requests) == 1

"""The protocol: what the AWS SDKs, and those who should not, get over HTTP."""

import asyncio
import contextlib
import gzip
import json
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import compress, crc32, decompress

import boto3
import pytest
import pytest_asyncio
from botocore.config import Config
from botocore.exceptions import ClientError

from potluck.connections import limits, uvicorn_adapter
from potluck.dynamo import server
from potluck.dynamo.errors import DynamoError
from potluck.dynamo.parameters import check
from potluck.dynamo.server import admission, serve, serving
from tests.patience import PATIENCE_SECONDS, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

KIB = 1024
MIB = 1024 * KIB
AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=0123456789abcdef"
)
SIGNED = {"Authorization": AUTHORIZATION, "X-Amz-Date": "20260101T000000Z"}
GET_ITEM = {**SIGNED, "X-Amz-Target": "DynamoDB_20120810.GetItem", "Content-Type": "application/x-amz-json-1.0"}
REQUEST = {"TableName": "Accounts", "Key": {"id": {"S": "1"}}}


class Database:
    """Checks parameters as the real one does, and answers what it was told to."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.answer: dict[str, Any] | Exception = {"Item": {"id": {"S": "1"}}}
        self.called = asyncio.Event()
        self.held: asyncio.Event | None = None

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        self.calls.append((operation, check(operation, request)))
        self.called.set()
        if self.held:
            await self.held.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@dataclass
class Response:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Client:
    port: int

    async def send(
        self, method: str = "POST", path: str = "/", headers: dict[str, str] | None = None, body: Any = b""
    ) -> Response:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(self.written(method, path, headers or {}, body))
            return await read_response(reader)
        finally:
            writer.close()

    def written(self, method: str, path: str, headers: dict[str, str], body: Any) -> bytes:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Host": f"127.0.0.1:{self.port}", "Content-Length": str(len(content))} | headers
        head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + content


async def read_response(reader: asyncio.StreamReader) -> Response:
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_SECONDS)).decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    body = await reader.readexactly(int(headers["content-length"]))
    assert headers.get("x-amz-crc32", str(crc32(body))) == str(crc32(body))
    return Response(int(head[0].split()[1]), headers, body)


class Standing:
    """Where each test puts a database of its own behind the one server."""

    database: Database

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        return await self.database.call(operation, request)


@pytest.fixture(scope="module")
def standing() -> Standing:
    return Standing()


@pytest.fixture
def database(standing: Standing) -> Database:
    standing.database = Database()
    return standing.database


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server_port(standing: Standing) -> AsyncIterator[int]:
    async with serving(standing) as port:
        yield port


@pytest.fixture
def client(server_port: int, database: Database) -> Client:
    return Client(server_port)


async def test_an_answer_carries_the_headers_of_the_service(client: Client, database: Database) -> None:
    response = await client.send(headers=GET_ITEM, body=REQUEST)
    assert (response.status, response.json) == (200, {"Item": {"id": {"S": "1"}}})
    assert response.headers["content-type"] == "application/x-amz-json-1.0"
    assert response.headers["x-amz-crc32"] == str(crc32(response.body))
    assert len(response.headers["x-amzn-requestid"]) == 52
    assert response.headers["server"] == "server"
    again = await client.send(headers=GET_ITEM, body=REQUEST)
    assert again.headers["x-amzn-requestid"] != response.headers["x-amzn-requestid"]
    assert database.calls == [("GetItem", REQUEST)] * 2


async def test_both_services_answer_at_one_address(client: Client, database: Database) -> None:
    for target in ("DynamoDB_20120810.ListTables", "DynamoDBStreams_20120810.ListStreams"):
        assert (await client.send(headers=GET_ITEM | {"X-Amz-Target": target}, body={})).status == 200
    assert [operation for operation, _ in database.calls] == ["ListTables", "ListStreams"]


@pytest.mark.parametrize("target", ["", "whatever", "DynamoDB_20120810.ListTable", "DynamoDB_20120810.ListStreams"])
async def test_an_unknown_target_is_an_unknown_operation(client: Client, target: str) -> None:
    response = await client.send(headers=GET_ITEM | {"X-Amz-Target": target}, body={})
    assert response.status == 400
    assert response.body == b'{"__type":"com.amazon.coral.service#UnknownOperationException"}'
    assert response.headers["x-amz-crc32"] == "1368724161"


async def test_an_operation_that_is_not_offered_is_named(client: Client) -> None:
    response = await client.send(headers=GET_ITEM | {"X-Amz-Target": "DynamoDB_20120810.CreateBackup"}, body={})
    assert (response.status, response.json) == (
        400,
        {
            "__type": "com.amazon.coral.service#UnknownOperationException",
            "message": "CreateBackup is not an operation of this engine",
        },
    )


@pytest.mark.parametrize(
    ("given", "answered"),
    [
        ("application/x-amz-json-1.0", "application/x-amz-json-1.0"),
        ("application/x-amz-json-1.0;blahblah", "application/x-amz-json-1.0"),
        ("  application/json  ;   charset=utf-8", "application/json"),
    ],
)
async def test_json_is_spoken_by_either_name(client: Client, given: str, answered: str) -> None:
    response = await client.send(headers=GET_ITEM | {"Content-Type": given}, body=REQUEST)
    assert (response.status, response.headers["content-type"]) == (200, answered)


@pytest.mark.parametrize(
    "given",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonasdf",
        "application/x-amz-json-1.1",
        "application/json" + "x" * 10_000,
        "",
    ],
)
async def test_what_a_web_page_may_send_unasked_is_not_understood(
    client: Client, database: Database, given: str
) -> None:
    response = await client.send(headers=GET_ITEM | {"Content-Type": given}, body=REQUEST)
    assert (response.status, response.body) == (404, b"<UnknownOperationException/>\n")
    assert not database.calls


MALFORMED = {
    "empty": b"",
    "words": b"hi",
    "cut off": b'{"TableName": "Accounts", "Key": {"id"',
    "trailing": b"{} x",
    "not utf-8": b'{"TableName": "\xff"}',
    "nan": b'{"Limit": NaN}',
    "infinity": b'{"Limit": 1e400}',
    "half a surrogate": b'{"TableName": "\\ud800"}',
    "open brackets": b"[" * 100_000,
    "nested lists": b"[" * 100_000 + b"]" * 100_000,
    "nested maps": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "many digits": b'{"Limit": ' + b"9" * 100_000 + b"}",
    "null": b"null",
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED.keys())
async def test_what_is_no_json_is_a_serialization_exception(client: Client, body: bytes) -> None:
    response = await client.send(headers=GET_ITEM, body=body)
    assert response.status == 400
    assert response.body == b'{"__type":"com.amazon.coral.service#SerializationException"}'
    assert response.headers["x-amz-crc32"] == "3948637019"


@pytest.mark.parametrize("body", [b"[]", b'"x"', b"7", b"true"])
async def test_json_that_is_no_object_is_a_serialization_exception(client: Client, body: bytes) -> None:
    response = await client.send(headers=GET_ITEM, body=body)
    assert (response.status, response.json["__type"]) == (400, "com.amazon.coral.service#SerializationException")


async def test_every_prefix_of_a_request_is_answered(client: Client) -> None:
    whole = json.dumps(REQUEST).encode()
    for length in range(len(whole)):
        assert (await client.send(headers=GET_ITEM, body=whole[:length])).status == 400


async def test_the_last_of_equal_keys_counts(client: Client, database: Database) -> None:
    body = b'{"TableName": "Others", "TableName": "Accounts", "Key": {"id": {"S": "1"}}}'
    assert (await client.send(headers=GET_ITEM, body=body)).status == 200
    assert database.calls == [("GetItem", REQUEST)]


async def test_deep_json_that_can_be_read_is_answered(client: Client) -> None:
    for depth in (400, 900, 990, 1000):
        body = b'{"TableName": "abc", "Item": {"a": ' + b'{"L": [' * (depth // 2) + b"]}" * (depth // 2) + b"}}"
        response = await client.send(headers=GET_ITEM | {"X-Amz-Target": "DynamoDB_20120810.PutItem"}, body=body)
        assert response.status in (200, 400)


SERVICE = "com.amazon.coral.service#"
MODEL = "com.amazonaws.dynamodb.v20120810#"
FAILED = DynamoError("ConditionalCheckFailedException", "The conditional request failed", item={"id": {"S": "1"}})
REASONS = [{"Code": "None"}, {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}]
CANCELLED = DynamoError("TransactionCanceledException", "Transaction cancelled", reasons=REASONS)
ERRORS = [
    (
        DynamoError("ResourceNotFoundException", "Requested resource not found"),
        400,
        {"__type": f"{MODEL}ResourceNotFoundException", "message": "Requested resource not found"},
    ),
    (
        DynamoError("ValidationException", "No"),
        400,
        {"__type": "com.amazon.coral.validate#ValidationException", "message": "No"},
    ),
    (
        DynamoError("SerializationException", "No"),
        400,
        {"__type": f"{SERVICE}SerializationException", "Message": "No"},
    ),
    (
        FAILED,
        400,
        {
            "__type": f"{MODEL}ConditionalCheckFailedException",
            "message": "The conditional request failed",
            "Item": {"id": {"S": "1"}},
        },
    ),
    (
        CANCELLED,
        400,
        {
            "__type": f"{MODEL}TransactionCanceledException",
            "CancellationReasons": REASONS,
            "Message": "Transaction cancelled",
        },
    ),
    (DynamoError("InternalServerError", "Oh"), 500, {"__type": f"{MODEL}InternalServerError", "message": "Oh"}),
]


@pytest.mark.parametrize(("error", "status", "body"), ERRORS, ids=lambda given: getattr(given, "code", ""))
async def test_errors_are_told_as_the_service_tells_them(
    client: Client, database: Database, error: DynamoError, status: int, body: dict[str, Any]
) -> None:
    database.answer = error
    response = await client.send(headers=GET_ITEM, body=REQUEST)
    assert (response.status, response.json) == (status, body)


async def test_a_defect_is_an_internal_server_error_that_tells_nothing(
    client: Client, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    database.answer = RuntimeError("the secret state of things")
    response = await client.send(headers=GET_ITEM, body=REQUEST)
    assert (response.status, response.json["__type"]) == (500, f"{MODEL}InternalServerError")
    assert b"secret" not in response.body
    assert "GetItem failed" in caplog.text


async def test_tagging_is_answered_with_nothing(client: Client, database: Database) -> None:
    database.answer = {}
    body = {"ResourceArn": "arn:aws:dynamodb:us-east-1:000000000000:table/Accounts"}
    response = await client.send(headers=GET_ITEM | {"X-Amz-Target": "DynamoDB_20120810.TagResource"}, body=body)
    assert (response.status, response.body) == (200, b"")


async def test_the_address_a_client_used_is_the_endpoint_it_is_told(client: Client, database: Database) -> None:
    database.answer = {"Endpoints": [{"Address": "elsewhere", "CachePeriodInMinutes": 1440}]}
    target = {"X-Amz-Target": "DynamoDB_20120810.DescribeEndpoints"}
    for host in (f"127.0.0.1:{client.port}", "localhost:8001"):
        response = await client.send(headers=GET_ITEM | target | {"Host": host}, body={})
        assert response.json == {"Endpoints": [{"Address": host, "CachePeriodInMinutes": 1440}]}


# --- compressed bodies ---

PLAIN = json.dumps(REQUEST).encode()


def gzipped(data: bytes) -> bytes:
    """Without the time of day, so that the names of tests are the same in every process."""
    return gzip.compress(data, mtime=0)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzipped(PLAIN)),
        ("GZIP", gzipped(PLAIN)),
        ("gzip", gzipped(PLAIN[:10]) + gzipped(b"") + gzipped(PLAIN[10:])),
        ("deflate", compress(PLAIN)),
        ("identity", PLAIN),
    ],
)
async def test_a_compressed_request_is_read(client: Client, database: Database, coding: str, body: bytes) -> None:
    assert (await client.send(headers=GET_ITEM | {"Content-Encoding": coding}, body=body)).status == 200
    assert database.calls == [("GetItem", REQUEST)]


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("garbage", PLAIN),
        ("gzip", PLAIN),
        ("gzip", b""),
        ("gzip", gzipped(PLAIN)[:-1]),
        ("gzip", gzipped(PLAIN) + b"junk"),
        ("gzip", compress(PLAIN)),
        ("deflate", PLAIN),
        ("deflate", b""),
        ("deflate", compress(PLAIN)[:-1]),
        ("deflate", compress(PLAIN[:10]) + compress(PLAIN[10:])),
        ("deflate", gzipped(PLAIN)),
    ],
)
async def test_what_cannot_be_expanded_is_refused_for_good(
    client: Client, database: Database, coding: str, body: bytes
) -> None:
    response = await client.send(headers=GET_ITEM | {"Content-Encoding": coding}, body=body)
    assert (response.status, response.json["__type"].partition("#")[2]) == (400, "SerializationException")
    assert not database.calls


@pytest.mark.parametrize(("coding", "squeeze"), [("gzip", gzip.compress), ("deflate", compress)])
async def test_a_request_may_not_grow_beyond_the_limit(
    client: Client, database: Database, coding: str, squeeze: Callable[[bytes], bytes]
) -> None:
    fitting = PLAIN[:-1] + b" " * (16 * MIB - len(PLAIN)) + b"}"
    sent = GET_ITEM | {"Content-Encoding": coding}
    assert (await client.send(headers=sent, body=squeeze(fitting))).status == 200
    assert (await client.send(headers=sent, body=squeeze(fitting + b" "))).status == 413
    assert len(database.calls) == 1


EXPAND: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.decompress, "deflate": decompress}


@pytest.mark.parametrize("coding", EXPAND)
@pytest.mark.parametrize("size", [4096, 300_000])
async def test_a_long_answer_is_compressed_for_who_accepts_it(
    client: Client, database: Database, coding: str, size: int
) -> None:
    database.answer = {"Item": {"id": {"S": "x" * size}}}
    response = await client.send(headers=GET_ITEM | {"Accept-Encoding": coding}, body=REQUEST)
    assert response.headers["content-encoding"] == coding
    assert response.headers["x-amz-crc32"] == str(crc32(response.body))
    assert len(response.body) < size / 30
    assert json.loads(EXPAND[coding](response.body)) == database.answer
    for plain in (GET_ITEM, GET_ITEM | {"Accept-Encoding": "identity"}):
        response = await client.send(headers=plain, body=REQUEST)
        assert "content-encoding" not in response.headers
        assert response.json == database.answer


async def test_a_short_answer_is_never_compressed(client: Client, database: Database) -> None:
    database.answer = {"Item": {"id": {"S": "x" * 4000}}}
    response = await client.send(headers=GET_ITEM | {"Accept-Encoding": "gzip"}, body=REQUEST)
    assert "content-encoding" not in response.headers
    assert response.json == database.answer


@pytest.mark.parametrize(("first", "second", "sent"), [("identity", "gzip", None), ("gzip", "identity", "gzip")])
async def test_the_first_of_several_accept_encoding_headers_counts(
    client: Client, database: Database, first: str, second: str, sent: str | None
) -> None:
    database.answer = {"Item": {"id": {"S": "x" * 5000}}}
    headers = GET_ITEM | {"Accept-Encoding": f"{first}\r\nAccept-Encoding: {second}"}
    assert (await client.send(headers=headers, body=REQUEST)).headers.get("content-encoding") == sent


# --- signatures ---

REQUIRES = "Authorization header requires '{}' parameter. "
DATED = "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
INCLUDE = "AWS query-string parameters must include '{}'. "
MISSING = ("MissingAuthenticationTokenException", "Request is missing Authentication Token")
UNSIGNED: list[tuple[str, dict[str, str], tuple[str, str]]] = [
    ("/", {}, MISSING),
    ("/", {"Authorization": "AWS4"}, MISSING),
    ("/?X-Amz-Algorith", {"Authorization": "X"}, MISSING),
    ("/?X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-SignedHeaders=c&X-Amz-Date=d", {}, MISSING),
    (
        "/?X-Amz-Algorithm",
        {"Authorization": "X"},
        (
            "InvalidSignatureException",
            "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
        ),
    ),
    (
        "/",
        {"Authorization": "AWS4-"},
        (
            "IncompleteSignatureException",
            f"{REQUIRES.format('Credential')}{REQUIRES.format('Signature')}{REQUIRES.format('SignedHeaders')}{DATED}"
            "Authorization=AWS4-",
        ),
    ),
    *[
        (
            "/",
            {"Authorization": given, "Date": "a"},
            ("IncompleteSignatureException", f"{REQUIRES.format('SignedHeaders')}Authorization={given}"),
        )
        for given in (
            "AWS4- Signature=b Credential=a",
            "AWS4- Signature=b,Credential=a",
            "AWS4- Signature=b, Credential=a",
        )
    ],
    ("/", {"Authorization": AUTHORIZATION}, ("IncompleteSignatureException", f"{DATED}Authorization={AUTHORIZATION}")),
    (
        "/?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d",
        {},
        (
            "IncompleteSignatureException",
            f"{INCLUDE.format('X-Amz-SignedHeaders')}Re-examine the query-string parameters.",
        ),
    ),
]


@pytest.mark.parametrize(("path", "headers", "expected"), UNSIGNED)
async def test_unsigned_requests_are_refused(
    client: Client, database: Database, path: str, headers: dict[str, str], expected: tuple[str, str]
) -> None:
    unsigned = {name: value for name, value in GET_ITEM.items() if name not in SIGNED}
    response = await client.send(path=path, headers=unsigned | headers, body=REQUEST)
    assert response.status == 400
    assert response.json == {"__type": SERVICE + expected[0], "message": expected[1]}
    assert not database.calls


@pytest.mark.parametrize(
    "authorization",
    [AUTHORIZATION, AUTHORIZATION.replace(", ", ","), "AWS4-X Signature=b, Credential=a, SignedHeaders=c"],
)
async def test_any_signature_does(client: Client, authorization: str) -> None:
    assert (await client.send(headers=GET_ITEM | {"Authorization": authorization}, body=REQUEST)).status == 200


async def test_a_signature_may_come_in_the_address(client: Client) -> None:
    path = "/?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-SignedHeaders=d&X-Amz-Date=e"
    unsigned = {name: value for name, value in GET_ITEM.items() if name not in SIGNED}
    assert (await client.send(path=path, headers=unsigned, body=REQUEST)).status == 200


# --- what is no request of the service ---


async def test_a_get_is_told_that_all_is_well(client: Client) -> None:
    for host in (f"127.0.0.1:{client.port}", "db.localhost"):
        response = await client.send("GET", headers={"Host": host})
        assert (response.status, response.body) == (200, f"healthy: {host} ".encode())


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", "/"), ("DELETE", "/"), ("OPTIONS", "/"), ("POST", "/x"), ("GET", "/x")]
)
async def test_other_methods_and_paths_are_not_found(
    client: Client, database: Database, method: str, path: str
) -> None:
    response = await client.send(method, path, headers=GET_ITEM, body=REQUEST)
    assert (response.status, response.body) == (404, b"<UnknownOperationException/>\n")
    assert response.headers["x-amz-crc32"] == "3552371480"
    assert not database.calls


async def test_no_web_page_is_given_leave(client: Client) -> None:
    asked = {"Origin": "http://example.com", "Access-Control-Request-Method": "POST"}
    for method in ("OPTIONS", "POST", "GET"):
        response = await client.send(method, headers=GET_ITEM | asked, body=REQUEST)
        assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8001", "127.0.0.1.evil.example", "", "10.0.0.1", "a b"])
async def test_a_strange_host_name_is_refused(client: Client, database: Database, host: str) -> None:
    for method in ("POST", "GET"):
        response = await client.send(method, headers=GET_ITEM | {"Host": host}, body=REQUEST)
        assert response.status == 421
    assert not database.calls


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8001", "127.0.0.1", "[::1]:9", "127.0.0.2", "db.localhost:1"])
async def test_loopback_names_are_answered(client: Client, host: str) -> None:
    assert (await client.send(headers=GET_ITEM | {"Host": host}, body=REQUEST)).status == 200


@pytest.mark.parametrize(
    ("header", "answers"), [("192.168.1.5:8001", True), ("dynamodb:8001", True), ("evil.example", False)]
)
async def test_a_server_for_the_network_answers_to_addresses_and_to_the_names_it_was_given(
    header: str, answers: bool
) -> None:
    assert admission("0.0.0.0", ["dynamodb"])(header.encode()) is answers


async def test_too_large_a_request_is_refused(client: Client, database: Database) -> None:
    padding = b'{"TableName": "Accounts", "Key": {"id": {"S": "1"}}' + b" " * (16 * MIB)
    fitting = padding[: 16 * MIB - 1] + b"}"
    assert (await client.send(headers=GET_ITEM, body=fitting)).status == 200
    assert (await client.send(headers=GET_ITEM, body=fitting + b" ")).status == 413
    assert len(database.calls) == 1


async def test_too_large_a_request_in_chunks_is_refused(client: Client, database: Database) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
    head = client.written("POST", "/", GET_ITEM | {"Transfer-Encoding": "chunked"}, b"")
    writer.write(head.replace(b"Content-Length: 0\r\n", b""))
    chunk = b"100000\r\n" + b" " * MIB + b"\r\n"
    for _ in range(17):
        writer.write(chunk)
        await writer.drain()
    writer.write(b"0\r\n\r\n")
    assert (await read_response(reader)).status == 413
    # The rest was swallowed, so the connection is still good.
    writer.write(client.written("POST", "/", GET_ITEM, REQUEST))
    assert (await read_response(reader)).status == 200
    writer.close()
    assert len(database.calls) == 1


async def test_a_request_in_chunks_is_read(client: Client, database: Database) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
    head = client.written("POST", "/", GET_ITEM | {"Transfer-Encoding": "chunked"}, b"")
    writer.write(head.replace(b"Content-Length: 0\r\n", b""))
    for letter in json.dumps(REQUEST).encode():
        writer.write(b"1\r\n%c\r\n" % letter)
        await writer.drain()
    writer.write(b"0\r\n\r\n")
    assert (await read_response(reader)).status == 200
    writer.close()
    assert database.calls == [("GetItem", REQUEST)]


async def test_too_large_headers_are_refused(client: Client) -> None:
    assert (await client.send(headers=GET_ITEM | {"X": "x" * 17_000}, body=REQUEST)).status == 400


async def test_a_head_is_refused_as_it_arrives(client: Client) -> None:
    """The parser puts the pieces of a header together anew with each that comes: an endless one stops all others."""
    reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
    writer.write(client.written("POST", "/", GET_ITEM, b"").removesuffix(b"\r\n") + b"X: ")
    sent = 0
    with contextlib.suppress(ConnectionError):
        while not reader.at_eof() and sent < 16 * MIB:
            writer.write(b"a" * 64 * KIB)
            sent += 64 * KIB
            await writer.drain()
    assert sent < 16 * MIB
    writer.close()


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\n\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 64 * KIB,
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: a\r\n" * 20_000,
    ],
)
async def test_a_head_that_could_mean_two_things_or_does_not_end_is_refused(client: Client, head: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
    writer.write(head)
    response = await read_response(reader)
    assert (response.status, response.headers["connection"]) == (400, "close")
    assert response.headers["content-type"].startswith("text/plain")
    writer.close()


async def test_trailers_do_not_go_on_for_ever(client: Client, database: Database) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
    head = client.written("POST", "/", GET_ITEM | {"Transfer-Encoding": "chunked"}, b"")
    writer.write(head.replace(b"Content-Length: 0\r\n", b"") + b"0\r\nX: " + b"a" * MIB)
    with contextlib.suppress(ConnectionError):
        assert b"413" in await asyncio.wait_for(reader.readline(), PATIENCE_SECONDS)
    writer.close()
    assert database.calls == []


async def test_who_sends_nothing_or_no_end_is_let_go(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.2)
    monkeypatch.setattr(uvicorn_adapter, "TICKS_BETWEEN_CHECKS", 1)
    async with serving(database) as port:
        unfinished = Client(port).written("POST", "/", GET_ITEM, REQUEST)[:-1]
        for sent, answer in ((b"", b""), (b"POST / HT", b"HTTP/1.1 408"), (unfinished, b"HTTP/1.1 408")):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            assert (await asyncio.wait_for(reader.read(), PATIENCE_SECONDS))[:12] == answer
            writer.close()
    assert database.calls == []


async def test_what_is_no_http_is_refused_quietly(client: Client, capfd: pytest.CaptureFixture[str]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
    writer.write(b"\x16\x03\x01 hello\r\n\r\n")
    assert (await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)).startswith(b"HTTP/1.1 400 ")
    writer.close()
    assert capfd.readouterr() == ("", "")


async def test_pipelined_requests_are_answered_in_order_on_one_connection(client: Client, database: Database) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
    good = client.written("POST", "/", GET_ITEM, REQUEST)
    bad = client.written("POST", "/", GET_ITEM, b"hi")
    writer.write((good + bad) * 20)
    assert [(await read_response(reader)).status for _ in range(40)] == [200, 400] * 20
    writer.close()
    assert len(database.calls) == 20


async def test_a_client_that_leaves_early_disturbs_nobody(client: Client, database: Database) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", client.port)
    writer.write(client.written("POST", "/", GET_ITEM, REQUEST)[:-5])
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    assert (await client.send(headers=GET_ITEM, body=REQUEST)).status == 200
    assert len(database.calls) == 1


# --- starting and stopping ---


async def test_a_request_under_way_is_answered_before_the_server_stops(database: Database) -> None:
    database.held = asyncio.Event()
    async with serving(database) as port:
        asked = asyncio.create_task(Client(port).send(headers=GET_ITEM, body=REQUEST))
        await asyncio.wait_for(database.called.wait(), PATIENCE_SECONDS)
        asyncio.get_running_loop().call_later(0.3, database.held.set)
    assert (await asked).status == 200
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


async def test_an_idle_connection_does_not_hold_up_the_stop(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("KEEP_ALIVE_SECONDS", "STOP_SECONDS"):
        monkeypatch.setattr(server, limit, 2 * PATIENCE_SECONDS)
    async with serving(database) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(Client(port).written("POST", "/", GET_ITEM, REQUEST))
        await read_response(reader)
        began = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - began < PATIENCE_SECONDS
    assert await reader.read() == b""
    writer.close()


async def test_a_taken_port_is_an_error_to_the_caller(database: Database) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(OSError, match="in use"):
        await serve(database, port=other.getsockname()[1])


async def until_it_answers(port: int) -> None:
    async def answers() -> bool:
        with contextlib.suppress(OSError):
            return (await Client(port).send("GET")).status == 200
        return False

    await until(answers)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


async def test_serve_stops_when_cancelled(database: Database) -> None:
    port = free_port()
    task = asyncio.create_task(serve(database, port=port))
    await until_it_answers(port)
    handler = signal.getsignal(signal.SIGTERM)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert signal.getsignal(signal.SIGTERM) != handler
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


PROGRAM = """
import asyncio, sys
from pathlib import Path
from potluck.dynamo.server import serve

class Database:
    async def call(self, operation, request):
        Path(sys.argv[2]).touch()
        await asyncio.sleep(0.5)
        return {}

asyncio.run(serve(Database(), port=int(sys.argv[1])))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_stops_it_cleanly_and_silently(number: signal.Signals, tmp_path: Path) -> None:
    port, called = free_port(), tmp_path / "called"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROGRAM, str(port), str(called)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    await until_it_answers(port)
    asked = asyncio.create_task(Client(port).send(headers=GET_ITEM, body=REQUEST))
    await until(lambda: asyncio.to_thread(called.exists))
    process.send_signal(number)
    assert (await asked).status == 200
    assert await asyncio.wait_for(process.communicate(), PATIENCE_SECONDS) == (b"", b"")
    assert process.returncode == 0


# --- the SDK ---


@pytest.fixture
def through_boto3(client: Client) -> Callable[..., Awaitable[Any]]:
    sdk = boto3.client(
        "dynamodb",
        endpoint_url=f"http://127.0.0.1:{client.port}",
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
        config=Config(retries={"max_attempts": 1}),
    )
    return lambda operation, **request: asyncio.to_thread(getattr(sdk, operation), **request)


async def test_boto3_is_answered(through_boto3: Callable[..., Awaitable[Any]], database: Database) -> None:
    answer = await through_boto3("get_item", **REQUEST)
    assert answer["Item"] == {"id": {"S": "1"}}
    assert database.calls == [("GetItem", REQUEST)]


async def test_boto3_understands_the_errors(through_boto3: Callable[..., Awaitable[Any]], database: Database) -> None:
    database.answer = FAILED
    with pytest.raises(ClientError) as failed:
        await through_boto3("get_item", **REQUEST)
    assert failed.value.response["Error"] == {
        "Code": "ConditionalCheckFailedException",
        "Message": "The conditional request failed",
    }
    assert failed.value.response["Item"] == {"id": {"S": "1"}}
    database.answer = CANCELLED
    action = {"Delete": REQUEST}
    with pytest.raises(ClientError) as cancelled:
        await through_boto3("transact_write_items", TransactItems=[action, action])
    assert cancelled.value.response["Error"]["Message"] == "Transaction cancelled"
    assert cancelled.value.response["CancellationReasons"] == REASONS

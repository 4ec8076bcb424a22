"""The four things the suite is run on, behind one call in wire form."""

import asyncio
import base64
import binascii
import contextlib
import datetime
import http.client
import json
import queue
import re
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

import boto3
import botocore.config
import botocore.exceptions

from potluck.dynamo import SyncDatabase, attach
from potluck.dynamo.errors import DynamoError
from tests.conformance.differences import in_words_of_dynamodb_local
from tests.patience import PATIENCE_SECONDS
from tests.references import REGION, dynamodb_local

__all__ = ["TARGETS", "Target", "running"]

TARGETS = ("embedded", "attached", "http", "local")
STREAMS_OPERATIONS = {"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"}
CONNECTIONS = 16
STOP_SECONDS = 10.0
# Nobody listens there: a call that is sent all the same fails.
NOBODY = "http://127.0.0.1:1"


class Target:
    """Something that answers the DynamoDB API; every refusal is a DynamoError."""

    def __init__(self, name: str, endpoint: str | None = None) -> None:
        self.name = name
        self.endpoint = endpoint

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    async def refuses(
        self, operation: str, request: dict[str, Any], code: str, message: str | re.Pattern[str]
    ) -> DynamoError:
        """The refusal of this request, which must have exactly this code and this message."""
        try:
            answer = await self.call(operation, request)
        except DynamoError as refusal:
            if refusal.code == code and self.says(message, refusal.message):
                return refusal
            raise AssertionError(
                f"{operation} was refused with\n  {refusal.code}: {refusal.message}\nand not with\n  {code}: {message}"
            ) from None
        raise AssertionError(f"{operation} was answered with {answer}, not refused with {code}: {message}")

    async def invalid(self, operation: str, request: dict[str, Any], message: str | re.Pattern[str]) -> DynamoError:
        """The refusal of a request that the service calls a ValidationException."""
        return await self.refuses(operation, request, "ValidationException", message)

    def says(self, message: str | re.Pattern[str], said: str) -> bool:
        """Whether what was said is this message of the service, in this target's words."""
        if isinstance(message, re.Pattern):
            return message.fullmatch(said) is not None
        return in_words_of_dynamodb_local(message, said) if self.name == "local" else said == message


class Embedded(Target):
    """The engine in this process."""

    def __init__(self, database: Any) -> None:
        super().__init__("embedded")
        self._database = database

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        # A copy, so that a test sees it if the engine keeps or changes what it was given.
        answer = await self._database.call(operation, json.loads(json.dumps(request)))
        assert isinstance(answer, dict)
        return answer


class ThroughBoto(Target):
    """An HTTP endpoint, called through boto3's low-level clients."""

    def __init__(self, name: str, endpoint: str) -> None:
        super().__init__(name, endpoint)
        self._clients = {service: _client(service, endpoint) for service in ("dynamodb", "dynamodbstreams")}
        self._exact_body = threading.local()
        for client in self._clients.values():
            # First, because who answers in process answers there too.
            client.meta.events.register_first(
                f"before-call.{client.meta.service_model.service_id.hyphenize()}", self._replace_body
            )

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        return await asyncio.to_thread(self._call, operation, request)

    def _call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        client = self._clients["dynamodbstreams" if operation in STREAMS_OPERATIONS else "dynamodb"]
        shape = client.meta.service_model.operation_model(operation).input_shape
        try:
            try:
                answer = client._make_api_call(operation, _to_boto(request, shape))
            except (botocore.exceptions.ParamValidationError, binascii.Error):
                # boto3 refuses to write what the test wants to send, so the body goes out as the test wrote it.
                self._exact_body.text = json.dumps(request)
                try:
                    answer = client._make_api_call(operation, _acceptable(operation))
                finally:
                    self._exact_body.text = None
        except botocore.exceptions.ClientError as refusal:
            raise _refusal(refusal) from None
        answer.pop("ResponseMetadata")
        return _from_boto(answer)

    def attached_to(self, store: SyncDatabase) -> "ThroughBoto":
        """The same, with every call answered in this process."""
        for client in self._clients.values():
            attach(client, store)
        return self

    def _replace_body(self, params: dict[str, Any], **_: Any) -> None:
        text = getattr(self._exact_body, "text", None)
        if text is not None:
            params["body"] = text.encode()


def _client(service: str, endpoint: str) -> Any:
    return boto3.session.Session().client(
        service,
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id="conformance",
        aws_secret_access_key="conformance",
        config=botocore.config.Config(
            retries={"total_max_attempts": 1},
            max_pool_connections=CONNECTIONS,
            connect_timeout=PATIENCE_SECONDS,
            read_timeout=PATIENCE_SECONDS,
            proxies={},
            account_id_endpoint_mode="disabled",
        ),
    )


def _acceptable(operation: str) -> dict[str, Any]:
    # Arguments that pass boto3's own validation; the body is replaced before it is signed and sent.
    name, key = "replaced", {"p": {"S": "replaced"}}
    definitions = [{"AttributeName": "p", "AttributeType": "S"}]
    schema = [{"AttributeName": "p", "KeyType": "HASH"}]
    specification = {"Enabled": True, "AttributeName": "replaced"}
    put = {"Put": {"TableName": name, "Item": key}}
    arguments: dict[str, dict[str, Any]] = {
        "CreateTable": {"TableName": name, "AttributeDefinitions": definitions, "KeySchema": schema},
        "ListTables": {},
        "UpdateTimeToLive": {"TableName": name, "TimeToLiveSpecification": specification},
        "PutItem": {"TableName": name, "Item": key},
        "GetItem": {"TableName": name, "Key": key},
        "UpdateItem": {"TableName": name, "Key": key},
        "DeleteItem": {"TableName": name, "Key": key},
        "BatchGetItem": {"RequestItems": {name: {"Keys": [key]}}},
        "BatchWriteItem": {"RequestItems": {name: [{"DeleteRequest": {"Key": key}}]}},
        "TransactGetItems": {"TransactItems": [{"Get": {"TableName": name, "Key": key}}]},
        "TransactWriteItems": {"TransactItems": [put]},
        "DescribeEndpoints": {},
        "DescribeLimits": {},
        "UpdateContinuousBackups": {
            "TableName": name,
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        },
        "TagResource": {"ResourceArn": name, "Tags": [{"Key": "replaced", "Value": "replaced"}]},
        "UntagResource": {"ResourceArn": name, "TagKeys": ["replaced"]},
        "ListTagsOfResource": {"ResourceArn": name},
        "ListStreams": {},
        "DescribeStream": {"StreamArn": "a" * 40},
        "GetShardIterator": {"StreamArn": "a" * 40, "ShardId": "s" * 40, "ShardIteratorType": "LATEST"},
        "GetRecords": {"ShardIterator": "replaced"},
    }
    return arguments.get(operation, {"TableName": name})


def _to_boto(value: Any, shape: Any) -> Any:
    if shape.type_name == "structure" and isinstance(value, dict):
        return {
            name: _to_boto(part, shape.members[name]) if name in shape.members else part for name, part in value.items()
        }
    if shape.type_name == "map" and isinstance(value, dict):
        return {name: _to_boto(part, shape.value) for name, part in value.items()}
    if shape.type_name == "list" and isinstance(value, list):
        return [_to_boto(part, shape.member) for part in value]
    if shape.type_name == "blob" and isinstance(value, str):
        return base64.b64decode(value, validate=True)
    return value


def _from_boto(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _from_boto(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_from_boto(part) for part in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime.datetime):
        return value.timestamp()
    return value


def _refusal(refusal: botocore.exceptions.ClientError) -> DynamoError:
    answer: dict[str, Any] = _from_boto(dict(refusal.response))
    error = answer["Error"]
    return DynamoError(
        error["Code"], error.get("Message", ""), item=answer.get("Item"), reasons=answer.get("CancellationReasons")
    )


@contextlib.asynccontextmanager
async def running(name: str) -> AsyncIterator[Target]:
    """This target with an empty store, until the block ends."""
    if name == "embedded":
        from potluck.dynamo.database import Database

        database = await Database.open(None)
        try:
            yield Embedded(database)
        finally:
            await database.close()
    elif name == "attached":
        with SyncDatabase.open() as store:
            yield ThroughBoto(name, NOBODY).attached_to(store)
    elif name == "http":
        with _served() as endpoint:
            yield ThroughBoto(name, endpoint)
    else:
        with dynamodb_local(for_speed=False) as reference:
            yield ThroughBoto(name, reference.endpoint)


@contextlib.contextmanager
def _served() -> Iterator[str]:
    # On a thread with a loop of its own: boto3 blocks, and the tests' loop must not be the one that answers it.
    from potluck.dynamo.database import Database
    from potluck.dynamo.server import serving

    try:
        from uvloop import run as run_loop  # what `potluck dynamodb` runs on where there is one
    except ImportError:
        run_loop = asyncio.run

    started: queue.Queue[tuple[int, asyncio.AbstractEventLoop, asyncio.Event] | BaseException] = queue.Queue()

    async def serve() -> None:
        database, over = await Database.open(None), asyncio.Event()
        try:
            async with serving(database) as port:
                started.put((port, asyncio.get_running_loop(), over))
                await over.wait()
        finally:
            await database.close()

    def run() -> None:
        try:
            run_loop(serve())
        except BaseException as failure:
            started.put(failure)

    thread = threading.Thread(target=run, name="served", daemon=True)
    thread.start()
    answer = started.get()
    if isinstance(answer, BaseException):
        raise answer
    port, loop, over = answer
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(STOP_SECONDS)
    if not started.empty():
        raise RuntimeError("the server failed") from started.get()


def post(endpoint: str, body: bytes, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
    """Status, headers (names in lower case) and body of one request, sent exactly as given."""
    connection = http.client.HTTPConnection(urlsplit(endpoint).netloc, timeout=PATIENCE_SECONDS)
    try:
        connection.request("POST", "/", body, headers)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()

"""Amazon DynamoDB, or any endpoint that speaks its protocol.

The wire form of values is the JSON protocol itself, so a request is encoded, signed and sent unchanged, and the answer
is decoded and returned unchanged. aiobotocore finds the region, the endpoint and the credentials, and botocore signs;
their conversion of every value to Python types and back is not needed.

After a broken connection, only requests that are safe to send twice are retried: reads, and transactions, which carry
a token. Throttling and conflicts are left to the caller to retry, because only the caller knows its budget.
"""

import asyncio
import contextlib
import logging
import os
import re
import time
import uuid
import zlib
from typing import Any
from urllib.parse import urlsplit

import aiobotocore.session  # type: ignore[import-untyped]
import aiohttp
import msgspec
from botocore.auth import SigV4Auth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]

from potluck.engines import ACCESS_DENIED, ANSWER_LOST, CLOSED, REQUEST_NOT_SENT, AccessDenied, DynamoError
from potluck.engines.shard_reads import ShardReads
from potluck.engines.transient import MAYBE_EXECUTED, is_throttled
from potluck.metrics import CALL_SECONDS
from potluck.states import ENGINE_UNREACHABLE, THROTTLED, Trouble

READS = frozenset(
    {
        *("DescribeTable", "ListTables", "DescribeTimeToLive"),
        *("GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"),
    }
)
WRITES = frozenset(
    {
        *("CreateTable", "UpdateTable", "DeleteTable", "UpdateTimeToLive"),
        *("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"),
    }
)
STREAM_READS = frozenset({"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"})
REPEATABLE = READS | STREAM_READS | {"TransactWriteItems"}

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 60.0
# Shorter than the service's keep-alive, so that a write is seldom sent on a connection that was just closed.
IDLE_CONNECTION_SECONDS = 12.0
CONNECTIONS = 100
CLOSING_GRACE_SECONDS = 5.0
# Some calls are answered while others are not: only after so long without a failure is it over.
CALM_SECONDS = 5.0
UNREACHABLE = MAYBE_EXECUTED | {REQUEST_NOT_SENT}
# How soon after a write its record is surely in the stream, and how long to wait before looking for it again.
APPEARS_SECONDS = 1.0
LOOK_AGAIN_SECONDS = 0.5

# What the service says about a call that a policy does not allow; in a transaction, the action is that of one item.
NOT_ALLOWED = re.compile(r"not authorized to perform: (dynamodb:\w+)(?: on resource: (arn:\S+))?")


log = logging.getLogger(__name__)


class Aws:
    """The engine that sends every call to the service."""

    def __init__(self, credentials: Any, region: str, table_url: str, stream_url: str) -> None:
        self.region = region
        self._credentials = credentials
        self._urls = {"DynamoDB_20120810": table_url, "DynamoDBStreams_20120810": stream_url}
        self.endpoint = table_url
        self._known_denials: set[str] = set()
        self.shard_reads = ShardReads()
        self._writes: dict[str, _Writes] = {}
        self._closed = False
        self._unreachable = Trouble(ENGINE_UNREACHABLE, log, "DynamoDB does not answer", calm_seconds=CALM_SECONDS)
        self._throttled = Trouble(THROTTLED, log, "DynamoDB throttles", calm_seconds=CALM_SECONDS)
        self._pending = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=CONNECTIONS, keepalive_timeout=IDLE_CONNECTION_SECONDS),
            timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS, sock_read=ANSWER_SECONDS),
            # The machine's proxy does not serve loopback addresses.
            trust_env=urlsplit(table_url).hostname not in {"localhost", "127.0.0.1", "::1"},
        )

    @classmethod
    async def open(
        cls,
        region: str | None = None,
        endpoint: str | None = None,
        access_key: str | None = None,
        secret_key: str | None = None,
        session_token: str | None = None,
    ) -> "Aws":
        """Open the service; the rest comes from the environment, the profile or the instance, as in any AWS tool."""
        session = aiobotocore.session.get_session()
        if access_key is not None:
            session.set_credentials(access_key, secret_key, session_token)
        urls = []
        for service in ("dynamodb", "dynamodbstreams"):
            async with session.create_client(service, region_name=region, endpoint_url=endpoint) as client:
                region = client.meta.region_name
                urls.append(client.meta.endpoint_url.rstrip("/") + "/")
        assert region is not None
        return cls(await session.get_credentials(), region, *urls)

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation in READS or operation in WRITES:
            service = "DynamoDB_20120810"
        elif operation in STREAM_READS:
            service = "DynamoDBStreams_20120810"
        else:
            raise DynamoError("UnknownOperationException", f"{operation} is not an operation of this engine")
        if operation == "TransactWriteItems" and "ClientRequestToken" not in request:
            request = {**request, "ClientRequestToken": str(uuid.uuid4())}
        try:
            body = msgspec.json.encode(request)
        except (TypeError, ValueError) as error:
            raise DynamoError("SerializationException", str(error)) from error
        if self._closed:
            raise DynamoError(CLOSED, "the engine is closed")
        self._pending += 1
        self._quiet.clear()
        try:
            try:
                answer = await self._send(service, operation, body)
            except DynamoError as error:
                if error.code == ACCESS_DENIED:
                    raise self._denied(operation, request, error) from error
                if error.code != ANSWER_LOST or operation not in REPEATABLE or self._closed:
                    raise
                answer = await self._send(service, operation, body)
            if operation in WRITES and self._writes:
                for table in _written_by(request):
                    if table in self._writes:
                        self._writes[table].note()
            return answer
        finally:
            self._pending -= 1
            if not self._pending:
                self._quiet.set()

    async def changed(self, table: str, timeout: float) -> bool:
        """Wait for a write of this process; those of others are found by looking, which is left to the caller."""
        if self._closed:
            raise DynamoError(CLOSED, "the engine is closed")
        return await self._writes.setdefault(table, _Writes()).wait(timeout)

    async def close(self) -> None:
        """Calls in flight may finish within a grace period; those that do not fail as lost answers."""
        if self._closed:
            return
        self._closed = True
        try:
            async with asyncio.timeout(CLOSING_GRACE_SECONDS):
                await self._quiet.wait()
        except TimeoutError:
            pass
        finally:
            await self._http.close()
            self._unreachable.forget()
            self._throttled.forget()

    async def _send(self, service: str, operation: str, body: bytes) -> dict[str, Any]:
        began = time.perf_counter()
        try:
            answer = await self._post(service, operation, body)
        except DynamoError as error:
            if error.code in UNREACHABLE:
                self._unreachable.met(f"{error.code} at {self._urls[service]}")
            elif is_throttled(error):
                self._throttled.met(f"{operation} got {error.code}")
            raise
        finally:
            CALL_SECONDS.observe(time.perf_counter() - began, (operation,))
        self._unreachable.over()
        self._throttled.over()
        return answer

    async def _post(self, service: str, operation: str, body: bytes) -> dict[str, Any]:
        url = self._urls[service]
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"{service}.{operation}",
            "Accept-Encoding": "identity",  # the checksum covers the bytes as sent
        }
        headers = await self._signed(url, headers, body)
        try:
            async with self._http.post(url, data=body, headers=headers, allow_redirects=False) as response:
                content = await response.read()
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise DynamoError(REQUEST_NOT_SENT, f"no connection to {url}: {_why_not(error)}") from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise DynamoError(ANSWER_LOST, f"no answer from {url}: {error or type(error).__name__}") from error
        checksum = response.headers.get("x-amz-crc32")
        if checksum is not None and int(checksum) != zlib.crc32(content):
            raise DynamoError(ANSWER_LOST, f"the answer from {url} was damaged in transit")
        if response.status == 200:
            try:
                answer: dict[str, Any] = msgspec.json.decode(content or b"{}", type=dict[str, Any])
            except msgspec.DecodeError as error:
                raise DynamoError(ANSWER_LOST, f"the answer from {url} is not JSON: {error}") from error
            return answer
        raise _error(response.status, content)

    def _denied(self, operation: str, request: dict[str, Any], error: DynamoError) -> AccessDenied:
        """The error, which is logged once for each permission: a request's own log line does not name it."""
        denied = _missing_permission(operation, request, error)
        if denied.message not in self._known_denials:
            self._known_denials.add(denied.message)
            log.error("%s", denied.message)
        return denied

    async def _signed(self, url: str, headers: dict[str, str], body: bytes) -> dict[str, str]:
        if self._credentials is None:
            raise DynamoError("MissingAuthenticationTokenException", "no AWS credentials were found")
        try:
            credentials = await self._credentials.get_frozen_credentials()
        except BotoCoreError as error:
            raise DynamoError(REQUEST_NOT_SENT, f"no AWS credentials to sign with: {error}") from error
        request = AWSRequest(method="POST", url=url, headers=headers, data=body)
        SigV4Auth(credentials, "dynamodb", self.region).add_auth(request)
        return dict(request.headers.items())


def _error(status: int, content: bytes) -> DynamoError:
    try:
        decoded: Any = msgspec.json.decode(content)
    except msgspec.DecodeError:
        decoded = None
    if not isinstance(decoded, dict) or not isinstance(decoded.get("__type"), str):
        code = "InternalServerError" if status == 500 else "ServiceUnavailable" if status > 500 else f"Http{status}"
        return DynamoError(code, content.decode("utf-8", "replace")[:500])
    return DynamoError(
        decoded["__type"].rpartition("#")[2],
        decoded.get("message") or decoded.get("Message") or "",
        decoded.get("Item"),
        decoded.get("CancellationReasons"),
    )


def _why_not(error: Exception) -> str:
    """Why there is no connection, in words."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "its name cannot be resolved"
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return f"its certificate is not trusted ({error})"
    if isinstance(error, aiohttp.ClientConnectorError):
        number = error.os_error.errno
        if number is not None and number > 0:
            return os.strerror(number).lower()
        # The loop's message has the numbers of all addresses it tried.
        return "connection refused" if "Connect call failed" in str(error) else str(error)
    return f"it did not answer within {CONNECT_SECONDS:.0f} seconds"


def _missing_permission(operation: str, request: dict[str, Any], error: DynamoError) -> AccessDenied:
    """Say which permission is missing, for what, and what to do."""
    match = NOT_ALLOWED.search(error.message)
    action = match[1] if match else f"dynamodb:{operation}"
    tables = ", ".join(sorted(_written_by(request) - {""}))
    resource = (match and match[2]) or request.get("StreamArn") or tables or "the stream"
    return AccessDenied(
        f"the policy of these AWS credentials does not allow {action} on {resource}: add it; `potluck tables policy` "
        "prints all that is needed"
    )


def _written_by(request: dict[str, Any]) -> set[str]:
    """The tables that a request writes to."""
    if "TransactItems" in request:
        return {action["TableName"] for item in request["TransactItems"] for action in item.values()}
    if "RequestItems" in request:
        return set(request["RequestItems"])
    return {request.get("TableName", "")}


class _Writes:
    """When this process last wrote to a table."""

    def __init__(self) -> None:
        self._last = float("-inf")
        self._written = asyncio.Event()

    def note(self) -> None:
        self._last = time.monotonic()
        self._written.set()
        self._written.clear()

    async def wait(self, timeout: float) -> bool:
        """Whether there is a write within this time, or was one whose record may not have been in the stream yet."""
        if time.monotonic() - self._last < APPEARS_SECONDS:
            await asyncio.sleep(min(timeout, LOOK_AGAIN_SECONDS))
            return True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                return await self._written.wait()
        return False

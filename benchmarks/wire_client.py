"""The DynamoDB JSON protocol over kept-alive loopback connections, as thin as it can be in Python.

The same client asks every server, so that what differs between two measurements is the server.
"""

import asyncio
from typing import Any, cast
from urllib.parse import urlsplit

import orjson

# Nobody here verifies signatures, but each server reads the header to find access key and region.
SIGNED_LOOKING = (
    "AWS4-HMAC-SHA256 Credential=benchmark/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + "0" * 64
)


class WireError(Exception):
    """The server answered with something else than 200."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"{status}: {body[:500].decode(errors='replace')}")
        self.status = status
        self.body = body


class Connection(asyncio.Protocol):
    """One connection with one request under way at a time."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.received = bytearray()
        self.answer: asyncio.Future[bytes] | None = None
        self.head_end = -1
        self.body_bytes: int | None = None
        self.status = 0
        self.closing = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(ConnectionError("the server closed the connection"))

    def data_received(self, data: bytes) -> None:
        self.received += data
        if self.head_end < 0:
            self.head_end = self.received.find(b"\r\n\r\n")
            if self.head_end < 0:
                return
            self._read_head()
        body_start = self.head_end + 4
        if self.body_bytes is None:
            if self.received.endswith(b"0\r\n\r\n"):
                self._finish(unchunked(bytes(self.received[body_start:])))
        elif len(self.received) >= body_start + self.body_bytes:
            self._finish(bytes(self.received[body_start : body_start + self.body_bytes]))

    def _read_head(self) -> None:
        head = bytes(self.received[: self.head_end]).lower()
        self.status = int(head[9:12])
        at = head.find(b"\r\ncontent-length:")
        self.body_bytes = None if at < 0 else int(head[at + 17 :].split(b"\r\n", 1)[0])
        self.closing = b"\r\nconnection: close" in head or head.startswith(b"http/1.0")

    def _finish(self, body: bytes) -> None:
        answer, self.answer = self.answer, None
        self.received.clear()
        self.head_end = -1
        if self.closing and self.transport is not None:
            self.transport.close()
            self.transport = None
        assert answer is not None
        if 200 <= self.status < 300:
            answer.set_result(body)
        else:
            answer.set_exception(WireError(self.status, body))


def unchunked(data: bytes) -> bytes:
    body = bytearray()
    at = 0
    while True:
        line_end = data.index(b"\r\n", at)
        length = int(data[at:line_end].split(b";")[0], 16)
        if length == 0:
            return bytes(body)
        body += data[line_end + 2 : line_end + 2 + length]
        at = line_end + 2 + length + 2


class WireClient:
    """A few kept-alive connections to one server; `call` is for set-up, `send` for what is measured."""

    def __init__(self, endpoint: str, connections: int) -> None:
        parts = urlsplit(endpoint)
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port or 80
        self.connections = [Connection() for _ in range(connections)]
        self.free: asyncio.LifoQueue[Connection] = asyncio.LifoQueue()
        for connection in self.connections:
            self.free.put_nowait(connection)

    def prepared(self, operation: str, request: dict[str, Any]) -> bytes:
        """The bytes of a request, made before the clock starts."""
        body = orjson.dumps(request)
        service = "DynamoDBStreams" if operation in STREAM_OPERATIONS else "DynamoDB"
        head = (
            f"POST / HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n"
            f"X-Amz-Target: {service}_20120810.{operation}\r\nX-Amz-Date: 20260101T000000Z\r\n"
            f"Authorization: {SIGNED_LOOKING}\r\nContent-Type: application/x-amz-json-1.0\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    async def send(self, connection: Connection, prepared: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        if connection.transport is None or connection.transport.is_closing():
            connection.closing = False
            await loop.create_connection(lambda: connection, self.host, self.port)
        assert connection.transport is not None
        connection.answer = loop.create_future()
        connection.transport.write(prepared)
        return await connection.answer

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        connection = await self.free.get()
        try:
            body = await self.send(connection, self.prepared(operation, request))
        finally:
            self.free.put_nowait(connection)
        answer: dict[str, Any] = orjson.loads(body) if body else {}
        return answer

    async def close(self) -> None:
        for connection in self.connections:
            if connection.transport is not None:
                connection.transport.close()


STREAM_OPERATIONS = frozenset({"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"})

"""Requests that both servers carry out, byte for byte, and the servers, which note what they carried out."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from potluck.dynamo.server import serving
from tests.web.server_here import lifespan, served_here

__all__ = ["SERVERS", "SMUGGLED", "Framing", "Target", "chunked", "counted", "item", "request"]

SMUGGLED = "smuggled"
HEADERS = "x-amz-target: DynamoDB_20120810.GetItem\r\ncontent-type: application/json\r\nx-amz-date: 20260101T0Z\r\n"
SIGNATURE = "AWS4-HMAC-SHA256 Credential=a/20260101/b/dynamodb/aws4_request, SignedHeaders=host, Signature=0"
SERVERS = ("suite", "dynamodb")

Framing = Callable[..., bytes]


class Target:
    """One of the servers: answers with the name it was asked for, and notes it."""

    def __init__(self) -> None:
        self.port = 0
        self.executed: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """The suite's part: an application."""
        if scope["type"] == "lifespan":
            await lifespan(receive, send)
            return
        body, message = b"", {"more_body": True}
        while message["more_body"]:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message["body"]
        status, answer = 200, b"{}"
        try:
            if body:
                answer = json.dumps(await self.call("GetItem", json.loads(body))).encode()
        except ValueError:
            status = 400
        length = (b"content-length", b"%d" % len(answer))
        await send({"type": "http.response.start", "status": status, "headers": [length]})
        await send({"type": "http.response.body", "body": answer})

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """The part of `potluck dynamodb`: a database."""
        name = request["Key"]["id"]["S"]
        self.executed.append(name)
        if name == SMUGGLED:
            # Answered at once, a proxy would notice an answer that it had not asked for.
            await asyncio.sleep(0.02)
        return {"Item": {"id": {"S": name}}}

    @asynccontextmanager
    async def served(self, server: str) -> AsyncIterator[None]:
        if server == "suite":
            async with served_here(self) as here:
                self.port = here.port
                yield
        else:
            async with serving(self) as self.port:
                yield


def item(name: str) -> bytes:
    return json.dumps({"TableName": "Accounts", "Key": {"id": {"S": name}}}).encode()


def request(*lines: str, body: bytes, start: str = "POST / HTTP/1.1") -> bytes:
    """A request as both servers take it, with these header lines; they frame the body."""
    head = f"{start}\r\nhost: localhost\r\nauthorization: {SIGNATURE}\r\n{HEADERS}"
    return head.encode() + b"".join(f"{line}\r\n".encode() for line in lines) + b"\r\n" + body


def counted(*lines: str, body: bytes, start: str = "POST / HTTP/1.1") -> bytes:
    return request(*lines, f"content-length: {len(body)}", body=body, start=start)


def chunked(*lines: str, body: bytes, start: str = "POST / HTTP/1.1") -> bytes:
    chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    return request(*lines, "transfer-encoding: chunked", body=chunks, start=start)

"""The database over HTTP, for the AWS SDKs, the AWS CLI and other DynamoDB tools.

Requests must be signed, as the service demands, but signatures are not verified: any credentials work. The credential's
region, and an access key of 12 digits as the account, choose the tables. Strangers are kept out by the loopback address
it listens on, the check of the Host header (against web pages that use DNS rebinding), the required JSON content type,
and the absence of CORS headers.
"""

import asyncio
import logging
import re
import secrets
import signal
import socket
import string
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import lru_cache
from http import HTTPStatus
from ipaddress import ip_address
from itertools import count
from typing import Any, Protocol
from urllib.parse import parse_qs, unquote_to_bytes
from zlib import crc32

import msgspec

from potluck.dynamo.compression import Broken, TooLarge, compressed, expanded, preferred
from potluck.dynamo.error_bodies import error_body, status_of
from potluck.dynamo.errors import DynamoError
from potluck.dynamo.limits import KIB, MIB
from potluck.dynamo.namespaces import DEFAULT, Namespace
from potluck.dynamo.parameters import (
    OPERATIONS,
    OPERATIONS_NOT_OFFERED,
    STREAM_OPERATIONS,
    check_whole,
    unknown_operation,
)
from potluck.extras import needs_extra

with needs_extra("server"):
    from potluck.connections.limits import Connection, response
    from potluck.connections.uvicorn_adapter import HttpServer

REQUEST_BYTES = 16 * MIB
HEADER_BYTES = 16 * KIB
KEEP_ALIVE_SECONDS = 75
STOP_SECONDS = 10
COMPRESSED_BYTES = 4 * KIB
"""Shorter responses are sent uncompressed, whatever the client accepts."""
COMPRESSED_ASIDE_BYTES = 32 * KIB
"""Longer responses are compressed on another thread, so as not to block the event loop."""

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
ANY_ADDRESS = frozenset({"0.0.0.0", "::"})
HOST = re.compile(r"(?:\[([^\]]*)\]|([^:]*))(?::[0-9]*)?")

TARGETS = {
    **{f"DynamoDB_20120810.{name}".encode(): name for name in OPERATIONS},
    **{f"DynamoDBStreams_20120810.{name}".encode(): name for name in STREAM_OPERATIONS},
}
NOT_OFFERED = {f"DynamoDB_20120810.{name}".encode(): name for name in OPERATIONS_NOT_OFFERED}
JSON_TYPES = {kind: kind for kind in (b"application/x-amz-json-1.0", b"application/json")}
HEALTHY = b"healthy: %b "
UNHEALTHY = b"the store is damaged\n"
UNKNOWN = b"<UnknownOperationException/>\n"
ELSEWHERE = b"This server does not answer to that host name.\n"
HEADERS_TOO_LARGE = b"The request's headers are too large.\n"
TEXT = b"text/plain; charset=utf-8"

# The SDKs' own form; any other is examined more closely.
SIGNED = re.compile(rb"AWS4-[^\s,]+ Credential=[^\s,]+, ?SignedHeaders=[^\s,]+, ?Signature=[^\s,]+")
CREDENTIAL = re.compile(rb"Credential=([^\s,/]+)/[^\s,/]*/([a-z0-9-]{1,64})/")
ACCOUNT = re.compile(rb"[0-9]{12}")
SIGNED_HEADER = ("Credential", "Signature", "SignedHeaders")
SIGNED_QUERY = ("X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date")

# The service answers 500 here, which makes clients retry in vain: see docs/decisions/51.
NOT_EXPANDED = DynamoError(
    "SerializationException",
    "The body is not what its Content-Encoding says. It can be gzip, deflate or identity.",
)
FAILURE = DynamoError(
    "InternalServerError",
    "The request processing has failed because of an unknown error, exception or failure.",
)

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = dict[bytes, bytes]
Answer = tuple[int, bytes, bytes]  # status, content type, body

log = logging.getLogger(__name__)
decode = msgspec.json.Decoder().decode
encode = msgspec.json.Encoder().encode


class Callee(Protocol):
    """The served database. If it has `within`, that returns the database of each account and region."""

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]: ...


Within = Callable[[Namespace], Callee]


class Disconnected(Exception):
    """The client disconnected before its request was complete."""


def application(
    database: Callee, host: str = "127.0.0.1", host_names: Iterable[str] = (), *, shared: bool = False
) -> Application:
    """The database as an ASGI application that answers only to loopback names, `host` and `host_names`.

    With `shared`, all accounts and regions have the same tables.
    """
    admitted = admission(host, host_names)
    within: Within | None = None if shared else getattr(database, "within", None)
    is_damaged: Callable[[], bool] = getattr(database, "is_damaged", lambda: False)
    # Unique and in the service's format; a random text for each would cost more than all other headers.
    request_ids = map(f"{random_text(39)}%013d".__mod__, count())

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = dict(scope["headers"])
        try:
            if admitted(headers.get(b"host", b"")):
                if scope["method"] == "GET" and scope["path"] == "/" and is_damaged():
                    status, kind, body = 503, TEXT, UNHEALTHY
                else:
                    status, kind, body = await answered(database, within, scope, headers, receive)
            else:
                status, kind, body = 421, TEXT, ELSEWHERE
        except Disconnected:
            return
        coding = None
        if len(body) >= COMPRESSED_BYTES and b"accept-encoding" in headers:
            body, coding = await compressed_for(scope, body)
        sent = [
            (b"server", b"Server"),
            (b"x-amzn-requestid", next(request_ids).encode()),
            (b"x-amz-crc32", b"%d" % crc32(body)),
            (b"content-type", kind),
            (b"content-length", b"%d" % len(body)),
        ]
        if coding:
            sent.append((b"content-encoding", coding))
        await send({"type": "http.response.start", "status": status, "headers": sent})
        await send({"type": "http.response.body", "body": body})

    return answer


async def answered(
    database: Callee, within: "Within | None", scope: Scope, headers: Headers, receive: Receive
) -> Answer:
    if sum(map(len, headers.values())) > HEADER_BYTES:
        return 400, TEXT, HEADERS_TOO_LARGE
    if scope["path"] != "/":
        return 404, TEXT, UNKNOWN
    if scope["method"] == "GET":
        return 200, TEXT, HEALTHY % headers[b"host"]
    kind = content_type(headers)
    try:
        body = await body_of(headers, receive)
    except TooLarge:
        return 413, TEXT, b""
    except Broken:
        return 400, kind or b"application/json", encode(error_body(NOT_EXPANDED))
    if scope["method"] != "POST" or (body and kind is None):
        return 404, TEXT, UNKNOWN
    kind = kind or b"application/json"
    operation = ""
    try:
        operation, request = understood(scope, headers, body)
        callee = database if within is None else within(namespace_asked(scope["query_string"], headers))
        answer = await callee.call(operation, request)
        written = WRITTEN.get(operation)
        return 200, kind, written(answer, headers) if written else encode(answer)
    except DynamoError as error:
        return status_of(error), kind, encode(error_body(error))
    except Exception:
        log.exception("%s failed", operation)
        return 500, kind, encode(error_body(FAILURE))


async def body_of(headers: Headers, receive: Receive) -> bytes:
    """The whole body, decompressed; TooLarge beyond the service's limit."""
    body = await received(headers, receive)
    coding = headers.get(b"content-encoding")
    if coding is None:
        return body
    return await asyncio.to_thread(expanded, body, coding, REQUEST_BYTES)


async def received(headers: Headers, receive: Receive) -> bytes:
    announced = headers.get(b"content-length", b"0")
    if len(announced) > 7 and int(announced) > REQUEST_BYTES:
        raise TooLarge
    message = await receive()
    if message["type"] == "http.request" and not message["more_body"]:
        body: bytes = message["body"]
        if len(body) > REQUEST_BYTES:
            raise TooLarge
        return body
    chunks, size = [], 0
    while message["type"] == "http.request":
        chunks.append(message["body"])
        size += len(message["body"])
        if size > REQUEST_BYTES:
            raise TooLarge
        if not message["more_body"]:
            return b"".join(chunks)
        message = await receive()
    raise Disconnected


async def compressed_for(scope: Scope, body: bytes) -> tuple[bytes, bytes | None]:
    """The body in the client's preferred content coding, and that coding; None if it stays uncompressed."""
    # If the header is repeated, the service uses the first.
    coding = preferred(next(value for name, value in scope["headers"] if name == b"accept-encoding"))
    if coding is None:
        return body, None
    if len(body) < COMPRESSED_ASIDE_BYTES:
        return compressed(body, coding), coding
    return await asyncio.to_thread(compressed, body, coding), coding


def content_type(headers: Headers) -> bytes | None:
    content_type = headers.get(b"content-type", b"")
    return JSON_TYPES.get(content_type) or JSON_TYPES.get(content_type.partition(b";")[0].strip())


def understood(scope: Scope, headers: Headers, body: bytes) -> tuple[str, dict[str, Any]]:
    """The operation and its request, or the service's error; checked in the service's order."""
    request: Any = None
    if body:
        try:
            request = decode(body)
        except (ValueError, RecursionError):  # malformed, not UTF-8, or nested too deeply
            raise DynamoError("SerializationException", "") from None
    target = headers.get(b"x-amz-target", b"")
    operation = TARGETS.get(target)
    if operation is None:
        raise unknown_operation(NOT_OFFERED.get(target, ""))
    require_signature(scope["query_string"], headers)
    if not body or request is None:
        raise DynamoError("SerializationException", "")
    if type(request) is not dict:
        check_whole(operation, request)
    return operation, request


def require_signature(query_string: bytes, headers: Headers) -> None:
    """Refuse a request without a signature; any signature is accepted."""
    authorization = headers.get(b"authorization")
    dated = b"x-amz-date" in headers or b"date" in headers
    if authorization and not query_string and dated and SIGNED.fullmatch(authorization):
        return
    query = parse_qs(query_string.decode("latin-1"), keep_blank_values=True)
    in_query = "X-Amz-Algorithm" in query
    if authorization and in_query:
        raise DynamoError(
            "InvalidSignatureException",
            "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
        )
    if in_query:
        missing = [
            f"AWS query-string parameters must include '{name}'. "
            for name in SIGNED_QUERY
            if not parameter(query, name)
        ]
        if missing:
            raise DynamoError(
                "IncompleteSignatureException", "".join(missing) + "Re-examine the query-string parameters."
            )
        return
    text = (authorization or b"").decode("latin-1")
    if not text.strip().startswith("AWS4-"):
        raise DynamoError("MissingAuthenticationTokenException", "Request is missing Authentication Token")
    parts = dict(part.partition("=")[::2] for part in re.split("[, ]+", text)[1:])
    missing = [f"Authorization header requires '{name}' parameter. " for name in SIGNED_HEADER if not parts.get(name)]
    if not dated:
        missing.append("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ")
    if missing:
        raise DynamoError("IncompleteSignatureException", "".join(missing) + f"Authorization={text}")


def namespace_asked(query_string: bytes, headers: Headers) -> Namespace:
    """The account and region of a signed request: the access key, if it has 12 digits, and the credential's region."""
    signed = headers.get(b"authorization") or unquote_to_bytes(query_string)
    credential = CREDENTIAL.search(signed)
    if credential is None:
        return DEFAULT
    return namespace_named(credential[1], credential[2])


@lru_cache(1024)
def namespace_named(access_key: bytes, region: bytes) -> Namespace:
    account = access_key.decode() if ACCOUNT.fullmatch(access_key) else DEFAULT.account
    return Namespace(account, region.decode())


def parameter(query: dict[str, list[str]], name: str) -> str:
    return query.get(name, [""])[0]


def written_empty(answer: dict[str, Any], headers: Headers) -> bytes:
    return encode(answer) if answer else b""


def written_endpoints(answer: dict[str, Any], headers: Headers) -> bytes:
    """Answer with the address that the client used, which it can certainly reach."""
    address = headers[b"host"].decode("latin-1")
    return encode({"Endpoints": [endpoint | {"Address": address} for endpoint in answer["Endpoints"]]})


# Responses that are not simply the database's answer as JSON.
WRITTEN: dict[str, Callable[[dict[str, Any], Headers], bytes]] = {
    "DescribeEndpoints": written_endpoints,
    "TagResource": written_empty,
    "UntagResource": written_empty,
}


def admission(host: str, host_names: Iterable[str]) -> Callable[[bytes], bool]:
    """A check of whether a Host header names this server, which a page that uses DNS rebinding fails."""
    own = LOOPBACK | {host.lower()} | {name.lower() for name in host_names}
    everywhere = host in ANY_ADDRESS
    if everywhere:
        own |= {socket.gethostname().lower()}

    @lru_cache(256)
    def admitted(header: bytes) -> bool:
        match = HOST.fullmatch(header.decode("latin-1").lower())
        if match is None:
            return False
        name = (match[1] or match[2] or "").removesuffix(".")
        if name in own or name.endswith(".localhost"):
            return bool(name)
        try:
            address = ip_address(name)
        except ValueError:
            return False
        # DNS rebinding needs a name, so when listening on every address, any IP address is fine.
        return address.is_loopback or everywhere

    return admitted


def random_text(length: int) -> str:
    return "".join(secrets.choice(string.ascii_uppercase + string.digits) for _ in range(length))


class LimitedConnection(Connection):
    """A connection with the suite's limits, but with this server's own error responses."""

    most_waiting = 64

    def refusal(self, status: HTTPStatus) -> bytes:
        if status in (HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, HTTPStatus.REQUEST_URI_TOO_LONG):
            return response(HTTPStatus.BAD_REQUEST, {"content-type": TEXT.decode()}, HEADERS_TOO_LARGE)
        return super().refusal(status)


class DynamoServer(HttpServer):
    def __init__(self, served: Application) -> None:
        super().__init__(
            served,
            LimitedConnection,
            lifespan="off",
            log_level="critical",
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        self.startup_over = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        finally:
            self.startup_over.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the process's signals to the caller."""
        yield


async def started(
    database: Callee, host: str, port: int, host_names: Iterable[str], *, shared: bool = False
) -> tuple[DynamoServer, "asyncio.Task[None]", int]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Bound here rather than by uvicorn, which exits the process if the port is taken.
    listening = socket.create_server((host, port), family=family)
    # asyncio's own event loop leaves this to us; without it, small responses wait for the client's ACK.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = DynamoServer(application(database, host, host_names, shared=shared))
    running = asyncio.create_task(server.serve(sockets=[listening]))
    await server.startup_over.wait()
    if not server.started:
        listening.close()
        await running
    return server, running, listening.getsockname()[1]


@asynccontextmanager
async def serving(
    database: Callee,
    host: str = "127.0.0.1",
    port: int = 0,
    host_names: Iterable[str] = (),
    *,
    shared: bool = False,
) -> AsyncIterator[int]:
    """Serve the database in the running loop for as long as the block lasts; yields the port."""
    server, running, bound_port = await started(database, host, port, host_names, shared=shared)
    try:
        yield bound_port
    finally:
        server.should_exit = True
        await running


async def serve(database: Callee, host: str = "127.0.0.1", port: int = 8001, host_names: Iterable[str] = ()) -> None:
    """Serve the database until cancelled, interrupted or terminated; requests in progress are answered first."""
    server, running, _ = await started(database, host, port, host_names)
    with stopped_by_signals(server):
        try:
            await asyncio.shield(running)
        finally:
            server.should_exit = True
            await running


@contextmanager
def stopped_by_signals(server: DynamoServer) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, server.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

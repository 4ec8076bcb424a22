"""Nothing that is sent as a body, or after the last request of a connection, is carried out as a request."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from potluck.connections import limits
from tests.connections.raw_requests import SERVERS, SMUGGLED, Framing, Target, chunked, counted, item, request
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.asyncio(loop_scope="module")

OUTER = "outer"


class Received:
    """How many bytes the servers have read."""

    bytes = 0


def in_one(one: bytes) -> list[bytes]:
    return [one]


def head_and_body(one: bytes) -> list[bytes]:
    head, end, body = one.partition(b"\r\n\r\n")
    return [head + end, body]


def up_to_the_last_request(one: bytes) -> list[bytes]:
    """With the size of a chunk still in the segment of the head."""
    end = max(one.rfind(b"POST "), 0) or len(one)
    return [one[:end], one[end:]]


def byte_by_byte(one: bytes) -> list[bytes]:
    return [one[at : at + 1] for at in range(len(one))]


SEGMENTS = pytest.mark.parametrize("segments", [in_one, head_and_body, up_to_the_last_request, byte_by_byte])


@pytest_asyncio.fixture(params=SERVERS, scope="module", loop_scope="module")
async def server(request: pytest.FixtureRequest) -> AsyncIterator[Target]:
    target = Target()
    receive = limits.Connection.data_received

    def noted(connection: limits.Connection, data: bytes) -> None:
        receive(connection, data)
        Received.bytes += len(data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits.Connection, "data_received", noted)
        async with target.served(request.param):
            yield target


@pytest.fixture
def target(server: Target) -> Target:
    server.executed.clear()
    return server


async def sent(target: Target, segments: list[bytes]) -> bytes:
    """Everything the server answers until it closes; each segment goes out when the last has been read."""
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
    answering = asyncio.create_task(answers(reader))
    expected = Received.bytes
    for segment in segments:
        expected += len(segment)
        writer.write(segment)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while Received.bytes < expected and not answering.done():  # noqa: ASYNC110 - the server reads it
                await asyncio.sleep(0)
        if answering.done():
            break
    received = await asyncio.wait_for(answering, PATIENCE_SECONDS)
    writer.close()
    return received


async def answers(reader: asyncio.StreamReader) -> bytes:
    received = b""
    # A client that is refused before everything was read is reset after the answer.
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            received += data
    return received


def statuses(received: bytes) -> list[int]:
    return [int(head[:3]) for head in received.split(b"HTTP/1.1 ")[1:]]


FRAMINGS = pytest.mark.parametrize("framing", [counted, chunked])
SMUGGLED_REQUEST = counted("connection: close", body=item(SMUGGLED))

UPGRADES = [
    ["connection: upgrade", "upgrade: x"],
    ["Connection: keep-alive, Upgrade", "Upgrade: websocket"],
    ["connection: upgrade", "connection: keep-alive", "upgrade: x"],
    ["proxy-connection: upgrade", "upgrade: x"],
    ["connection: upgrade", "upgrade: h2c", "upgrade: x"],
    ["connection: upgrade", "upgrade: h2c, x"],
]


@FRAMINGS
@SEGMENTS
async def test_an_upgrade_with_a_body_is_refused_and_its_body_never_parsed(
    target: Target, framing: Framing, segments: Callable[[bytes], list[bytes]]
) -> None:
    for upgrade in UPGRADES if segments is not byte_by_byte else UPGRADES[:1]:
        received = await sent(target, segments(framing(*upgrade, body=SMUGGLED_REQUEST)))
        assert statuses(received) == [400], upgrade
        assert b"connection: close\r\n" in received
        assert target.executed == [], upgrade


@FRAMINGS
@SEGMENTS
@pytest.mark.parametrize("start", ["POST / HTTP/1.0", "CONNECT localhost:80 HTTP/1.1"])
async def test_an_old_client_s_upgrade_and_a_tunnel_are_refused_alike(
    target: Target, framing: Framing, segments: Callable[[bytes], list[bytes]], start: str
) -> None:
    received = await sent(target, segments(framing(*UPGRADES[0], body=SMUGGLED_REQUEST, start=start)))
    assert statuses(received) == [400]
    assert target.executed == []


@SEGMENTS
@pytest.mark.parametrize("lines", [[], ["content-length: 0"], ["content-length: 00"]], ids=str)
async def test_an_upgrade_without_a_body_is_answered_and_the_last_of_its_connection(
    target: Target, segments: Callable[[bytes], list[bytes]], lines: list[str]
) -> None:
    for start in "GET / HTTP/1.1", "GET / HTTP/1.0":
        upgrade = request(*UPGRADES[0], *lines, body=b"", start=start)
        received = await sent(target, [*segments(upgrade), *segments(SMUGGLED_REQUEST)])
        assert statuses(received) == [200]
        assert b"connection: close\r\n" in received
        assert target.executed == []


HTTP2 = ["connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQAAP__"]


@FRAMINGS
@SEGMENTS
async def test_an_offer_of_http2_is_ignored_and_its_body_read(
    target: Target, framing: Framing, segments: Callable[[bytes], list[bytes]]
) -> None:
    offered = framing(*HTTP2, body=item(OUTER))
    bodiless = request(*HTTP2, body=b"", start="GET / HTTP/1.1")
    last = counted("connection: close", body=item("last"))
    received = await sent(target, [*segments(offered + bodiless + offered), *segments(last)])
    assert statuses(received) == [200, 200, 200, 200]
    assert target.executed == [OUTER, OUTER, "last"]
    target.executed.clear()
    # A request in its body stays a body.
    received = await sent(target, segments(framing(*HTTP2, "connection: close", body=SMUGGLED_REQUEST)))
    assert statuses(received) == [400]
    assert target.executed == []


UNCERTAIN = {
    "both framings": ["content-length: 5", "transfer-encoding: chunked"],
    "both framings, the other way round": ["transfer-encoding: chunked", "content-length: 5"],
    "two lengths": ["content-length: 0", "content-length: 5"],
    "two equal lengths": ["content-length: 0", "content-length: 0"],
    "a list of lengths": ["content-length: 0, 0"],
    "a signed length": ["content-length: +0"],
    "a negative length": ["content-length: -1"],
    "a hexadecimal length": ["content-length: 0x0"],
    "no length": ["content-length:"],
    "a length beyond all numbers": ["content-length: 18446744073709551616"],
    "space before the colon": ["content-length : 0"],
    "space before the colon of a coding": ["transfer-encoding : chunked"],
    "a tab before the colon": ["transfer-encoding\t: chunked"],
    "a folded header": ["transfer-encoding:", " chunked"],
    "a folded header elsewhere": ["x: a", "\tb"],
    "a bare line feed": ["x: a\ncontent-length: 0"],
    "a bare carriage return": ["x: a\rcontent-length: 0"],
    "identity": ["transfer-encoding: identity"],
    "no such coding": ["transfer-encoding: xchunked"],
    "a coding in quotes": ['transfer-encoding: "chunked"'],
    "a coding after a vertical tab": ["transfer-encoding: \x0bchunked"],
    "a coding and another": ["transfer-encoding: chunked, identity"],
    "chunked twice": ["transfer-encoding: chunked, chunked"],
    "chunked in two headers": ["transfer-encoding: chunked", "transfer-encoding: chunked"],
    "no coding": ["transfer-encoding:"],
}


@pytest.mark.parametrize("lines", UNCERTAIN.values(), ids=UNCERTAIN)
async def test_a_body_whose_end_is_uncertain_is_refused_with_all_that_follows(target: Target, lines: list[str]) -> None:
    for segments in in_one, head_and_body:
        received = await sent(target, segments(request(*lines, body=SMUGGLED_REQUEST)))
        assert statuses(received) == [400]
        assert b"connection: close\r\n" in received
        assert target.executed == []


CHUNKS = {
    "a size in octal, or so": b"0x0\r\n\r\n",
    "a negative size": b"-1\r\n\r\n",
    "no size": b"\r\n\r\n",
    "a size beyond all numbers": b"10000000000000000\r\n\r\n",
    "space after the size": b"0 \r\n\r\n",
    "a line feed after the size": b"0\n\r\n",
    "a line feed after the last chunk": b"0\r\n\n",
    "a line feed after the data": b"1\r\na\n0\r\n\r\n",
    "more data than the size": b"1\r\nab\r\n0\r\n\r\n",
    "a line feed in an extension": b"0;a\n\r\n\r\n",
    "a line feed in a quoted extension": b'0;a="\n"\r\n\r\n',
    "a trailer without a colon": b"0\r\nx\r\n\r\n",
    "space before a trailer's colon": b"0\r\nx : y\r\n\r\n",
    "a trailer with a line feed": b"0\r\nx: y\n\r\n",
    "a trailer that frames": b"0\r\ncontent-length: 5\r\n\r\n",
    "a trailer that frames otherwise": b"0\r\ntransfer-encoding: chunked\r\n\r\n",
}


@pytest.mark.parametrize("body", CHUNKS.values(), ids=CHUNKS)
async def test_chunks_that_two_servers_may_read_differently_end_the_connection(target: Target, body: bytes) -> None:
    for segments in in_one, head_and_body:
        received = await sent(target, segments(request("transfer-encoding: chunked", body=body + SMUGGLED_REQUEST)))
        assert statuses(received) in ([400], [])
        assert target.executed == []


@SEGMENTS
async def test_nothing_is_carried_out_after_the_last_request(
    target: Target, segments: Callable[[bytes], list[bytes]]
) -> None:
    for last in (
        counted("connection: close", body=item(OUTER)),
        counted("connection: keep-alive", body=item(OUTER), start="POST / HTTP/1.0"),
        counted(*HTTP2, "connection: close", body=item(OUTER)),
    ):
        received = await sent(target, segments(last) + segments(SMUGGLED_REQUEST))
        assert statuses(received) == [200]
        assert target.executed == [OUTER]
        target.executed.clear()

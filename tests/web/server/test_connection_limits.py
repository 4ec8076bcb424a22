"""What a connection may take: heads and bodies that are too long, or that never come, end it and nothing else."""

import asyncio
import contextlib
import gc
import json
import socket
import struct
from types import SimpleNamespace

import pytest

from potluck.connections import limits, uvicorn_adapter
from potluck.web.server import connection, uvicorn_server
from tests.patience import PATIENCE_SECONDS, stopped
from tests.web.server_here import lifespan, served_here

MORE_THAN_BUFFERS = 32 * 1024 * 1024


class Application:
    """Answers with what it was sent, and says who it thinks sent it."""

    def __init__(self):
        self.left = 0
        self.hangs = False
        self.ended: list[str] = []
        self.state = SimpleNamespace(on_stopping=self.stop)
        self.flood = False
        self.answered = 0
        self.held = asyncio.Event()

    async def stop(self):
        self.ended.append("told")
        raise RuntimeError("which must not keep it from stopping")

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            await lifespan(receive, send)
            return
        body = b""
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.left += 1
                return
            body += message["body"]
            more = message["more_body"]
        told = {
            "client": scope["client"][0],
            "scheme": scope["scheme"],
            "headers": len(scope["headers"]),
            "body": len(body),
        }
        if self.hangs:
            try:
                await asyncio.Event().wait()
            finally:
                self.ended.append("cancelled")
        if scope["path"] == "/held":
            await self.held.wait()
        if scope["path"] == "/stream":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b":", "more_body": True})
            while (await receive())["type"] != "http.disconnect":
                pass
            self.left += 1
            return
        answer = json.dumps(told).encode()
        if self.flood:
            answer = b"x" * MORE_THAN_BUFFERS
        length = (b"content-length", b"%d" % len(answer))
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        if scope["path"] == "/at-once":
            await send({"type": "http.response.body", "body": answer})
            return
        await send({"type": "http.response.body", "body": answer[:1], "more_body": True})
        await send({"type": "http.response.body", "body": answer[1:-1], "more_body": True})
        await send({"type": "http.response.body", "body": answer[-1:]})
        self.answered += 1


@pytest.fixture
async def served(monkeypatch):
    """A server in this process, that looks after its connections more often."""
    monkeypatch.setattr(uvicorn_adapter, "TICKS_BETWEEN_CHECKS", 1)
    monkeypatch.setattr(limits, "HEAD_SECONDS", PATIENCE_SECONDS)
    monkeypatch.setattr(limits, "BODY_SECONDS", PATIENCE_SECONDS)
    monkeypatch.setattr(uvicorn_server, "GRACE_SECONDS", 0.5)
    application = Application()
    async with served_here(application) as here:
        application.server, application.port, application.running = here
        yield application


# Only where something never comes: what does come may take longer than this on a busy machine.


@pytest.fixture
def heads_come_soon(served, monkeypatch):
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.3)


@pytest.fixture
def bodies_come_soon(served, monkeypatch):
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.3)


async def connected(served, sent):
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(sent)
    return reader, writer


async def answer_to(served, sent):
    """Everything that comes back until the server closes: statuses of the answers, and the last one's body."""
    reader, writer = await connected(served, sent)
    received = b""
    # One who is refused before everything was read is reset after the answer.
    with contextlib.suppress(ConnectionError):
        while data := await asyncio.wait_for(reader.read(65536), PATIENCE_SECONDS):
            received += data
    writer.close()
    heads = received.split(b"HTTP/1.1 ")[1:]
    assert all(b"x-request-id: " in head or head.startswith(b"200") for head in heads)
    return [int(head[:3]) for head in heads], received.rpartition(b"\r\n\r\n")[2]


async def until(true):
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not true():  # noqa: ASYNC110 - it happens in the server
            await asyncio.sleep(0.02)


CLOSE = b"host: x\r\nconnection: close\r\n"


REFUSED = [
    (b"GET /" + b"a" * limits.LONGEST_TARGET + b" HTTP/1.1\r\nhost: x\r\n\r\n", 414),
    (b"GET / HTTP/1.1\r\nx: " + b"a" * limits.LARGEST_HEAD + b"\r\n\r\n", 431),
    (b"GET / HTTP/1.1\r\n" + b"x: abcdef\r\n" * 6000 + b"\r\n", 431),
    (b"GET / HTTP/1.1\r\nx: " + b"a" * limits.LARGEST_HEAD * 2, 431),
    (b"GET / HTTP/1.1\r\n" + b"a" * limits.LARGEST_HEAD * 2, 431),
    (b"GET /" + b"a" * limits.LARGEST_HEAD * 2, 431),
    (b"nonsense\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
    (b"GET http://[ HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    (b"GET /\xff HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: nine\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", 400),
    # Two of what there can be one of, or none of what there must be one.
    (b"GET / HTTP/1.1\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nhost: x\r\nHost: x\r\n\r\n", 400),
    (b"GET / HTTP/1.0\r\nhost: x\r\nhost: x\r\n\r\n", 400),
    (b"GET http://y/ HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    (b"GET http://y@x/ HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    (b"GET http://x:1/ HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-type: a/b\r\ncontent-type: c/d\r\n\r\n", 400),
    # Where a body ends that a proxy would take for longer or shorter.
    (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\n{}", 400),
    (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2, 2\r\n\r\n{}", 400),
    (b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n0\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 400),
    (b"POST / HTTP/1.0\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nhost: x\r\nx: a\r\n b\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nhost : x\r\n\r\n", 400),
    (b"GET / HTTP/1.1\nhost: x\n\n", 400),
    (b"GET / HTTP/1.1\r\nhost: x\r\nx: a\0b\r\n\r\n", 400),
    (b"GET / HTTP/2.0\r\nhost: x\r\n\r\n", 400),
    (b"GET /\r\n\r\n", 400),
]
NEVER_COMES = [
    (b"GET / HTTP/1.1\r\nhost", 408),
    (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nabc", 408),
    (b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n", 408),
]


async def test_a_request_that_is_too_long_or_wrong_is_refused(served):
    await check_refused(served, REFUSED)
    # The next one is none the worse for it.
    assert (await answer_to(served, b"GET / HTTP/1.1\r\n" + CLOSE + b"\r\n"))[0] == [200]


async def test_a_request_that_does_not_come_is_refused(served, heads_come_soon, bodies_come_soon):
    await check_refused(served, NEVER_COMES)


async def check_refused(served, requests):
    answers = await asyncio.gather(*(answer_to(served, sent) for sent, _ in requests))
    for (sent, status), (statuses, body) in zip(requests, answers, strict=True):
        assert statuses == [status], sent[:60]
        problem = json.loads(body)
        assert problem["status"] == status
        assert len(problem["requestId"]) == 32
    await until(lambda: not served.server.server_state.tasks)


async def test_who_only_connects_is_let_go(served, heads_come_soon):
    assert await answer_to(served, b"") == ([], b"")


async def test_an_application_that_waits_for_a_body_is_told_that_its_client_is_gone(served, bodies_come_soon):
    await answer_to(served, b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n")
    await until(lambda: served.left == 1)


async def test_a_long_body_may_take_longer_as_long_as_it_goes_on(served, bodies_come_soon, monkeypatch):
    # Whatever the machine does in between, each part is time enough for the next.
    monkeypatch.setattr(limits, "SLOWEST_BYTES_PER_SECOND", 10)
    reader, writer = await connected(served, b"POST / HTTP/1.1\r\n" + CLOSE + b"content-length: 5000\r\n\r\n")
    for _ in range(5):
        writer.write(b"a" * 1000)
        await asyncio.sleep(0.2)
    received = await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
    assert b'"body": 5000' in received
    writer.close()


async def test_a_request_as_large_as_no_route_takes_is_cut_off(served, monkeypatch):
    monkeypatch.setattr(limits, "LARGEST_REQUEST", 100_000)
    # With trailers, which no body limit counts.
    sent = b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n" + b"x: " + b"a" * 600_000
    assert (await answer_to(served, sent))[0] in ([413], [])


CHUNKED = b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        # A large body does not pay for a large trailer.
        b"%x\r\n%b\r\n0\r\nx: " % (300_000, b"a" * 300_000) + b"b" * 700_000,
        b"0\r\n" + b"x: b\r\n" * 100_000,
        b"1;" + b"x" * 600_000,
        b"1;" + (b"x" * 10_000 + b"\r\na\r\n1;") * 100,
        b"1\r\na\r\n" * 200_000,
    ],
    ids=["a trailer", "many trailers", "an extension", "many extensions", "tiny chunks"],
)
async def test_what_a_chunked_body_has_beside_it_is_bounded(served, sent):
    assert (await answer_to(served, CHUNKED + sent))[0] in ([413], [])
    assert served.answered == 0


async def test_small_chunks_and_a_few_trailers_are_a_body(served):
    sent = CHUNKED + b"1\r\na\r\n" * 10_000 + b"0\r\nx: y\r\n\r\n" + b"GET / HTTP/1.1\r\n" + CLOSE + b"\r\n"
    assert (await answer_to(served, sent))[0] == [200, 200]


async def test_a_body_of_tiny_chunks_has_no_more_time_than_another(served, bodies_come_soon, monkeypatch):
    monkeypatch.setattr(limits, "SLOWEST_BYTES_PER_SECOND", 100)
    reader, writer = await connected(served, CHUNKED)

    async def drip():
        while True:
            writer.write(b"1;" + b"x" * 100 + b"\r\na\r\n")
            await asyncio.sleep(0.05)

    dripping = asyncio.create_task(drip())
    with contextlib.suppress(ConnectionError):
        await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
    # A connection that was reset is never at its end, and takes whatever is written to it.
    await stopped(dripping)
    assert served.answered == 0
    writer.close()


ONE_HOST = [
    b"GET / HTTP/1.0\r\n\r\n",
    b"GET http://x/ HTTP/1.1\r\n" + CLOSE + b"\r\n",
    b"GET HTTP://X/?a=b HTTP/1.1\r\n" + CLOSE + b"\r\n",
    b"GET http://x HTTP/1.1\r\n" + CLOSE + b"\r\n",
    b"GET http://x?a=b HTTP/1.1\r\n" + CLOSE + b"\r\n",
    b"GET http://[::1]:80/ HTTP/1.1\r\nhost: [::1]:80\r\nconnection: close\r\n\r\n",
    b"POST / HTTP/1.1\r\n" + CLOSE + b"transfer-encoding: Chunked\r\n\r\n0\r\n\r\n",
]


@pytest.mark.parametrize("sent", ONE_HOST)
async def test_a_target_may_name_the_host_and_who_knows_no_host_header_needs_none(served, sent):
    assert (await answer_to(served, sent))[0] == [200]


async def test_trailers_are_not_headers(served):
    sent = b"POST / HTTP/1.1\r\n" + CLOSE + b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nauthorization: x\r\n\r\n"
    statuses, body = await answer_to(served, sent)
    assert statuses == [200]
    assert json.loads(body)["headers"] == 3


async def test_requests_in_one_piece_are_answered_one_after_the_other(served):
    one = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc"
    assert (await answer_to(served, one * 3 + b"GET / HTTP/1.1\r\n" + CLOSE + b"\r\n"))[0] == [200] * 4


GET = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"


@pytest.mark.parametrize(
    "wrong", [b"nonsense", b"GET http://:80/ HTTP/1.1\r\nhost: :80", b"GET / HTTP/1.1\r\nhost: x\r\nhost: y"]
)
async def test_what_is_wrong_is_no_answer_to_the_request_before_it(served, wrong):
    reader, writer = await connected(served, b"POST /held HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc")
    await until(lambda: served.server.server_state.tasks)
    await asyncio.sleep(0.05)
    writer.write(wrong + b"\r\n\r\n")
    with contextlib.suppress(ConnectionError):
        assert await asyncio.wait_for(reader.read(), PATIENCE_SECONDS) == b""
    writer.close()
    served.held.set()


async def test_requests_that_do_not_wait_for_answers_are_so_many_and_no_more(served):
    reader, writer = await connected(served, GET.replace(b"/", b"/held", 1) + GET * 5000)
    await until(lambda: served.server.server_state.tasks)
    (connection,) = served.server.server_state.connections
    await until(lambda: len(connection.pipeline) == limits.MOST_WAITING)
    for _ in range(10):
        writer.write(GET * 1000)
        await asyncio.sleep(0.01)
        assert len(connection.pipeline) == limits.MOST_WAITING
    served.held.set()
    # Whoever was taken in is answered, and told with the last answer that it was.
    received = b""
    with contextlib.suppress(ConnectionError):
        while data := await asyncio.wait_for(reader.read(65536), PATIENCE_SECONDS):
            received += data
    assert received.count(b"HTTP/1.1 200") == served.answered == limits.MOST_WAITING + 1
    assert received.count(b"connection: close") == 1
    writer.close()


async def test_a_stream_hears_that_its_client_is_gone_though_another_request_came_after_it(served):
    reader, writer = await connected(served, GET.replace(b"/", b"/stream", 1))
    await reader.readuntil(b":\r\n")
    writer.write(GET)
    await asyncio.sleep(0.05)
    writer.transport.abort()
    await until(lambda: served.left == 1)
    assert not served.server.server_state.connections


async def test_the_request_behind_another_is_refused_without_an_answer_that_would_be_the_other_s(
    served, bodies_come_soon
):
    late = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nab"
    assert (await answer_to(served, GET.replace(b"/", b"/held", 1) + late))[0] == []
    served.held.set()


async def test_an_answer_that_nobody_takes_is_given_up_also_if_it_is_the_last(served, monkeypatch):
    monkeypatch.setattr(limits, "UNREAD_SECONDS", 0.3)
    served.flood = True
    with socket.create_connection(("127.0.0.1", served.port)) as client:
        client.setblocking(False)
        client.sendall(b"GET /at-once HTTP/1.1\r\n" + CLOSE + b"\r\n")
        await until(lambda: served.server.server_state.connections)
        # What the application has to say, it has said; all of it lies with us.
        await until(lambda: not served.server.server_state.tasks)
        await until(lambda: not served.server.server_state.connections)


async def test_nothing_is_kept_of_a_connection_that_was_reset(served):
    for _ in range(10):
        reader, writer = await connected(served, GET)
        await reader.readuntil(b"}")
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.close()
    await until(lambda: not served.server.server_state.connections)

    def nothing_left():
        gc.collect()
        return not [each for each in gc.get_objects() if isinstance(each, limits.Connection)]

    await until(nothing_left)


async def test_a_connection_on_which_nothing_more_is_asked_is_closed(served):
    streaming = await connected(served, GET.replace(b"/", b"/stream", 1))
    await streaming[0].readuntil(b":\r\n")
    reader, writer = await connected(served, GET)
    await reader.readuntil(b"}")
    for each in served.server.server_state.connections:
        each.timeout_keep_alive = 0.1
    assert await asyncio.wait_for(reader.read(), PATIENCE_SECONDS) == b""
    # What is being answered is not idle, however long ago it was asked.
    assert len(served.server.server_state.connections) == 1
    assert served.left == 0
    for each in (writer, streaming[1]):
        each.close()


async def test_of_too_many_connections_the_longest_idle_make_room(served, monkeypatch):
    monkeypatch.setattr(uvicorn_server, "MOST_CONNECTIONS", 4)
    working = [await connected(served, GET.replace(b"/", b"/stream", 1)) for _ in range(2)]
    uploading = await connected(served, b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nab")
    await until(lambda: len(served.server.server_state.tasks) == 3)
    idle = []
    for sent in (b"", b"GET / HT", GET, b""):
        idle.append(await connected(served, sent))
        if sent == GET:
            # Idle from its answer on, which is to be before the next one comes.
            await asyncio.wait_for(idle[-1][0].readuntil(b"}"), PATIENCE_SECONDS)
    # Whoever came last is still there, whoever is being served as well.
    for reader, _ in idle[:-1]:
        with contextlib.suppress(ConnectionError):
            await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
    await until(lambda: len(served.server.server_state.connections) == 4)
    idle[-1][1].write(GET)
    assert (await asyncio.wait_for(idle[-1][0].readuntil(b"}"), PATIENCE_SECONDS)).startswith(b"HTTP/1.1 200")
    uploading[1].write(b"cde")
    assert (await asyncio.wait_for(uploading[0].readuntil(b"}"), PATIENCE_SECONDS)).startswith(b"HTTP/1.1 200")
    assert served.left == 0
    for _, writer in (*working, *idle, uploading):
        writer.close()


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="this system cannot be told so")
async def test_the_system_gives_up_connections_to_which_nothing_gets_through(served):
    _, writer = await connected(served, b"")
    await until(lambda: served.server.server_state.connections)
    (connection,) = served.server.server_state.connections
    accepted = connection.transport.get_extra_info("socket")
    given = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
    assert given == limits.UNREAD_SECONDS * 1000
    writer.close()


async def test_what_is_forwarded_is_not_believed_below_our_own_code(served):
    sent = b"GET / HTTP/1.1\r\n" + CLOSE + b"x-forwarded-for: 203.0.113.9\r\nx-forwarded-proto: https\r\n\r\n"
    reader, writer = await connected(served, sent)
    received = await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
    assert b'"client": "127.0.0.1", "scheme": "http"' in received
    writer.close()


async def test_an_answer_that_nobody_takes_is_given_up(served, monkeypatch):
    monkeypatch.setattr(limits, "UNREAD_SECONDS", 0.3)
    served.flood = True
    with socket.create_connection(("127.0.0.1", served.port)) as client:
        client.setblocking(False)
        client.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        await until(lambda: served.server.server_state.connections)
        await until(lambda: not served.server.server_state.connections)


async def test_a_request_that_outlives_the_grace_is_cut_off_and_let_go_of_before_the_end(served):
    served.hangs = True
    reader, writer = await connected(served, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
    await until(lambda: served.server.server_state.tasks)
    served.server.should_exit = True
    await asyncio.wait_for(served.running, PATIENCE_SECONDS)
    assert served.ended == ["told", "cancelled"]
    assert b"200" not in await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
    writer.close()


async def test_one_client_has_only_so_many_connections(served, monkeypatch):
    monkeypatch.setattr(connection, "MOST_CONNECTIONS_OF_ONE", 3)
    held = [await connected(served, GET) for _ in range(3)]
    for reader, _ in held:
        await asyncio.wait_for(reader.readuntil(b"}"), PATIENCE_SECONDS)
    reader, writer = await connected(served, b"")
    refused = await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
    assert refused.startswith(b"HTTP/1.1 429 ")
    assert b"retry-after: 30\r\n" in refused
    writer.close()
    # One that is left is room for another.
    held[0][1].close()
    await until(lambda: served.server.server_state.by_client == {"127.0.0.1": 2})
    statuses, _ = await answer_to(served, b"GET / HTTP/1.1\r\n" + CLOSE + b"\r\n")
    assert statuses == [200]
    for _, writer in held[1:]:
        writer.close()
    await until(lambda: not served.server.server_state.by_client)

"""What a connection may take: heads and bodies that are too long, or that never come, end it and nothing else."""

import asyncio
import contextlib
import json
import socket
from types import SimpleNamespace

import pytest

from potluck.web import connections, server
from potluck.web.server import Server

LONG = 10.0
MORE_THAN_BUFFERS = 32 * 1024 * 1024


class Application:
    """Answers with what it was sent, and says who it thinks sent it."""

    def __init__(self):
        self.left = 0
        self.hangs = False
        self.ended: list[str] = []
        self.state = SimpleNamespace(on_stopping=self.stop)
        self.flood = False

    async def stop(self):
        self.ended.append("told")
        raise RuntimeError("which must not keep it from stopping")

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            while True:
                message = await receive()
                await send({"type": f"{message['type']}.complete"})
                if message["type"] == "lifespan.shutdown":
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
        answer = json.dumps(told).encode()
        if self.flood:
            answer = b"x" * MORE_THAN_BUFFERS
        length = (b"content-length", b"%d" % len(answer))
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": answer[:1], "more_body": True})
        await send({"type": "http.response.body", "body": answer[1:-1], "more_body": True})
        await send({"type": "http.response.body", "body": answer[-1:]})


@pytest.fixture
async def served(monkeypatch):
    """A server in this process, that looks after its connections more often and waits less long."""
    monkeypatch.setattr(server, "TICKS_BETWEEN_CHECKS", 1)
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.3)
    monkeypatch.setattr(server, "GRACE_SECONDS", 0.5)
    application = Application()
    listener = socket.create_server(("127.0.0.1", 0))
    started = asyncio.Event()
    running_server = Server(application, started.set)
    # Not serve(), which would take this process's signals.
    running = asyncio.create_task(running_server._serve([listener]))
    await started.wait()
    application.port = listener.getsockname()[1]
    application.server = running_server
    application.running = running
    yield application
    running_server.should_exit = True
    await asyncio.wait_for(running, LONG)


async def connected(served, sent):
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(sent)
    return reader, writer


async def answer_to(served, sent):
    """Everything that comes back until the server closes: statuses of the answers, and the last one's body."""
    reader, writer = await connected(served, sent)
    received = b""
    with contextlib.suppress(ConnectionError):
        received = await asyncio.wait_for(reader.read(), LONG)
    writer.close()
    heads = received.split(b"HTTP/1.1 ")[1:]
    assert all(b"x-request-id: " in head or head.startswith(b"200") for head in heads)
    return [int(head[:3]) for head in heads], received.rpartition(b"\r\n\r\n")[2]


async def until(true):
    for _ in range(int(LONG / 0.02)):
        if true():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never happened")


CLOSE = b"host: x\r\nconnection: close\r\n"


REFUSED = [
    (b"GET /" + b"a" * connections.LONGEST_TARGET + b" HTTP/1.1\r\nhost: x\r\n\r\n", 414),
    (b"GET / HTTP/1.1\r\nx: " + b"a" * connections.LARGEST_HEAD + b"\r\n\r\n", 431),
    (b"GET / HTTP/1.1\r\n" + b"x: abcdef\r\n" * 6000 + b"\r\n", 431),
    (b"GET / HTTP/1.1\r\nx: " + b"a" * connections.LARGEST_HEAD * 2, 431),
    (b"GET / HTTP/1.1\r\n" + b"a" * connections.LARGEST_HEAD * 2, 431),
    (b"GET /" + b"a" * connections.LARGEST_HEAD * 2, 431),
    (b"nonsense\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
    (b"GET http://[ HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    (b"GET /\xff HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: nine\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nhost", 408),
    (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nabc", 408),
    (b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n", 408),
]


async def test_a_request_that_is_too_long_or_wrong_or_does_not_come_is_refused(served):
    answers = await asyncio.gather(*(answer_to(served, sent) for sent, _ in REFUSED))
    for (sent, status), (statuses, body) in zip(REFUSED, answers, strict=True):
        assert statuses == [status], sent[:60]
        problem = json.loads(body)
        assert problem["status"] == status
        assert len(problem["requestId"]) == 32
    # The next one is none the worse for it, and nothing of the others is left.
    assert (await answer_to(served, b"GET / HTTP/1.1\r\n" + CLOSE + b"\r\n"))[0] == [200]
    await until(lambda: not served.server.server_state.tasks)


async def test_who_only_connects_is_let_go(served):
    assert await answer_to(served, b"") == ([], b"")


async def test_an_application_that_waits_for_a_body_is_told_that_its_client_is_gone(served):
    await answer_to(served, b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n")
    await until(lambda: served.left == 1)


async def test_a_long_body_may_take_longer_as_long_as_it_goes_on(served, monkeypatch):
    monkeypatch.setattr(connections, "SLOWEST_BYTES_PER_SECOND", 1000)
    reader, writer = await connected(served, b"POST / HTTP/1.1\r\n" + CLOSE + b"content-length: 5000\r\n\r\n")
    for _ in range(5):
        writer.write(b"a" * 1000)
        await asyncio.sleep(0.2)
    received = await asyncio.wait_for(reader.read(), LONG)
    assert b'"body": 5000' in received
    writer.close()


async def test_a_request_as_large_as_no_route_takes_is_cut_off(served, monkeypatch):
    monkeypatch.setattr(connections, "LARGEST_REQUEST", 100_000)
    # With trailers, which no body limit counts.
    sent = b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n" + b"x: " + b"a" * 600_000
    assert (await answer_to(served, sent))[0] in ([413], [])


async def test_trailers_are_not_headers(served):
    sent = b"POST / HTTP/1.1\r\n" + CLOSE + b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nauthorization: x\r\n\r\n"
    statuses, body = await answer_to(served, sent)
    assert statuses == [200]
    assert json.loads(body)["headers"] == 3


async def test_requests_in_one_piece_are_answered_one_after_the_other(served):
    one = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc"
    assert (await answer_to(served, one * 3 + b"GET / HTTP/1.1\r\n" + CLOSE + b"\r\n"))[0] == [200] * 4


async def test_what_is_forwarded_is_not_believed_below_our_own_code(served):
    sent = b"GET / HTTP/1.1\r\n" + CLOSE + b"x-forwarded-for: 203.0.113.9\r\nx-forwarded-proto: https\r\n\r\n"
    reader, writer = await connected(served, sent)
    received = await asyncio.wait_for(reader.read(), LONG)
    assert b'"client": "127.0.0.1", "scheme": "http"' in received
    writer.close()


async def test_an_answer_that_nobody_takes_is_given_up(served, monkeypatch):
    monkeypatch.setattr(connections, "UNREAD_SECONDS", 0.3)
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
    await asyncio.wait_for(served.running, LONG)
    assert served.ended == ["told", "cancelled"]
    assert b"200" not in await asyncio.wait_for(reader.read(), LONG)
    writer.close()

"""The metrics for Prometheus, at `/metrics` on a port of their own: of this process, or of a pool and all its workers.

A worker answers its parent over a socket pair, on its event loop. The parent adds up what its workers answer, and keeps
the counts of those that have ended, so that no counter goes back when a worker dies. This module does not import the
framework: the parent has none.
"""

import asyncio
import logging
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from socket import socket

import msgspec

from potluck.metrics import WORKERS
from potluck.metrics.instruments import Samples, as_text, combined, counted, samples_here
from potluck.metrics.process import measure_process
from potluck.states import WORK_FAILING, Trouble

PATH = b"/metrics"
TYPE = b"text/plain; version=0.0.4; charset=utf-8"
LONGEST_HEAD = 8192
REQUEST_SECONDS = 10.0
# A worker that is too busy to answer within this is left out, but for what it had counted before.
WORKER_SECONDS = 2.0
QUESTION = b"?"
LENGTH = struct.Struct("!I")

Measure = Callable[[], None]
"""Sets the gauges of this process."""
Offer = Callable[[Measure], AbstractAsyncContextManager[None]]
"""Offers the metrics of a process for as long as the context lasts."""

log = logging.getLogger("potluck.metrics")
_measuring = Trouble(WORK_FAILING, log, "some metrics cannot be measured")


@asynccontextmanager
async def offered_to_nobody(measure: Measure) -> AsyncIterator[None]:
    """For when no metrics are asked for."""
    yield


def on_a_page(sockets: Sequence[socket]) -> Offer:
    """Offer the metrics of this process on these sockets."""

    @asynccontextmanager
    async def offer(measure: Measure) -> AsyncIterator[None]:
        async def gather() -> Samples:
            return _measured(measure)

        async with page(sockets, gather):
            yield

    return offer


def to_the_parent(channel: socket) -> Offer:
    """Offer the metrics of this worker to its parent."""

    @asynccontextmanager
    async def offer(measure: Measure) -> AsyncIterator[None]:
        reader, writer = await asyncio.open_connection(sock=channel)
        answering = asyncio.create_task(_answer(reader, writer, measure))
        try:
            yield
        finally:
            answering.cancel()
            writer.close()

    return offer


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, measure: Measure) -> None:
    with suppress(OSError):
        while await reader.read(1):
            answer = msgspec.json.encode(_measured(measure))
            writer.write(LENGTH.pack(len(answer)) + answer)
            await writer.drain()


def _measured(measure: Measure) -> Samples:
    WORKERS.set(1)
    try:
        measure()
    except Exception as error:
        # As of a damaged store. What is counted is shown all the same.
        _measuring.met(error)
    else:
        _measuring.over()
    measure_process()
    return samples_here()


# --- the parent of workers -------------------------------------------------------------------------------------------


class WorkerMetrics:
    """The metrics of one worker, as it last answered."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.last: Samples = {}
        self._writer = writer
        self._answers: asyncio.Future[Samples] | None = None
        """Set while it was asked and has not answered."""
        self._reading = asyncio.create_task(self._read(reader))

    @classmethod
    async def over(cls, channel: socket) -> "WorkerMetrics":
        return cls(*await asyncio.open_connection(sock=channel))

    async def ask(self) -> Samples:
        """What it has measured now; if it does not answer in time, what it had counted when it last did."""
        if self._answers is None:
            self._answers = asyncio.get_running_loop().create_future()
            self._writer.write(QUESTION)
        done, _ = await asyncio.wait((self._answers,), timeout=WORKER_SECONDS)
        return self.last if done else counted(self.last)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
                self.last = msgspec.json.decode(await reader.readexactly(length), type=Samples)
                if self._answers is not None:
                    self._answers.set_result(self.last)
                    self._answers = None

    def close(self) -> None:
        self._reading.cancel()
        self._writer.close()


class PoolMetrics:
    """The metrics of a pool: of its workers, those that have ended, and the parent itself."""

    def __init__(self) -> None:
        self._workers: set[WorkerMetrics] = set()
        self._ended: Samples = {}

    @asynccontextmanager
    async def of_worker(self, channel: socket) -> AsyncIterator[None]:
        """Include a worker for as long as it lives, and afterwards what it had counted when it was last asked."""
        worker = await WorkerMetrics.over(channel)
        self._workers.add(worker)
        try:
            yield
        finally:
            self._workers.discard(worker)
            self._ended = combined((self._ended, counted(worker.last)))
            worker.close()

    async def gather(self) -> Samples:
        measure_process()
        answers: Iterable[Samples] = await asyncio.gather(*(worker.ask() for worker in self._workers))
        return combined((samples_here(), self._ended, *answers))


# --- the page --------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def page(sockets: Sequence[socket], gather: Callable[[], Awaitable[Samples]]) -> AsyncIterator[None]:
    """Serve the metrics on these sockets."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # The client may be gone, or slow.
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(REQUEST_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(await _response(head, gather))
                await writer.drain()
        writer.close()

    servers = [await asyncio.start_server(serve, sock=listening, limit=LONGEST_HEAD) for listening in sockets]
    try:
        yield
    finally:
        for server in servers:
            server.close()


async def _response(head: bytes, gather: Callable[[], Awaitable[Samples]]) -> bytes:
    method, _, rest = head.partition(b" ")
    path = rest.partition(b" ")[0].partition(b"?")[0]
    if path != PATH:
        return _whole(b"404 Not Found", b"the metrics are at /metrics\n")
    if method not in (b"GET", b"HEAD"):
        return _whole(b"405 Method Not Allowed", b"", b"allow: GET, HEAD\r\n")
    body = as_text(await gather()).encode()
    response = _whole(b"200 OK", body)
    return response if method == b"GET" else response[: -len(body)]


def _whole(status: bytes, body: bytes, headers: bytes = b"") -> bytes:
    head = b"HTTP/1.1 %b\r\ncontent-type: %b\r\ncontent-length: %d\r\n%bconnection: close\r\n\r\n"
    return head % (status, TYPE, len(body), headers) + body

"""Serves in one process: uvicorn with our settings, and a graceful stop."""

import asyncio
import inspect
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from importlib import import_module
from typing import Any

from starlette.types import ASGIApp

from potluck.connections.limits import UNREAD_SECONDS
from potluck.connections.uvicorn_adapter import HttpServer
from potluck.metrics import CONNECTIONS, REQUESTS_RUNNING
from potluck.settings import Settings
from potluck.web.http.clients import Clients
from potluck.web.http.request_log import log_unhandled_exception, logging_in_lines
from potluck.web.server.connection import CountedConnections, SuiteConnection
from potluck.web.server.garbage_collection import tune_garbage_collector
from potluck.web.server.metrics_page import Offer, offered_to_nobody
from potluck.web.server.serve import BACKLOG, GRACE_SECONDS, Make

TIDYING_SECONDS = 1.0
# Longer than the minute that proxies keep connections, so that none sends into one that was just closed.
KEEP_ALIVE_SECONDS = 75
# Per worker, open streams included. Each takes some 10 KB and a file descriptor. Beyond that, the longest idle ones are
# closed, so that a new client gets in however many connections others merely hold open.
MOST_CONNECTIONS = 16_000

SIGNALS = (signal.SIGINT, signal.SIGTERM)

log = logging.getLogger("potluck.server")


def serve_here(
    make: Make,
    settings: Settings,
    sockets: Sequence[socket.socket],
    ready: Callable[[], None],
    metrics: Offer = offered_to_nobody,
) -> None:
    """Serve in this process, and offer its metrics; `ready` is called once it accepts connections."""

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(log_unhandled_exception)
        async with _found(make)(settings) as application:
            tune_garbage_collector()
            server = SuiteServer(application, ready)
            async with metrics(server.measure):
                await server.serve(list(sockets))
            if not server.started:
                raise RuntimeError("the application did not start")

    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        with logging_in_lines(settings), asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(run())
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class SuiteServer(HttpServer):
    """A server that also ends event streams when it stops, and closes idle connections if there are too many."""

    def __init__(self, application: ASGIApp, ready: Callable[[], None]) -> None:
        super().__init__(
            application,
            SuiteConnection,
            lifespan="on",
            workers=1,
            backlog=BACKLOG,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        state = getattr(application, "state", None)
        settings = getattr(state, "settings", None)
        clients = Clients() if settings is None else Clients.of(settings)
        self.server_state = CountedConnections(clients, getattr(state, "fast_path", None))
        self._application = application
        self._ready = ready

    def measure(self) -> None:
        """Set the metrics of the server and its application."""
        CONNECTIONS.set(len(self.server_state.connections))
        REQUESTS_RUNNING.set(len(self.server_state.tasks))
        measure: Callable[[], None] | None = getattr(getattr(self._application, "state", None), "measure", None)
        if measure is not None:
            measure()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        for listening in sockets or ():
            _set_user_timeout(listening)
        await super().startup(sockets)
        if self.started:
            self._ready()

    def check_connections(self, now: float) -> None:
        super().check_connections(now)
        connections = [connection for connection in self.connections if isinstance(connection, SuiteConnection)]
        too_many = len(connections) - MOST_CONNECTIONS
        if too_many > 0:
            idle = [(since, connection) for connection in connections if (since := connection.idle_since) is not None]
            for _, connection in sorted(idle, key=lambda pair: pair[0])[:too_many]:
                connection.transport.close()
            log.info("of %d connections, the longest idle are closed", len(connections))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        await _end_streams(self._application)
        await super().shutdown(sockets)
        # Requests that took longer than the grace period were cancelled; let them clean up before the engine closes.
        if self.server_state.tasks:
            await asyncio.wait(self.server_state.tasks, timeout=TIDYING_SECONDS)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """The first signal stops gracefully; a Ctrl+C after it stops at once.

        uvicorn's own method raises the signal again when it is done, which would end the process before the engine
        closes.
        """
        for number in SIGNALS:
            signal.signal(number, self._told_to_stop)
        yield

    def _told_to_stop(self, number: int, _: Any) -> None:
        # Only a second Ctrl+C means impatience; a supervisor may well send its signal twice.
        if self.should_exit and number == signal.SIGINT:
            # Safe: the store survives the death of its process at any moment.
            os._exit(128 + number)
        self.should_exit = True


def _set_user_timeout(listener: socket.socket) -> None:
    """Let the system close connections whose packets are not acknowledged: a phone without signal never says so."""
    # By default that takes a quarter of an hour, in which events are still sent to it. Accepted sockets inherit this.
    if hasattr(socket, "TCP_USER_TIMEOUT") and listener.family != getattr(socket, "AF_UNIX", None):
        with suppress(OSError):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(UNREAD_SECONDS * 1000))


async def _end_streams(application: ASGIApp) -> None:
    """End open event streams, which would otherwise last until their clients leave."""
    state = getattr(application, "state", None)
    stop = getattr(state, "on_stopping", None) or getattr(getattr(state, "live", None), "stop", None)
    if stop is None:
        return
    try:
        async with asyncio.timeout(TIDYING_SECONDS):
            stopping = stop()
            if inspect.isawaitable(stopping):
                await stopping
    except Exception:
        # It stops all the same; what is still open is cut off after the grace period.
        log.exception("open streams could not be told to end")


def _found(make: Make) -> Callable[[Settings], AbstractAsyncContextManager[Any]]:
    if not isinstance(make, str):
        return make
    module, _, name = make.partition(":")
    maker: Callable[[Settings], AbstractAsyncContextManager[Any]] = getattr(import_module(module), name)
    return maker


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    if sys.platform == "win32":
        return None
    import uvloop

    return uvloop.new_event_loop

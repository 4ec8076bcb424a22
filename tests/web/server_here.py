"""Our own server in this event loop, behind a socket."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import NamedTuple

from starlette.types import ASGIApp, Receive, Send

from potluck.web.server.uvicorn_server import SuiteServer
from tests.patience import PATIENCE_SECONDS

__all__ = ["ServerHere", "lifespan", "served_here"]


class ServerHere(NamedTuple):
    server: SuiteServer
    port: int
    running: asyncio.Task[None]


@contextlib.asynccontextmanager
async def served_here(application: ASGIApp) -> AsyncIterator[ServerHere]:
    listener = socket.create_server(("127.0.0.1", 0))
    started = asyncio.Event()
    server = SuiteServer(application, started.set)
    # Not serve(), which would take this process's signals.
    running = asyncio.create_task(server._serve([listener]))
    await started.wait()
    try:
        yield ServerHere(server, listener.getsockname()[1], running)
    finally:
        server.should_exit = True
        await asyncio.wait_for(running, PATIENCE_SECONDS)


async def lifespan(receive: Receive, send: Send) -> None:
    """For an application that has nothing to do at its start and its end."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return

"""An application to be served by real processes: slow answers, open streams, failures, and what it was told."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from litestar import Litestar, Request, get, post
from litestar.datastructures import State
from litestar.params import FromPath
from litestar.response import Stream

from potluck.settings import Settings, SettingsError
from potluck.web.http.request_log import RequestLog

__all__ = ["broken", "made", "refused"]


class Streams:
    """What live updates are to the server: something that can be told to end."""

    def __init__(self) -> None:
        self.stopped = asyncio.Event()

    def stop(self) -> None:
        self.stopped.set()


@get("/pid")
async def pid() -> int:
    return os.getpid()


@get("/slow/{seconds:float}")
async def slow(seconds: FromPath[float], state: State) -> str:
    (state.settings.data / f"asked-{os.getpid()}").touch()
    await asyncio.sleep(seconds)
    return "answered in full"


@get("/stream")
async def stream(state: State) -> Stream:
    async def events() -> AsyncIterator[str]:
        yield "event: begun\n\n"
        await state.live.stopped.wait()
        yield "event: ended\n\n"

    return Stream(events(), media_type="text/event-stream")


@post("/echo/{item:str}", status_code=200)
async def echo(item: FromPath[str], request: Request[Any, Any, Any]) -> str:
    return f"{item} {len(await request.body())}"


@get("/failing/{item:str}")
async def failing(item: FromPath[str]) -> str:
    raise ValueError(f"{item} is a private matter")


@asynccontextmanager
async def made(settings: Settings) -> AsyncIterator[Litestar]:
    settings.data.mkdir(exist_ok=True)
    application = Litestar(
        [pid, slow, stream, echo, failing],
        state=State({"settings": settings, "live": Streams()}),
        openapi_config=None,
        logging_config=None,
    )
    application.asgi_handler = RequestLog(settings)(application.asgi_handler)
    try:
        yield application
    finally:
        (settings.data / f"closed-{os.getpid()}").touch()


@asynccontextmanager
async def refused(settings: Settings) -> AsyncIterator[Litestar]:
    raise SettingsError("the pantry is locked")
    yield


@asynccontextmanager
async def broken(settings: Settings) -> AsyncIterator[Litestar]:
    os._exit(7)
    yield

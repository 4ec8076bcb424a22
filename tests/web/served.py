"""An application to be served by real processes: slow answers, open streams, failures, and what it was told."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from potluck.settings import Settings, SettingsError
from potluck.web.http.application import Application
from potluck.web.http.authentication import Authentication
from potluck.web.http.clients import Clients
from potluck.web.http.problems import Problems
from potluck.web.http.request_log import RequestLog
from potluck.web.http.router import Endpoint, Router

__all__ = ["broken", "made", "one_late", "refused"]


class Streams:
    """What live updates are to the server: something that can be told to end."""

    def __init__(self) -> None:
        self.stopped = asyncio.Event()

    def stop(self) -> None:
        self.stopped.set()


async def pid(request: Request) -> Response:
    return PlainTextResponse(str(os.getpid()))


async def echo(request: Request) -> Response:
    return PlainTextResponse(f"{request.path_params['item']} {len(await request.body())}")


async def failing(request: Request) -> Response:
    raise ValueError(f"{request.path_params['item']} is a private matter")


def slow(settings: Settings) -> Endpoint:
    async def answer(request: Request) -> Response:
        (settings.data / f"asked-{os.getpid()}").touch()
        await asyncio.sleep(float(request.path_params["seconds"]))
        return PlainTextResponse("answered in full")

    return answer


def held(settings: Settings) -> Endpoint:
    async def answer(request: Request) -> Response:
        (settings.data / f"asked-{os.getpid()}").touch()
        while not (settings.data / "let-go").exists():  # noqa: ASYNC110 - another process does it
            await asyncio.sleep(0.02)
        return PlainTextResponse("answered in full")

    return answer


def stream(streams: Streams) -> Endpoint:
    async def events() -> AsyncIterator[str]:
        yield "event: begun\n\n"
        await streams.stopped.wait()
        yield "event: ended\n\n"

    async def answer(request: Request) -> Response:
        return StreamingResponse(events(), media_type="text/event-stream")

    return answer


@asynccontextmanager
async def made(settings: Settings) -> AsyncIterator[Application]:
    settings.data.mkdir(exist_ok=True)
    streams = Streams()
    router = Router()
    router.add("GET", "/pid", pid)
    router.add("GET", "/slow/{seconds}", slow(settings))
    router.add("GET", "/held", held(settings))
    router.add("GET", "/stream", stream(streams))
    router.add("POST", "/echo/{item}", echo)
    router.add("GET", "/failing/{item}", failing)
    application = Application(
        router,
        # Nobody signs in here, and nobody is shown a page.
        Authentication(cast(Any, None), Clients(settings), bytes(32)),
        Problems(cast(Any, None)),
        {"settings": settings, "live": streams},
        RequestLog(settings),
    )
    try:
        yield application
    finally:
        (settings.data / f"closed-{os.getpid()}").touch()


@asynccontextmanager
async def refused(settings: Settings) -> AsyncIterator[Application]:
    raise SettingsError("the pantry is locked")
    yield


@asynccontextmanager
async def broken(settings: Settings) -> AsyncIterator[Application]:
    os._exit(7)
    yield


@asynccontextmanager
async def one_late(settings: Settings) -> AsyncIterator[Application]:
    """Of two workers, one is not there before it is told to stop, and then stops as all do."""
    told, loop = asyncio.Event(), asyncio.get_running_loop()

    def note(*_: Any) -> None:
        loop.call_soon_threadsafe(told.set)

    def stop() -> None:
        if signal.getsignal(signal.SIGTERM) is note:
            # The server does not listen yet.
            loop.call_later(0.05, stop)
        else:
            os.kill(os.getpid(), signal.SIGTERM)

    settings.data.mkdir(exist_ok=True)
    try:
        (settings.data / "first").touch(exist_ok=False)
    except FileExistsError:
        signal.signal(signal.SIGTERM, note)
        (settings.data / "late").touch()
        await told.wait()
    async with made(settings) as application:
        if told.is_set():
            loop.call_later(0.2, stop)
        yield application

"""The worker that benchmarks/live.py measures: live updates of the embedded engine, and bare server-sent events."""

import asyncio
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import uvloop
from msgspec import Meta
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from potluck.engines import open_engine
from potluck.store import Store
from potluck.table import Entity, Table, get, query
from potluck.web.live import EventStreamResponse, Grant, Listener, Live
from potluck.web.server.uvicorn_server import SuiteServer

Name = Annotated[str, Meta(max_length=40)]

NOTE_LENGTH = 200

notes = Table("Notes", "PK", "SK", type_attribute="type")


class Note(Entity, table=notes, type="NOTE", key=("LIST#{list_id}", "NOTE#{note_id}")):
    """Something that several people look at."""

    list_id: Name
    note_id: Name
    text: Annotated[str, Meta(max_length=400)]
    secret: Name = ""

    @query(consistent=True)
    def on_list(list_id: Name) -> None:
        """What is on a list?"""


class Member(Entity, table=notes, type="MEMBER", key=("LIST#{list_id}", "MEMBER")):
    """That someone may look at a list."""

    list_id: Name

    @get(consistent=True)
    def of_list(list_id: Name) -> None:
        """Who may look at it?"""


class Shown(msgspec.Struct):
    list_id: str
    note_id: str
    text: str


def shown(note: Note) -> Shown:
    return Shown(note.list_id, note.note_id, note.text)


def now() -> datetime:
    return datetime.now(UTC)


class Used(msgspec.Struct):
    """What the worker has taken so far."""

    bytes: int
    seconds: float


class Broadcast:
    """The least that tells something to everyone: one future that all wait for."""

    def __init__(self) -> None:
        self.next: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def tell(self, data: str) -> None:
        awaited, self.next = self.next, asyncio.get_running_loop().create_future()
        awaited.set_result(data)

    async def listen(self) -> AsyncIterator[str]:
        yield "data: opened\n\n"
        while True:
            yield f"data: {await asyncio.shield(self.next)}\n\n"


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def application(file: str) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        engine = await open_engine(path=file)
        store = app.state.store = Store(engine, now)
        await store.create_tables(notes)
        live = app.state.live = Live(engine, now, key=bytes(32))
        live.start(notes)
        app.state.broadcast = Broadcast()
        yield
        await live.stop()
        await engine.close()

    return Starlette(
        routes=[
            Route("/lists/{list_id}/events", events),
            Route("/lists/{list_id}/notes", write, methods=["POST"]),
            Route("/lists/{list_id}/members", admit, methods=["POST"]),
            Route("/bare/events", bare_events),
            Route("/bare/notes", bare_write, methods=["POST"]),
            Route("/used", used),
        ],
        lifespan=lifespan,
    )


async def events(request: Request) -> Response:
    list_id = request.path_params["list_id"]
    store: Store = request.app.state.store
    live: Live = request.app.state.live

    async def allowed() -> bool:
        return await store.get(Member.of_list(list_id)) is not None

    since, last_event_id = request.query_params.get("since"), request.headers.get("last-event-id")
    grant = Grant(Member.of_list(list_id), lambda row: True)
    return EventStreamResponse(
        live.open(
            since,
            last_event_id,
            of=Note.on_list(list_id),
            see=shown,
            allowed=allowed,
            # As from many households: nobody's own limit is what is measured.
            by=Listener(None, f"192.0.2.{request.scope['client'][1] % 250}"),
            grant=grant,
        )
    )


async def write(request: Request) -> Response:
    note_id = (await request.json())["note_id"]
    await request.app.state.store.put(
        Note(list_id=request.path_params["list_id"], note_id=note_id, text="x" * NOTE_LENGTH)
    )
    return Response(status_code=201)


async def admit(request: Request) -> Response:
    await request.app.state.store.put(Member(list_id=request.path_params["list_id"]))
    return Response(status_code=201)


async def bare_events(request: Request) -> Response:
    return StreamingResponse(request.app.state.broadcast.listen(), media_type="text/event-stream")


async def bare_write(request: Request) -> Response:
    sent = Shown("one", (await request.json())["note_id"], "x" * NOTE_LENGTH)
    request.app.state.broadcast.tell(msgspec.json.encode(sent).decode())
    return Response(status_code=201)


async def used(request: Request) -> Response:
    return Response(msgspec.json.encode(Used(resident_bytes(), time.process_time())), media_type="application/json")


if __name__ == "__main__":
    file, port = sys.argv[1:]
    # As the suite is served: what its connections may take is part of what a stream costs.
    listener = socket.create_server(("127.0.0.1", int(port)), backlog=2048)
    uvloop.run(SuiteServer(application(file), lambda: None).serve([listener]))

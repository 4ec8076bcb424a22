"""The worker that benchmarks/live.py measures: live updates of the embedded engine, and bare server-sent events."""

import asyncio
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
import uvloop
from litestar import Litestar, Request, Response, get, post
from litestar.params import FromPath, JSONBody
from litestar.response import ServerSentEvent
from msgspec import Meta

from potluck.engines import open_engine
from potluck.store import Store
from potluck.table import Entity, Table, query
from potluck.table import get as get_item
from potluck.web.live import Live, Right
from potluck.web.live.litestar_adapter import event_stream
from potluck.web.server.uvicorn_server import Server

Name = Annotated[str, Meta(max_length=40)]

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

    @get_item(consistent=True)
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
        told, self.next = self.next, asyncio.get_running_loop().create_future()
        told.set_result(data)

    async def listen(self) -> AsyncIterator[str]:
        yield "opened"
        while True:
            yield await asyncio.shield(self.next)


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def application(file: str) -> Litestar:
    @asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        engine = await open_engine(path=file)
        store = app.state.store = Store(engine, now)
        await store.create_tables(notes)
        live = app.state.live = Live(engine, now, key=bytes(32))
        live.start(notes)
        app.state.broadcast = Broadcast()
        yield
        await live.stop()
        await engine.close()

    @get("/lists/{list_id:str}/events")
    async def events(request: Request[Any, Any, Any], list_id: FromPath[str]) -> Response[None]:
        store: Store = request.app.state.store
        live: Live = request.app.state.live

        async def allowed() -> bool:
            return await store.get(Member.of_list(list_id)) is not None

        right = Right(Member.of_list(list_id))
        return event_stream(live, request, of=Note.on_list(list_id), see=shown, allowed=allowed, right=right)

    @post("/lists/{list_id:str}/notes")
    async def write(request: Request[Any, Any, Any], list_id: FromPath[str], data: JSONBody[dict[str, str]]) -> None:
        await request.app.state.store.put(Note(list_id=list_id, note_id=data["note_id"], text="x" * 200))

    @post("/lists/{list_id:str}/members")
    async def admit(request: Request[Any, Any, Any], list_id: FromPath[str]) -> None:
        await request.app.state.store.put(Member(list_id=list_id))

    @get("/bare/events")
    async def bare_events(request: Request[Any, Any, Any]) -> ServerSentEvent:
        return ServerSentEvent(request.app.state.broadcast.listen())

    @post("/bare/notes")
    async def bare_write(request: Request[Any, Any, Any], data: JSONBody[dict[str, str]]) -> None:
        told = Shown("one", data["note_id"], "x" * 200)
        request.app.state.broadcast.tell(msgspec.json.encode(told).decode())

    @get("/used", sync_to_thread=False)
    def used() -> Used:
        return Used(resident_bytes(), time.process_time())

    return Litestar(
        [events, write, admit, bare_events, bare_write, used],
        lifespan=[lifespan],
        openapi_config=None,
        logging_config=None,
    )


if __name__ == "__main__":
    file, port = sys.argv[1:]
    # As the suite is served: what its connections may take is part of what a stream costs.
    listener = socket.create_server(("127.0.0.1", int(port)), backlog=2048)
    uvloop.run(Server(application(file), lambda: None).serve([listener]))

"""Requests as a server hands them to the application: any bytes anywhere, and answers that are read as they come."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterable
from typing import Any
from urllib.parse import unquote

from potluck.web.http.application import Application
from tests.patience import PATIENCE_SECONDS

__all__ = ["Answer", "Event", "Listener", "listening", "sent"]

Headers = Iterable[tuple[bytes | str, bytes | str]]


class Answer:
    """What came back, headers as they were sent."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self.body = b""
        self.complete = False

    def all_of(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    def header(self, name: str) -> str | None:
        return next(iter(self.all_of(name)), None)

    @property
    def media_type(self) -> str:
        return (self.header("content-type") or "").partition(";")[0]

    def json(self) -> Any:
        return json.loads(self.body)

    def take(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            assert not self.status, "an answer begins once"
            self.status = message["status"]
            self.headers = [
                (name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in message["headers"]
            ]
        else:
            self.body += message.get("body", b"")
            self.complete = not message.get("more_body", False)


def scope_of(method: str, target: bytes | str, headers: Headers, scheme: str, client: str) -> dict[str, Any]:
    raw, _, query = (target.encode() if isinstance(target, str) else target).partition(b"?")
    named = [(_bytes(name).lower(), _bytes(value)) for name, value in headers]
    if not any(name == b"host" for name, _ in named):
        named.insert(0, (b"host", b"testserver"))
    return {
        "type": "http",
        "method": method,
        # As uvicorn makes it of the bytes.
        "path": unquote(raw.decode("ascii")),
        "raw_path": raw,
        "query_string": query,
        "headers": named,
        "client": (client, 40_000),
        "server": ("testserver", 80),
        "scheme": scheme,
        "http_version": "1.1",
        "asgi": {"version": "3.0"},
        "root_path": "",
    }


def _bytes(text: bytes | str) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")


async def sent(
    application: Application,
    method: str,
    target: bytes | str,
    headers: Headers = (),
    body: bytes | Iterable[bytes] = b"",
    *,
    scheme: str = "http",
    client: str = "127.0.0.1",
) -> Answer:
    """The whole answer; an event stream is left after its first words. TimeoutError for what hangs."""
    chunks = [body] if isinstance(body, bytes) else list(body)
    answer, begun = Answer(), asyncio.Event()

    async def receive() -> Any:
        if chunks:
            part = chunks.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(chunks)}
        await begun.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        answer.take(message)
        if message["type"] == "http.response.body":
            begun.set()

    async with asyncio.timeout(PATIENCE_SECONDS):
        await application(scope_of(method, target, headers, scheme, client), receive, send)  # type: ignore[arg-type]
    return answer


class Event:
    """One server-sent event."""

    def __init__(self, fields: dict[str, str]) -> None:
        self.id = fields["id"]
        self.event = fields["event"]
        self.data = json.loads(fields["data"])

    def __repr__(self) -> str:
        return f"<{self.event} {self.data}>"


class Listener(Answer):
    """An open event stream."""

    def __init__(self) -> None:
        super().__init__()
        self.gone = asyncio.Event()
        self.news = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    @property
    def events(self) -> list[Event]:
        found = []
        for block in self.body.decode().split("\n\n")[:-1]:
            fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
            if "event" in fields:
                found.append(Event(fields))
        return found

    @property
    def last_id(self) -> str | None:
        """Where a browser would go on: the last id of a block that came whole."""
        ids = [line[4:] for line in self.body.decode().rpartition("\n\n")[0].split("\n") if line.startswith("id: ")]
        return ids[-1] if ids else None

    async def until(self, events: int = 0, *, begun: bool = False, ended: bool = False) -> list[Event]:
        """Wait for so many events, for the first position, or for the end."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (
                (self.complete or not ended)
                and (self.last_id is not None or not begun)
                and (len(self.events) >= events or self.complete)
            ):
                self.news.clear()
                await self.news.wait()
        return self.events

    async def leave(self) -> None:
        self.gone.set()
        assert self.task is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.task


@contextlib.asynccontextmanager
async def listening(
    application: Application, target: str, headers: Headers = (), *, client: str = "127.0.0.1"
) -> AsyncIterator[Listener]:
    """Open the stream, and leave it at the end."""
    listener = Listener()
    asked = False

    async def receive() -> Any:
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await listener.gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if listener.gone.is_set() and listener.status:
            raise OSError("nobody is there any more")
        listener.take(message)
        listener.news.set()

    scope = scope_of("GET", target, headers, "http", client)
    listener.task = asyncio.create_task(application(scope, receive, send))  # type: ignore[arg-type]
    listener.task.add_done_callback(lambda _: listener.news.set())
    try:
        yield listener
    finally:
        await listener.leave()

"""Server-sent events on the wire, and the ASGI response that sends them for as long as the client listens."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}
MEDIA_TYPE = "text/event-stream"
OPENED = b"retry: 1000\n\n"
KEPT_ALIVE = b":\n\n"
# A client that has read nothing for this long is gone. Longer than `connections/limits.py` waits: that closes the
# connection properly, while from here the response can only be cut off.
STALLED_SECONDS = 75.0

LINE_END = re.compile("\r\n|\r|\n")


def event_text(event: str, data: str | bytes, position: str) -> bytes:
    """One event; its data may have any number of lines."""
    if LINE_END.search(event):
        raise ValueError(f"an event's name has one line, not {event!r}")
    text = data.decode() if isinstance(data, bytes) else data
    lines = "".join(f"data: {line}\n" for line in LINE_END.split(text))
    return f"id: {position}\nevent: {event}\n{lines}\n".encode()


def id_text(position: str) -> bytes:
    """No event, only the position to resume from."""
    return f"id: {position}\n\n".encode()


def retry_text(seconds: float) -> bytes:
    """No event, only how long to wait before reconnecting."""
    return f"retry: {round(seconds * 1000)}\n\n".encode()


class EventSource:
    """An open stream: `chunks` yields what to send, and `end()` makes it finish soon, from wherever it is called."""

    __slots__ = ("chunks", "end")

    def __init__(self, chunks: AsyncIterator[bytes], end: Callable[[], None]) -> None:
        self.chunks = chunks
        self.end = end

    async def close(self) -> None:
        """End it and release what it holds, whether or not anything was read from it."""
        self.end()
        if hasattr(self.chunks, "aclose"):
            await self.chunks.aclose()


class EventStreamResponse(Response):
    """Sends an event source until it ends or the client disconnects; a HEAD request gets the headers only."""

    media_type = MEDIA_TYPE

    def __init__(self, source: EventSource) -> None:
        # Not Response's own, which would set a content-length.
        self.source = source
        self.status_code = 200
        self.background = None
        self.init_headers(HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            if scope["method"] == "HEAD":
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            else:
                await self._send_chunks(receive, send)
        finally:
            await self.source.close()

    async def _send_chunks(self, receive: Receive, send: Send) -> None:
        # A single extra task instead of a task group, which would be most of what an open stream costs.
        disconnected = asyncio.create_task(_disconnected(receive))
        disconnected.add_done_callback(lambda _: self.source.end())
        try:
            async for chunk in self.source.chunks:
                async with asyncio.timeout(STALLED_SECONDS):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                if disconnected.done():
                    break
            with contextlib.suppress(OSError):
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except (TimeoutError, OSError):
            pass
        finally:
            disconnected.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

"""Server-sent events on the wire, and the answer that sends them for as long as it is listened to."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from litestar import Request, Response
from litestar.datastructures import Cookie
from litestar.enums import MediaType
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Send

__all__ = ["KEPT_ALIVE", "OPENED", "EventStream", "event_text", "id_text", "retry_text"]

HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}
MEDIA_TYPE = "text/event-stream"
OPENED = b"retry: 1000\n\n"
KEPT_ALIVE = b":\n\n"
# A client that has read nothing for this long is gone. Longer than server/connection_limits.py waits, which closes the
# connection properly; from here the answer can only be cut off.
STALLED_SECONDS = 75.0

LINE_END = re.compile("\r\n|\r|\n")


def event_text(event: str, data: str | bytes, position: str) -> bytes:
    """One event, whatever lines its data has."""
    if LINE_END.search(event):
        raise ValueError(f"an event's name has one line, not {event!r}")
    text = data.decode() if isinstance(data, bytes) else data
    lines = "".join(f"data: {line}\n" for line in LINE_END.split(text))
    return f"id: {position}\nevent: {event}\n{lines}\n".encode()


def id_text(position: str) -> bytes:
    """No event, but where to go on from after it."""
    return f"id: {position}\n\n".encode()


def retry_text(seconds: float) -> bytes:
    """No event, but when to come back after the end."""
    return f"retry: {round(seconds * 1000)}\n\n".encode()


class EventStream(Response[None]):
    """An answer that goes on until its source ends, or its reader goes away."""

    def __init__(self, chunks: AsyncIterator[bytes], end: Callable[[], None]) -> None:
        super().__init__(None, headers=HEADERS, media_type=MEDIA_TYPE)
        self.chunks = chunks
        self.end = end

    def to_asgi_response(
        self,
        app: Any,
        request: Request[Any, Any, Any],
        *,
        cookies: Iterable[Cookie] | None = None,
        headers: dict[str, str] | None = None,
        is_head_response: bool = False,
        status_code: int | None = None,
        **_: Any,
    ) -> ASGIResponse:
        return _Sending(
            self.chunks,
            self.end,
            cookies=[*self.cookies, *(cookies or ())],
            headers={**(headers or {}), **self.headers},
            # The framework does not say so; without a body there would be nothing to send, for ever.
            is_head_response=is_head_response or request.method == "HEAD",
            media_type=MEDIA_TYPE,
            status_code=self.status_code or status_code,
        )


class _Sending(ASGIResponse):
    __slots__ = ("chunks", "end")

    _should_set_content_length = False

    def __init__(
        self,
        chunks: AsyncIterator[bytes],
        end: Callable[[], None],
        *,
        cookies: list[Cookie],
        headers: dict[str, str],
        is_head_response: bool,
        media_type: MediaType | str,
        status_code: int | None,
    ) -> None:
        super().__init__(
            cookies=cookies,
            headers=headers,
            is_head_response=is_head_response,
            media_type=media_type,
            status_code=status_code,
        )
        self.chunks = chunks
        self.end = end

    async def send_body(self, send: Send, receive: Receive) -> None:
        # One task more and no task group: most of what an open stream costs would be that.
        listening = asyncio.create_task(_gone(receive))
        listening.add_done_callback(lambda _: self.end())
        try:
            async for chunk in self.chunks:
                async with asyncio.timeout(STALLED_SECONDS):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                if listening.done():
                    break
            with contextlib.suppress(OSError):
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except (TimeoutError, OSError):
            pass
        finally:
            listening.cancel()
            self.end()
            if hasattr(self.chunks, "aclose"):
                await self.chunks.aclose()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class EventStreamResponse: ...

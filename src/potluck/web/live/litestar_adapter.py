"""Live updates for routes that are still Litestar's; it goes with the last of them."""

from typing import Any

from litestar import Request, Response

from potluck.web.live.event_stream import EventSource, EventStreamResponse
from potluck.web.live.live import Live

__all__ = ["event_stream"]


def event_stream(live: Live, request: Request[Any, Any, Any], **options: Any) -> Response[None]:
    """`Live.open` from where the request says, as a Litestar response."""
    since = request.query_params.get("since")
    return _EventStream(live.open(since, request.headers.get("last-event-id"), **options))


class _EventStream(Response[None]):
    def __init__(self, source: EventSource) -> None:
        super().__init__(None)
        self.source = source

    def to_asgi_response(self, *_: Any, **__: Any) -> Any:
        return EventStreamResponse(self.source)

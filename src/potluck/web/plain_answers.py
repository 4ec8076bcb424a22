"""Answers of JSON, put together at once: on its way through the framework's layers one takes as long as two reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from litestar import MediaType, Request, Response
from litestar.response.base import ASGIResponse
from litestar.status_codes import HTTP_200_OK, HTTP_204_NO_CONTENT, HTTP_304_NOT_MODIFIED
from litestar.types import Receive, Scope, Send

__all__ = ["PlainAnswer", "plain"]

JSON = b"application/json"
ENCODED = (msgspec.Struct, dict, list)
BODILESS = frozenset({HTTP_204_NO_CONTENT, HTTP_304_NOT_MODIFIED})
SET_HERE = frozenset({"content-type", "content-length"})
# Anything else is asked of the framework's encoders, which is to say that they have no part in what this encodes.
encode = msgspec.json.Encoder().encode


class PlainAnswer(Response[Any]):
    """A response that is sent as it would be by the framework, but by a shorter way where it has only JSON to say."""

    __slots__ = ()

    def __init__(self, of: Response[Any]) -> None:
        self.content = of.content
        self.background = of.background
        self.cookies = of.cookies
        self.encoding = of.encoding
        self.headers = of.headers
        self.media_type = of.media_type
        self.status_code = of.status_code
        self.response_type_encoders = of.response_type_encoders

    def to_asgi_response(self, app: Any, request: Request[Any, Any, Any], **options: Any) -> ASGIResponse:
        return self.sent(options) or super().to_asgi_response(app, request, **options)

    def sent(self, options: Mapping[str, Any]) -> ASGIResponse | None:
        """The answer as it is sent, with what its handler declares of answers; None where that takes the framework."""
        status = self.status_code or options.get("status_code") or HTTP_200_OK
        body = self._json(status, options)
        if body is None:
            return None
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()]
        headers += [(b"content-type", JSON), (b"content-length", b"%d" % len(body))]
        return _Sent(status, headers, body)

    def _json(self, status: int, options: Mapping[str, Any]) -> bytes | None:
        """The body, if it is JSON and there is nothing else to the answer."""
        media_type = self.media_type or options.get("media_type") or MediaType.JSON
        if (
            media_type != MediaType.JSON
            or status in BODILESS
            or status < HTTP_200_OK
            or not isinstance(self.content, ENCODED)
            or self.cookies
            or self.background is not None
            or options.get("background") is not None
            or options.get("cookies")
            or options.get("headers")
        ):
            return None
        for name, value in self.headers.items():
            if type(value) is not str or name.lower() in SET_HERE:
                return None
        try:
            return encode(self.content)
        except (TypeError, ValueError, msgspec.MsgspecError):
            # What JSON has no form for is the framework's to encode, or to refuse.
            return None


class _Sent(ASGIResponse):
    """A status, headers and a body, ready to be sent."""

    __slots__ = ("raw_headers",)

    def __init__(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        self.status_code = status
        self.raw_headers = headers
        self.body = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": False})


def plain(answered: Any) -> Any:
    """What a handler answered, to go the shorter way if it can."""
    if type(answered) is Response:
        return PlainAnswer(answered)
    if isinstance(answered, msgspec.Struct):
        return _as_is(answered)
    return answered


def _as_is(content: msgspec.Struct) -> PlainAnswer:
    """A response with nothing but its content, as the framework makes them."""
    answer = object.__new__(PlainAnswer)
    answer.content = content
    answer.background = None
    answer.cookies = []
    answer.encoding = "utf-8"
    answer.headers = {}
    answer.media_type = None
    answer.status_code = None
    answer.response_type_encoders = {}
    return answer

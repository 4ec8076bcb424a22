"""Answers: JSON, pages, where to go next, and the cookies they carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from potluck.connections.whole_response import WHOLE

__all__ = ["Cookie", "JsonResponse", "html", "not_modified", "redirect"]

JSON = b"application/json"
NO_STORE = {"cache-control": "no-store"}
# For what has its content in its address: it is kept for a year, and not asked for again.
IMMUTABLE = {"cache-control": "public, max-age=31536000, immutable"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookie:
    """A cookie that no script reads and no other site makes a browser send."""

    name: str
    value: str
    max_age: int
    """In seconds; 0 takes the cookie away."""
    path: str = "/"
    secure: bool

    @property
    def header(self) -> str:
        """As Set-Cookie says it."""
        response = Response()
        self.set_on(response)
        return response.headers["set-cookie"]

    def set_on(self, response: Response) -> None:
        response.set_cookie(
            self.name, self.value, self.max_age, path=self.path, secure=self.secure, httponly=True, samesite="lax"
        )


class JsonResponse:
    """A status, headers and a body that is JSON already, or is nothing: sent without a framework's response between."""

    __slots__ = ("body", "headers", "kept", "status_code")

    kept: dict[str, Any] | None
    """Where a response that is given again keeps what was made of its head: see potluck.connections.whole_response."""

    def __init__(self, body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.status_code = status
        self.body = body
        self.kept = None
        sent = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in (headers or {}).items()]
        if body:
            sent.append((b"content-type", JSON))
        if status not in (204, 304):
            sent.append((b"content-length", b"%d" % len(body)))
        self.headers = sent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if WHOLE in scope.get("extensions", ()):
            whole = {"type": WHOLE, "status": self.status_code, "headers": self.headers, "body": self.body}
            if self.kept is not None:
                whole["kept"] = self.kept
            await send(whole)
            return
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})


def not_modified(tag: str) -> JsonResponse:
    """304: the caller has the answer with this tag already."""
    return JsonResponse(b"", 304, {"etag": tag})


def html(text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A page, or a piece of one: what it shows is one person's, and may be out of date in a moment."""
    return HTMLResponse(text, status, {**NO_STORE, **(headers or {})})


def redirect(address: str, *cookies: Cookie, headers: Mapping[str, str] | None = None) -> Response:
    """On to another page, after something was done."""
    response = RedirectResponse(address, 303, {**NO_STORE, **(headers or {})})
    return with_cookies(response, cookies)


def with_cookies(response: Response, cookies: Sequence[Cookie]) -> Response:
    """The response with these cookies; of two with the same name and path, the later."""
    for each in {(each.name, each.path): each for each in cookies}.values():
        each.set_on(response)
    return response

"""Responses: JSON, pages and redirects, and the cookies they carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from potluck.connections.asgi_extension import WHOLE

JSON = b"application/json"
NO_STORE = {"cache-control": "no-store"}
# For an answer that shows a secret: neither we nor a proxy compress it.
NOT_TRANSFORMED = {"cache-control": "no-store, no-transform"}
# For URLs that change with their content: cached for a year, without revalidation.
IMMUTABLE = {"cache-control": "public, max-age=31536000, immutable"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookie:
    """A cookie that no script can read (HttpOnly) and no other site can make a browser send (SameSite=Lax)."""

    name: str
    value: str
    max_age: int
    """In seconds; 0 deletes the cookie."""
    path: str = "/"
    secure: bool

    @property
    def header(self) -> str:
        """The value of its Set-Cookie header."""
        response = Response()
        self.set_on(response)
        return response.headers["set-cookie"]

    def set_on(self, response: Response) -> None:
        response.set_cookie(
            self.name, self.value, self.max_age, path=self.path, secure=self.secure, httponly=True, samesite="lax"
        )


class WholeResponse:
    """A response with its body and all of its headers, sent without a framework's response in between."""

    __slots__ = ("body", "head", "headers", "status_code")

    head: bytes | None
    """Its header lines, but for the request's id, once they were sent by the fast path."""

    def __init__(self, body: bytes, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self.status_code = status
        self.body = body
        self.headers = headers
        self.head = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if WHOLE in scope.get("extensions", ()):
            await send({"type": WHOLE, "status": self.status_code, "headers": self.headers, "body": self.body})
            return
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})


class JsonResponse(WholeResponse):
    """A response whose body is already JSON, or is empty."""

    __slots__ = ()

    def __init__(self, body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        sent = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in (headers or {}).items()]
        if body:
            sent.append((b"content-type", JSON))
        if status not in (204, 304):
            sent.append((b"content-length", b"%d" % len(body)))
        super().__init__(body, status, sent)


def not_modified(tag: str) -> JsonResponse:
    """304: the caller has the answer with this tag already."""
    return JsonResponse(b"", 304, {"etag": tag})


def html(text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A page or a fragment of one, never cached: it is one person's, and may be out of date in a moment."""
    return HTMLResponse(text, status, {**NO_STORE, **(headers or {})})


def redirect(address: str, *cookies: Cookie, headers: Mapping[str, str] | None = None) -> Response:
    """Redirect to another page, after something was done."""
    response = RedirectResponse(address, 303, {**NO_STORE, **(headers or {})})
    return with_cookies(response, cookies)


def with_cookies(response: Response, cookies: Sequence[Cookie]) -> Response:
    """The response with these cookies; of two with the same name and path, the later wins."""
    for cookie in {(cookie.name, cookie.path): cookie for cookie in cookies}.values():
        cookie.set_on(response)
    return response

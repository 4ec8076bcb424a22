"""The fast path: a GET whose answer is cached is answered where its head was parsed, without a task.

The seam is `answers_at_once` of a connection. The router, the cache and its key, the headers and the log line are those
of every other request; whatever is not certain is left to the application. See docs/decisions/60.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any

from starlette.requests import Request
from starlette.types import Scope

from potluck.connections.uvicorn_adapter import HttpConnection, header_lines
from potluck.web.cached_answers import CachedEndpoint, Tagged
from potluck.web.http.compression import SMALLEST, coding_of
from potluck.web.http.request_log import RequestLog, new_request_id
from potluck.web.http.responses import WholeResponse
from potluck.web.http.router import Router

# Of a request that has a body.
FRAMING = frozenset({b"content-length", b"transfer-encoding"})


class FastPath:
    """Finds the cached answers of an application, and sends them."""

    def __init__(self, router: Router, log: RequestLog, headers: Callable[[Any, str], list[Any]]) -> None:
        """`headers` gets a response's own headers and the path, and adds those that every response has."""
        self._router = router
        self._log = log
        self._headers = headers

    def answer(self, connection: HttpConnection) -> bool:
        """Answer the request that the connection has just parsed; False leaves it to the application."""
        scope: Any = connection.scope
        if scope["method"] != "GET" or not connection.is_writable:
            return False
        for name, _ in scope["headers"]:
            if name in FRAMING:
                return False
        try:
            answer = self.find(scope)
        except Exception:
            # The application reports what is wrong.
            return False
        if answer is None:
            return False
        connection.send_at_once(*answer)
        return True

    def find(self, scope: Scope) -> tuple[bytes, bytes] | None:
        """The header lines and the body of the answer to a GET, whose line is logged; None if it is not cached."""
        began = perf_counter()
        match = self._router.find(scope["path"])
        route = None if match is None else match.methods.get("GET")
        if route is None or not isinstance(route.endpoint, CachedEndpoint):
            return None
        response = _as_accepted(scope, route.endpoint.cached(Request(scope)))
        head = None if response is None else self._head(response, scope["path"])
        if response is None or not head:
            return None
        request_id = new_request_id()
        self._log.answered(request_id, "GET", route.path, response.status_code, len(response.body), began)
        return b"%bx-request-id: %b\r\n" % (head, request_id.encode()), response.body

    def _head(self, response: WholeResponse, path: str) -> bytes:
        """The header lines of the response, which is only ever sent for this path; none if they are not plain."""
        if response.head is None:
            lines, length = header_lines(self._headers(response.headers, path))
            response.head = lines if length == len(response.body) else b""
        return response.head


def _as_accepted(scope: Scope, answer: Tagged | None) -> WholeResponse | None:
    """The cached answer in the coding that the caller accepts; None if it has yet to be compressed."""
    if answer is None or len(answer.body) < SMALLEST:
        return answer
    coding = coding_of(scope)
    return answer if coding is None else answer.encodings.get(coding)

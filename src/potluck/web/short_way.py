"""A shorter way through the framework for what is read again at the same address.

Finding the handler of an address, checking what the address says and making arguments of it comes out the same every
time, and takes longer than what the handler then reads. So it is done once an address. Who is calling, what they may
see and what there is to see are asked each time, by the same code.

Whatever is not plain sailing goes the long way: a header that has to be checked, and an error, which is raised there
again. No handler is called twice for one request, so what is refused takes as long at an address that others look at
as at one that nobody has.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import date
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from litestar import Request
from litestar.handlers import HTTPRouteHandler

from potluck.web.plain_answers import PlainAnswer

if TYPE_CHECKING:
    from litestar import Litestar
    from litestar.types import ASGIApp, Receive, Scope, Send

__all__ = ["ShortWay", "found_way", "raise_failure"]

AnyRequest = Request[Any, Any, Any]
Serve = Callable[[AnyRequest, Mapping[str, Any]], Awaitable[Any]]

GET = "GET"
FOUND = "found way"
FAILURE = "failure on the short way"
# More than a household has lists and items that are looked at; an address takes half a kilobyte.
MOST_ADDRESSES = 4096
LONGEST_ADDRESS = 500
# What an argument may be that is given to one call after the other.
UNCHANGEABLE = (str, int, float, UUID, date, Enum, type(None))


class _Way(NamedTuple):
    """Where an address leads."""

    serve: Serve
    arguments: Mapping[str, Any]
    handler: HTTPRouteHandler
    path: str
    path_params: dict[str, Any]
    path_template: str
    checked_headers: frozenset[bytes]
    declared: Mapping[str, Any] | None
    """What the handler declares of its answers; None where the framework has more to do with them."""


class ShortWay:
    """The framework's application, with what it found out about addresses remembered."""

    def __init__(
        self, long_way: ASGIApp, application: Litestar, checked_headers: Callable[[HTTPRouteHandler], frozenset[bytes]]
    ) -> None:
        """`checked_headers` names those that the long way checks before it calls a handler."""
        self._long_way = long_way
        self._application = application
        self._checked_headers = checked_headers
        self._ways: dict[tuple[bytes, str, bytes], _Way] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") != GET or scope.get("root_path"):
            await self._long_way(scope, receive, send)
            return
        path = scope["path"]
        # The framework refuses what can be no host's name, so an address is known by its host as well.
        address = _host(scope), path, scope["query_string"]
        way = self._ways.get(address)
        if way is not None and way.checked_headers.isdisjoint([name for name, _ in scope["headers"]]):
            scope["route_handler"] = way.handler
            scope["path"], scope["path_params"], scope["path_template"] = way.path, way.path_params, way.path_template
            request: AnyRequest = Request(scope, receive, send)
            try:
                answered = await way.serve(request, way.arguments)
                answer: Any = None
                if way.declared is not None and type(answered) is PlainAnswer:
                    answer = answered.sent(way.declared)
                if answer is None:
                    answer = await way.handler.to_response(self._application, answered, request)
            except Exception as failure:
                scope["path"] = path
                scope["state"][FAILURE] = failure
            else:
                await answer(scope, receive, send)
                return
        await self._long_way(scope, receive, send)
        found = scope["state"].get(FOUND)
        if found is not None and sum(map(len, address)) <= LONGEST_ADDRESS:
            handler: Any = scope["route_handler"]
            checked = self._checked_headers(handler)
            if not checked.isdisjoint([name for name, _ in scope["headers"]]):
                # Among its arguments is what a header said, such as a key: that is this caller's, not the address's.
                return
            if len(self._ways) >= MOST_ADDRESSES:
                self._ways.clear()
            self._ways[address] = _Way(
                serve=found[0],
                arguments=found[1],
                handler=handler,
                path=scope["path"],
                path_params=scope["path_params"],
                path_template=scope["path_template"],
                checked_headers=checked,
                declared=_declared(handler),
            )


def found_way(request: AnyRequest, serve: Serve, arguments: Mapping[str, Any], answered: Any) -> None:
    """Take note of how a request came to its answer, if another for the same can go there directly."""
    handler: Any = request.scope["route_handler"]
    if (
        request.scope["method"] == GET
        and type(answered) is PlainAnswer
        and not handler.resolve_guards()
        and handler.resolve_after_response() is None
        # What the framework provides may be the caller's.
        and not handler.resolve_dependencies()
        and all(isinstance(each, UNCHANGEABLE) for each in arguments.values())
    ):
        request.scope["state"][FOUND] = serve, arguments


def raise_failure(request: AnyRequest) -> None:
    """Raise what the handler raised on the short way, if that is where the request comes from."""
    failure = request.scope["state"].pop(FAILURE, None)
    if failure is not None:
        raise failure


def _declared(handler: HTTPRouteHandler) -> Mapping[str, Any] | None:
    if (
        handler.resolve_return_dto() is not None
        or any(layer.after_request is not None for layer in handler.ownership_layers)
        or handler.resolve_response_headers()
        or handler.resolve_response_cookies()
        or handler.background is not None
    ):
        return None
    return {"status_code": handler.status_code, "media_type": handler.media_type}


def _host(scope: Scope) -> bytes:
    for name, value in scope["headers"]:
        if name == b"host":
            return value
    return b""

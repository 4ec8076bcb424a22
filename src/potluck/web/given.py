"""What a handler asks for by name, it is given: who is calling, doing it once, a part of a list, its app's services.

The framework's own injection resolves what a handler depends on in groups of tasks, which costs more than the whole
handler. Here it is worked out once what each handler asks for; a call then awaits just that, in order.
"""

from collections.abc import Awaitable, Callable, Mapping
from copy import copy
from inspect import Parameter, Signature, iscoroutinefunction, signature
from typing import Annotated, Any, TypeVar

from litestar import HttpMethod, Request
from litestar.handlers import HTTPRouteHandler
from litestar.params import QueryParameter

from potluck.people.authentication import Principal
from potluck.people.idempotency import Answers
from potluck.store import Store
from potluck.web.callers import Door, known
from potluck.web.cursors import LONGEST_PART, USUAL_PART, Cursors, Part
from potluck.web.once import Once, asked_once
from potluck.web.plain_answers import plain
from potluck.web.short_way import found_way, raise_failure

__all__ = ["AS_NOBODY", "GIVEN", "Givers", "given_to"]

T = TypeVar("T")
AnyRequest = Request[Any, Any, Any]

GIVEN = "given"
"""Under this name a handler's `opt` tells what it is given."""

AS_NOBODY = {"as nobody": True}
"""The `opt` of a handler that takes nobody for known: who registers or signs in, whoever they were before."""

BY_REQUEST = frozenset({"visitor", "caller", "once", "part"})
PAGING: dict[str, Any] = {
    "limit": (Annotated[int, QueryParameter(ge=1, le=LONGEST_PART)], USUAL_PART),
    "cursor": (Annotated[str | None, QueryParameter()], None),
}
# Each cursor makes one of its own, and is asked for once or twice.
MOST_QUERIES = 1000
LONGEST_QUERY = 1000


class Givers:
    """What is made anew for each request."""

    def __init__(self, door: Door, answers: Answers, store: Store, cursors: Cursors, request_key: bytes) -> None:
        self.visitor = door.visitor
        self._answers = answers
        self._store = store
        self._cursors = cursors
        self._request_key = request_key
        self._queries: dict[bytes, str] = {}

    async def once(self, request: AnyRequest, visitor: Principal | None) -> Once:
        """The write that is asked for, with its key."""
        return Once(self._answers, self._store, await asked_once(request, visitor, self._request_key))

    def part(self, request: AnyRequest, visitor: Principal | None, limit: int, cursor: str | None) -> Part:
        """Which part of which list, for whom."""
        of = f"{None if visitor is None else visitor.user_id} {request.scope['path']} {self._asked(request)}"
        return Part(limit, None if cursor is None else self._cursors.unseal(cursor, of), of, self._cursors)

    def _asked(self, request: AnyRequest) -> str:
        """What a query says besides which part, in whatever order it says it."""
        query = request.scope["query_string"]
        known = self._queries.get(query)
        if known is None:
            said = sorted((name, value) for name, value in request.query_params.multi_items() if name not in PAGING)
            known = repr(said)
            if len(query) <= LONGEST_QUERY:
                if len(self._queries) >= MOST_QUERIES:
                    self._queries.clear()
                self._queries[query] = known
        return known


def given_to(handler: T, services: Mapping[str, Any], givers: Givers) -> T:
    """The same handler, given what it asks for; what is no handler of requests is left as it is."""
    if not isinstance(handler, HTTPRouteHandler):
        return handler
    asked = signature(handler.fn)
    fixed = {name: services[name] for name in asked.parameters if name in services}
    wanted = BY_REQUEST.intersection(asked.parameters)
    bound = copy(handler)
    if HttpMethod.GET in handler.http_methods:
        # What can be read can be asked about; the server leaves the body out.
        bound.http_methods = {*handler.http_methods, HttpMethod.HEAD}
    if not fixed and not wanted:
        return bound
    bound.opt = {**handler.opt, GIVEN: frozenset({*fixed, *wanted})}
    bound.sync_to_thread = None
    knows = not AS_NOBODY.items() <= handler.opt.items()
    bound(_bound(handler.fn, asked, fixed, wanted, givers, knows))
    return bound


def _bound(
    call: Callable[..., Any],
    asked: Signature,
    fixed: Mapping[str, Any],
    wanted: frozenset[str],
    givers: Givers,
    knows: bool,
) -> Callable[..., Awaitable[Any]]:
    takes_request = "request" in asked.parameters
    asks = knows and bool(wanted)
    waits = iscoroutinefunction(call)

    async def serve(request: AnyRequest, said: Mapping[str, Any]) -> Any:
        arguments = {**said, **fixed}
        visitor = await givers.visitor(request) if asks else None
        if "visitor" in wanted:
            arguments["visitor"] = visitor
        if "caller" in wanted:
            arguments["caller"] = known(visitor)
        if "part" in wanted:
            arguments["part"] = givers.part(request, visitor, arguments.pop("limit"), arguments.pop("cursor"))
        if "once" in wanted:
            arguments["once"] = await givers.once(request, visitor)
        if takes_request:
            arguments["request"] = request
        found = call(**arguments)
        return plain(await found if waits or isinstance(found, Awaitable) else found)

    async def answer(request: AnyRequest, **said: Any) -> Any:
        raise_failure(request)
        answered = await serve(request, said)
        found_way(request, serve, said, answered)
        return answered

    kept = [each for name, each in asked.parameters.items() if name not in fixed and name not in wanted]
    if not takes_request:
        kept.append(Parameter("request", Parameter.KEYWORD_ONLY, annotation=AnyRequest))
    if "part" in wanted:
        kept += [
            Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
            for name, (annotation, default) in PAGING.items()
        ]
    kept = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in kept]
    # What the framework looks at: the handler's own name and words, and what is left for a request to say.
    answer.__name__, answer.__qualname__ = call.__name__, call.__qualname__
    answer.__module__, answer.__doc__ = call.__module__, call.__doc__
    answer.__annotations__ = {each.name: each.annotation for each in kept} | {"return": asked.return_annotation}
    answer.__signature__ = asked.replace(parameters=kept)  # type: ignore[attr-defined]
    return answer

"""Finds the endpoint of an address in a tree of path segments, however many routes there are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field

from msgspec import Struct
from starlette.requests import Request
from starlette.types import ASGIApp

Endpoint = Callable[[Request], Awaitable[ASGIApp]]
"""Answers a request with a response, which is an ASGI application of its own."""


class _Route(Struct, frozen=True):
    names: tuple[str, ...]
    endpoint: Endpoint
    path: str


@dataclass(slots=True)
class _Node:
    """What can follow after some segments of a path."""

    literals: dict[str, _Node] = field(default_factory=dict)
    parameter: _Node | None = None
    methods: dict[str, _Route] = field(default_factory=dict)
    rest: _Route | None = None
    """Answers whatever follows, however many segments it has."""


class EndpointMatch(Struct, frozen=True):
    """The endpoint of a request, the values in its path by name, and the path as it was declared."""

    endpoint: Endpoint
    values: dict[str, str]
    path: str


class RouteMatch(Struct, frozen=True):
    """What is at an address: an endpoint for each method, and the values that stand in the path."""

    methods: Mapping[str, _Route]
    values: tuple[str, ...]

    def endpoint(self, method: str) -> EndpointMatch | None:
        """The endpoint for this method; that of GET also answers HEAD."""
        route = self.methods.get(method) or (self.methods.get("GET") if method == "HEAD" else None)
        if route is None:
            return None
        return EndpointMatch(route.endpoint, dict(zip(route.names, self.values, strict=False)), route.path)

    @property
    def allowed(self) -> str:
        """The methods as an Allow header names them."""
        known = {*self.methods, "OPTIONS"} | ({"HEAD"} if "GET" in self.methods else set())
        return ", ".join(sorted(known))


class Router:
    """Addresses such as `/families/{family_id}/stores`. A literal segment takes precedence over a parameter."""

    def __init__(self) -> None:
        self._root = _Node()

    def add(self, method: str, path: str, endpoint: Endpoint) -> None:
        node = self._root
        names: list[str] = []
        for segment in _segments(path):
            if segment.startswith("{"):
                names.append(segment[1:-1])
                if node.parameter is None:
                    node.parameter = _Node()
                node = node.parameter
            else:
                node = node.literals.setdefault(segment, _Node())
        if method in node.methods:
            raise ValueError(f"{method} {path} is declared twice")
        node.methods[method] = _Route(tuple(names), endpoint, path)

    def add_all_below(self, path: str, endpoint: Endpoint) -> None:
        """GET of every address that begins with this path; the endpoint is given what follows as `rest`."""
        node = self._root
        for segment in _segments(path):
            node = node.literals.setdefault(segment, _Node())
        if node.rest is not None:
            raise ValueError(f"everything below {path} is declared twice")
        node.rest = _Route(("rest",), endpoint, f"{path}/{{rest}}")

    def find(self, path: str) -> RouteMatch | None:
        segments = _segments(path)
        node = self._root
        values: list[str] = []
        # Straight down, which works for nearly every address: an endpoint at the end is the one the search would find.
        # The search is needed to backtrack from a literal segment that led nowhere, and for `add_all_below`.
        for segment in segments:
            following = node.literals.get(segment)
            if following is None:
                following = node.parameter
                if following is None or not segment:
                    break
                values.append(segment)
            node = following
        else:
            if node.methods:
                return RouteMatch(node.methods, tuple(values))
        return _find(self._root, segments, 0, ())

    def addresses(self) -> Iterator[tuple[str, str]]:
        """Every method with its path."""
        yield from _addresses(self._root)


def _segments(path: str) -> list[str]:
    stripped = path.strip("/")
    return stripped.split("/") if stripped else []


def _find(node: _Node, segments: list[str], position: int, values: tuple[str, ...]) -> RouteMatch | None:
    if position == len(segments):
        return RouteMatch(node.methods, values) if node.methods else None
    segment = segments[position]
    literal = node.literals.get(segment)
    if literal is not None:
        match = _find(literal, segments, position + 1, values)
        if match is not None:
            return match
    if node.parameter is not None and segment:
        match = _find(node.parameter, segments, position + 1, (*values, segment))
        if match is not None:
            return match
    if node.rest is not None:
        return RouteMatch({"GET": node.rest}, ("/".join(segments[position:]),))
    return None


def _addresses(node: _Node) -> Iterator[tuple[str, str]]:
    for method, declared in node.methods.items():
        yield method, declared.path
    if node.rest is not None:
        yield "GET", node.rest.path
    for following in node.literals.values():
        yield from _addresses(following)
    if node.parameter is not None:
        yield from _addresses(node.parameter)

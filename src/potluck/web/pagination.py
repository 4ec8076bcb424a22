"""Pagination: cursors are encrypted, and good only for the same list and the same caller."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Generic, TypeVar, get_type_hints

import msgspec
from starlette.datastructures import QueryParams

from potluck.table import Entity, Query
from potluck.validation.errors import FieldError, ValidationError
from potluck.validation.field_types import Integer, Text
from potluck.web.access import Visitor
from potluck.web.inputs import UNSET, DeclarationError, Input, Unset
from potluck.web.sealing import LONGEST_SEALED, NotSealed, Seal

USUAL_PAGE = 50
LONGEST_PAGE = 100

NO_LIMIT = f"limit must be a whole number from 1 to {LONGEST_PAGE}"
NO_CURSOR = "cursor must be a nextCursor of this list"

T = TypeVar("T")
S = TypeVar("S")
E = TypeVar("E", bound=Entity)
Order = Callable[[Any], tuple[Any, ...]]


class PageQuery(Input):
    limit: Annotated[int, Integer(1, LONGEST_PAGE, NO_LIMIT)] = USUAL_PAGE
    cursor: Annotated[str, Text(0, LONGEST_SEALED, NO_CURSOR, kind="raw", trim=False)] | Unset = UNSET


@cache
def list_input(filters: type[Input] | None) -> Any:
    """The query parameters of a list: its own filters, and which page of it."""
    if filters is None:
        return PageQuery
    hints = get_type_hints(filters, include_extras=True)
    defaults = {field.name: field.default for field in msgspec.structs.fields(filters)}
    for name, default in defaults.items():
        if default is msgspec.NODEFAULT:
            raise DeclarationError(f"{filters.__name__}.{name}: a filter can be left out, so it needs a default")

    check: Any = getattr(filters, "check", None)

    def filter_of(parameters: Any) -> Input:
        return filters(**{name: getattr(parameters, name) for name in defaults})

    namespace = {
        "__annotations__": {name: hints[name] for name in defaults},
        "__module__": filters.__module__,
        "filter_of": staticmethod(filter_of),
        **({"check": staticmethod(lambda sent: check(filter_of(sent)))} if check is not None else {}),
        **defaults,
    }
    declare: Any = type(PageQuery)
    return declare(f"{filters.__name__}Page", (PageQuery,), namespace)


@dataclass(frozen=True, slots=True)
class References(Generic[E]):
    """A list stored as rows that refer to its items: a page of rows is read in key order, then its items together."""

    query: Query[Any]
    get: Callable[[Sequence[Any]], Awaitable[Sequence[E]]]


@dataclass(frozen=True, slots=True)
class OwnPages(Generic[S]):
    """A list whose rule reads every page itself, given a limit and a position, and returns what is shown."""

    read: Callable[[int, Mapping[str, Any] | None], Awaitable[tuple[Sequence[S], Mapping[str, Any] | None]]]


class Cursors:
    """Makes and reads cursors. A key in one may name what the caller must not see, so signing is not enough."""

    def __init__(self, key: bytes) -> None:
        self._seal = Seal(key)

    def seal(self, after: Mapping[str, Any], of: str) -> str:
        """The cursor of a position, good only with the same `of`: the caller and the list."""
        return self._seal.seal(msgspec.msgpack.encode(after), of)

    def unseal(self, cursor: str, of: str) -> dict[str, Any]:
        """The position; ValidationError for a cursor that was not made here for this caller and this list."""
        try:
            place: dict[str, Any] = msgspec.msgpack.decode(self._seal.unseal(cursor, of))
        except NotSealed as error:
            raise ValidationError(FieldError("cursor", NO_CURSOR)) from error
        return place

    def unseal_or_start(self, cursor: str, of: str) -> dict[str, Any] | None:
        """The position; None, the start of the list, for an empty or invalid cursor in the address of a page."""
        try:
            return self.unseal(cursor, of) if cursor else None
        except ValidationError:
            return None


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for one page of a list."""

    limit: int
    after: Mapping[str, Any] | None
    sealed_for: str
    cursors: Cursors

    @classmethod
    def read(
        cls, path: str, query: QueryParams, visitor: Visitor, parameters: PageQuery, cursors: Cursors
    ) -> PageRequest:
        """The page that a request asks for; its cursor is good for this caller, address and filter alone."""
        who = None if visitor.principal is None else visitor.principal.user_id
        filters = sorted(pair for pair in query.multi_items() if pair[0] not in ("limit", "cursor"))
        sealed_for = f"{who} {path} {filters!r}"
        after = None if parameters.cursor is UNSET else cursors.unseal(parameters.cursor, sealed_for)
        return cls(parameters.limit, after, sealed_for, cursors)

    def cursor(self, following: Mapping[str, Any] | None) -> str | None:
        """The cursor of the next page; None after the last."""
        return None if following is None else self.cursors.seal(following, self.sealed_for)

    def part_of(self, items: Sequence[T], order: Order | None) -> tuple[list[T], dict[str, Any] | None]:
        """A page of a list that was read whole; sorted by an `order`, also if the last item of the page before is gone.

        Items that sort alike are distinguished by how many of them the previous pages had.
        """
        if order is None:
            start = 0 if self.after is None else int(self.after["start"])
            page = list(items[start : start + self.limit])
            return page, {"start": start + self.limit} if len(items) > start + self.limit else None
        start = 0
        if self.after is not None:
            after = tuple(self.after["after"])
            first = bisect_left(items, after, key=order)
            start = min(first + self.after.get("alike", len(items)), bisect_right(items, after, first, key=order))
        end = start + self.limit
        if end >= len(items):
            return list(items[start:]), None
        last = order(items[end - 1])
        return list(items[start:end]), {"after": [*last], "alike": end - bisect_left(items, last, key=order)}

"""The types of the decorators of `Actions`: which rules each takes, and that it returns them with their own types."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeVar, overload

from potluck.table import Entity, Query
from potluck.web.access import Access
from potluck.web.inputs import Input
from potluck.web.pagination import OwnPages, References
from potluck.web.writes import Writes

A = TypeVar("A", bound=Access)
E = TypeVar("E", bound=Entity)
In = TypeVar("In", bound=Input)
S = TypeVar("S")


class ActionDecorator(Protocol[E]):
    @overload
    def __call__(
        self, rule: Callable[[A], Coroutine[Any, Any, Writes[S]]], /
    ) -> Callable[[A], Coroutine[Any, Any, Writes[S]]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A, E], Coroutine[Any, Any, Writes[S]]], /
    ) -> Callable[[A, E], Coroutine[Any, Any, Writes[S]]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A, In], Coroutine[Any, Any, Writes[S]]], /
    ) -> Callable[[A, In], Coroutine[Any, Any, Writes[S]]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A, E, In], Coroutine[Any, Any, Writes[S]]], /
    ) -> Callable[[A, E, In], Coroutine[Any, Any, Writes[S]]]: ...


class ReadDecorator(Protocol[E]):
    @overload
    def __call__(self, rule: Callable[[A], Coroutine[Any, Any, S]], /) -> Callable[[A], Coroutine[Any, Any, S]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A, E], Coroutine[Any, Any, S]], /
    ) -> Callable[[A, E], Coroutine[Any, Any, S]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A, In], Coroutine[Any, Any, S]], /
    ) -> Callable[[A, In], Coroutine[Any, Any, S]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A, E, In], Coroutine[Any, Any, S]], /
    ) -> Callable[[A, E, In], Coroutine[Any, Any, S]]: ...


class ListDecorator(Protocol[E]):
    # Narrower answers come first: a rule keeps the first type that fits.
    @overload
    def __call__(self, rule: Callable[[A], Query[E]], /) -> Callable[[A], Query[E]]: ...
    @overload
    def __call__(self, rule: Callable[[A], References[E]], /) -> Callable[[A], References[E]]: ...
    @overload
    def __call__(self, rule: Callable[[A, In], Query[E]], /) -> Callable[[A, In], Query[E]]: ...
    @overload
    def __call__(self, rule: Callable[[A, In], OwnPages[S]], /) -> Callable[[A, In], OwnPages[S]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A, In], Query[E] | OwnPages[S]], /
    ) -> Callable[[A, In], Query[E] | OwnPages[S]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A], Coroutine[Any, Any, Query[E]]], /
    ) -> Callable[[A], Coroutine[Any, Any, Query[E]]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A], Coroutine[Any, Any, References[E]]], /
    ) -> Callable[[A], Coroutine[Any, Any, References[E]]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A], Coroutine[Any, Any, list[E]]], /
    ) -> Callable[[A], Coroutine[Any, Any, list[E]]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A], Coroutine[Any, Any, Sequence[E]]], /
    ) -> Callable[[A], Coroutine[Any, Any, Sequence[E]]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A], Coroutine[Any, Any, Query[E] | Sequence[E]]], /
    ) -> Callable[[A], Coroutine[Any, Any, Query[E] | Sequence[E]]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A, In], Coroutine[Any, Any, Query[E]]], /
    ) -> Callable[[A, In], Coroutine[Any, Any, Query[E]]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A, In], Coroutine[Any, Any, list[E]]], /
    ) -> Callable[[A, In], Coroutine[Any, Any, list[E]]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A, In], Coroutine[Any, Any, Sequence[E]]], /
    ) -> Callable[[A, In], Coroutine[Any, Any, Sequence[E]]]: ...
    @overload
    def __call__(
        self, rule: Callable[[A, In], Coroutine[Any, Any, Query[E] | Sequence[E]]], /
    ) -> Callable[[A, In], Coroutine[Any, Any, Query[E] | Sequence[E]]]: ...

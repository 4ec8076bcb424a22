"""What a rule returns: an answer, and the writes that must commit before it is given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar
from uuid import UUID

from msgspec import Struct

from potluck.table import WriteRefused
from potluck.table.operations import Operation
from potluck.web.versions import etag

if TYPE_CHECKING:
    from potluck.web.commits import ActionResult

A_co = TypeVar("A_co", covariant=True)
B = TypeVar("B")

After = Callable[[], Awaitable[object]]
"""Best-effort work after the commit: it is awaited before the answer is given, and a failure is only logged."""

Explain = Callable[[WriteRefused], Awaitable[Exception | None]]
"""Looks at a refused write and returns the problem that it means; None to run the rule again."""

Refused = type[Exception] | Exception | Explain | None

Contended = Callable[[], object]


class Outcome(Struct, frozen=True, eq=False):
    """A write, and the problem to raise if it is refused; None to run the rule again."""

    operation: Operation
    refused: Refused
    contended: Contended | None = None
    """Called if another transaction holds the row: the rule then runs again, and may choose another row."""


class Writes(Generic[A_co]):
    """The answer, and the operations that must all succeed, in one transaction, before it is given.

    An entity is shown by the view of its subject, None is a 204, any other struct is sent as it is.
    """

    __slots__ = ("after", "answer", "headers", "made", "of", "operations", "outcomes", "result", "secret", "then")

    def __init__(
        self,
        answer: A_co,
        *writes: Operation | Outcome,
        after: After | None = None,
        then: After | None = None,
        made: object = None,
        headers: Mapping[str, str] | None = None,
        version: int | None = None,
        secret: bool = False,
        of: UUID | None = None,
    ) -> None:
        """`made` is the id that a repeated request gets, where the answer holds a secret and so is not stored: every
        answer of an action declared `secret`, or this one if `secret` is set here. `of` is the person whose answer it
        is, where the caller is not signed in yet: it is deleted with their account. `version` is that of the row that
        the answer shows, for its ETag, where the answer is no entity. `then` is work that must succeed after the
        commit, before the answer is stored and given; if it fails, the request does, and a repeat does it again."""
        self.answer = answer
        self.after = after
        self.then = then
        self.made = made
        self.of = of
        self.result: ActionResult | None = None
        """Once they are committed: what the caller gets."""
        self.headers = dict(headers or {})
        if version is not None:
            self.headers["etag"] = etag(version)
        self.secret = secret
        self.operations: list[Operation] = []
        self.outcomes: dict[int, Outcome] = {}
        for write in writes:
            if isinstance(write, Outcome):
                self.outcomes[id(write.operation)] = write
                self.operations.append(write.operation)
            else:
                self.operations.append(write)

    def together_with(self, *others: Operation | Outcome) -> Writes[A_co]:
        """The same answer and writes, with others before them."""
        outcomes = self.outcomes
        writes = [outcomes.get(id(operation), operation) for operation in self.operations]
        return Writes(
            self.answer,
            *others,
            *writes,
            after=self.after,
            then=self.then,
            made=self.made,
            headers=self.headers,
            secret=self.secret,
            of=self.of,
        )

    def answering(self, answer: B) -> Writes[B]:
        """The same writes with another answer, for a rule that builds on another rule."""
        writes = Writes(
            answer,
            *self.operations,
            after=self.after,
            then=self.then,
            made=self.made,
            headers=self.headers,
            secret=self.secret,
            of=self.of,
        )
        writes.outcomes = self.outcomes
        return writes


class Step(Writes[None]):
    """Some of the writes of a rule, which commits them itself because one transaction does not take them all."""

    __slots__ = ()

    def __init__(self, *writes: Operation | Outcome) -> None:
        super().__init__(None, *writes)


def or_raise(operation: Operation, refused: Refused, contended: Contended | None = None) -> Outcome:
    """If this write is refused, raise this; or what a function of the refusal returns, or run again if that is None.

    With `contended`, a row that many write may be another one in the next run: where another transaction holds it, this
    is called and the rule runs again, instead of waiting for the row.
    """
    return Outcome(operation, refused, contended)


def or_retry(operation: Operation, contended: Contended | None = None) -> Outcome:
    """If this write is refused, something that the rule read has changed: run the rule again."""
    return Outcome(operation, None, contended)

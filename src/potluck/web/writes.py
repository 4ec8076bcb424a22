"""What a rule returns: an answer, and what has to be written before it may be given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeVar

from msgspec import Struct

from potluck.table import WriteRefused
from potluck.table.operations import Operation

__all__ = ["After", "Explain", "Outcome", "Refused", "Writes", "or_raise", "or_retry"]

A_co = TypeVar("A_co", covariant=True)
B = TypeVar("B")

After = Callable[[], Awaitable[object]]
"""Work that follows the write and that nothing depends on: it is awaited before the answer is given, which is the same
if it fails."""

Explain = Callable[[WriteRefused], Awaitable[Exception | None]]
"""Looks at a refusal and says which problem it is; None if the rule should be asked again."""

Refused = type[Exception] | Exception | Explain | None


class Outcome(Struct, frozen=True, eq=False):
    """A write, and what its refusal means; None means that the rule should be asked again."""

    operation: Operation
    refused: Refused


class Writes(Generic[A_co]):
    """The answer, and the operations that must all succeed, in one transaction, before it is given.

    An entity is answered by the view of its subject, None with 204, any other struct as it is.
    """

    __slots__ = ("after", "answer", "headers", "made", "operations", "outcomes", "secret")

    def __init__(
        self,
        answer: A_co,
        *writes: Operation | Outcome,
        after: After | None = None,
        made: object = None,
        headers: Mapping[str, str] | None = None,
        secret: bool = False,
    ) -> None:
        """`made` is the id that a repeat is told where the answer itself is not kept, because it holds a secret: one of
        every answer of the action, or as `secret` says of this one."""
        self.answer = answer
        self.after = after
        self.made = made
        self.headers = headers or {}
        self.secret = secret
        self.operations: list[Operation] = []
        self.outcomes: dict[int, Outcome] = {}
        for each in writes:
            if isinstance(each, Outcome):
                self.outcomes[id(each.operation)] = each
                self.operations.append(each.operation)
            else:
                self.operations.append(each)

    def answering(self, answer: B) -> Writes[B]:
        """The same writes with another answer, for a rule that is made of this one."""
        made = Writes(
            answer, *self.operations, after=self.after, made=self.made, headers=self.headers, secret=self.secret
        )
        made.outcomes = self.outcomes
        return made


def or_raise(operation: Operation, refused: Refused) -> Outcome:
    """If this write is refused, that is why. A function may look at the refusal; None from it asks the rule again."""
    return Outcome(operation, refused)


def or_retry(operation: Operation) -> Outcome:
    """If this write is refused, something that the rule read has changed: ask the rule again."""
    return Outcome(operation, None)

"""Long work in steps, so that no other change waits for it.

    self.libraries = Steps("library", LibraryKey, self._follow_some)
    ...
    return self.libraries.of(LibraryKey(owner_id, library_id))         # what a trigger's function returns

A step does a bounded amount, some hundred rows, and says where the next one goes on. The consumer does the first one at
once. Only if more is left does it save where to go on, in the transaction that advances its position; from then on it
does a step whenever it has no change to handle. Work on a subject that begins again supersedes what was left of it.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from potluck.store import Store
from potluck.table import Operation
from potluck.table.errors import DesignError

S = TypeVar("S")

# A sort key of the service may have 1024 bytes.
LONGEST_SUBJECT = 800


class StepDone(NamedTuple):
    """What one step leaves to do."""

    then: Any = None
    """Where the next step goes on, as JSON can hold it; None after the last one."""
    writes: Sequence[Operation] = ()
    """Committed in one transaction with where to go on, and so exactly once."""
    also: Sequence["Work[Any]"] = ()
    """Further work that begins with it."""


class Steps(Generic[S]):
    """One kind of long work, with the function that does a step of it."""

    def __init__(
        self,
        name: str,
        subject: type[S],
        step: Callable[[S, Any], Awaitable[StepDone]],
        *,
        key: Callable[[S], object] = lambda subject: subject,
    ) -> None:
        """`step` gets the subject and where to go on: None at first. It may be called twice with the same.

        `name` is unique in the consumer, and so is `key` among the subjects of different work.
        """
        self.name = name
        self.subject = subject
        self.step = step
        self.key = key

    def of(self, subject: S) -> "Work[S]":
        """The work on one subject."""
        return Work(self, subject)

    def restored(self, subject: bytes) -> "Work[S]":
        """The work on a subject as it was saved."""
        return Work(self, msgspec.json.decode(subject, type=self.subject))


class Work(Generic[S]):
    """Long work on one subject."""

    def __init__(self, steps: Steps[S], subject: S) -> None:
        self.steps = steps
        self.subject = subject
        key = msgspec.json.encode(steps.key(subject)).decode()
        if len(key) > LONGEST_SUBJECT:
            raise DesignError(f"{steps.name}: a key of {len(key)} bytes; give Steps a shorter `key`")
        self.name = f"{steps.name}#{key}"
        """What tells it from other work of the consumer."""

    async def step(self, after: Any = None) -> StepDone:
        """Do one step."""
        return await self.steps.step(self.subject, after)

    def saved(self) -> str:
        """The subject as it is saved."""
        return msgspec.json.encode(self.subject).decode()

    async def completed(self, store: Store) -> None:
        """Do all of it now, for a caller who waits for it."""
        waiting: list[Work[Any]] = [self]
        while waiting:
            work, after = waiting.pop(), None
            while True:
                step = await work.step(after)
                if step.writes:
                    await store.transact(*step.writes)
                waiting += step.also
                after = step.then
                if after is None:
                    break

"""The seam between the apps and their storage: the DynamoDB API itself, answered by one of two engines."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from potluck.acceleration import BY_ENVIRONMENT, Accelerations
from potluck.dynamo.errors import CLOSED, FULL, DynamoError, NotPlain, StoreDamaged
from potluck.dynamo.storage.commits import EVERYWHERE, Place
from potluck.extras import needs_extra

__all__ = [
    "ACCESS_DENIED",
    "ANSWER_LOST",
    "CLOSED",
    "EVERYWHERE",
    "FULL",
    "REQUEST_NOT_SENT",
    "AccessDenied",
    "DynamoError",
    "Engine",
    "HandsOver",
    "NotPlain",
    "PacksRows",
    "Place",
    "StoreDamaged",
    "offered_by",
    "open_engine",
]

# The codes of failures that the service itself cannot report. There are two because they need different handling:
# a request that was not sent can simply be retried, while a lost answer leaves open whether the write was executed.
REQUEST_NOT_SENT = "RequestNotSent"
ANSWER_LOST = "AnswerLost"

ACCESS_DENIED = "AccessDeniedException"
"""The service's code for a call that the policy of the credentials does not allow."""


class AccessDenied(DynamoError):
    """A call that the policy of the credentials does not allow; the message says which permission is missing."""

    def __init__(self, message: str) -> None:
        super().__init__(ACCESS_DENIED, message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message,)


@runtime_checkable
class Engine(Protocol):
    """Answers the DynamoDB API, in wire form, and raises DynamoError for every failure."""

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]: ...

    async def changed(self, table: str, timeout: float) -> bool:
        """Wait at most `timeout` seconds for a change of the table; True is a hint to look again, not a count.

        The embedded engine notices every commit; elsewhere, only writes of this process are known.
        """
        ...

    async def close(self) -> None:
        """Release all resources. A second close does nothing; a call after it is an error."""
        ...


class HandsOver(Engine, Protocol):
    """An engine in this process that hands over committed records. Wrappers around an engine do not offer this."""

    def follow(
        self, table: str, receive: Callable[[tuple[str, list[dict[str, Any]]] | None], None]
    ) -> Callable[[], None]:
        """Call `receive` with the shard and the records of each commit to the table; returns a function that stops it.

        None means that another process committed, and its records have to be read from the log.
        """
        ...

    def near_end(self, table: str, changes: int) -> str | None:
        """The sequence number after which the table's log has this many records; None if it has no more at all."""
        ...


class PacksRows(Engine, Protocol):
    """An engine in this process that can return rows as it stores them. Wrappers around an engine do not offer this.

    A row whose bytes are known need not be decoded again, and an answer from the same state need not be read again.
    """

    def state(self) -> int:
        """A number that grows with every write, here or in another process, and only then."""
        ...

    def untouched(self, places: Iterable[Place], since: int) -> bool:
        """Whether nothing was written to these partitions between that state and the last one returned by `state`."""
        ...

    def row(self, table: str, key: dict[str, Any]) -> bytes | None:
        """The item that a consistent GetItem would return now; NotPlain if that takes a full call."""
        ...

    def rows_of(self, table: str, keys: list[dict[str, Any]]) -> dict[int, bytes]:
        """What `row` would return for each of these keys, by its position in the list, in one read."""
        ...

    async def transact(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a TransactWriteItems that needs no validation, because it was built in this process."""
        ...

    async def query_rows(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a Query; Items that need no projection stay packed."""
        ...

    def unpack(self, rows: list[bytes]) -> list[dict[str, Any]]: ...


def offered_by(engine: object, name: str) -> Any:
    """An extra of this engine, or of the one that it wraps; None if neither has it."""
    wrapped: object | None = engine
    while wrapped is not None:
        offered = getattr(wrapped, name, None)
        if offered is not None:
            return offered
        wrapped = getattr(wrapped, "engine", None)
    return None


async def open_engine(
    kind: Literal["embedded", "aws"] = "embedded",
    *,
    path: str | Path | None = None,
    region: str | None = None,
    endpoint: str | None = None,
    prefix: str = "",
    reserve: bool = False,
    accelerations: Accelerations = BY_ENVIRONMENT,
) -> Engine:
    """Open the engine the settings choose: the file at path, or the service at region or endpoint.

    With `reserve`, the embedded engine sets some disk space aside for when the disk is full.
    """
    engine: Engine
    # Imported only when chosen: aiobotocore alone takes a second to import.
    if kind == "embedded":
        from potluck.engines.embedded import open_embedded

        engine = await open_embedded(path, reserve=reserve, accelerations=accelerations)
    elif kind == "aws":
        with needs_extra("aws"):
            from potluck.engines.aws import Aws

        engine = await Aws.open(region=region, endpoint=endpoint)
    else:
        raise ValueError(f"no such engine: {kind!r}; it is 'embedded' or 'aws'")
    if prefix:
        from potluck.engines.prefixing import Prefixing

        engine = Prefixing(engine, prefix)
    return engine

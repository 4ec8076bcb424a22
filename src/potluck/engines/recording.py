"""An engine wrapper that records calls and what they cost.

In single-table design the number and the cost of the requests are the design, so tests state both. A call is recorded
under its operation and under the access pattern it was made for, which the builder of the request names with
`access_pattern`.
"""

import contextlib
import time
from collections import deque
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import msgspec

from potluck.engines import DynamoError, Engine

READS = frozenset({"GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"})
WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})

CALLS_KEPT = 10_000

_pattern: ContextVar[str | None] = ContextVar("access pattern", default=None)


class access_pattern:
    """Records every call made inside under this name."""

    # Not a generator: it is entered with every read, and the class costs a third as much.
    __slots__ = ("_name", "_token")

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        self._token = _pattern.set(self._name)

    def __exit__(self, *_: object) -> None:
        _pattern.reset(self._token)


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call: its request, and what it cost."""

    operation: str
    pattern: str | None
    tables: tuple[str, ...]
    index: str | None
    items: int
    bytes_sent: int
    bytes_received: int
    read_units: float
    write_units: float
    seconds: float
    error: str | None
    request: dict[str, Any] = field(repr=False)


@dataclass(slots=True)
class Total:
    """What all calls of one access pattern and operation cost."""

    calls: int = 0
    errors: int = 0
    items: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    read_units: float = 0.0
    write_units: float = 0.0
    seconds: float = 0.0

    def add(self, call: RecordedCall) -> None:
        self.calls += 1
        self.errors += call.error is not None
        self.items += call.items
        self.bytes_sent += call.bytes_sent
        self.bytes_received += call.bytes_received
        self.read_units += call.read_units
        self.write_units += call.write_units
        self.seconds += call.seconds


class RecordedCalls(list[RecordedCall]):
    """The calls made while the scope was open, in the order in which they ended."""

    @property
    def operations(self) -> list[str]:
        return [call.operation for call in self]

    @property
    def read_units(self) -> float:
        return sum(call.read_units for call in self)

    @property
    def write_units(self) -> float:
        return sum(call.write_units for call in self)


class Recording:
    """An engine that records its last calls and the totals of all of them."""

    def __init__(self, engine: Engine, keep: int = CALLS_KEPT) -> None:
        self.engine = engine
        self.calls: deque[RecordedCall] = deque(maxlen=keep)
        self.totals: dict[tuple[str | None, str], Total] = {}
        self._scopes: list[RecordedCalls] = []

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        asked = request.get("ReturnConsumedCapacity", "NONE") != "NONE"
        measurable = operation in READS or operation in WRITES
        sent = {**request, "ReturnConsumedCapacity": "TOTAL"} if measurable and not asked else request
        started = time.perf_counter()
        try:
            answer = await self.engine.call(operation, sent)
        except DynamoError as error:
            self._record(operation, request, {}, 0.0, time.perf_counter() - started, error.code)
            raise
        seconds = time.perf_counter() - started
        units = _units(answer.get("ConsumedCapacity"))
        if not asked and "ConsumedCapacity" in answer:
            answer = {name: part for name, part in answer.items() if name != "ConsumedCapacity"}
        self._record(operation, request, answer, units, seconds, None)
        return answer

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)

    async def close(self) -> None:
        await self.engine.close()

    @contextlib.contextmanager
    def scope(self) -> Iterator[RecordedCalls]:
        """All calls through this engine until the block ends."""
        scope = RecordedCalls()
        self._scopes.append(scope)
        try:
            yield scope
        finally:
            # By identity: two open scopes with the same calls would compare equal.
            self._scopes = [other for other in self._scopes if other is not scope]

    def _record(
        self,
        operation: str,
        request: dict[str, Any],
        answer: dict[str, Any],
        units: float,
        seconds: float,
        error: str | None,
    ) -> None:
        call = RecordedCall(
            operation=operation,
            pattern=_pattern.get(),
            tables=_tables(request),
            index=request.get("IndexName"),
            items=_items(operation, request, answer) if error is None else 0,
            bytes_sent=_size(request),
            bytes_received=_size(answer),
            read_units=units if operation in READS else 0.0,
            write_units=units if operation in WRITES else 0.0,
            seconds=seconds,
            error=error,
            request=request,
        )
        self.calls.append(call)
        self.totals.setdefault((call.pattern, operation), Total()).add(call)
        for scope in self._scopes:
            scope.append(call)


def _size(body: dict[str, Any]) -> int:
    try:
        return len(msgspec.json.encode(body))
    except (TypeError, ValueError):
        # The request is malformed; the caller should see the engine's own refusal.
        return 0


def _units(consumed: Any) -> float:
    if isinstance(consumed, list):
        return float(sum(capacity.get("CapacityUnits", 0.0) for capacity in consumed))
    return float(consumed.get("CapacityUnits", 0.0)) if consumed else 0.0


def _tables(request: dict[str, Any]) -> tuple[str, ...]:
    if "TableName" in request:
        return (request["TableName"],)
    if "RequestItems" in request:
        return tuple(request["RequestItems"])
    actions = [action for actions in request.get("TransactItems", ()) for action in actions.values()]
    return tuple(dict.fromkeys(action["TableName"] for action in actions))


def _items(operation: str, request: dict[str, Any], answer: dict[str, Any]) -> int:
    """How many items were returned or written."""
    if operation in {"Query", "Scan"}:
        return int(answer.get("Count", 0))
    if operation == "GetItem":
        return int("Item" in answer)
    if operation == "BatchGetItem":
        return sum(len(items) for items in answer.get("Responses", {}).values())
    if operation == "TransactGetItems":
        return sum("Item" in response for response in answer.get("Responses", ()))
    if operation == "BatchWriteItem":
        refused = sum(len(writes) for writes in answer.get("UnprocessedItems", {}).values())
        return sum(len(writes) for writes in request["RequestItems"].values()) - refused
    if operation == "TransactWriteItems":
        return sum("ConditionCheck" not in actions for actions in request["TransactItems"])
    if operation == "GetRecords":
        return len(answer.get("Records", ()))
    return int(operation in WRITES)

"""Several operations applied atomically: all of them or none."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.limits import ITEM_BYTES, TRANSACTION_ACTIONS, TRANSACTION_BYTES
from potluck.dynamo.values import item_size
from potluck.table.errors import Contended, TransactionRefused
from potluck.table.operations.failures import explain_refusal
from potluck.table.operations.writes import TransactionAction, WriteRequest
from potluck.table.tables import Request, RowName, row_name

if TYPE_CHECKING:
    from potluck.table.operations import Operation


class Transaction:
    """Operations to apply atomically; raises TransactionRefused at once if DynamoDB would not accept them."""

    def __init__(self, *operations: Operation) -> None:
        self.operations = operations
        self._writes: list[tuple[int, WriteRequest]] = [
            (position, write) for position, operation in enumerate(operations) for write in operation.writes
        ]
        if not self._writes:
            raise TransactionRefused("the transaction does nothing")
        count = len(self._writes)
        if count > TRANSACTION_ACTIONS:
            self._refuse_too_many(count)
        self._refuse_same_item_twice()
        if count * ITEM_BYTES > TRANSACTION_BYTES:
            self._refuse_too_big()

    @property
    def name(self) -> str:
        """The kinds of writes it is made of, without naming the items."""
        return " + ".join(dict.fromkeys(operation.name for operation in self.operations))

    def actions(self, now: int | None = None) -> list[TransactionAction]:
        """Every action, those for guard rows included; `now`, in seconds, is needed where an entity expires."""
        return [write.action(now) for _, write in self._writes]

    def request(self, now: int | None = None, token: str | None = None) -> Request:
        """The single request for all of it; sent again with the same idempotency token, it takes effect only once."""
        items = []
        for _, write in self._writes:
            action = write.action(now)
            items.append({action.kind: action.body})
        body: dict[str, Any] = {"TransactItems": items}
        if token is not None:
            body["ClientRequestToken"] = token
        return Request("TransactWriteItems", body)

    def explain(self, error: DynamoError, now: int | None = None) -> Exception:
        """The exception for the first action whose condition failed; the error itself if no condition did."""
        for (position, write), reason in zip(self._writes, error.reasons or (), strict=False):
            if reason.get("Code") == "ConditionalCheckFailed":
                refusal = explain_refusal(self.operations[position], write, reason.get("Item"), now)
                refusal.position = position
                return refusal
        return error

    def contended(self, error: DynamoError, spread: Collection[Operation]) -> Contended | None:
        """The exception if the items of some of these operations were in another transaction; None if none was."""
        held = [
            self.operations[position]
            for (position, _), reason in zip(self._writes, error.reasons or (), strict=False)
            if reason.get("Code") == "TransactionConflict" and self.operations[position] in spread
        ]
        return Contended(held) if held else None

    def _refuse_too_many(self, count: int) -> None:
        guards = sum(write.guard is not None for _, write in self._writes)
        raise TransactionRefused(
            f"the transaction has {count} actions, {guards} of them for guard rows of unique fields; "
            f"at most {TRANSACTION_ACTIONS} are possible. If they need not be atomic, use write_each"
        )

    def _refuse_same_item_twice(self) -> None:
        first: dict[RowName, tuple[int, WriteRequest]] = {}
        for position, write in self._writes:
            before = first.setdefault(row_name(write.plan.table, write.key), (position, write))
            if before[0] != position or before[1] is not write:
                raise TransactionRefused(
                    f"{self._described(*before)} and {self._described(position, write)} touch the same item, "
                    "which a transaction can do only once"
                )

    def _refuse_too_big(self) -> None:
        size = sum(self._size(position, write) for position, write in self._writes)
        if size > TRANSACTION_BYTES:
            raise TransactionRefused(
                f"the items of the transaction have {size} bytes together; at most {TRANSACTION_BYTES} are possible"
            )

    def _size(self, position: int, write: WriteRequest) -> int:
        """The size of the item in bytes, as far as it is known here."""
        operation = self.operations[position]
        if operation.seen is None or write.guard is not None or write.item is not None:
            return write.size()
        return max(write.size(), item_size(operation.plan.coding.encode(operation.seen)))

    def _described(self, position: int, write: WriteRequest) -> str:
        operation = self.operations[position]
        if write.guard is None:
            return f"{operation} at {position}"
        return f"the guard of {write.guard.field} {write.guard.value!r} of {operation} at {position}"

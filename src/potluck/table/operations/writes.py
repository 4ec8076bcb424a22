"""The write of one item: first as plain data, then as a DynamoDB action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct

from potluck.dynamo.values import Item, item_size, value_size
from potluck.table.expressions import Expressions
from potluck.table.expressions.clauses import Clause, Remove
from potluck.table.expressions.conditions import Condition, Either, Owned, absent
from potluck.table.operations.guards import Guard, guard_item

if TYPE_CHECKING:
    from potluck.table.entity import EntityPlan

ActionKind = Literal["Put", "Update", "Delete", "ConditionCheck"]


class TransactionAction(Struct, frozen=True):
    """One action of a transaction; its body is also a complete request."""

    kind: ActionKind
    table: str
    key: Item
    body: dict[str, Any]

    def batch(self) -> dict[str, Any]:
        """The same as a member of a BatchWriteItem, which has no conditions."""
        if self.kind == "Put":
            return {"PutRequest": {"Item": self.body["Item"]}}
        if self.kind == "Delete":
            return {"DeleteRequest": {"Key": self.key}}
        raise ValueError(f"{self.kind} cannot be in a batch")


class WriteRequest(Struct, frozen=True):
    """A write of one item, and its condition."""

    kind: ActionKind
    plan: EntityPlan
    key: Item
    condition: Condition | None
    item: Item | None = None
    clauses: tuple[Clause, ...] = ()
    guard: Guard | None = None
    written: Mapping[str, Any] | None = None
    """Its expressions as members of a request, if already built."""

    def action(self, now: int | None) -> TransactionAction:
        """The write with its expressions as text, as of this second."""
        table = self.plan.table.name
        body: dict[str, Any] = {"TableName": table}
        if self.written is not None:
            return TransactionAction(self.kind, table, self.key, {**body, "Key": self.key, **self.written})
        if self.item is not None:
            body["Item"] = self.item
        else:
            body["Key"] = self.key
        if self.kind == "ConditionCheck" or self.condition is absent:
            # Access checks and `absent` go with every write, as the same objects.
            body |= _written_condition(self.plan, self.condition, now)
        else:
            expressions = Expressions(self.plan, now)
            if self.clauses:
                body["UpdateExpression"] = expressions.update(self.clauses)
            if self.condition is not None:
                body["ConditionExpression"] = expressions.condition(self.condition)
            body |= expressions.attributes()
        if self.condition is not None:
            body["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return TransactionAction(self.kind, table, self.key, body)

    def size(self) -> int:
        """How many bytes of the item the write itself contains."""
        if self.item is not None:
            return item_size(self.item)
        return item_size(self.key) + sum(
            value_size(clause.value) for clause in self.clauses if not isinstance(clause, Remove)
        )


class _Written(NamedTuple):
    """A condition as members of a request, the second for which it was built, and the objects it was built from."""

    plan: EntityPlan
    condition: Condition
    now: int | None
    members: dict[str, Any]


# Keyed by identity; each entry keeps its objects alive, so that their ids are not reused.
_written: dict[tuple[int, int], _Written] = {}
MOST_WRITTEN = 500


def _written_condition(plan: EntityPlan, condition: Condition | None, now: int | None) -> dict[str, Any]:
    """A condition as members of a request; built once per object and, where rows expire, per second."""
    assert condition is not None
    if plan.expiry is None:
        now = None
    known = _written.get((id(plan), id(condition)))
    if known is None or known.now != now:
        expressions = Expressions(plan, now)
        members = {"ConditionExpression": expressions.condition(condition), **expressions.attributes()}
        if len(_written) >= MOST_WRITTEN:
            _written.clear()
        known = _written[id(plan), id(condition)] = _Written(plan, condition, now, members)
    return known.members


def claim(plan: EntityPlan, guard: Guard, values: Mapping[str, Any]) -> WriteRequest:
    """Put the guard row, unless another item owns it."""
    item = guard_item(plan, guard, values)
    return WriteRequest("Put", plan, guard.key, _vacant_or_own(guard), item=item, guard=guard)


def release(plan: EntityPlan, guard: Guard) -> WriteRequest:
    """Delete the guard row, unless another item owns it."""
    return WriteRequest("Delete", plan, guard.key, _vacant_or_own(guard), guard=guard)


def _vacant_or_own(guard: Guard) -> Condition:
    return Either((absent, Owned(guard.owner)))

"""One item's part in a write: first as plain data, then as an action in DynamoDB's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from potluck.dynamo.values import Item, item_size, value_size
from potluck.table.expressions import Expressions
from potluck.table.expressions.clauses import Clause, Remove
from potluck.table.expressions.conditions import Condition, Either, Owned, absent
from potluck.table.operations.guards import Guard, guard_item

if TYPE_CHECKING:
    from potluck.table.entity import EntityPlan

__all__ = ["Action", "ActionKind", "Write", "claim", "release"]

ActionKind = Literal["Put", "Update", "Delete", "ConditionCheck"]


@dataclass(frozen=True, slots=True)
class Action:
    """A member of a transaction, and, with its own operation's name, a request."""

    kind: ActionKind
    table: str
    key: Item
    body: dict[str, Any]

    def batch(self) -> dict[str, Any]:
        """The same as a member of a BatchWriteItem, which knows no conditions."""
        if self.kind == "Put":
            return {"PutRequest": {"Item": self.body["Item"]}}
        if self.kind == "Delete":
            return {"DeleteRequest": {"Key": self.key}}
        raise ValueError(f"{self.kind} does not go into a batch")


@dataclass(frozen=True, slots=True)
class Write:
    """What is to be done to one item, and on which condition."""

    kind: ActionKind
    plan: EntityPlan
    key: Item
    condition: Condition | None
    item: Item | None = None
    clauses: tuple[Clause, ...] = ()
    guard: Guard | None = None
    written: Mapping[str, Any] | None = None
    """Its expressions as members of a request, where somebody has written them already."""

    def action(self, now: int | None) -> Action:
        """The write as text, as of this second."""
        body: dict[str, Any] = {"TableName": self.plan.table.name}
        if self.written is not None:
            return Action(self.kind, self.plan.table.name, self.key, {**body, "Key": self.key, **self.written})
        if self.kind == "ConditionCheck" and self.condition is not None and self.plan.expiry is None:
            body |= {"Key": self.key, **_written_check(self.plan, self.condition)}
            return Action(self.kind, self.plan.table.name, self.key, body)
        expressions = Expressions(self.plan, now)
        if self.item is not None:
            body["Item"] = self.item
        else:
            body["Key"] = self.key
        if self.clauses:
            body["UpdateExpression"] = expressions.update(self.clauses)
        if self.condition is not None:
            body["ConditionExpression"] = expressions.condition(self.condition)
        body |= expressions.attributes()
        if self.condition is not None:
            body["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return Action(self.kind, self.plan.table.name, self.key, body)

    def size(self) -> int:
        """How many bytes of the item the write itself tells."""
        if self.item is not None:
            return item_size(self.item)
        return item_size(self.key) + sum(
            value_size(each.value) for each in self.clauses if not isinstance(each, Remove)
        )


# By the objects themselves, which are kept with it.
_written: dict[tuple[int, int], tuple[EntityPlan, Condition, dict[str, Any]]] = {}
MOST_WRITTEN = 500


def _written_check(plan: EntityPlan, condition: Condition) -> dict[str, Any]:
    """A condition that does not depend on the time, as members of a request; written once for the same object."""
    known = _written.get((id(plan), id(condition)))
    if known is None:
        expressions = Expressions(plan, None)
        members = {"ConditionExpression": expressions.condition(condition), **expressions.attributes()}
        members["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        if len(_written) >= MOST_WRITTEN:
            _written.clear()
        known = _written[id(plan), id(condition)] = plan, condition, members
    return known[2]


def claim(plan: EntityPlan, guard: Guard, values: Mapping[str, Any]) -> Write:
    """Put the guard, unless another item has it."""
    item = guard_item(plan, guard, values)
    return Write("Put", plan, guard.key, _vacant_or_own(guard), item=item, guard=guard)


def release(plan: EntityPlan, guard: Guard) -> Write:
    """Delete the guard, unless another item has it."""
    return Write("Delete", plan, guard.key, _vacant_or_own(guard), guard=guard)


def _vacant_or_own(guard: Guard) -> Condition:
    return Either((absent, Owned(guard.owner)))

"""The exceptions for refused writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from potluck.dynamo.values import Item, Value, equal
from potluck.table.errors import (
    AlreadyExists,
    Changed,
    ConditionFailed,
    NotFound,
    NotUnique,
    UnreadableItem,
    VersionConflict,
    WriteRefused,
)
from potluck.table.expressions.conditions import (
    Absent,
    AsRead,
    Compared,
    Condition,
    Either,
    FieldName,
    Still,
    conjuncts,
)
from potluck.table.expressions.readings import compared_as_read, holds

if TYPE_CHECKING:
    from potluck.table.entity import EntityPlan
    from potluck.table.operations import Operation
    from potluck.table.operations.writes import WriteRequest


def explain_refusal(
    operation: Operation, write: WriteRequest, item: Item | None, now: int | None = None
) -> WriteRefused:
    """The exception for a write whose condition the stored item did not meet."""
    guard = write.guard
    if guard is not None and write.kind == "Put":
        return NotUnique(guard.field, guard.value, operation)
    if guard is not None:
        return Changed(f"{operation}: the guard of {guard.field} {guard.value!r} belongs to another item", operation)
    plan = operation.plan
    if item is None and operation.makes_the_item:
        return ConditionFailed(f"{operation}: the condition does not hold for a new item", operation)
    if item is not None and plan.expired(item, now or 0):
        item = None
    current = None if item is None else _entity(plan, item)
    conditions = _conditions(operation, write)
    if any(isinstance(condition, Absent) for condition in conditions):
        return AlreadyExists(f"{operation}: the item exists already", operation, current)
    if item is None or not plan.matches(item):
        return NotFound(f"{operation}: there is no such item", operation)
    failing = [condition for condition in conditions if not _may_hold(plan, condition, item)]
    for condition in failing:
        if plan.version is not None and _about(condition) == plan.version.name:
            return VersionConflict(f"{operation}: its version has changed", operation, current)
    for condition in failing:
        if isinstance(condition, AsRead):
            return Changed(f"{operation}: it has changed since it was read", operation, current)
        if isinstance(condition, Still):
            return Changed(f"{operation}: {condition.field.name} is no longer {condition.value!r}", operation, current)
    return ConditionFailed(f"{operation}: the condition does not hold", operation, current)


def _conditions(operation: Operation, write: WriteRequest) -> tuple[Condition, ...]:
    """What the write required of an existing item."""
    if write.kind == "Delete" and operation.when is None and isinstance(write.condition, Either):
        # A missing item would have been fine, so the rest failed.
        return conjuncts(write.condition.parts[-1])
    return conjuncts(write.condition)


def _may_hold(plan: EntityPlan, condition: Condition, item: Item) -> bool:
    """False only if the item certainly fails the condition."""
    if isinstance(condition, AsRead):
        return all(_as_stored(item, condition.row, field.attribute) for field in compared_as_read(plan))
    if isinstance(condition, Still):
        return holds(plan.fields[condition.field.name], condition.value, item)
    if isinstance(condition, Compared) and condition.operator == "=" and not isinstance(condition.operand, FieldName):
        return holds(plan.fields[condition.field.name], condition.operand, item)
    return True


def _as_stored(item: Item, row: Mapping[str, Value], attribute: str) -> bool:
    ours, theirs = row.get(attribute), item.get(attribute)
    return ours is theirs if ours is None or theirs is None else equal(ours, theirs)


def _about(condition: Condition) -> str | None:
    return condition.field.name if isinstance(condition, Still | Compared) else None


def _entity(plan: EntityPlan, item: Item) -> Any:
    """The row's entity; None if it is of another kind with the same key, or cannot be decoded."""
    try:
        return plan.coding.decode(item) if plan.matches(item) else None
    except UnreadableItem:
        return None

"""Backfill: rewrite stored rows with the keys that their entity declares today.

Needed once after a key template or a sparse condition has changed, or an index was added. It can be stopped at any time
and resumed from the last position it reported, and it is idempotent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from potluck.engines import DynamoError
from potluck.engines.recording import access_pattern
from potluck.store.scanning import whole_table
from potluck.store.store import Store, all_done
from potluck.table.entity import Entity, EntityPlan, plan_of
from potluck.table.errors import AlreadyExists, NotUnique
from potluck.table.expressions import Expressions, absent
from potluck.table.expressions.conditions import Either, Owned
from potluck.table.operations.guards import guard_item, guard_of
from potluck.table.operations.writes import WriteRequest
from potluck.table.tables import Request

ROWS_AT_ONCE = 100
WRITES_AT_ONCE = 16
REFUSED = "ConditionalCheckFailed"

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress so far: rows read and rewritten by this run, and where to resume; None at the end."""

    read: int
    rewritten: int
    position: dict[str, Any] | None


async def backfill(
    store: Store, entity: type[Entity], position: Mapping[str, Any] | None = None
) -> AsyncIterator[Progress]:
    """Rewrite the rows that have old keys, page by page. A row that changes meanwhile is read again."""
    plan = plan_of(entity)
    read = rewritten = 0
    pattern = f"{plan.name} backfill"
    # Not a declared scan: rows under former keys are recognised here, and only here.
    async for page in whole_table(store.repeat, pattern, plan.table.name, position, limit=ROWS_AT_ONCE):
        with access_pattern(pattern):
            for start in range(0, len(page.rows), WRITES_AT_ONCE):
                batch = [_bring_up_to_date(store, plan, row) for row in page.rows[start : start + WRITES_AT_ONCE]]
                rewritten += sum(await all_done(batch))
        read += len(page.rows)
        yield Progress(read, rewritten, page.position)


async def _bring_up_to_date(store: Store, plan: EntityPlan, item: Item) -> bool:
    key = {name: item[name] for name in plan.table.key_names}
    async for attempt in store.attempts(f"rewriting the keys of {plan.name} {key}"):
        request = rewriting(plan, item, store.now)
        if request is None:
            return attempt > 0
        try:
            await store.repeat(request)
        except DynamoError as error:
            if error.code not in {"ConditionalCheckFailedException", "TransactionCanceledException"}:
                raise
            again = {"TableName": plan.table.name, "Key": key, "ConsistentRead": True}
            stored = (await store.repeat(Request("GetItem", again))).get("Item")
            if stored is None:
                return False
            if stored == item:
                raise _in_the_way(plan, item, error) from None
            item = stored
        else:
            return True
    raise AssertionError("the attempts end by Unavailable")


def rewriting(plan: EntityPlan, item: Item, now: int) -> Request | None:
    """The write that gives a row its current keys; None if it has them, is of another kind, or has expired."""
    entity = None if plan.expired(item, now) else _entity(plan, item)
    if entity is None:
        return None
    new_row = plan.coding.encode(entity)
    moved = any(new_row[name] != item[name] for name in plan.table.key_names)
    return _move(plan, item, entity, now) if moved else _index_keys(plan, item, new_row)


def _entity(plan: EntityPlan, item: Item) -> Any:
    # Rows written before the table had a type attribute lack one.
    stored_type = item.get(plan.table.type_attribute or "")
    if plan.type is not None and stored_type is not None and stored_type.get("S") != plan.type:
        return None
    if plan.key.matches(item):
        return plan.coding.decode(item) if plan.matches(item) else None
    for former in plan.former_keys:
        if former.key.matches(item):
            return former.decode(item)
    return None


def _index_keys(plan: EntityPlan, item: Item, new_row: Item) -> Request | None:
    names = [key.name for pair in plan.table.indexes.values() for key in pair if key is not None]
    names = [name for name in dict.fromkeys(names) if item.get(name) != new_row.get(name)]
    if not names:
        return None
    expressions = Expressions()
    to_set = [
        f"{expressions.name(name)} = {expressions.value(name, new_row[name])}" for name in names if name in new_row
    ]
    to_remove = [expressions.name(name) for name in names if name not in new_row]
    changes = [
        *(["SET " + ", ".join(to_set)] if to_set else []),
        *(["REMOVE " + ", ".join(to_remove)] if to_remove else []),
    ]
    parts = {part for key in plan.indexes.values() for part in key.components} - plan.key.components
    attributes = [plan.fields[part].attribute for part in plan.fields if part in parts]
    body: dict[str, Any] = {
        "TableName": plan.table.name,
        "Key": {name: item[name] for name in plan.table.key_names},
        "UpdateExpression": " ".join(changes),
        "ConditionExpression": _unchanged(expressions, item, [*attributes, *plan.table.key_names[:1]]),
        **expressions.attributes(),
    }
    return Request("UpdateItem", body)


def _move(plan: EntityPlan, item: Item, entity: Any, now: int) -> Request:
    """Put the row under its new key and delete the old one, together, unless someone changed it meanwhile."""
    table = plan.table
    new_row = plan.coding.encode(entity)
    old_key, new_key = ({name: row[name] for name in table.key_names} for row in (item, new_row))
    declared = {key.name for pair in table.indexes.values() for key in pair if key is not None}
    undeclared = {name: value for name, value in item.items() if name not in declared}
    new = WriteRequest("Put", plan, new_key, absent, item={**undeclared, **new_row})
    # Comparing the version is not enough: counters change without raising it.
    attributes = dict.fromkeys(
        [*(field.attribute for field in plan.fields.values() if not field.key_only), *undeclared]
    )
    expressions = Expressions()
    old = {
        "TableName": table.name,
        "Key": old_key,
        "ConditionExpression": _unchanged(expressions, item, [name for name in attributes if name not in new_key]),
        **expressions.attributes(),
    }
    guards = _guards(plan, entity, old_key, new_key)
    actions = [{"Put": new.action(now).body}, {"Delete": old}, *({"Put": guard.action(now).body} for guard in guards)]
    # The token makes the transaction idempotent, so it can be retried.
    return Request("TransactWriteItems", {"TransactItems": actions, "ClientRequestToken": str(uuid4())})


def _guards(plan: EntityPlan, entity: Any, old_key: Item, new_key: Item) -> list[WriteRequest]:
    """The rewritten guard rows of unique values: a guard names its owner by key, and the key changes."""
    values = {name: getattr(entity, name) for name in plan.fields}
    guards = [guard_of(unique, values, new_key) for unique in plan.uniques]
    own = Either((absent, Owned(old_key), Owned(new_key)))
    return [
        WriteRequest("Put", plan, guard.key, own, item=guard_item(plan, guard, values), guard=guard)
        for guard in guards
        if guard is not None
    ]


def _in_the_way(plan: EntityPlan, item: Item, error: DynamoError) -> Exception:
    """Why a row cannot be moved although it has not changed."""
    entity = _entity(plan, item)
    key = plan.key.wire({name: getattr(entity, name) for name in plan.fields})
    first, _, *guards = error.reasons or ({}, {})
    if first.get("Code") == REFUSED:
        there = first.get("Item")
        current = plan.coding.decode(there) if there is not None and plan.matches(there) else None
        where = {name: item[name] for name in plan.table.key_names}
        return AlreadyExists(f"{plan.name} at {where} cannot move to {key}: another row is there", current=current)
    taken = [operation.guard for operation in _guards(plan, entity, {}, key)]
    for guard, reason in zip(taken, guards, strict=False):
        if guard is not None and reason.get("Code") == REFUSED:
            return NotUnique(guard.field, guard.value)
    return error


def _unchanged(expressions: Expressions, item: Item, attributes: list[str]) -> str:
    conditions = []
    for attribute in attributes:
        name = expressions.name(attribute)
        stored = item.get(attribute)
        if stored is None:
            conditions.append(f"attribute_not_exists({name})")
        else:
            conditions.append(f"{name} = {expressions.value(attribute, stored)}")
    return " AND ".join(conditions)

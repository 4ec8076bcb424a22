"""Bring stored rows to the keys that their entity declares today.

Needed once after a key template or a sparse condition was changed, or an index was added. It can be stopped at any
time and taken up again at the position it last told; running it twice changes nothing the second time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from potluck.engines import DynamoError
from potluck.engines.recording import access_pattern
from potluck.store import Store
from potluck.table.entity import Entity, EntityPlan, plan_of
from potluck.table.errors import Unavailable
from potluck.table.expressions import Expressions
from potluck.table.tables import Request

__all__ = ["Progress", "backfill"]

ROWS_AT_ONCE = 100
WRITES_AT_ONCE = 16
ATTEMPTS = 10

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is: rows looked at and rewritten by this run, and where to go on; None at the end."""

    read: int
    rewritten: int
    position: dict[str, Any] | None


async def backfill(
    store: Store, entity: type[Entity], position: Mapping[str, Any] | None = None
) -> AsyncIterator[Progress]:
    """Rewrite what has old keys, page by page. A row that someone changes meanwhile is looked at again."""
    plan = plan_of(entity)
    read = rewritten = 0
    while True:
        body: dict[str, Any] = {"TableName": plan.table.name, "Limit": ROWS_AT_ONCE, "ConsistentRead": True}
        if position is not None:
            body["ExclusiveStartKey"] = dict(position)
        with access_pattern(f"{plan.name} backfill"):
            answer = await store.repeat(Request("Scan", body))
            items = answer["Items"]
            for start in range(0, len(items), WRITES_AT_ONCE):
                batch = [_bring_up_to_date(store, plan, item) for item in items[start : start + WRITES_AT_ONCE]]
                rewritten += sum(await asyncio.gather(*batch))
        read += len(items)
        position = answer.get("LastEvaluatedKey")
        yield Progress(read, rewritten, None if position is None else dict(position))
        if position is None:
            return


async def _bring_up_to_date(store: Store, plan: EntityPlan, item: Item | None) -> bool:
    key = {} if item is None else {name: item[name] for name in plan.table.key_names}
    for attempt in range(ATTEMPTS):
        request = None if item is None else rewriting(plan, item)
        if request is None:
            return attempt > 0 and item is not None
        try:
            await store.repeat(request)
        except DynamoError as error:
            if error.code not in {"ConditionalCheckFailedException", "TransactionCanceledException"}:
                raise
            again = {"TableName": plan.table.name, "Key": key, "ConsistentRead": True}
            item = (await store.repeat(Request("GetItem", again))).get("Item")
        else:
            return True
    raise Unavailable(f"{plan.name} at {key} was changed by others each time its keys were to be rewritten")


def rewriting(plan: EntityPlan, item: Item) -> Request | None:
    """What gives a stored row the keys it should have; None when it has them or is of another kind."""
    entity = _entity(plan, item)
    if entity is None:
        return None
    wanted = plan.coding.encode(entity)
    moved = any(wanted[name] != item[name] for name in plan.table.key_names)
    return _move(plan, item, wanted) if moved else _index_keys(plan, item, wanted)


def _entity(plan: EntityPlan, item: Item) -> Any:
    if plan.key.matches(item):
        return plan.coding.decode(item) if plan.matches(item) else None
    for former in plan.former_keys:
        if former.key.matches(item):
            return former.decode(item)
    return None


def _index_keys(plan: EntityPlan, item: Item, wanted: Item) -> Request | None:
    names = [key.name for pair in plan.table.indexes.values() for key in pair if key is not None]
    names = [name for name in dict.fromkeys(names) if item.get(name) != wanted.get(name)]
    if not names:
        return None
    expressions = Expressions()
    to_set = [f"{expressions.name(name)} = {expressions.value(name, wanted[name])}" for name in names if name in wanted]
    to_remove = [expressions.name(name) for name in names if name not in wanted]
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


def _move(plan: EntityPlan, item: Item, wanted: Item) -> Request:
    """Put the row under its new key and delete the old one, together, unless someone changed it meanwhile."""
    table = plan.table
    declared = {key.name for pair in table.indexes.values() for key in pair if key is not None}
    kept = {name: value for name, value in item.items() if name not in declared}
    new = Expressions()
    vacant = f"attribute_not_exists({new.name(table.partition.name)})"
    old = Expressions()
    seen = (
        [plan.version.attribute] if plan.version is not None else [name for name in kept if name not in table.key_names]
    )
    unchanged = _unchanged(old, item, [*seen, table.partition.name])
    actions = [
        {
            "Put": {
                "TableName": table.name,
                "Item": {**kept, **wanted},
                "ConditionExpression": vacant,
                **new.attributes(),
            }
        },
        {
            "Delete": {
                "TableName": table.name,
                "Key": {name: item[name] for name in table.key_names},
                "ConditionExpression": unchanged,
                **old.attributes(),
            }
        },
    ]
    return Request("TransactWriteItems", {"TransactItems": actions})


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

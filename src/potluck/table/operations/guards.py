"""Guard rows: each reserves one value that no other item may have, and is written together with its item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from potluck.dynamo.values import Item
from potluck.table.entity import GUARD_TYPE, EntityPlan, UniquePlan
from potluck.table.expressions import OWNER
from potluck.table.fields import stored_value


@dataclass(frozen=True, slots=True)
class Guard:
    """The key of a guard row, the value that it reserves, and the key of the item that owns it."""

    field: str
    value: Any
    key: Item
    owner: Item


def guard_of(unique: UniquePlan, values: Mapping[str, Any], owner: Item) -> Guard | None:
    """The guard that these values need; None when there is no value to guard."""
    key = unique.key.wire(values)
    return Guard(unique.field, values[unique.field], key, owner) if key else None


def guard_item(plan: EntityPlan, guard: Guard, values: Mapping[str, Any]) -> Item:
    """The guard as a row; it expires together with its item."""
    item: Item = {**guard.key}
    if plan.table.type_attribute is not None:
        item[plan.table.type_attribute] = {"S": GUARD_TYPE}
    item[OWNER] = {"M": guard.owner}
    if plan.expiry is not None:
        expires = stored_value(plan.expiry, values[plan.expiry.name])
        if expires is not None:
            item[plan.expiry.attribute] = expires
    return item


def guarded_fields(plan: EntityPlan, unique: UniquePlan) -> frozenset[str]:
    """The fields that a guard row is made of."""
    return unique.key.components | ({plan.expiry.name} if plan.expiry is not None else frozenset())

"""An item's known values, and the index keys that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from potluck.table.errors import ComponentsNeeded
from potluck.table.expressions.clauses import Assign, Remove
from potluck.table.expressions.conditions import FieldName, Still

if TYPE_CHECKING:
    from potluck.table.entity import Entity, EntityPlan
    from potluck.table.keys import KeyPlan, KeyTemplate


class Unknown(Exception):
    """A value is needed that the caller has not supplied."""


class KnownValues(Mapping[str, Any]):
    """Values that are certain, else those of the item that was read, whose use is recorded."""

    def __init__(self, plan: EntityPlan, certain: Mapping[str, Any], seen: Entity | None) -> None:
        self._plan = plan
        self._certain = certain
        self._seen = seen
        self._relied_on: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name in self._certain:
            return self._certain[name]
        if name not in self._plan.fields:
            raise KeyError(name)
        if self._seen is None:
            raise Unknown(name)
        self._relied_on[name] = value = getattr(self._seen, name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._plan.fields)

    def __len__(self) -> int:
        return len(self._plan.fields)

    def certainly_none(self, name: str) -> bool:
        """Whether it is None for certain, and not only when it was read."""
        return name in self._certain and self._certain[name] is None

    @property
    def relied_on(self) -> dict[str, Still]:
        """By field, the conditions that the used values have not changed."""
        return {name: Still(FieldName(self._plan.cls, name), value) for name, value in self._relied_on.items()}

    def missing(self, names: Iterable[str]) -> list[str]:
        """Which of these are not certain."""
        name_set = set(names)
        return [name for name in self._plan.fields if name in name_set and name not in self._certain]


def index_keys(plan: EntityPlan, changed: frozenset[str], values: KnownValues) -> list[Assign | Remove]:
    """New keys for every index that a changed field is a part of; both attributes are set, or both removed."""
    written: dict[str, Assign | Remove] = {}
    for name in _touched(plan, changed):
        key = plan.indexes[name]
        try:
            attributes = {} if _left_out(key, values) else key.wire(values)
        except Unknown:
            raise ComponentsNeeded(plan.name, name, values.missing(key.components)) from None
        for attribute in _own_attributes(plan, key):
            if attribute in attributes:
                written[attribute] = Assign(attribute, attributes[attribute])
            else:
                written.setdefault(attribute, Remove(attribute))
    return list(written.values())


def _touched(plan: EntityPlan, changed: frozenset[str]) -> list[str]:
    """The indexes to rewrite: those with a changed component, and those that share an attribute with one of them."""
    touched = [name for name, key in plan.indexes.items() if not changed.isdisjoint(key.components)]
    attributes = {attribute for name in touched for attribute in _own_attributes(plan, plan.indexes[name])}
    return [
        name
        for name, key in plan.indexes.items()
        if name in touched or not attributes.isdisjoint(_own_attributes(plan, key))
    ]


def _left_out(key: KeyPlan, values: KnownValues) -> bool:
    """Whether a None keeps the item out of the index, whatever its other components are."""

    def cannot_be_written(template: KeyTemplate) -> bool:
        return any(
            component.optional and component.substitute is None and values.certainly_none(component.field)
            for component in template.components
        )

    return cannot_be_written(key.partition) or (bool(key.sort) and all(map(cannot_be_written, key.sort)))


def _own_attributes(plan: EntityPlan, key: KeyPlan) -> list[str]:
    """The attributes of an index key that are not in the table's own key, which never changes."""
    names = (key.partition_attribute, key.sort_attribute)
    return [name for name in names if name is not None and name not in plan.table.key_names]

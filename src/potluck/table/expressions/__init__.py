"""Writes conditions and updates as DynamoDB expressions, with placeholders named after the attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from potluck.dynamo.limits import EXPRESSION_BYTES
from potluck.dynamo.values import Value, kind_of
from potluck.table.entity import EntityPlan, plan_of
from potluck.table.errors import InvalidValue
from potluck.table.expressions.clauses import Assign, Clause, Extend, Reduce, Remove, Sum, room_for
from potluck.table.expressions.conditions import (
    Absent,
    All,
    Among,
    AsRead,
    BeginsWith,
    Between,
    Change,
    Compared,
    Condition,
    Contains,
    Either,
    Field,
    FieldName,
    Fits,
    IsNone,
    IsThere,
    Not,
    Owned,
    Present,
    Still,
    Unexpired,
    absent,
    present,
    the,
)
from potluck.table.expressions.readings import compared_as_read, default_meets, stored_forms
from potluck.table.fields import NULL, FieldPlan, encode_element, encode_value, stored_value

__all__ = ["OWNER", "Change", "Condition", "Expressions", "Field", "absent", "equals", "present", "the"]

T = TypeVar("T")

OWNER = "of"
"""The attribute of a guard row that holds the key of the item that owns it."""

ORDERED = frozenset("SNB")
AMONG_VALUES = 100

# Operator precedence: OR binds loosest, and a single test tightest.
OR, AND, NOT, ONE_TEST = range(4)

FieldCondition = Compared | Among | Between | BeginsWith | Contains | IsNone | IsThere | Still | Fits


def equals(plan: EntityPlan, field: str, value: Any) -> Condition:
    """The field holds this value, None included."""
    name = FieldName(plan.cls, field)
    return IsNone(name) if value is None else Compared(name, "=", value)


class Expressions:
    """Builds the expressions of one request, and their placeholders."""

    def __init__(
        self, plan: EntityPlan | None = None, now: int | None = None, *, kinds: Sequence[EntityPlan] = ()
    ) -> None:
        self._plan = plan
        # Where a query finds several kinds of rows, a condition may name a field of any of them.
        self._kinds = kinds
        self._now = now
        self._names: dict[str, str] = {}
        self._values: dict[str, Value] = {}

    def name(self, attribute: str) -> str:
        """The placeholder for an attribute's name."""
        return _placeholder("#", attribute, attribute, self._names)

    def value(self, stem: str, value: Value) -> str:
        """The placeholder for a value, named after what it is for."""
        return _placeholder(":", stem, value, self._values)

    def attributes(self) -> dict[str, Any]:
        """The members of the request that define the placeholders."""
        members: dict[str, Any] = {}
        if self._names:
            members["ExpressionAttributeNames"] = dict(self._names)
        if self._values:
            members["ExpressionAttributeValues"] = dict(self._values)
        return members

    def condition(self, condition: Condition) -> str:
        """A condition as text; raises if a field is not this entity's, or does not support the comparison."""
        return _short_enough(self._written(condition)[0])

    def update(self, clauses: Sequence[Clause]) -> str:
        """An update as text."""
        sections: dict[str, list[str]] = {"SET": [], "REMOVE": [], "ADD": [], "DELETE": []}
        for clause in clauses:
            name = self.name(clause.attribute)
            match clause:
                case Assign(attribute, value):
                    sections["SET"].append(f"{name} = {self.value(attribute, value)}")
                case Sum(attribute, value, stem, start):
                    before = name if start is None else f"if_not_exists({name}, {self.value(attribute, start)})"
                    sections["SET"].append(f"{name} = {before} + {self.value(stem, value)}")
                case Remove():
                    sections["REMOVE"].append(name)
                case Extend(attribute, value):
                    sections["ADD"].append(f"{name} {self.value(attribute, value)}")
                case Reduce(attribute, value):
                    sections["DELETE"].append(f"{name} {self.value(attribute, value)}")
        return _short_enough(" ".join(f"{word} {', '.join(parts)}" for word, parts in sections.items() if parts))

    def field(self, name: FieldName) -> FieldPlan:
        """The plan of a field; raises if it is not one of this entity's."""
        kinds = self._kinds or (self._plan or plan_of(name.owner),)
        plan = next((kind for kind in kinds if issubclass(kind.cls, name.owner) and name.name in kind.fields), None)
        if plan is None:
            raise ValueError(f"{name} is not a field of {' or '.join(kind.name for kind in kinds)}")
        field = plan.fields[name.name]
        if field.key_only:
            raise ValueError(f"{name} is stored in the key only, so it cannot be in an expression")
        return field

    def _written(self, condition: Condition) -> tuple[str, int]:
        """The text, and its precedence."""
        match condition:
            case All(parts):
                return _joined(AND, [self._wrapped(part, AND) for part in parts])
            case Either(parts):
                return _joined(OR, [self._wrapped(part, OR) for part in parts])
            case Not(part):
                return f"NOT {self._wrapped(part, ONE_TEST)}", NOT
            case Absent():
                return _joined(OR, [f"attribute_not_exists({self._partition()})", *self._expired()])
            case Present():
                there = f"attribute_exists({self._partition()})"
                return _joined(AND, [there, *self._of_its_kind(), *(f"NOT {expired}" for expired in self._expired())])
            case Unexpired():
                return _joined(AND, [f"NOT {expired}" for expired in self._expired()])
            case AsRead(row):
                assert self._plan is not None
                compared = [self._as_read(row, field) for field in compared_as_read(self._plan)]
                return _joined(AND, [f"attribute_exists({self._partition()})", *compared])
            case Owned(owner):
                return f"{self.name(OWNER)} = {self.value(OWNER, {'M': dict(owner)})}", ONE_TEST
        assert isinstance(condition, FieldCondition)
        field = self.field(condition.field).as_compared
        name = self.name(field.attribute)
        text, holds = self._asked_of(field, name, condition)
        if field.unwritten is None:
            return text, holds
        if default_meets(field, condition):
            return _joined(OR, [f"attribute_not_exists({name})", text])
        # A missing attribute is unequal to everything, but a reader finds the default there.
        return _joined(AND, [f"attribute_exists({name})", text]) if "<>" in text else (text, holds)

    def _wrapped(self, condition: Condition, strength: int) -> str:
        text, holds = self._written(condition)
        return text if holds >= strength else f"({text})"

    def _asked_of(self, field: FieldPlan, name: str, condition: FieldCondition) -> tuple[str, int]:
        match condition:
            case IsNone():
                return _joined(OR, [f"attribute_not_exists({name})", f"{name} = {self.value('null', NULL)}"])
            case IsThere():
                return _joined(AND, [f"attribute_exists({name})", f"{name} <> {self.value('null', NULL)}"])
            case Still(_, value):
                return self._still(field, name, value)
            case Fits(_, amount):
                may_be_missing, comparisons = room_for(field, amount)
                limits = [f"{name} {sign} {self.value(f'{field.attribute}_limit', at)}" for sign, at in comparisons]
                within = _joined(AND, limits)
                return _joined(OR, [f"attribute_not_exists({name})", within[0]]) if may_be_missing else within
            case Compared(_, operator, operand):
                return self._compared(field, name, operator, operand), ONE_TEST
            case Among(reference, values):
                if len(values) > AMONG_VALUES:
                    raise ValueError(f"{reference}.among() takes at most {AMONG_VALUES} values")
                placeholders = [self.value(field.attribute, encode_value(field, value)) for value in values]
                return f"{name} IN ({', '.join(dict.fromkeys(placeholders))})", ONE_TEST
            case Between(_, low, high):
                return self._between(field, name, low, high), ONE_TEST
            case BeginsWith(_, start):
                if field.wire != "S" or not isinstance(start, str):
                    raise InvalidValue(field.entity, field.name, "begins_with is for text")
                return f"begins_with({name}, {self.value(field.attribute, {'S': str(start)})})", ONE_TEST
            case Contains(_, element):
                wire = encode_element(field, element)
                return f"contains({name}, {self.value(field.attribute, wire)})", ONE_TEST

    def _as_read(self, row: Mapping[str, Value], field: FieldPlan) -> str:
        name, stored = self.name(field.attribute), row.get(field.attribute)
        return f"attribute_not_exists({name})" if stored is None else f"{name} = {self.value(field.attribute, stored)}"

    def _still(self, field: FieldPlan, name: str, value: Any) -> tuple[str, int]:
        may_be_missing, form = stored_forms(field, value)
        ways = [f"attribute_not_exists({name})"] if may_be_missing else []
        if form is not None:
            ways.append(f"{name} = {self.value('null' if form == NULL else field.attribute, form)}")
        return _joined(OR, ways)

    def _compared(self, field: FieldPlan, name: str, operator: str, operand: Any) -> str:
        ordering = operator not in ("=", "<>")
        if isinstance(operand, FieldName):
            other = self.field(operand)
            if other.unwritten is not None:
                raise InvalidValue(other.entity, other.name, "its default is not stored; compare it with a value")
            if field.wire and other.wire and field.wire != other.wire:
                raise ValueError(f"{field.where} and {other.where} are stored as different types and never compare")
            if ordering and field.wire and field.wire not in ORDERED:
                raise InvalidValue(field.entity, field.name, "it has no order")
            return f"{name} {operator} {self.name(other.attribute)}"
        if not ordering and field.unwritten is None and stored_value(field, operand) is None:
            # An empty set is not stored.
            return f"attribute_{'not_' if operator == '=' else ''}exists({name})"
        wire = encode_value(field, operand)
        if ordering:
            _check_ordered(field, wire)
        return f"{name} {operator} {self.value(field.attribute, wire)}"

    def _between(self, field: FieldPlan, name: str, low: Any, high: Any) -> str:
        bounds = [encode_value(field, low), encode_value(field, high)]
        for bound in bounds:
            _check_ordered(field, bound)
        if low > high:
            raise InvalidValue(
                field.entity, field.name, f"nothing is between {low!r} and {high!r}: the lower bound comes first"
            )
        lower, upper = (self.value(field.attribute, bound) for bound in bounds)
        return f"{name} BETWEEN {lower} AND {upper}"

    def _partition(self) -> str:
        if self._plan is None:
            raise ValueError("absent and present are for writes; items that a query finds exist")
        return self.name(self._plan.table.partition.name)

    def _of_its_kind(self) -> list[str]:
        assert self._plan is not None
        if not self._plan.shares_its_key:
            return []
        attribute = self._plan.table.type_attribute
        assert attribute is not None
        return [f"{self.name(attribute)} = {self.value(attribute, {'S': self._plan.type})}"]

    def _expired(self) -> list[str]:
        assert self._plan is not None
        if self._plan.expiry is None:
            return []
        if self._now is None:
            raise ValueError(f"{self._plan.name} expires, so it needs now=..., in seconds")
        return [f"{self.name(self._plan.expiry.attribute)} <= {self.value('now', {'N': str(self._now)})}"]


def _joined(strength: int, parts: list[str]) -> tuple[str, int]:
    return (" OR " if strength == OR else " AND ").join(parts), strength if len(parts) > 1 else ONE_TEST


def _check_ordered(field: FieldPlan, value: Value) -> None:
    if kind_of(value) not in ORDERED:
        raise InvalidValue(field.entity, field.name, "it has no order")


@lru_cache(4096)
def _spelt(stem: str) -> str:
    return re.sub("[^A-Za-z0-9_]", "_", stem)


def _placeholder(sign: str, stem: str, meaning: T, placeholders: dict[str, T]) -> str:
    """The placeholder for this meaning, or a new one."""
    first = placeholder = sign + _spelt(stem)
    number = 1
    while placeholders.setdefault(placeholder, meaning) != meaning:
        number += 1
        placeholder = f"{first}_{number}"
    return placeholder


def _short_enough(text: str) -> str:
    if len(text) > EXPRESSION_BYTES:
        raise ValueError(f"the expression would have {len(text)} bytes; DynamoDB accepts at most {EXPRESSION_BYTES}")
    return text

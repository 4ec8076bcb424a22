"""Conditions and changes as plain data, and `the(Entity.field)` to write them with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MemberDescriptorType
from typing import Any, Final, Generic, Literal, TypeVar, overload

T = TypeVar("T")
V = TypeVar("V")

Operator = Literal["=", "<>", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class FieldName:
    """A field by its name and the class that declares it."""

    owner: type
    name: str

    def __str__(self) -> str:
        return f"the({self.owner.__name__}.{self.name})"


# --- conditions ------------------------------------------------------------------------------------------------------


class Condition:
    """A condition on the stored item, for a write to succeed or a query to return it."""

    __slots__ = ()

    def __and__(self, other: Condition) -> Condition:
        return All((*conjuncts(self), *conjuncts(other)))

    def __or__(self, other: Condition) -> Condition:
        ours = self.parts if isinstance(self, Either) else (self,)
        theirs = other.parts if isinstance(other, Either) else (other,)
        return Either((*ours, *theirs))

    def __invert__(self) -> Condition:
        return Not(self)

    def __bool__(self) -> bool:
        raise TypeError("a condition has no truth value before the item is read; combine conditions with &, | and ~")


class Change:
    """An update of one field."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Compared(Condition):
    field: FieldName
    operator: Operator
    operand: Any  # a value, or the FieldName of the field to compare with


@dataclass(frozen=True, slots=True)
class Among(Condition):
    field: FieldName
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Between(Condition):
    field: FieldName
    low: Any
    high: Any


@dataclass(frozen=True, slots=True)
class BeginsWith(Condition):
    field: FieldName
    start: str


@dataclass(frozen=True, slots=True)
class Contains(Condition):
    field: FieldName
    element: Any


@dataclass(frozen=True, slots=True)
class IsNone(Condition):
    field: FieldName


@dataclass(frozen=True, slots=True)
class IsThere(Condition):
    field: FieldName


@dataclass(frozen=True, slots=True)
class Still(Condition, Change):
    """A reader of the item would still find this value in the field."""

    field: FieldName
    value: Any


@dataclass(frozen=True, slots=True)
class Fits(Condition):
    """Adding this amount to the number leaves it within its field's bounds."""

    field: FieldName
    amount: Any


@dataclass(frozen=True, slots=True)
class Owned(Condition):
    """The guard row belongs to the item with this key."""

    owner: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AsRead(Condition):
    """The row has not changed since it was read, except for its counters."""

    row: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Absent(Condition):
    """There is no item with this key, or it has expired."""


@dataclass(frozen=True, slots=True)
class Present(Condition):
    """There is an item of this kind with this key, and it has not expired."""


@dataclass(frozen=True, slots=True)
class Unexpired(Condition):
    """There is no item with this key, or one that has not expired."""


@dataclass(frozen=True, slots=True)
class All(Condition):
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Either(Condition):
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not(Condition):
    part: Condition


absent: Final = Absent()
present: Final = Present()


def conjuncts(condition: Condition | None) -> tuple[Condition, ...]:
    """The conditions that must all hold."""
    if condition is None:
        return ()
    return condition.parts if isinstance(condition, All) else (condition,)


def stated_values(conditions: tuple[Condition, ...]) -> dict[str, Any]:
    """The field values that are certain if all these conditions hold."""
    stated: dict[str, Any] = {}
    for test in conditions:
        if isinstance(test, Still):
            stated[test.field.name] = test.value
        elif isinstance(test, Compared) and test.operator == "=" and not isinstance(test.operand, FieldName):
            stated[test.field.name] = test.operand
    return stated


def mentions_the_item(condition: Condition) -> bool:
    """Whether the condition states if the item must exist."""
    return any(isinstance(part, Absent | Present) for part in _within(condition))


def _within(condition: Condition) -> Iterator[Condition]:
    yield condition
    parts = condition.parts if isinstance(condition, All | Either) else ()
    for part in (condition.part,) if isinstance(condition, Not) else parts:
        yield from _within(part)


# --- changes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Becomes(Change):
    field: FieldName
    value: Any


@dataclass(frozen=True, slots=True)
class Add(Change):
    field: FieldName
    amount: Any


@dataclass(frozen=True, slots=True)
class Include(Change):
    field: FieldName
    elements: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Exclude(Change):
    field: FieldName
    elements: tuple[Any, ...]


# --- the notation ----------------------------------------------------------------------------------------------------


class Field(Generic[T]):
    """A field, to build conditions and changes from. Comparisons are with stored values; None has its own methods."""

    __slots__ = ("name",)

    def __init__(self, name: FieldName) -> None:
        self.name = name

    def __repr__(self) -> str:
        return str(self.name)

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: T | Field[Any]) -> Condition:  # type: ignore[override]
        if other is None:
            raise ValueError(f"{self} == None: use is_none()")
        return self._compared("=", other)

    def __ne__(self, other: T | Field[Any]) -> Condition:  # type: ignore[override]
        if other is None:
            raise ValueError(f"{self} != None: use is_there()")
        return self._compared("<>", other)

    def __lt__(self, other: T | Field[Any]) -> Condition:
        return self._compared("<", other)

    def __le__(self, other: T | Field[Any]) -> Condition:
        return self._compared("<=", other)

    def __gt__(self, other: T | Field[Any]) -> Condition:
        return self._compared(">", other)

    def __ge__(self, other: T | Field[Any]) -> Condition:
        return self._compared(">=", other)

    def among(self, *values: T) -> Condition:
        """It is one of these values."""
        if not values:
            raise ValueError(f"{self}.among() needs at least one value")
        for value in values:
            self._refuse_none(value, "among")
        return Among(self.name, values)

    def between(self, low: T, high: T) -> Condition:
        """It is between the two, both included."""
        self._refuse_none(low, "between")
        self._refuse_none(high, "between")
        return Between(self.name, low, high)

    def begins_with(self, start: str) -> Condition:
        """Its text, as it is stored, begins with this."""
        return BeginsWith(self.name, start)

    def contains(self, element: Any) -> Condition:
        """Its text contains this, or its list or set has this element."""
        return Contains(self.name, element)

    def is_none(self) -> Condition:
        """It holds None: it is stored as NULL or not at all."""
        return IsNone(self.name)

    def is_there(self) -> Condition:
        """It holds a value."""
        return IsThere(self.name)

    def still(self, value: T) -> Still:
        """It still holds this value, None included; an update may then build index keys and guards from it."""
        return Still(self.name, value)

    def becomes(self, value: T) -> Change:
        """It gets this value; None is stored as NULL or left out, as the field declares."""
        return Becomes(self.name, value)

    def add(self, amount: T) -> Change:
        """This much, which may be negative, is added to the number without reading it."""
        return Add(self.name, amount)

    @overload
    def include(self: Field[set[V]], *elements: V) -> Change: ...
    @overload
    def include(self: Field[frozenset[V]], *elements: V) -> Change: ...
    def include(self, *elements: Any) -> Change:
        """The set gains these elements, whatever else is in it."""
        return Include(self.name, self._some(elements, "include"))

    @overload
    def exclude(self: Field[set[V]], *elements: V) -> Change: ...
    @overload
    def exclude(self: Field[frozenset[V]], *elements: V) -> Change: ...
    def exclude(self, *elements: Any) -> Change:
        """The set loses these elements, whatever else is in it."""
        return Exclude(self.name, self._some(elements, "exclude"))

    def _compared(self, operator: Operator, other: Any) -> Condition:
        self._refuse_none(other, operator)
        if isinstance(other, Field):
            if other.name == self.name:
                raise ValueError(f"{self} {operator} {other} compares the field with itself")
            return Compared(self.name, operator, other.name)
        return Compared(self.name, operator, other)

    def _refuse_none(self, value: Any, what: str) -> None:
        if value is None:
            raise ValueError(f"{self} {what} None: use is_none() or is_there()")

    def _some(self, elements: tuple[Any, ...], what: str) -> tuple[Any, ...]:
        if not elements:
            raise ValueError(f"{self}.{what}() needs at least one element")
        return elements


def the(field: T) -> Field[T]:
    """A field of an entity class, to write conditions and changes with: `the(Poll.status) == "open"`."""
    # To the type checker `Poll.status` has the field's type; at run time it is the descriptor of the field.
    if not isinstance(field, MemberDescriptorType):
        raise TypeError(f"the(...) takes a field of a class, such as the(Poll.status), not {field!r}")
    return Field(FieldName(field.__objclass__, field.__name__))

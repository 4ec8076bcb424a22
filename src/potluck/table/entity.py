"""Entities: classes declared on a table, each compiled to a plan."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Any, TypeAlias, dataclass_transform

import msgspec

from potluck.table.coding import Coding, compile_coding
from potluck.table.errors import DesignError
from potluck.table.fields import FieldPlan, plan_fields
from potluck.table.keys import KeyPlan, KeyTemplate, check_key_only
from potluck.table.tables import RENAMING, KeyAttribute, Table

NO_KEY: tuple[str, str] = ("", "")

GUARD_TYPE = "Unique"
"""The type of the rows that guard unique values, where rows carry a type."""


SortKey: TypeAlias = str | tuple[str, ...]
"""The template of a sort key, or several, of which the first whose components all have values is used."""

IndexKey: TypeAlias = tuple[str, SortKey] | tuple[str, SortKey, Callable[..., bool]]
"""The templates of a partition key and a sort key, and a condition: only entities for which it is true are indexed."""


@dataclass(frozen=True, slots=True)
class UniquePlan:
    """A field whose value no other entity may have, and the key of the row that guards it."""

    field: str
    key: KeyPlan


@dataclass(frozen=True, slots=True)
class FormerKey:
    """A primary key that rows of the entity used to have, and how such a row is read."""

    key: KeyPlan
    decode: Callable[[dict[str, Any]], Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EntityPlan:
    """A compiled entity."""

    name: str
    question: str
    cls: type[Entity]
    table: Table
    type: str | None
    fields: Mapping[str, FieldPlan]
    key: KeyPlan
    former_keys: tuple[FormerKey, ...]
    indexes: Mapping[str, KeyPlan]
    uniques: tuple[UniquePlan, ...]
    version: FieldPlan | None
    expiry: FieldPlan | None
    coding: Coding

    def __repr__(self) -> str:
        return f"<plan of {self.name}>"

    def key_of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The primary key of these component values, in wire form."""
        return self.key.wire(values)

    def matches(self, item: Mapping[str, Any]) -> bool:
        """Whether a stored row is of this entity: by its type if rows have one, else by its key."""
        if self.type is None:
            return self.key.matches(item)
        stored = item.get(self.table.type_attribute)  # type: ignore[arg-type]
        return stored is not None and stored.get("S") == self.type

    @property
    def shares_its_key(self) -> bool:
        """Whether rows of another entity can have the same key, so that only their type distinguishes them."""
        same = (entity for entity in self.table.entities if entity.key.literals == self.key.literals)
        return self.type is not None and sum(1 for _ in same) > 1

    def expired(self, item: Mapping[str, Any], now: int) -> bool:
        """Whether a stored row has expired: no reader sees it, even if it is not deleted yet."""
        return self.expiry is not None and self.expires_at(item) <= now

    def expires_at(self, item: Mapping[str, Any]) -> float:
        """The second from which no reader sees a stored row; infinity if it never expires."""
        stored = None if self.expiry is None else item.get(self.expiry.attribute)
        return float(stored["N"]) if stored is not None and "N" in stored else inf

    def visible(self, items: Iterable[dict[str, Any]], now: int) -> list[dict[str, Any]]:
        """The stored rows among these that are of this entity and have not expired."""
        matches, expired = self.matches, self.expired
        return [item for item in items if matches(item) and not expired(item, now)]


class _Declaration(msgspec.StructMeta):
    """Handles the table and keys in a class statement, and leaves the rest to msgspec."""

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        table: Table | None = None,
        type: str | None = None,
        key: tuple[str, str] | str = NO_KEY,
        formerly: Sequence[tuple[str, str] | str] = (),
        **others: Any,
    ) -> Any:
        for base in bases:
            if hasattr(base, "__plan__"):
                raise DesignError(
                    f"{name}: {base.__name__} is an entity already; put the fields of both into a class without a table"
                )
        questions = {named: member for named, member in namespace.items() if hasattr(member, "declare_on_entity")}
        for question in questions:
            if question in namespace.get("__annotations__", ()):
                raise DesignError(f"{name}.{question} is a field and an access pattern; rename one of them")
            if table is None:
                raise DesignError(
                    f"{name}.{question}: an access pattern needs a table; declare it in each entity of {name}"
                )
        if table is None:
            if key != NO_KEY or type is not None or others.keys() - STRUCT_OPTIONS - {"frozen", "kw_only"}:
                raise DesignError(f"{name}: name its table, as in class {name}(Entity, table=..., key=...)")
            # A class without a table is a mixin: it only holds fields that entities share.
            return super().__new__(mcls, name, bases, namespace, **{"frozen": True, "kw_only": True} | others)
        if not isinstance(table, Table):
            raise DesignError(f"{name}: its table must be a Table, not {table!r}")
        keys = {index: others.pop(index) for index in list(others) if index in table.indexes}
        options = {"rename": RENAMING[table.names], "frozen": True, "kw_only": True} | others
        for option in others:
            if option not in STRUCT_OPTIONS:
                indexes = ", ".join(table.indexes) or "none"
                raise DesignError(f"{name}: table {table.name} has no index {option}; its indexes are: {indexes}")
        try:
            cls: Any = super().__new__(mcls, name, bases, namespace, **options)
        except ValueError as error:
            raise DesignError(f"{name}: {error}") from error
        plan = _plan(cls, table, type, key, formerly, keys)
        cls.__plan__ = plan
        _enter(table, plan)
        for question in questions.values():
            question.declare_on_entity(plan)
        return cls


# The same as msgspec's renaming, for snake_case names.
NAMING: dict[str, Callable[[str], str]] = {
    "camel": lambda name: re.sub("(?<=[^_])_+([^_])", lambda match: match[1].upper(), name),
    "pascal": lambda name: re.sub("(?:^|_+)([^_])", lambda match: match[1].upper(), name),
    "as written": lambda name: name,
}

STRUCT_OPTIONS = frozenset({"rename", "gc", "weakref", "dict", "cache_hash", "eq", "order", "repr_omit_defaults"})


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(msgspec.field,))
class Entity(msgspec.Struct, metaclass=_Declaration, frozen=True, kw_only=True):
    """One kind of row: subclass it with the table, the type and the keys, and list its fields."""

    # The metaclass takes these; they are repeated for editors.
    def __init_subclass__(
        cls,
        *,
        table: Table | None = None,
        type: str | None = None,
        key: tuple[str, str] | str = NO_KEY,
        formerly: Sequence[tuple[str, str] | str] = (),
        **indexes: IndexKey,
    ) -> None:
        super().__init_subclass__()


def plan_of(subject: Any) -> EntityPlan:
    """The plan of an entity class, an entity, or a reference to one."""
    plan = getattr(subject, "__plan__", None) or getattr(subject, "plan", None)
    if not isinstance(plan, EntityPlan):
        raise TypeError(f"{subject!r} is neither an entity nor a reference to one")
    return plan


def _enter(table: Table, plan: EntityPlan) -> None:
    """Register an entity with its table, one per type; declaring a class again replaces it."""
    same = next((other for other in table.entities if plan.type is not None and other.type == plan.type), None)
    if same is not None:
        if (same.cls.__module__, same.cls.__qualname__) != (plan.cls.__module__, plan.cls.__qualname__):
            raise DesignError(f"{plan.name}: the type {plan.type!r} is taken by {same.name}; choose another")
        table.entities.remove(same)
        table.patterns[:] = [pattern for pattern in table.patterns if same not in pattern.members]
    for other in (*table.entities, plan):
        _check_guards_apart(other, plan)
        _check_guards_apart(plan, other)
    table.entities.append(plan)


def _check_guards_apart(one: EntityPlan, other: EntityPlan) -> None:
    """Raise a DesignError if a guard row of one entity could have the key of the other's rows."""
    for unique in one.uniques:
        if unique.key.literals == other.key.literals:
            raise DesignError(
                f"{one.name}.{unique.field}: the key of its guard could be the key of a {other.name}; "
                f"begin it with another word"
            )


def _plan(
    cls: type[Entity],
    table: Table,
    type_name: str | None,
    key: tuple[str, str] | str,
    formerly: Sequence[tuple[str, str] | str],
    index_keys: dict[str, IndexKey],
) -> EntityPlan:
    name = cls.__name__
    if type_name is not None and table.type_attribute is None:
        raise DesignError(f"{name}: type={type_name!r} cannot be stored; give the table a type_attribute")
    if type_name == GUARD_TYPE:
        raise DesignError(f"{name}: the type {GUARD_TYPE!r} is reserved for rows that guard unique values")
    if key == NO_KEY:
        raise DesignError(f"{name}: it needs a key, for example key=('{name.upper()}#{{id}}', 'METADATA')")
    fields = plan_fields(cls)
    _check_names(cls, table, fields)
    primary = _key_plan(name, fields, None, (table.partition, table.sort), _pair(key), None, primary=True)
    check_key_only(primary, fields)
    formers = tuple(
        _key_plan(name, fields, None, (table.partition, table.sort), _pair(templates), None, primary=True)
        for templates in formerly
    )
    indexes = {}
    for index, declared in index_keys.items():
        if not isinstance(declared, tuple) or not 2 <= len(declared) <= 3:
            raise DesignError(f"{name}: {index} must be a pair of templates, and perhaps a condition, not {declared!r}")
        partition, sort, *condition = declared
        when: Any = condition[0] if condition else None
        indexes[index] = _key_plan(name, fields, index, table.indexes[index], (partition, sort), when)
    uniques = tuple(
        UniquePlan(
            field.name,
            _key_plan(
                name,
                fields,
                None,
                (table.partition, table.sort),
                (field.unique.partition, field.unique.sort),
                None,
                primary=True,
                unique=True,
            ),
        )
        for field in fields.values()
        if field.unique is not None
    )
    for unique in uniques:
        _check_guard(name, unique)
    version = next((field for field in fields.values() if field.is_version), None)
    expiry = next((field for field in fields.values() if field.is_expiry), None)
    if expiry is not None and table.ttl != expiry.attribute:
        raise DesignError(
            f"{name}.{expiry.name} is stored as {expiry.attribute}, but the table expires rows by "
            f"{table.ttl or 'nothing'}; say Table(..., ttl={expiry.attribute!r})"
        )
    constants = {table.type_attribute: type_name} if table.type_attribute and type_name is not None else {}
    coding = compile_coding(name, cls, fields, constants, primary, tuple(indexes.values()))
    return EntityPlan(
        name=name,
        question=inspect.cleandoc(cls.__doc__ or ""),
        cls=cls,
        table=table,
        type=type_name,
        fields=MappingProxyType(fields),
        key=primary,
        former_keys=tuple(
            FormerKey(former, compile_coding(name, cls, fields, constants, former, ()).decode) for former in formers
        ),
        indexes=MappingProxyType(indexes),
        uniques=uniques,
        version=version,
        expiry=expiry,
        coding=coding,
    )


def _pair(key: tuple[str, str] | str) -> tuple[str, str | None]:
    return (key, None) if isinstance(key, str) else key


def _check_names(cls: type[Entity], table: Table, fields: Mapping[str, FieldPlan]) -> None:
    name = cls.__name__
    taken = {key.name for pair in table.indexes.values() for key in pair if key is not None} | set(table.key_names)
    if table.type_attribute is not None:
        taken.add(table.type_attribute)
    for field in fields.values():
        inherited = field.name not in cls.__annotations__
        if inherited and field.attribute == field.name != NAMING[table.names](field.name):
            raise DesignError(
                f"{name}.{field.name} comes from a class with other attribute names than the table's; "
                f"write rename={RENAMING[table.names]!r} there"
            )
        if not field.key_only and field.attribute in taken:
            raise DesignError(
                f"{name}.{field.name} would be stored as {field.attribute}, which the table itself uses; "
                f"give it another name with msgspec.field(name=...)"
            )
        if field.attribute == table.ttl and not field.is_expiry:
            raise DesignError(
                f"{name}.{field.name} is stored as {field.attribute}, by which the table expires rows; "
                f"write {field.name}: ExpiresAt, or give it another name with msgspec.field(name=...)"
            )


def _check_guard(entity: str, unique: UniquePlan) -> None:
    """Raise a DesignError unless each value has its own guard row."""
    where = f"{entity}.{unique.field}"
    if unique.field not in unique.key.components:
        raise DesignError(f"{where}: {unique.field} is not in the key of its guard; write {{{unique.field}}} there")
    for template in (unique.key.partition, *unique.key.sort):
        for component in template.components:
            if component.field != unique.field and component.optional and component.substitute is None:
                raise DesignError(
                    f"{where}: {component.field} can be None, and then nothing guards {unique.field}; "
                    f"write {{{component.field}|NONE}} in the key of its guard"
                )


def _key_plan(
    entity: str,
    fields: Mapping[str, FieldPlan],
    index: str | None,
    attributes: tuple[KeyAttribute, KeyAttribute | None],
    templates: tuple[str, SortKey | None],
    when: Callable[..., bool] | None,
    *,
    primary: bool = False,
    unique: bool = False,
) -> KeyPlan:
    partition_attribute, sort_attribute = attributes
    partition, sort = templates
    where = f"{entity}.{index or ('unique' if unique else 'key')}"
    if (sort is None) != (sort_attribute is None):
        keys = "a partition and a sort key" if sort_attribute else "a partition key only"
        raise DesignError(f"{where}: the {'index' if index else 'table'} has {keys}")

    alternatives = () if sort is None else (sort,) if isinstance(sort, str) else sort
    if sort == ():
        raise DesignError(f"{where}: a sort key needs a template")
    if primary and len(alternatives) > 1:
        raise DesignError(f"{where}: every row has one primary key; several templates are for an index")

    def parse(text: str, attribute: KeyAttribute) -> KeyTemplate:
        template = KeyTemplate.parse(text, fields, where, primary=primary, unique=unique, number=attribute.type == "N")
        if len(template.parts) == 1 and template.components and template.components[0].form.decode is None:
            raise DesignError(
                f"{where}, key {text!r} is empty if folding removes every character; write a word before it"
            )
        return template

    when_fields = tuple(inspect.signature(when).parameters) if when is not None else ()
    for name in when_fields:
        if name not in fields:
            raise DesignError(f"{where}: its condition uses {name}, which is not a field of {entity}")
        if fields[name].is_counter:
            raise DesignError(
                f"{where}: its condition uses {name}, a counter; counters change without a rewrite of the key"
            )
    return KeyPlan(
        index=index,
        partition_attribute=partition_attribute.name,
        sort_attribute=None if sort_attribute is None else sort_attribute.name,
        partition=parse(partition, partition_attribute),
        sort=() if sort_attribute is None else tuple(parse(text, sort_attribute) for text in alternatives),
        when=when,
        when_fields=when_fields,
        partition_is_number=partition_attribute.type == "N",
        sort_is_number=sort_attribute is not None and sort_attribute.type == "N",
    )

"""Access patterns: typed functions whose arguments find items, and whose docstring is the question they answer."""

from __future__ import annotations

import inspect
import itertools
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import NoneType, UnionType
from typing import Any, Generic, Literal, ParamSpec, TypeVar, Union, dataclass_transform, get_args, get_origin, overload

import msgspec

from potluck.table.entity import Entity, EntityPlan, plan_of
from potluck.table.errors import DesignError
from potluck.table.expressions import Condition, Expressions, equals
from potluck.table.keys import KeyPlan, Template
from potluck.table.ranges import Range, SortCondition, StartsWith, check_range, sort_condition, successor
from potluck.table.tables import Request, Table

__all__ = ["AnyOf", "Bucket", "Gather", "ItemCollection", "Parameter", "Pattern", "Query", "Ref", "get", "query"]

P = ParamSpec("P")
T = TypeVar("T")
E = TypeVar("E", bound=Entity)
C = TypeVar("C", bound="ItemCollection")

WHOLE_PARTITION = SortCondition("none")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of an access pattern and what it does."""

    name: str
    role: Literal["partition", "sort", "filter"]
    kind: Literal["value", "range", "prefix"]


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where one kind of row goes in an item collection."""

    name: str
    plan: EntityPlan
    holds: Literal["one", "maybe one", "many"]


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """An access pattern as plain data."""

    name: str
    question: str
    operation: Literal["GetItem", "Query"]
    table: Table
    index: str | None
    members: tuple[EntityPlan, ...]
    parameters: tuple[Parameter, ...]
    prefix: str | None
    filter: tuple[str, ...]
    descending: bool
    consistent: bool
    buckets: tuple[Bucket, ...] = ()
    collection: type[Any] | None = None

    def key_plan(self, plan: EntityPlan) -> KeyPlan:
        return plan.key if self.index is None else plan.indexes[self.index]

    @property
    def sort_parameters(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.parameters if each.role == "sort")

    def given(self, template: Template) -> tuple[str, ...]:
        """The first components of a sort key, as far as the pattern knows them; a partition's may be among them."""
        known = {each.name for each in self.parameters if each.role != "filter"}
        return tuple(itertools.takewhile(known.__contains__, template.fields))

    def sort_templates(self, plan: EntityPlan) -> tuple[Template, ...]:
        """Those of a member's sort templates that begin with what the pattern is given."""
        wanted = set(self.sort_parameters)
        return tuple(each for each in self.key_plan(plan).sort if wanted <= set(self.given(each)))


@dataclass(frozen=True, slots=True)
class Ref(Generic[T]):
    """One item by its key: it can be read, updated, deleted or checked."""

    members: tuple[EntityPlan, ...]
    values: Mapping[str, Any]
    key: dict[str, Any]
    pattern: str
    consistent: bool = False

    @property
    def plan(self) -> EntityPlan:
        """The kind of item it is; a reference to one of several kinds can only be read."""
        if len(self.members) > 1:
            kinds = " or ".join(each.name for each in self.members)
            raise TypeError(f"{self.pattern} finds a {kinds}: read it first, then write what was found")
        return self.members[0]

    def consistently(self) -> Ref[T]:
        """The same, seeing every write that was answered before."""
        return replace(self, consistent=True)

    def request(self) -> Request:
        body: dict[str, Any] = {"TableName": self.members[0].table.name, "Key": self.key}
        if self.consistent:
            body["ConsistentRead"] = True
        return Request("GetItem", body)


@dataclass(frozen=True, slots=True)
class Query(Generic[T]):
    """The items of one partition that a sort condition allows, in the order of their sort keys."""

    pattern: Pattern
    values: Mapping[str, Any]
    partition: str
    sort: SortCondition
    filter: Condition | None = None
    descending: bool = False
    consistent: bool = False

    def reversed(self) -> Query[T]:
        """The same, from the other end."""
        return replace(self, descending=not self.descending)

    def consistently(self) -> Query[T]:
        """The same, seeing every write that was answered before; only the table itself can, not an index."""
        if self.pattern.index is not None:
            raise ValueError(f"{self.pattern.name}: {self.pattern.index} is an index, and no index reads consistently")
        return replace(self, consistent=True)

    def where(self, condition: Condition) -> Query[T]:
        """Only those for which this holds as well; the others are read and paid for, but not returned."""
        return replace(self, filter=condition if self.filter is None else self.filter & condition)

    def request(
        self, *, limit: int | None = None, after: Mapping[str, Any] | None = None, recognisable: bool = False
    ) -> Request:
        """The request for one page; `recognisable` asks for no more of each row than tells what it is."""
        pattern = self.pattern
        key = pattern.key_plan(pattern.members[0])
        expressions = Expressions()
        name = expressions.name
        partition = {"N" if key.partition_is_number else "S": self.partition}
        condition = f"{name(key.partition_attribute)} = {expressions.value(key.partition_attribute, partition)}"
        if self.sort.operator != "none":
            assert key.sort_attribute is not None
            kind = "N" if key.sort_is_number else "S"
            values = [expressions.value(key.sort_attribute, {kind: text}) for text in self.sort.values]
            attribute = name(key.sort_attribute)
            match self.sort.operator:
                case "begins_with":
                    condition += f" AND begins_with({attribute}, {values[0]})"
                case "BETWEEN":
                    condition += f" AND {attribute} BETWEEN {values[0]} AND {values[1]}"
                case operator:
                    condition += f" AND {attribute} {operator} {values[0]}"
        body: dict[str, Any] = {"TableName": pattern.table.name}
        if pattern.index is not None:
            body["IndexName"] = pattern.index
        body["KeyConditionExpression"] = condition
        if self.filter is not None:
            body["FilterExpression"] = expressions.condition(self.filter)
        if recognisable:
            table = pattern.table
            wanted = [*table.index_key_names(pattern.index), table.type_attribute, table.ttl]
            body["ProjectionExpression"] = ", ".join(name(each) for each in wanted if each is not None)
        body |= expressions.attributes()
        if self.descending:
            body["ScanIndexForward"] = False
        if self.consistent:
            body["ConsistentRead"] = True
        if limit is not None:
            body["Limit"] = limit
        if after is not None:
            body["ExclusiveStartKey"] = dict(after)
        return Request("Query", body)

    def reads(self, item: Mapping[str, Any]) -> EntityPlan | None:
        """Which member a stored row is, or None for a row of another kind that lies in the same range."""
        for plan in self.pattern.members:
            if plan.matches(item):
                return plan
        return None

    def keeps(self, entity: Any) -> bool:
        """Whether a row that the sort condition let through is really in the range that was asked for."""
        return self.sort.keep is None or self.sort.keep(entity)


@dataclass(frozen=True, slots=True)
class Gather(Generic[C]):
    """Several kinds of items of one partition, by one query, each in its own bucket."""

    query: Query[Any]

    def consistently(self) -> Gather[C]:
        """The same, seeing every write that was answered before."""
        return Gather(self.query.consistently())

    def request(self) -> Request:
        return self.query.request()


class AnyOf(Generic[T]):
    """Several kinds of items in one ordered answer: `class LibraryItem(AnyOf[Book | Video])` and its queries."""

    def __init_subclass__(cls) -> None:
        (base,) = [each for each in cls.__orig_bases__ if get_origin(each) is AnyOf]  # type: ignore[attr-defined]
        kinds = _alternatives(get_args(base)[0])
        _declare(cls, cls.__name__, tuple(map(plan_of, kinds)))


class _Collected(msgspec.StructMeta):
    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        cls = super().__new__(mcls, name, bases, namespace, **{"frozen": True, "kw_only": True} | options)
        if any(isinstance(base, _Collected) for base in bases):
            buckets = tuple(_bucket(name, field, hint) for field, hint in typing.get_type_hints(cls).items())
            _declare(cls, name, tuple(each.plan for each in buckets), buckets)
        return cls


@dataclass_transform(kw_only_default=True, frozen_default=True)
class ItemCollection(msgspec.Struct, metaclass=_Collected, frozen=True, kw_only=True):
    """Several kinds of items by one request: a field `E` holds exactly one, `E | None` maybe one, `list[E]` many."""


class _Access(Generic[P]):
    """A declared function until its class is there, then what makes requests of its arguments."""

    operation: Literal["GetItem", "Query"] = "Query"

    def __init__(
        self,
        function: Callable[P, None],
        index: str | None = None,
        filter: tuple[str, ...] = (),
        descending: bool = False,
        consistent: bool = False,
        prefix: str | None = None,
    ) -> None:
        self.function = function
        self.index = index
        self.filter = filter
        self.descending = descending
        self.consistent = consistent
        self.prefix = prefix
        self.pattern: Pattern | None = None
        self.__doc__ = function.__doc__

    def declare_on_entity(self, plan: EntityPlan) -> None:
        self.declare(plan.name, (plan,))

    def declare(
        self,
        owner: str,
        members: tuple[EntityPlan, ...],
        buckets: tuple[Bucket, ...] = (),
        collection: type[Any] | None = None,
    ) -> None:
        name = f"{owner}.{self.function.__name__}"
        question = inspect.cleandoc(self.function.__doc__ or "")
        if not question:
            raise DesignError(f"{name}: say in its docstring which question it answers")
        table = members[0].table
        for plan in members:
            if plan.table is not table:
                raise DesignError(f"{name}: {plan.name} is in table {plan.table.name}, not in {table.name}")
            if self.index is not None and self.index not in table.indexes:
                raise DesignError(f"{name}: table {table.name} has no index {self.index}")
            if self.index is not None and self.index not in plan.indexes:
                raise DesignError(
                    f"{name}: {plan.name} has no key in {self.index}; say {self.index}=(...) in its class"
                )
        if self.index is not None and self.consistent:
            raise DesignError(f"{name}: {self.index} is an index, and no index reads consistently")
        hints = typing.get_type_hints(self.function)
        parameters = tuple(
            self._parameter(name, each, hints, members) for each in inspect.signature(self.function).parameters.values()
        )
        self.pattern = Pattern(
            name=name,
            question=question,
            operation=self.operation,
            table=table,
            index=self.index,
            members=members,
            parameters=parameters,
            prefix=self.prefix,
            filter=self.filter,
            descending=self.descending,
            consistent=self.consistent,
            buckets=buckets,
            collection=collection,
        )
        self._check(self.pattern)
        table.patterns.append(self.pattern)

    def _parameter(
        self, name: str, parameter: inspect.Parameter, hints: dict[str, Any], members: tuple[EntityPlan, ...]
    ) -> Parameter:
        if parameter.default is not parameter.empty:
            raise DesignError(f"{name}: {parameter.name} has a default; a question with fewer arguments is another one")
        hint = hints.get(parameter.name)
        if hint is None:
            raise DesignError(f"{name}: say the type of {parameter.name}")
        kind: Literal["value", "range", "prefix"] = "value"
        wanted = hint
        if get_origin(hint) is Range:
            kind, wanted = "range", get_args(hint)[0]
        elif hint is StartsWith:
            kind, wanted = "prefix", str
        for plan in members:
            declared = plan.fields.get(parameter.name)
            if declared is None:
                raise DesignError(
                    f"{name}: {plan.name} has no field {parameter.name}{_suggestion(parameter.name, plan.fields)}"
                )
            if kind == "prefix" and declared.core is not str:
                raise DesignError(f"{name}: {parameter.name} is no text, so it begins with nothing; ask for a Range")
            if not _same_type(wanted, declared.type):
                raise DesignError(
                    f"{name}: {parameter.name} is {_type_name(wanted)} here, but {plan.name}.{parameter.name} is "
                    f"{_type_name(declared.type)}"
                )
        return Parameter(parameter.name, self._role(name, parameter.name, members), kind)

    def _role(
        self, name: str, parameter: str, members: tuple[EntityPlan, ...]
    ) -> Literal["partition", "sort", "filter"]:
        plan = members[0]
        key = plan.key if self.index is None else plan.indexes[self.index]
        if parameter in self.filter:
            return "filter"
        if parameter in key.partition.fields:
            return "partition"
        if any(parameter in template.fields for each in members for template in self._key(each).sort):
            return "sort"
        parts = [*key.partition.fields, *(field for template in key.sort for field in template.fields)]
        raise DesignError(
            f"{name}: {parameter} is no part of the key, whose parts are {', '.join(dict.fromkeys(parts))}; "
            f"to filter by it say filter=({parameter!r},)"
        )

    def _key(self, plan: EntityPlan) -> KeyPlan:
        return plan.key if self.index is None else plan.indexes[self.index]

    def _check(self, pattern: Pattern) -> None:
        name = pattern.name
        first = pattern.key_plan(pattern.members[0])
        roles = {each.name: each for each in pattern.parameters}
        for plan in pattern.members:
            key = pattern.key_plan(plan)
            if key.partition.text != first.partition.text:
                raise DesignError(
                    f"{name}: {plan.name}'s partition {key.partition.text} is not {first.partition.text}, "
                    f"so one query cannot find both"
                )
        missing = [field for field in first.partition.fields if field not in roles]
        if missing:
            raise DesignError(f"{name}: needs the whole partition key {first.partition.text}; add {', '.join(missing)}")
        for field in pattern.filter:
            if field not in roles:
                raise DesignError(f"{name}: filters by {field}, which is no argument of it")
        ranged = [each for each in pattern.parameters if each.kind != "value"]
        for each in ranged:
            if each.role != "sort" or each.name != pattern.sort_parameters[-1]:
                raise DesignError(f"{name}: a range can only be on the last argument of the sort key, not {each.name}")
        if pattern.buckets:
            if pattern.sort_parameters:
                raise DesignError(
                    f"{name}: an item collection is found by its partition; {pattern.sort_parameters[0]} is not in it"
                )
            return
        for plan in pattern.members:
            key = pattern.key_plan(plan)
            templates = pattern.sort_templates(plan)
            if key.sort and not templates:
                first_parts = " or ".join(template.text for template in key.sort)
                raise DesignError(
                    f"{name}: gives {', '.join(pattern.sort_parameters)}, but {plan.name}'s sort key begins {first_parts}; "
                    f"components are given from the left"
                )
            for each in ranged:
                for template in templates:
                    check_range(template, each.name, "range" if each.kind == "range" else "prefix", name)
            if pattern.prefix is not None:
                for template in templates:
                    if not template.text.startswith(pattern.prefix):
                        raise DesignError(f"{name}: prefix {pattern.prefix} is not how {template.text} begins")
        beginnings = {
            template.prefix_text(len(pattern.given(template)))
            for plan in pattern.members
            for template in pattern.sort_templates(plan)
        }
        if len(beginnings) > 1 and pattern.prefix is None:
            raise DesignError(
                f"{name}: its rows begin differently ({', '.join(sorted(beginnings))}), so one query cannot find all"
            )
        if pattern.operation == "GetItem":
            sort = first.sort[0].fields if first.sort else ()
            missing = [field for field in sort if field not in roles]
            if missing or ranged:
                raise DesignError(f"{name}: gets one item, so it needs its whole key; add {', '.join(missing)}")

    def _values(self, *args: P.args, **kwargs: P.kwargs) -> dict[str, Any]:
        # Calling the empty function lets Python itself say what is missing or too much.
        self.function(*args, **kwargs)
        assert self.pattern is not None
        names = [each.name for each in self.pattern.parameters]
        return {**dict(zip(names, args, strict=False)), **kwargs}


class _GetAccess(_Access[P]):
    operation = "GetItem"

    @overload
    def __get__(self, instance: None, owner: type[AnyOf[T]]) -> Callable[P, Ref[T]]: ...
    @overload
    def __get__(self, instance: None, owner: type[E]) -> Callable[P, Ref[E]]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> Any: ...
    def __get__(self, instance: object, owner: Any = None) -> Any:
        return self.refer

    def refer(self, *args: P.args, **kwargs: P.kwargs) -> Ref[Any]:
        pattern = self.pattern
        assert pattern is not None
        values = self._values(*args, **kwargs)
        key = pattern.members[0].key_of(values)
        return Ref(pattern.members, values, key, pattern.name, pattern.consistent)


class _QueryAccess(_Access[P]):
    @overload
    def __get__(self, instance: None, owner: type[AnyOf[T]]) -> Callable[P, Query[T]]: ...
    @overload
    def __get__(self, instance: None, owner: type[C]) -> Callable[P, Gather[C]]: ...
    @overload
    def __get__(self, instance: None, owner: type[E]) -> Callable[P, Query[E]]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> Any: ...
    def __get__(self, instance: object, owner: Any = None) -> Any:
        return self.ask

    def ask(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        pattern = self.pattern
        assert pattern is not None
        values = self._values(*args, **kwargs)
        plan = pattern.members[0]
        partition = pattern.key_plan(plan).partition.encode(values)
        if partition is None:
            raise ValueError(f"{pattern.name}: None is not in this index")
        sort = _gathered_range(pattern) if pattern.buckets else _sort(pattern, plan, values)
        condition = None
        for field in pattern.filter:
            filtered = equals(plan, field, values[field])
            condition = filtered if condition is None else condition & filtered
        asked: Query[Any] = Query(pattern, values, partition, sort, condition, pattern.descending, pattern.consistent)
        return Gather(asked) if pattern.buckets else asked


@overload
def get(function: Callable[P, None], /) -> _GetAccess[P]: ...
@overload
def get(*, consistent: bool = False) -> Callable[[Callable[P, None]], _GetAccess[P]]: ...
def get(function: Any = None, /, *, consistent: bool = False) -> Any:
    """One item by its whole primary key."""
    if function is not None:
        return _GetAccess(function)
    return lambda function: _GetAccess(function, consistent=consistent)


def query(
    index: str | None = None,
    *,
    filter: tuple[str, ...] = (),
    descending: bool = False,
    consistent: bool = False,
    prefix: str | None = None,
) -> Callable[[Callable[P, None]], _QueryAccess[P]]:
    """The items of one partition, of the table or of an index, that the given sort components allow."""
    return lambda function: _QueryAccess(function, index, filter, descending, consistent, prefix)


def _declare(cls: type[Any], owner: str, members: tuple[EntityPlan, ...], buckets: tuple[Bucket, ...] = ()) -> None:
    for each in list(vars(cls).values()):
        if isinstance(each, _Access):
            each.declare(owner, members, buckets, cls if buckets else None)


def _bucket(collection: str, name: str, hint: Any) -> Bucket:
    if get_origin(hint) is list:
        return Bucket(name, plan_of(get_args(hint)[0]), "many")
    kinds = _alternatives(hint)
    entities = [kind for kind in kinds if kind is not NoneType]
    if len(entities) != 1 or not hasattr(entities[0], "__plan__"):
        raise DesignError(f"{collection}.{name}: a bucket is an entity E, E | None or list[E], not {_type_name(hint)}")
    return Bucket(name, plan_of(entities[0]), "maybe one" if len(kinds) > 1 else "one")


def _sort(pattern: Pattern, plan: EntityPlan, values: Mapping[str, Any]) -> SortCondition:
    templates = pattern.sort_templates(plan)
    if not templates:
        return WHOLE_PARTITION
    template = templates[0]
    if pattern.prefix is not None:
        text = pattern.prefix
        return SortCondition("begins_with", (template.written_prefix(text, values),))
    alone = all(len(pattern.key_plan(each).sort) == 1 for each in pattern.members)
    return sort_condition(template, {name: values[name] for name in pattern.given(template)}, alone=alone)


def _gathered_range(pattern: Pattern) -> SortCondition:
    """The narrowest range of sort keys that holds every member's rows."""
    ends = []
    for plan in pattern.members:
        for template in pattern.key_plan(plan).sort:
            start = template.literal_prefix
            ends.append((start, start if not template.fields else successor(start) if start else ""))
    if not ends or any(not start for start, _ in ends):
        return WHOLE_PARTITION
    starts = {start for start, _ in ends}
    if len(starts) == 1 and all(start != end for start, end in ends):
        return SortCondition("begins_with", (starts.pop(),))
    return SortCondition("BETWEEN", (min(starts), max(end for _, end in ends)))


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _same_type(given: Any, declared: Any) -> bool:
    """Whether an argument has the field's type, or the field's type without None."""
    wanted = set(_alternatives(declared))
    return set(_alternatives(given)) in (wanted, wanted - {NoneType})


def _type_name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")


def _suggestion(name: str, fields: Mapping[str, Any]) -> str:
    import difflib

    close = difflib.get_close_matches(name, fields, 1)
    return f"; did you mean {close[0]}?" if close else f"; its fields are {', '.join(fields)}"

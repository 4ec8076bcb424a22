"""Access patterns: typed functions that find items by their arguments; the docstring is the question they answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any, Generic, Literal, ParamSpec, TypeVar, dataclass_transform, get_args, get_origin, overload

import msgspec
from msgspec.structs import replace

from potluck.table.coding import compile_key
from potluck.table.entity import Entity, EntityPlan, plan_of
from potluck.table.errors import DesignError
from potluck.table.expressions import Condition, Expressions, equals
from potluck.table.fields import encode_value
from potluck.table.keys.ranges import Range, SortCondition, StartsWith
from potluck.table.patterns import Bucket, Pattern, alternatives, hints_of, plan_pattern, type_name
from potluck.table.tables import Request

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
E = TypeVar("E", bound=Entity)
C = TypeVar("C", bound="ItemCollection")


# Structs, not dataclasses: one is created for every read, and a frozen dataclass takes five times as long.
class Ref(msgspec.Struct, Generic[T_co], frozen=True):
    """One item by its key: it can be read, updated, deleted or checked."""

    members: tuple[EntityPlan, ...]
    values: Mapping[str, Any]
    key: dict[str, Any]
    pattern: str
    consistent: bool = False

    @property
    def plan(self) -> EntityPlan:
        """The plan of the item's entity; a reference to one of several kinds can only be read."""
        if len(self.members) > 1:
            kinds = " or ".join(plan.name for plan in self.members)
            raise TypeError(f"{self.pattern} finds a {kinds}: read it first, then write the item")
        return self.members[0]

    def consistently(self) -> Ref[T_co]:
        """The same read, strongly consistent: it sees every write acknowledged before it."""
        return replace(self, consistent=True)

    def request(self) -> Request:
        body: dict[str, Any] = {"TableName": self.members[0].table.name, "Key": self.key}
        if self.consistent:
            body["ConsistentRead"] = True
        return Request("GetItem", body)


class Query(msgspec.Struct, Generic[T_co], frozen=True):
    """The items of one partition that a sort condition allows, in the order of their sort keys."""

    pattern: Pattern
    values: Mapping[str, Any]
    partition: str
    sort: SortCondition
    filter: Condition | None = None
    descending: bool = False
    consistent: bool = False

    def reversed(self) -> Query[T_co]:
        """The same query in the opposite order."""
        return replace(self, descending=not self.descending)

    def consistently(self) -> Query[T_co]:
        """The same query, strongly consistent; only the table itself supports that, not an index."""
        if self.pattern.index is not None:
            raise ValueError(f"{self.pattern.name}: {self.pattern.index} is an index, and no index reads consistently")
        return replace(self, consistent=True)

    def where(self, condition: Condition) -> Query[T_co]:
        """The same query with a further filter; rows that fail it are read and paid for, but not returned."""
        together = condition if self.filter is None else self.filter & condition
        self.expressions().condition(together)  # fails here rather than when the request is built
        return replace(self, filter=together)

    def cursor(self, entity: Entity) -> dict[str, Any]:
        """The position of an entity among the results, as `after` of a request: its keys in the table and the index."""
        encoded = plan_of(entity).coding.encode(entity)
        return {name: encoded[name] for name in self.pattern.table.index_key_names(self.pattern.index)}

    def request(
        self, *, limit: int | None = None, after: Mapping[str, Any] | None = None, recognisable: bool = False
    ) -> Request:
        """The request for one page; `recognisable` projects only each row's keys, type and expiry."""
        pattern = self.pattern
        key = pattern.key_plan(pattern.members[0])
        expressions = self.expressions()
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
            attributes = [*table.index_key_names(pattern.index), table.type_attribute, table.ttl]
            body["ProjectionExpression"] = ", ".join(
                name(attribute) for attribute in attributes if attribute is not None
            )
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

    def expressions(self) -> Expressions:
        """Expressions that accept only fields of the kinds that the query finds."""
        return Expressions(kinds=self.pattern.members)

    def read(self, items: list[dict[str, Any]], now: int) -> tuple[list[dict[str, Any]], list[T_co]]:
        """The rows among these that the query returns, unexpired ones only, and their entities, in order."""
        members = self.pattern.members
        if len(members) == 1:
            rows = members[0].visible(items, now)
            decode = members[0].coding.decode
            entities = [decode(row) for row in rows]
        else:
            # Rows of other kinds may share the key range.
            kinds = {id(row): plan for plan in members for row in plan.visible(items, now)}
            rows = [row for row in items if id(row) in kinds]
            entities = [kinds[id(row)].coding.decode(row) for row in rows]
        return self.matching(rows, entities)

    def matching(self, rows: list[Any], entities: list[Any]) -> tuple[list[Any], list[T_co]]:
        """The rows and entities that match exactly: a key range may let others through."""
        keep = self.sort.keep
        if keep is not None:
            places = [place for place, entity in enumerate(entities) if keep(entity)]
            rows, entities = [rows[place] for place in places], [entities[place] for place in places]
        return rows, entities


class Scan(msgspec.Struct, Generic[T_co], frozen=True):
    """Every item of some kinds, in no particular order. It reads the whole table, so it is for background work."""

    pattern: Pattern
    consistent: bool = False

    def consistently(self) -> Scan[T_co]:
        """The same scan, strongly consistent: it sees every write acknowledged before it."""
        return replace(self, consistent=True)

    def request(self) -> Request:
        """The request for the first page. Rows of other kinds are filtered out by type, where rows carry one."""
        table, plans = self.pattern.table, self.pattern.members
        body: dict[str, Any] = {"TableName": table.name}
        if table.type_attribute is not None and all(plan.type is not None for plan in plans):
            expressions = Expressions()
            name = expressions.name(table.type_attribute)
            types = [expressions.value(table.type_attribute, {"S": str(plan.type)}) for plan in plans]
            body |= {"FilterExpression": f"{name} IN ({', '.join(types)})", **expressions.attributes()}
        if self.consistent:
            body["ConsistentRead"] = True
        return Request("Scan", body)

    def read(self, items: list[dict[str, Any]], now: int) -> list[T_co]:
        """The entities among stored rows that the scan asks for, unexpired ones only."""
        plans = self.pattern.members
        kinds = ((row, next((plan for plan in plans if plan.matches(row)), None)) for row in items)
        return [plan.coding.decode(row) for row, plan in kinds if plan is not None and not plan.expired(row, now)]


@dataclass(frozen=True, slots=True)
class Gather(Generic[C]):
    """Several kinds of items from one partition in one query, each in its own bucket."""

    query: Query[Any]

    def consistently(self) -> Gather[C]:
        """The same read, strongly consistent: it sees every write acknowledged before it."""
        return Gather(self.query.consistently())

    def request(self) -> Request:
        return self.query.request()


class AnyOf(Generic[T]):
    """Several kinds of items in one ordered result: `class LibraryItem(AnyOf[Book | Video])` and its queries."""

    def __init_subclass__(cls) -> None:
        (base,) = [base for base in cls.__orig_bases__ if get_origin(base) is AnyOf]  # type: ignore[attr-defined]
        kinds = alternatives(get_args(base)[0])
        for kind in kinds:
            if not hasattr(kind, "__plan__"):
                raise DesignError(f"{cls.__name__}: AnyOf[...] takes entities, and {type_name(kind)} is not one")
        _declare(cls, cls.__name__, tuple(map(plan_of, kinds)))


class _Collected(msgspec.StructMeta):
    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        cls = super().__new__(mcls, name, bases, namespace, **{"frozen": True, "kw_only": True} | options)
        if any(isinstance(base, _Collected) for base in bases):
            buckets = tuple(_bucket(name, field, hint) for field, hint in hints_of(cls, name).items())
            _check_buckets(name, buckets)
            _declare(cls, name, tuple(bucket.plan for bucket in buckets), buckets=buckets, collection=cls)
        return cls


@dataclass_transform(kw_only_default=True, frozen_default=True)
class ItemCollection(msgspec.Struct, metaclass=_Collected, frozen=True, kw_only=True):
    """Several kinds of items in one request: a field `E` holds exactly one, `E | None` at most one, `list[E]` many."""


class _Access(Generic[P]):
    """A declared access pattern: planned when its class exists; then it turns arguments into requests."""

    operation: Literal["GetItem", "Query", "Scan"] = "Query"

    def __init__(self, function: Callable[P, None], **options: Any) -> None:
        self.function = function
        self.options = {"index": None, "consistent": False, "filter": (), **options}
        self.pattern: Pattern | None = None
        self.__doc__ = function.__doc__

    def declare_on_entity(self, plan: EntityPlan) -> None:
        self.declare(plan.name, (plan,))

    def declare(self, owner: str, members: tuple[EntityPlan, ...], **collected: Any) -> None:
        options = self.options | collected
        self.pattern = plan_pattern(self.function, owner, members, operation=self.operation, **options)
        self.pattern.table.patterns.append(self.pattern)

    def _values(self, *args: P.args, **kwargs: P.kwargs) -> dict[str, Any]:
        # Calling the empty function lets Python itself report missing or unexpected arguments.
        self.function(*args, **kwargs)
        assert self.pattern is not None
        names = [parameter.name for parameter in self.pattern.parameters]
        values = {**dict(zip(names, args, strict=False)), **kwargs}
        for parameter in self.pattern.parameters:
            if parameter.kind != "value" and not isinstance(values[parameter.name], Range | StartsWith):
                shape = "Range(...)" if parameter.kind == "range" else "StartsWith(...)"
                raise TypeError(f"{self.pattern.name}: {parameter.name} takes {shape}, not one value")
        return values


class _GetAccess(_Access[P]):
    operation = "GetItem"

    def declare(self, owner: str, members: tuple[EntityPlan, ...], **collected: Any) -> None:
        super().declare(owner, members, **collected)
        assert self.pattern is not None
        plan = members[0]
        self.names = tuple(parameter.name for parameter in self.pattern.parameters)
        fields = {name: plan.fields[name] for name in self.names}
        self.key_of = compile_key(self.pattern.name, fields, plan.key)
        # The generated key function checks the type of a container, but not its contents.
        self.plain = all(field.element is None and not field.members for field in fields.values())

    @overload
    def __get__(self, instance: object, owner: type[AnyOf[T]]) -> Callable[P, Ref[T]]: ...
    @overload
    def __get__(self, instance: object, owner: type[E]) -> Callable[P, Ref[E]]: ...
    def __get__(self, instance: object, owner: Any) -> Any:
        return self.refer

    def refer(self, *args: P.args, **kwargs: P.kwargs) -> Ref[Any]:
        pattern = self.pattern
        assert pattern is not None
        if kwargs or len(args) != len(self.names):
            values = self._values(*args, **kwargs)
            args = tuple(values[name] for name in self.names)  # type: ignore[assignment]
        else:
            values = dict(zip(self.names, args, strict=True))
        try:
            # The generated function handles only ordinary, valid values; the careful path explains errors.
            key = self.key_of(*args) if self.plain else self._key_carefully(values)
        except Exception:
            key = self._key_carefully(values)
        return Ref(pattern.members, values, key, pattern.name, pattern.consistent)

    def _key_carefully(self, values: Mapping[str, Any]) -> dict[str, Any]:
        assert self.pattern is not None
        plan = self.pattern.members[0]
        for name, value in values.items():
            # An upsert may create a row from a reference, so it holds only values that the row's fields allow.
            if value is not None:
                encode_value(plan.fields[name], value)
        return plan.key_of(values)


class _QueryAccess(_Access[P]):
    def declare(self, owner: str, members: tuple[EntityPlan, ...], **collected: Any) -> None:
        super().declare(owner, members, **collected)
        assert self.pattern is not None
        self.names = tuple(parameter.name for parameter in self.pattern.parameters)
        self.by_values = all(parameter.kind == "value" for parameter in self.pattern.parameters)

    @overload
    def __get__(self, instance: object, owner: type[AnyOf[T]]) -> Callable[P, Query[T]]: ...
    @overload
    def __get__(self, instance: object, owner: type[C]) -> Callable[P, Gather[C]]: ...
    @overload
    def __get__(self, instance: object, owner: type[E]) -> Callable[P, Query[E]]: ...
    def __get__(self, instance: object, owner: Any) -> Any:
        return self.ask

    def ask(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        pattern = self.pattern
        assert pattern is not None
        if kwargs or len(args) != len(self.names) or not self.by_values:
            values = self._values(*args, **kwargs)
        else:
            values = dict(zip(self.names, args, strict=True))
        condition: Condition | None = None
        for field in pattern.filter:
            filtered = equals(pattern.members[0], field, values[field])
            condition = filtered if condition is None else condition & filtered
        bound_query: Query[Any] = Query(
            pattern=pattern,
            values=values,
            partition=pattern.partition_of(values),
            sort=pattern.sort_condition(values),
            filter=condition,
            descending=pattern.descending,
            consistent=pattern.consistent,
        )
        return Gather(bound_query) if pattern.buckets else bound_query


class _ScanAccess(_Access[P]):
    operation = "Scan"

    @overload
    def __get__(self, instance: object, owner: type[AnyOf[T]]) -> Callable[P, Scan[T]]: ...
    @overload
    def __get__(self, instance: object, owner: type[E]) -> Callable[P, Scan[E]]: ...
    def __get__(self, instance: object, owner: Any) -> Any:
        return self.ask

    def ask(self) -> Scan[Any]:
        assert self.pattern is not None
        return Scan(self.pattern, self.pattern.consistent)


@overload
def get(function: Callable[P, None], /) -> _GetAccess[P]: ...
@overload
def get(*, consistent: bool = False) -> Callable[[Callable[P, None]], _GetAccess[P]]: ...
def get(function: Any = None, /, *, consistent: bool = False) -> Any:
    """Declare an access pattern that gets one item by its primary key."""
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
    """Declare an access pattern that queries one partition of the table or an index, narrowed by its sort key."""
    options = {"index": index, "filter": filter, "descending": descending, "consistent": consistent, "prefix": prefix}
    return lambda function: _QueryAccess(function, **options)


@overload
def scan(function: Callable[P, None], /) -> _ScanAccess[P]: ...
@overload
def scan(*, consistent: bool = False) -> Callable[[Callable[P, None]], _ScanAccess[P]]: ...
def scan(function: Any = None, /, *, consistent: bool = False) -> Any:
    """Declare an access pattern that reads the whole table; lint asks for the reason."""
    if function is not None:
        return _ScanAccess(function)
    return lambda function: _ScanAccess(function, consistent=consistent)


def _declare(cls: type[Any], owner: str, members: tuple[EntityPlan, ...], **collected: Any) -> None:
    for member in list(vars(cls).values()):
        if isinstance(member, _Access):
            member.declare(owner, members, **collected)


def _bucket(collection: str, name: str, hint: Any) -> Bucket:
    many = get_origin(hint) is list
    kinds = alternatives(get_args(hint)[0] if many else hint)
    entities = [kind for kind in kinds if kind is not NoneType]
    if len(entities) != 1 or not hasattr(entities[0], "__plan__") or (many and len(kinds) > 1):
        raise DesignError(f"{collection}.{name}: a bucket is an entity E, E | None or list[E], not {type_name(hint)}")
    return Bucket(name, plan_of(entities[0]), "many" if many else "maybe one" if len(kinds) > 1 else "one")


def _check_buckets(collection: str, buckets: tuple[Bucket, ...]) -> None:
    for place, bucket in enumerate(buckets):
        for earlier in buckets[:place]:
            if earlier.plan is bucket.plan:
                raise DesignError(
                    f"{collection}: {bucket.plan.name} has two buckets, {earlier.name} and {bucket.name}; "
                    f"an entity goes into one bucket"
                )

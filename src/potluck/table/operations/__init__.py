"""The writes: put, update, upsert, delete, check. Each is validated before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

from msgspec import Struct
from msgspec.structs import replace

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.values import Item, Value, equal
from potluck.table.access import Ref
from potluck.table.entity import Entity, EntityPlan, plan_of
from potluck.table.errors import ComponentsNeeded
from potluck.table.expressions import Expressions
from potluck.table.expressions.clauses import Assign, Clause, Sum, clause, counts, room_for, shows
from potluck.table.expressions.conditions import (
    Add,
    All,
    Becomes,
    Change,
    Condition,
    Either,
    Exclude,
    FieldName,
    Fits,
    Include,
    Still,
    Unexpired,
    absent,
    conjuncts,
    mentions_the_item,
    present,
    stated_values,
)
from potluck.table.expressions.readings import holds, stored_forms
from potluck.table.fields import Kind, encode_value
from potluck.table.operations.failures import explain_refusal
from potluck.table.operations.guards import guard_of, guarded_fields
from potluck.table.operations.known import KnownValues, Unknown, index_keys
from potluck.table.operations.writes import TransactionAction, WriteRequest, claim, release
from potluck.table.tables import Request, RowName, row_name
from potluck.table.transactions import Transaction

__all__ = [
    "Check",
    "Delete",
    "Operation",
    "Put",
    "Update",
    "Upsert",
    "check",
    "delete",
    "explain_failure",
    "put",
    "update",
    "upsert",
]

ONE: Value = {"N": "1"}
ANY_TIME = 0
"""The time for conditions that are only validated."""


# A struct rather than a dataclass, like its parts: several are created for every write, and a frozen dataclass takes
# five times as long.
class Operation(Struct, frozen=True, eq=False):
    """A write of one item, together with its guard rows."""

    plan: EntityPlan
    key: Item
    seen: Entity | None
    when: Condition | None
    writes: tuple[WriteRequest, ...]

    verb: ClassVar[str]
    makes_the_item: ClassVar[bool] = False
    """Whether it may create the item, so that a missing item does not refuse it."""

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(str(text) for value in self.key.values() for text in value.values())})"

    @property
    def row(self) -> RowName:
        """What identifies its item."""
        return row_name(self.plan.table, self.key)

    @property
    def name(self) -> str:
        """The kind of write, without naming the item."""
        return f"{self.verb} {self.plan.name}"

    @property
    def batchable(self) -> bool:
        """Whether it is a single put or delete without a condition, so that it can go into a batch."""
        return len(self.writes) == 1 and self.writes[0].condition is None and self.writes[0].kind in ("Put", "Delete")

    @property
    def repeatable(self) -> bool:
        """Whether it is idempotent."""
        return True

    def settled_by(self, item: Item) -> bool:
        """Whether the stored item looks like the result of this write."""
        return False

    def ruled_out_by(self, item: Item) -> bool:
        """Whether the stored item, which refused this write, also proves that no earlier attempt was applied."""
        return True

    def and_when(self, condition: Condition | None) -> Self:
        """The same write with this condition added."""
        first, *guards = self.writes
        parts = [*conjuncts(first.condition), *conjuncts(_on_the_item(condition))]
        conjunction = _all(parts) if parts else None
        return replace(self, writes=(replace(first, condition=conjunction), *guards))

    def actions(self, now: int | None = None) -> list[TransactionAction]:
        """Its actions in a transaction; `now`, in seconds, is needed where the entity expires."""
        return [write.action(now) for write in self.writes]

    def request(self, now: int | None = None) -> Request:
        """The single request that carries it out."""
        if len(self.writes) > 1 or self.writes[0].kind == "ConditionCheck":
            return Transaction(self).request(now)
        action = self.writes[0].action(now)
        return Request(f"{action.kind}Item", action.body)


class Put(Operation, frozen=True, eq=False):
    """Stores an item."""

    verb = "put"

    def settled_by(self, item: Item) -> bool:
        ours = self.writes[0].item
        assert ours is not None
        return ours.keys() == item.keys() and all(equal(value, item[name]) for name, value in ours.items())


class Update(Operation, frozen=True, eq=False):
    """Changes some fields of an existing item."""

    version: int | None = None
    """The version that it leads to, if it increments the version."""

    verb = "update"

    @property
    def repeatable(self) -> bool:
        # An update that increments the version also checks it, so a second attempt is refused.
        return self.version is not None or not any(counts(clause) for clause in self.writes[0].clauses)

    def settled_by(self, item: Item) -> bool:
        if self.version is not None:
            assert self.plan.version is not None
            if item.get(self.plan.version.attribute) != encode_value(self.plan.version, self.version):
                return False
        elif self.when is not None:
            return False  # another writer may have made the same change, though only one of the two was allowed to
        return all(shows(clause, item) for clause in self.writes[0].clauses)

    def ruled_out_by(self, item: Item) -> bool:
        if self.version is None or self.plan.version is None:
            return False
        if holds(self.plan.version, self.version, item):
            # If the item does not show our changes, another writer made this version.
            return not self.settled_by(item)
        return holds(self.plan.version, self.version - 1, item)

    def request(self, now: int | None = None) -> Request:
        request = super().request(now)
        if request.operation == "UpdateItem":
            request.body["ReturnValues"] = "ALL_NEW"
        return request


class Upsert(Update, frozen=True, eq=False):
    """Changes some fields of an item, creating it if there is none."""

    verb = "upsert"
    makes_the_item = True


class Delete(Operation, frozen=True, eq=False):
    """Deletes an item."""

    verb = "delete"

    @property
    def repeatable(self) -> bool:
        # With a condition, a second attempt would mistake our own deletion for another writer's.
        return self.when is None


class Check(Operation, frozen=True, eq=False):
    """Requires a condition of an item without writing it."""

    verb = "check"


def put(entity: Entity, when: Condition | None = None) -> Put:
    """Store the entity, replacing any stored one; with `when=absent`, only if there is none."""
    plan = plan_of(entity)
    if not isinstance(entity, Entity):
        raise TypeError(f"{entity!r} cannot be put: it is not an entity")
    if when is not absent and (plan.version is not None or plan.uniques):
        reason = "has a version" if plan.version is not None else "has a unique field"
        raise ValueError(f"{plan.name} {reason}, which overwriting would break: use when=absent, or update")
    _try(plan, when)
    item = plan.coding.encode(entity)
    key = {name: item[name] for name in plan.table.key_names}
    write = WriteRequest("Put", plan, key, _on_the_item(when), item=item)
    if not plan.uniques:
        return Put(plan, key, entity, when, (write,))
    values = KnownValues(plan, {}, entity)
    guards = [guard_of(unique, values, key) for unique in plan.uniques]
    claims = [claim(plan, guard, values) for guard in guards if guard is not None]
    return Put(plan, key, entity, when, (write, *claims))


def update(
    target: Entity | Ref[Any], *changes: Change, when: Condition | None = None, keep_version: bool = False
) -> Update:
    """Change some fields of an existing item, along with every index key and guard row that depends on them.

    A target that was read is changed only if its version has not changed.
    """
    aim = _aim(target)
    plan = aim.plan
    conditions = (*(change for change in changes if isinstance(change, Still)), *conjuncts(when))
    for condition in conditions:
        if condition != present and mentions_the_item(condition):
            raise ValueError(f"update {plan.name}: an update requires an existing item, so that condition is redundant")
        _try(plan, condition)
    by_field = _by_field(plan, changes)
    values = {name: change.value for name, change in by_field.items() if isinstance(change, Becomes)}
    clauses: list[Clause] = [clause(plan.fields[name], change) for name, change in by_field.items()]
    stated = stated_values(conditions)

    raised = None if keep_version or _only_counts(plan, by_field) else _version(aim, stated)
    relied_on: dict[str, Still] = {}
    if raised is not None:
        assert plan.version is not None
        values[plan.version.name] = raised.version
        relied_on |= raised.relied_on

    certain = {**stated, **aim.values}
    after = KnownValues(plan, {**certain, **values}, aim.seen)
    before = KnownValues(plan, certain, aim.seen)
    clauses += index_keys(plan, frozenset(values), after)
    guards = _moved_guards(aim, frozenset(values), before, after)
    if raised is not None:
        clauses.append(raised.clause)

    relied_on |= before.relied_on | after.relied_on
    others = [condition for condition in conditions if condition != present]
    condition = _all([present, *relied_on.values(), *others, *_bounds(plan, by_field)])
    write = WriteRequest("Update", plan, aim.key, condition, clauses=tuple(clauses))
    return Update(plan, aim.key, aim.seen, when, (write, *guards), raised.version if raised is not None else None)


def upsert(target: Ref[Any], *changes: Change, when: Condition | None = None) -> Upsert:
    """Change some fields of an item, or create it from its key and these changes if there is none.

    For rows that count or collect, so that they need not be created first.
    """
    aim = _aim(target)
    plan = aim.plan
    if plan.version is not None or plan.uniques:
        reason = "a version" if plan.version is not None else "a unique field"
        raise ValueError(f"upsert {plan.name}: it has {reason}, so put it with when=absent and then update it")
    conditions = (*(change for change in changes if isinstance(change, Still)), *conjuncts(when))
    for condition in conditions:
        if mentions_the_item(condition):
            raise ValueError(f"upsert {plan.name}: it creates the item or changes it, so that condition is pointless")
        _try(plan, condition)
    by_field = _by_field(plan, changes)
    missing = [
        field.name
        for field in plan.fields.values()
        if field.required and field.kind is not Kind.SET and field.name not in {*aim.values, *by_field}
    ]
    if missing:
        raise ValueError(f"upsert {plan.name}: a new item would lack {', '.join(missing)}; set it with becomes(...)")
    values = {name: change.value for name, change in by_field.items() if isinstance(change, Becomes)}
    known = KnownValues(plan, {**stated_values(conditions), **aim.values, **values}, None)
    clauses = [
        *_own_attributes(plan, aim.values),
        *(clause(plan.fields[name], change) for name, change in by_field.items()),
        *index_keys(plan, frozenset(plan.fields), known),
    ]
    checks: list[Condition] = [*conditions, *_bounds(plan, by_field)]
    if plan.expiry is not None:
        checks.insert(0, Unexpired())
    if plan.shares_its_key:
        checks.insert(0, Either((absent, present)))
    write = WriteRequest("Update", plan, aim.key, _all(checks) if checks else None, clauses=tuple(clauses))
    return Upsert(plan, aim.key, None, when, (write,))


def delete(target: Entity | Ref[Any], when: Condition | None = None) -> Delete:
    """Delete an item if there is one; a target that was read, only if its version has not changed.

    With a condition, the item must exist.
    """
    aim = _aim(target)
    plan = aim.plan
    _try(plan, when)
    known = KnownValues(plan, {**stated_values(conjuncts(when)), **aim.values}, aim.seen)
    guards = []
    for unique in plan.uniques:
        try:
            guards.append(guard_of(unique, known, aim.key))
        except Unknown:
            missing = [f"the({plan.name}.{name}).still(...)" for name in known.missing(unique.key.components)]
            raise ValueError(
                f"delete {plan.name}: {unique.field} is unique, so its guard goes too; delete what was read, or pass "
                f"when={' & '.join(missing)}"
            ) from None
    checks: list[Condition] = [*_seen_version(aim).values(), *known.relied_on.values()]
    if when is None:
        if plan.shares_its_key:
            checks.insert(0, present)
        condition: Condition | None = Either((absent, _all(checks))) if checks else None
    else:
        condition = _all([*conjuncts(_on_the_item(when)), *checks])
    releases = [release(plan, guard) for guard in guards if guard is not None]
    return Delete(plan, aim.key, aim.seen, when, (WriteRequest("Delete", plan, aim.key, condition), *releases))


def check(target: Entity | Ref[Any], when: Condition) -> Check:
    """Make the rest of a transaction depend on this condition alone; the target's version is not checked."""
    aim = _aim(target)
    write = WriteRequest("ConditionCheck", aim.plan, aim.key, _tried_on_the_item(aim.plan, when))
    return Check(aim.plan, aim.key, aim.seen, when, (write,))


def explain_failure(operation: Operation, error: DynamoError, now: int | None = None) -> Exception:
    """The exception for an operation whose own request failed; the error itself if no condition refused it."""
    if error.code == "ConditionalCheckFailedException":
        return explain_refusal(operation, operation.writes[0], error.item, now)
    return Transaction(operation).explain(error, now)


# --- the target item -------------------------------------------------------------------------------------------------


class _Aim(NamedTuple):
    """The target item and what is known about it: the values in its key, and perhaps the item that was read."""

    plan: EntityPlan
    key: Item
    values: Mapping[str, Any]
    seen: Entity | None


def _aim(target: Entity | Ref[Any]) -> _Aim:
    plan = plan_of(target)
    if isinstance(target, Ref):
        return _Aim(plan, target.key, target.values, None)
    values = {name: getattr(target, name) for name in plan.fields if name in plan.key.components}
    return _Aim(plan, plan.key_of(values), values, target)


# --- conditions ------------------------------------------------------------------------------------------------------


def _try(plan: EntityPlan, condition: Condition | None) -> None:
    """Raise early for errors of the request: another entity's field, or a value that it does not allow."""
    if condition is not None and condition is not absent and condition is not present:
        Expressions(plan, ANY_TIME).condition(condition)


# Keyed by identity, and each entry keeps its objects alive. Access checks go with every write and seldom change.
_tried: dict[tuple[int, int], tuple[EntityPlan, Condition, Condition | None]] = {}
MOST_TRIED = 500


def _tried_on_the_item(plan: EntityPlan, condition: Condition) -> Condition | None:
    """`_on_the_item` for a validated condition; cached, so the same condition gives the same object."""
    known = _tried.get((id(plan), id(condition)))
    if known is None:
        _try(plan, condition)
        if len(_tried) >= MOST_TRIED:
            _tried.clear()
        known = _tried[id(plan), id(condition)] = plan, condition, _on_the_item(condition)
    return known[2]


def _on_the_item(condition: Condition | None) -> Condition | None:
    """The condition, and that the item exists, unless the condition states whether it must."""
    if condition is None or condition is absent or mentions_the_item(condition):
        return condition
    return _all([present, *conjuncts(condition)])


def _all(parts: Iterable[Condition]) -> Condition:
    together = tuple(parts)
    return together[0] if len(together) == 1 else All(together)


# --- changes ---------------------------------------------------------------------------------------------------------


def _by_field(plan: EntityPlan, changes: Iterable[Change]) -> dict[str, Becomes | Add | Include | Exclude]:
    """The changes by field; raises for a field that is changed twice, or that an update cannot change."""
    by_field: dict[str, Becomes | Add | Include | Exclude] = {}
    for change in changes:
        if isinstance(change, Still):
            continue
        if not isinstance(change, Becomes | Add | Include | Exclude):
            raise TypeError(
                f"update {plan.name}: {change!r} is not a change, such as the({plan.name}.field).becomes(...)"
            )
        name = change.field.name
        field = Expressions(plan).field(change.field)
        if name in plan.key.components:
            raise ValueError(f"{change.field} is a part of {plan.name}'s key, which never changes: put another item")
        if field.is_version:
            raise ValueError(f"{change.field} is incremented by the update itself")
        if name in by_field:
            raise ValueError(f"update {plan.name}: {name} is changed twice")
        if not isinstance(change, Becomes):
            for row, parts in _rows_made_of_fields(plan):
                if name in parts:
                    raise ValueError(f"{change.field} is a part of {row}: use becomes(...)")
        by_field[name] = change
    if not by_field:
        raise ValueError(f"update {plan.name}: nothing is changed")
    return by_field


def _rows_made_of_fields(plan: EntityPlan) -> Iterable[tuple[str, frozenset[str]]]:
    for index, key in plan.indexes.items():
        yield f"the key in {index}", key.components
    for unique in plan.uniques:
        yield f"the guard of {unique.field}", guarded_fields(plan, unique)


def _bounds(plan: EntityPlan, by_field: Mapping[str, Change]) -> list[Condition]:
    """Conditions that keep the numbers being added to within the bounds of their fields."""
    return [
        Fits(change.field, change.amount)
        for name, change in by_field.items()
        if isinstance(change, Add) and room_for(plan.fields[name], change.amount)[1]
    ]


def _own_attributes(plan: EntityPlan, values: Mapping[str, Any]) -> list[Clause]:
    """The attributes of every row with this key: its type, and the key's values that are also stored separately."""
    own: list[Clause] = []
    if plan.type is not None and plan.table.type_attribute is not None:
        own.append(Assign(plan.table.type_attribute, {"S": plan.type}))
    for name, value in values.items():
        if not plan.fields[name].key_only:
            own.append(clause(plan.fields[name], Becomes(FieldName(plan.cls, name), value)))
    return own


def _only_counts(plan: EntityPlan, by_field: Mapping[str, Change]) -> bool:
    return all(isinstance(change, Add) and plan.fields[name].is_counter for name, change in by_field.items())


class _Raised(NamedTuple):
    """The new version, the condition that it relies on, and the clause that writes it."""

    version: int
    relied_on: dict[str, Still]
    clause: Clause


def _version(aim: _Aim, stated: Mapping[str, Any]) -> _Raised | None:
    field = aim.plan.version
    if field is None:
        return None
    if aim.seen is None and field.name not in stated:
        name = f"the({aim.plan.name}.{field.name})"
        raise ValueError(
            f"update {aim.plan.name}: it has a version, so update the item that was read, or use {name}.still(...), "
            f"or keep_version=True"
        )
    expected = stated[field.name] if field.name in stated else getattr(aim.seen, field.name)
    # A row written before its entity had versions has none, and reads as the default.
    may_be_missing, form = stored_forms(field, expected)
    raised = Sum(field.attribute, ONE, "one", form if may_be_missing else None)
    return _Raised(expected + 1, {} if field.name in stated else _seen_version(aim), raised)


def _seen_version(aim: _Aim) -> dict[str, Still]:
    """The condition that the version has not changed; empty if there is none or nothing was read."""
    if aim.plan.version is None or aim.seen is None:
        return {}
    name = aim.plan.version.name
    return {name: Still(FieldName(aim.plan.cls, name), getattr(aim.seen, name))}


# --- guards ----------------------------------------------------------------------------------------------------------


def _moved_guards(aim: _Aim, changed: frozenset[str], before: KnownValues, after: KnownValues) -> list[WriteRequest]:
    """Releases of old guard rows and claims of new ones, where a change affects them."""
    plan = aim.plan
    releases: list[WriteRequest] = []
    claims: list[WriteRequest] = []
    for unique in plan.uniques:
        if changed.isdisjoint(guarded_fields(plan, unique)):
            continue
        try:
            old = guard_of(unique, before, aim.key)
            new = guard_of(unique, after, aim.key)
            if old is not None and (new is None or new.key != old.key):
                releases.append(release(plan, old))
            if new is not None and (old is None or new.key != old.key or _expiry_changes(plan, changed)):
                claims.append(claim(plan, new, after))
        except Unknown:
            missing = {*before.missing(unique.key.components), *after.missing(guarded_fields(plan, unique))}
            needed = [name for name in plan.fields if name in missing]
            raise ComponentsNeeded(plan.name, f"the guard of {unique.field}", needed) from None
    return [*releases, *claims]


def _expiry_changes(plan: EntityPlan, changed: frozenset[str]) -> bool:
    return plan.expiry is not None and plan.expiry.name in changed

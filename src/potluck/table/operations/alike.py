"""The same change to many items: the common parts of their updates are built once."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import NODEFAULT
from msgspec.structs import replace

from potluck.dynamo.values import Item, Value
from potluck.table.entity import Entity, EntityPlan, plan_of
from potluck.table.expressions.clauses import Assign, Clause, Remove
from potluck.table.expressions.conditions import All, Becomes, Change, Condition, Still, conjuncts, present
from potluck.table.expressions.readings import read_when_missing
from potluck.table.fields import FieldPlan
from potluck.table.operations import Update, update
from potluck.table.operations.writes import WriteRequest


class AlikeUpdates:
    """Updates items that were read, all in the same way; their versions stay.

    For items of one kind, the changes and the condition are always on the same fields. The requests are those of
    `update`, for less than half the work.
    """

    def __init__(self) -> None:
        self._forms: dict[tuple[EntityPlan, tuple[str, ...]], _Form | None] = {}

    def update(self, item: Entity, *changes: Change, when: Condition | None = None) -> Update:
        """The update of one item."""
        plan = plan_of(item)
        becomes = {change.field.name: change.value for change in changes if isinstance(change, Becomes)}
        after = plan.coding.encode(replace(item, **becomes))
        # Which attributes a row has determines the text of its expressions.
        shape = plan, tuple([name if "NULL" not in value else f"no {name}" for name, value in after.items()])
        if shape not in self._forms:
            self._forms[shape] = _form_of(update(item, *changes, when=when, keep_version=True))
        form = self._forms[shape]
        if form is None:
            return update(item, *changes, when=when, keep_version=True)
        return form.filled_in(item, after, when)


class _Form(NamedTuple):
    """The update of one item, to be filled in for others of the same shape."""

    plan: EntityPlan
    clauses: tuple[Clause, ...]
    relied_on: tuple[Still, ...]
    members: dict[str, Any]
    constants: dict[str, Value]
    values: tuple[tuple[str, str], ...]
    """Placeholders, and the attributes whose values they hold."""

    def filled_in(self, item: Entity, after: Item, when: Condition | None) -> Update:
        plan = self.plan
        values = {**self.constants, **{placeholder: after[name] for placeholder, name in self.values}}
        write = WriteRequest(
            "Update",
            plan,
            {name: after[name] for name in plan.table.key_names},
            All((present, *(Still(part.field, getattr(item, part.field.name)) for part in self.relied_on))),
            clauses=tuple(
                Assign(clause.attribute, after[clause.attribute]) if isinstance(clause, Assign) else clause
                for clause in self.clauses
            ),
            written={**self.members, "ExpressionAttributeValues": values},
        )
        # Without `seen`, a transaction's size counts only the sent part of the item.
        return Update(plan, write.key, None, when, (write,))


def _form_of(sample: Update) -> _Form | None:
    """The common parts of this update; None if the same text could mean something else for another item."""
    plan, (write, *guards) = sample.plan, sample.writes
    first, *others = conjuncts(write.condition)
    relied_on = tuple(condition for condition in others if isinstance(condition, Still))
    if guards or plan.expiry is not None or first is not present or len(relied_on) < len(others):
        return None
    fields = [plan.fields[condition.field.name] for condition in relied_on]
    compared = {field.attribute for field in fields}
    if not all(map(_is_missing_only_as_none, fields)) or not compared.isdisjoint(
        clause.attribute for clause in write.clauses
    ):
        return None
    if not all(isinstance(clause, Assign | Remove) for clause in write.clauses):
        return None
    body = write.action(None).body
    names = body["ExpressionAttributeNames"]
    filled_in = compared | {clause.attribute for clause in write.clauses if isinstance(clause, Assign)}
    attributes = {placeholder: names.get(f"#{placeholder[1:]}") for placeholder in body["ExpressionAttributeValues"]}
    values = tuple((placeholder, name) for placeholder, name in attributes.items() if name in filled_in)
    return _Form(
        plan,
        write.clauses,
        relied_on,
        {
            name: member
            for name, member in body.items()
            if name not in ("TableName", "Key", "ExpressionAttributeValues")
        },
        {
            value: body["ExpressionAttributeValues"][value]
            for value, name in attributes.items()
            if name not in filled_in
        },
        values,
    )


def _is_missing_only_as_none(field: FieldPlan) -> bool:
    """Whether every value but None is stored in the row, so that the row determines the text."""
    return read_when_missing(field) in (NODEFAULT, None)

"""Findings of a design review, and what its rules need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from potluck.table.entity import EntityPlan
from potluck.table.fields import Kind
from potluck.table.keys import Component, KeyPlan, KeyTemplate
from potluck.table.patterns import Pattern
from potluck.table.tables import Table


@dataclass(frozen=True, slots=True)
class Finding:
    """A point of a design that a reviewer would ask about."""

    name: str
    severity: Literal["error", "warning"]  # wrong answers or lost rows; or cost and contention
    table: str
    subject: str  # `Table(accepted=...)` refers to a finding by its name and this
    what: str
    why: str
    instead: str
    accepted: str | None = None  # the author's reason to accept it

    @property
    def label(self) -> str:
        return f"{self.name}: {self.subject}"

    def __str__(self) -> str:
        if self.accepted is not None:
            return f"{self.table}: accepted {self.label}: {self.accepted}"
        return f"{self.table}: {self.severity} {self.label}: {self.what}; {self.why}. {self.instead}."


def queries(table: Table) -> Iterator[Pattern]:
    """The access patterns that may find many rows."""
    return (pattern for pattern in table.patterns if pattern.operation == "Query")


def sort_templates(table: Table) -> Iterator[tuple[EntityPlan, KeyPlan, KeyTemplate]]:
    """Every sort key template of every entity, in the table and in its indexes."""
    for plan in table.entities:
        for key in (plan.key, *plan.indexes.values()):
            for template in key.sort:
                yield plan, key, template


def is_plain_text(plan: EntityPlan, component: Component) -> bool:
    """Whether it is text in people's spelling, except perhaps for case; a field with a pattern is not."""
    field = plan.fields[component.field]
    return (
        field.kind is Kind.TEXT
        and field.pattern is None
        and field.in_keys is None
        and not component.form.sorts_before_separator
    )

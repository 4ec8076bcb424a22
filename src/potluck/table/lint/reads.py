"""Reads that are wasted, and rows and indexes that are never read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from potluck.table.design.reach import Reach
from potluck.table.entity import EntityPlan
from potluck.table.fields import FieldPlan
from potluck.table.keys import SEPARATOR, Component, KeyPlan, KeyTemplate
from potluck.table.lint.findings import Finding, queries
from potluck.table.tables import Table


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Some rows of a table or index: an entity's own, or its guard rows."""

    name: str
    key: KeyPlan
    fields: Mapping[str, FieldPlan]
    entity: EntityPlan | None  # None for guard rows


def overlaps(table: Table) -> Iterator[Finding]:
    """A query that also reads rows of other entities."""
    for pattern in queries(table):
        reach = Reach.of(pattern)
        for rows in _rows(table, pattern.index):
            if rows.entity in pattern.members or not reach.meets(rows.key, rows.fields):
                continue
            sort = " or ".join(template.text for template in rows.key.sort) or rows.key.partition.text
            yield Finding(
                "overlap",
                "warning",
                table.name,
                f"{pattern.name} reads {rows.name}",
                f"`{reach.condition}` also finds rows of {rows.name}, whose sort key is {sort}",
                "they are read and paid for with every call, and left out of the answer",
                f"Begin the sort key of one of them with another word, query an index without {rows.name}, "
                f"or let the answer hold both with AnyOf or ItemCollection",
            )


def _rows(table: Table, index: str | None) -> Iterator[StoredRows]:
    for plan in table.entities:
        if index is None:
            yield StoredRows(plan.name, plan.key, plan.fields, plan)
            for unique in plan.uniques:
                yield StoredRows(f"the guard of {plan.name}.{unique.field}", unique.key, plan.fields, None)
        elif index in plan.indexes:
            yield StoredRows(plan.name, plan.indexes[index], plan.fields, plan)


def alternatives(table: Table) -> Iterator[Finding]:
    """A query by one alternative of a sort key that also reads rows keyed by another."""
    for pattern in queries(table):
        reach = Reach.of(pattern)
        # How far a range reaches depends on its arguments.
        if reach.operator != "begins_with":
            continue
        for plan in pattern.members:
            own_templates = pattern.sort_templates(plan)
            for other in pattern.key_plan(plan).sort:
                if other in own_templates or not reach.meets_sort_key(other, plan.fields):
                    continue
                yield Finding(
                    "overlap",
                    "warning",
                    table.name,
                    f"{pattern.name} reads {other.text}",
                    f"`{reach.condition}` also finds rows whose sort key is {other.text}",
                    "they are read and paid for with every call, and left out of the answer",
                    "Ask for a range of the next component that ends before them, or begin one of the two keys with "
                    "another word",
                )


def open_prefixes(table: Table) -> Iterator[Finding]:
    """A handwritten prefix that does not end where a value ends."""
    for pattern in queries(table):
        prefix = pattern.prefix
        if prefix is None or prefix.endswith(SEPARATOR):
            continue
        templates = [template for plan in pattern.members for template in pattern.sort_templates(plan)]
        last = _last_component(templates[0], prefix)
        one_length = last is not None and last.form.prefix_free
        if any(template.text == prefix for template in templates) and (last is None or one_length):
            continue  # a key ends here, and with a separator it would not be found
        if last is None:
            finds = f"whatever else begins with {prefix!r}"
        elif one_length:
            finds = f"any key that continues after the {last.field}, and only its fixed length keeps those away"
        else:
            finds = f"the rows of every {last.field} with this prefix, as `armbar` begins with `arm`"
        yield Finding(
            "open-prefix",
            "error",
            table.name,
            pattern.name,
            f"prefix {prefix!r} does not end at a {SEPARATOR!r}",
            f"it also finds {finds}",
            f"Write prefix={_up_to_separator(templates[0], prefix)!r}, or leave it out: the arguments make it",
        )


def _last_component(template: KeyTemplate, prefix: str) -> Component | None:
    """The component that a prefix ends with."""
    return template.components[prefix.count("{") - 1] if prefix.endswith("}") else None


def _up_to_separator(template: KeyTemplate, prefix: str) -> str:
    rest, separator, _ = template.text[len(prefix) :].partition(SEPARATOR)
    return prefix + rest + separator if separator and "{" not in rest else prefix


def filters(table: Table) -> Iterator[Finding]:
    """A filter, which applies only after rows have been read and paid for."""
    for pattern in queries(table):
        if not pattern.filter:
            continue
        fields = " and ".join(pattern.filter)
        rows = " and ".join(plan.name for plan in pattern.members)
        everything = not pattern.sort_parameters
        whole = f"every {rows} of the partition" if everything else f"every {rows} that the key condition allows"
        yield Finding(
            "filter",
            "warning",
            table.name,
            pattern.name,
            f"filters by {fields} after reading {whole}",
            "the cost grows with the rows read, not with the answer",
            f"Put {fields} into an index key, or use a sparse index of the wanted rows",
        )


def unread_indexes(table: Table) -> Iterator[Finding]:
    """An index, or an entity's key in one, that no access pattern reads."""
    for index in table.indexes:
        readers = [pattern for pattern in table.patterns if pattern.index == index]
        if not readers:
            yield Finding(
                "unread-index",
                "warning",
                table.name,
                index,
                "no access pattern reads it",
                "every write to a row in it is paid for twice",
                "Remove the index from the table",
            )
            continue
        for plan in table.entities:
            if index in plan.indexes and not any(plan in pattern.members for pattern in readers):
                yield Finding(
                    "unread-index",
                    "warning",
                    table.name,
                    f"{plan.name} in {index}",
                    f"no access pattern reads {plan.name} by {index}",
                    "every write of such a row is paid for twice, and other queries may find it there",
                    f"Remove {index}=... from the class, or declare the question it answers",
                )


def scans(table: Table) -> Iterator[Finding]:
    """An access pattern that reads the whole table."""
    for pattern in table.patterns:
        if pattern.operation == "Scan":
            yield Finding(
                "scan",
                "warning",
                table.name,
                pattern.name,
                "it reads the whole table",
                "its cost grows with the table, not with the answer",
                "Query an index instead, or accept it with the reason why it is rare",
            )


def unread_entities(table: Table) -> Iterator[Finding]:
    """An entity that no access pattern finds."""
    for plan in table.entities:
        if not any(plan in pattern.members for pattern in table.patterns):
            yield Finding(
                "never-read",
                "warning",
                table.name,
                plan.name,
                "no access pattern finds it",
                "it is never read, or read by requests that the design does not show",
                "Declare the question it answers, with @get, @query or @scan",
            )

"""Partitions and rows with too much contention, and rows that grow too large."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from potluck.dynamo.limits import ITEM_BYTES
from potluck.table.design.markdown_text import listed
from potluck.table.design.relations import relations
from potluck.table.fields import FieldPlan, Kind
from potluck.table.keys import KeyTemplate
from potluck.table.keys.folding import LONGEST_CHARACTER
from potluck.table.lint.findings import Finding
from potluck.table.tables import Table

# A table can grow only if it has many partitions.
FEW_PARTITIONS = 100

FIXED_BYTES = {
    Kind.INTEGER: 21,
    Kind.DECIMAL: 21,
    Kind.FLOAT: 21,
    Kind.BOOLEAN: 1,
    Kind.UUID: 36,
    Kind.TIME: 24,
    Kind.DATE: 10,
}


def crowded_partitions(table: Table) -> Iterator[Finding]:
    """Partition keys with too few values, or of which all callers use the same one at a time."""
    for plan in table.entities:
        keys = [(plan.name, key) for key in (plan.key, *plan.indexes.values())]
        keys += [(f"guard of {plan.name}.{unique.field}", unique.key) for unique in plan.uniques]
        for name, key in keys:
            where = f"{name} in {key.index}" if key.index else name
            yield from _crowded(table, where, key.partition, plan.fields)


def _crowded(table: Table, where: str, partition: KeyTemplate, fields: Mapping[str, FieldPlan]) -> Iterator[Finding]:
    most = "a partition takes about 1,000 writes and 3,000 reads a second, and everything shares it"
    if not partition.components:
        yield Finding(
            "constant-partition",
            "warning",
            table.name,
            where,
            f"all rows have the partition key {partition.text!r}",
            most,
            f"Add what the rows are queried by, such as {partition.text}#{{...}}",
        )
        return
    used = [fields[component.field] for component in partition.components]
    count = math.prod(_count(field) for field in used)
    if count <= FEW_PARTITIONS:
        yield Finding(
            "few-partitions",
            "warning",
            table.name,
            where,
            f"{partition.text} has at most {count:.0f} keys",
            most,
            "Put an id into the partition key, or a number that spreads the rows",
        )
    elif all(field.kind in (Kind.TIME, Kind.DATE) or _count(field) <= FEW_PARTITIONS for field in used):
        yield Finding(
            "partition-of-the-moment",
            "warning",
            table.name,
            where,
            f"{partition.text} is the same for everyone at the same time",
            "all current writes go to one partition",
            "Put an id into the partition key, and the time into the sort key",
        )


def _count(field: FieldPlan) -> float:
    """How many values a field can have."""
    if field.kind in (Kind.LITERAL, Kind.ENUM):
        return len(field.choices) + field.optional
    if field.kind is Kind.BOOLEAN:
        return 2 + field.optional
    if field.kind is Kind.INTEGER:
        low = field.ge if field.ge is not None else None if field.gt is None else field.gt + 1
        high = field.le if field.le is not None else None if field.lt is None else field.lt - 1
        if low is not None and high is not None:
            return float(high - low + 1 + field.optional)
    return math.inf


def shared_rows(table: Table) -> Iterator[Finding]:
    """A counter on a row that many others belong to."""
    drawn = relations(table.entities)
    for plan in table.entities:
        counters = [field.name for field in plan.fields.values() if field.is_counter]
        children = [relation.child.name for relation in drawn if relation.parent is plan and relation.many]
        for name in counters if children else ():
            yield Finding(
                "shared-row",
                "warning",
                table.name,
                f"{plan.name}.{name}",
                f"it is on one row, and many {listed(children)} rows belong to that row",
                "if each of them adds to it, their writes contend for it: a row takes about 1,000 writes a second, "
                "and concurrent transactions on it conflict",
                f"Spread {name} over several rows and add them up, or state in `accepted` why few add to it at once",
            )


def unbounded_rows(table: Table) -> Iterator[Finding]:
    """A row that may grow past DynamoDB's limit."""
    for plan in table.entities:
        endless = [name for field in plan.fields.values() for name in _endless(field)]
        most = sum(map(_most_bytes, plan.fields.values()))
        if endless:
            yield Finding(
                "unbounded-row",
                "warning",
                table.name,
                plan.name,
                f"{listed(endless)} can be of any length",
                f"a row holds {ITEM_BYTES // 1024} KB, and a write that would make it longer fails",
                "Write Meta(max_length=...) there, or give each element its own row",
            )
        elif most > ITEM_BYTES:
            largest = max(plan.fields.values(), key=_most_bytes).name
            yield Finding(
                "unbounded-row",
                "warning",
                table.name,
                plan.name,
                f"its bounds allow {most // 1024:,} KB, most of it in {largest}",
                f"a row holds {ITEM_BYTES // 1024} KB, and a write that would make it longer fails",
                "Lower the bounds, or split the row",
            )


def _endless(field: FieldPlan) -> Iterator[str]:
    """The field and whatever is inside it, where nothing limits the length."""
    measured = field.kind in (Kind.TEXT, Kind.BYTES, Kind.LIST, Kind.SET, Kind.MAP)
    if field.kind is Kind.ANY or (measured and field.max_length is None):
        yield field.name
    for inside in (field.map_key, field.element, *field.members.values()):
        if inside is not None:
            yield from _endless(inside)


def _most_bytes(field: FieldPlan) -> int:
    """The most bytes of its value, as far as there is a bound."""
    if field.kind in FIXED_BYTES:
        return FIXED_BYTES[field.kind]
    if field.kind in (Kind.LITERAL, Kind.ENUM):
        return max(len(str(choice).encode()) for choice in field.choices)
    if field.kind is Kind.STRUCT:
        return sum(map(_most_bytes, field.members.values()))
    longest = field.max_length or 0
    if field.kind is Kind.TEXT:
        return longest * LONGEST_CHARACTER
    inside = [part for part in (field.map_key, field.element) if part is not None]
    return longest * (sum(map(_most_bytes, inside)) if inside else 1)

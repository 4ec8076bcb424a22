"""What reviewers of a table design look for, found in the declarations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from potluck.dynamo.limits import ITEM_BYTES
from potluck.table.access import Pattern
from potluck.table.entity import EntityPlan
from potluck.table.fields import FieldPlan, Kind
from potluck.table.keys import SEPARATOR, Component, KeyPlan, Template
from potluck.table.reach import Reach
from potluck.table.relations import key_fields, relations
from potluck.table.shapes import can_equal, segments, template_segments
from potluck.table.tables import Table

__all__ = ["Finding", "lint"]

# A partition takes about 1,000 writes a second; a table that is to grow has to have many.
FEW_PARTITIONS = 100

LONGEST_CHARACTER = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a design that a reviewer would ask about."""

    name: str
    severity: Literal["error", "warning"]  # wrong answers or lost rows; or cost and crowding
    table: str
    subject: str  # with the name, what `Table(accepted=...)` calls it by
    what: str
    why: str
    instead: str
    accepted: str | None = None  # the author's reason to leave it

    @property
    def label(self) -> str:
        return f"{self.name}: {self.subject}"

    def __str__(self) -> str:
        if self.accepted is not None:
            return f"{self.table}: accepted {self.label}: {self.accepted}"
        return f"{self.table}: {self.severity} {self.label}: {self.what}; {self.why}. {self.instead}."


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a table or index: an entity's, or those that guard a value of one."""

    name: str
    key: KeyPlan
    fields: Mapping[str, FieldPlan]
    entity: EntityPlan | None  # None: guards


def lint(table: Table) -> list[Finding]:
    """All findings on a table; those that its author accepts say why."""
    found = [finding for rule in RULES for finding in rule(table)]
    labels = {finding.label for finding in found}
    weighed = [replace(finding, accepted=table.accepted.get(finding.label, "").strip() or None) for finding in found]
    for label, reason in table.accepted.items():
        if label not in labels:
            weighed.append(
                Finding(
                    "accepted-nothing",
                    "warning",
                    table.name,
                    label,
                    f"accepts {label!r}, and nothing of that name is found",
                    f"it would hide a finding to come, with a reason that was not meant for it: {reason}",
                    "Take it out of `accepted`",
                )
            )
    return weighed


# --- what is read that should not be ---------------------------------------------------------------------------------


def overlaps(table: Table) -> Iterator[Finding]:
    """A query that also reads rows of other entities."""
    for pattern in _queries(table):
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
                f"Begin the sort key of one of them with a word of its own, ask an index that has no {rows.name} in it, "
                f"or let the answer hold both with AnyOf or ItemCollection",
            )


def open_prefixes(table: Table) -> Iterator[Finding]:
    """A prefix, stated by hand, that does not end where a value ends."""
    for pattern in _queries(table):
        prefix = pattern.prefix
        if prefix is None or prefix.endswith(SEPARATOR):
            continue
        last = _last_component(pattern, prefix)
        ends_a_key = any(
            template.text == prefix for plan in pattern.members for template in pattern.sort_templates(plan)
        )
        one_length = last is not None and last.form.prefix_free and last.substitute is None
        if ends_a_key and (last is None or one_length):
            continue  # with a separator the key that ends here would not be found
        template = pattern.sort_templates(pattern.members[0])[0]
        longer = _up_to_separator(template, prefix)
        example = (
            f"the rows of every {last.field} that begins like the one asked for, as `arm` begins `armbar`"
            if last is not None
            else f"whatever else begins with {prefix!r}"
        )
        yield Finding(
            "open-prefix",
            "error",
            table.name,
            pattern.name,
            f"prefix {prefix!r} does not end at a {SEPARATOR!r}",
            f"it also finds {example}" + (", and only the ids' equal length hides that today" if one_length else ""),
            f"Write prefix={longer!r}" + (", or leave it out: that is what is asked then" if longer != prefix else ""),
        )


def filters(table: Table) -> Iterator[Finding]:
    """A filter, which is applied to what was read and paid for already."""
    for pattern in _queries(table):
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
            "the cost grows with what is read, not with the answer",
            f"Put {fields} into an index key, or have a sparse index of the wanted rows only",
        )


# --- keys ------------------------------------------------------------------------------------------------------------


def shared_keys(table: Table) -> Iterator[Finding]:
    """Two entities whose rows can have the same primary key."""
    for place, one in enumerate(table.entities):
        for other in table.entities[:place]:
            if not _keys_meet(one, other):
                continue
            subject = f"{other.name} and {one.name}"
            if one.type is None or other.type is None or one.type == other.type:
                yield Finding(
                    "shared-key",
                    "error",
                    table.name,
                    subject,
                    f"both can have the key {_key_text(one)}, and no type tells them apart",
                    f"a row of {one.name} is read as {other.name}",
                    "Give the table a type_attribute and both a type, or begin their keys differently",
                )
            elif key_fields(one) != key_fields(other):
                yield Finding(
                    "shared-key",
                    "error",
                    table.name,
                    subject,
                    f"both can have the key {_key_text(one)}, made of different fields",
                    "one then overwrites the other",
                    "Begin their keys differently",
                )


def time_keys(table: Table) -> Iterator[Finding]:
    """Rows that only their time tells apart."""
    for plan in table.entities:
        for template in plan.key.sort:
            if template.components and plan.fields[template.components[-1].field].kind is Kind.TIME:
                name = template.components[-1].field
                precision = plan.fields[name].precision
                yield Finding(
                    "time-as-identity",
                    "error",
                    table.name,
                    plan.name,
                    f"only {name} tells one row from the next",
                    f"two of the same {'second' if precision == 'seconds' else 'millisecond'} are one row, "
                    f"and the first is lost",
                    f"Write {template.text}#{{...}} with an id or a number behind the time",
                )


def unpadded_numbers(table: Table) -> Iterator[Finding]:
    """Numbers that sort as text."""
    for plan, key, template in _sort_templates(table):
        for component in template.components:
            field = plan.fields[component.field]
            if key.sort_is_number or field.kind is not Kind.INTEGER or component.form.ordered:
                continue
            digits = max((len(str(abs(int(bound)))) for bound in (field.ge, field.le, field.lt) if bound), default=5)
            yield Finding(
                "unpadded-number",
                "warning",
                table.name,
                f"{plan.name}.{component.field} in {key.sort_attribute}",
                f"{template.text} has {component.field} without leading zeros",
                "10 sorts before 9, and no range can be asked for",
                f"Write {{{component.field}:{digits:02}}}",
            )


def split_groups(table: Table) -> Iterator[Finding]:
    """Text that ends one key and is followed by "#" in another of the same list."""
    seen = set()
    for pattern in _queries(table):
        templates = [(plan, template) for plan in pattern.members for template in pattern.key_plan(plan).sort]
        for plan, ends in templates:
            place = len(ends.components)
            subject = f"{plan.name} in {pattern.key_plan(plan).sort_attribute}"
            if not place or ends.literals[-1] or ends.fields[-1] in pattern.sort_parameters or subject in seen:
                continue
            split = next((template for other, template in templates if _splits(plan, ends, other, template)), None)
            if split is not None:
                seen.add(subject)
                name, follows = ends.fields[-1], split.fields[place - 1]
                yield Finding(
                    "split-group",
                    "error",
                    table.name,
                    subject,
                    f"{pattern.name} lists {ends.text} among {split.text}, and {name} may hold a space",
                    f'a space sorts before "#", so a {name} "Foo Bar" lands between "Foo" and what belongs to "Foo"',
                    f'Write {{{name}:folded}} and {{{follows}:folded}}, which hold nothing that sorts before "#"',
                )


def _splits(plan: EntityPlan, ends: Template, other: EntityPlan, goes_on: Template) -> bool:
    """Whether keys of one template can land between the keys that go on with "#" behind the same text."""
    place = len(ends.components)
    if len(goes_on.components) < place or not goes_on.literals[place].startswith(SEPARATOR):
        return False
    before = [part for pair in zip(goes_on.literals, goes_on.components[:place], strict=False) for part in pair]
    if not can_equal(template_segments(ends, plan.fields), segments(before, other.fields)):
        return False
    return _is_plain_text(plan, ends.components[-1]) or _is_plain_text(other, goes_on.components[place - 1])


def code_point_order(table: Table) -> Iterator[Finding]:
    """An index that sorts people's text by its bytes."""
    for plan, key, template in _sort_templates(table):
        if key.index is None:
            continue
        for place, component in enumerate(template.components):
            if not _is_plain_text(plan, component):
                continue
            sorting = [
                pattern
                for pattern in _queries(table)
                if pattern.index == key.index and plan in pattern.members and len(pattern.given(template)) <= place
            ]
            if sorting:
                yield Finding(
                    "code-point-order",
                    "warning",
                    table.name,
                    f"{plan.name}.{component.field} in {key.sort_attribute}",
                    f"{sorting[0].name} lists by {component.field} as it is spelt",
                    "Zebra comes before apple, and É after z",
                    f"Write {{{component.field}:folded}}; an index key need not be unique, and the attribute keeps "
                    f"its spelling",
                )


def unreachable_alternatives(table: Table) -> Iterator[Finding]:
    """A sort key of first_of that no row ever gets."""
    for plan in table.entities:
        for key in plan.indexes.values():
            for place, template in enumerate(key.sort[:-1]):
                if all(not component.optional or component.substitute is not None for component in template.components):
                    never = ", ".join(each.text for each in key.sort[place + 1 :])
                    yield Finding(
                        "never-written",
                        "error",
                        table.name,
                        f"{plan.name} in {key.index}",
                        f"every row is keyed by {template.text}, whose components are always there",
                        f"no row ever gets the key {never}",
                        "Put the template with the optional components first",
                    )
                    break


# --- partitions and rows that many meet in ---------------------------------------------------------------------------


def crowded_partitions(table: Table) -> Iterator[Finding]:
    """Partitions that are too few, or of which all use one at a time."""
    for plan in table.entities:
        keys = [(plan.name, each) for each in (plan.key, *plan.indexes.values())]
        keys += [(f"guard of {plan.name}.{each.field}", each.key) for each in plan.uniques]
        for name, key in keys:
            where = f"{name} in {key.index}" if key.index else name
            yield from _crowded(table, where, key.partition, plan.fields)


def _crowded(table: Table, where: str, partition: Template, fields: Mapping[str, FieldPlan]) -> Iterator[Finding]:
    most = "a partition takes about 1,000 writes and 3,000 reads a second, and everything shares it"
    if not partition.components:
        yield Finding(
            "constant-partition",
            "warning",
            table.name,
            where,
            f"all rows have the partition key {partition.text!r}",
            most,
            f"Put into it what the rows are asked for by, such as {partition.text}#{{...}}",
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
            f"{partition.text} can be {count:.0f} keys at most",
            most,
            "Put an id into the partition key, or a number to spread the rows by",
        )
    elif all(field.kind in (Kind.TIME, Kind.DATE) or _count(field) <= FEW_PARTITIONS for field in used):
        yield Finding(
            "partition-of-the-moment",
            "warning",
            table.name,
            where,
            f"{partition.text} is the same for everyone at the same time",
            "all writes of the moment meet in one partition, however many partitions the past has",
            "Put an id into the partition key, and the time into the sort key",
        )


def shared_rows(table: Table) -> Iterator[Finding]:
    """A counter on a row that many others belong to."""
    drawn = relations(table.entities)
    for plan in table.entities:
        counters = [field.name for field in plan.fields.values() if field.is_counter]
        children = [each.child.name for each in drawn if each.parent is plan and each.many]
        for name in counters if children else ():
            yield Finding(
                "shared-row",
                "warning",
                table.name,
                f"{plan.name}.{name}",
                f"one row counts for all its {', '.join(children)} rows",
                "whoever adds one writes this row too: a row takes about 1,000 writes a second, and transactions "
                "that meet in it refuse each other",
                f"Spread {name} over several rows and add them up, or say in `accepted` why few write at once",
            )


def unbounded_rows(table: Table) -> Iterator[Finding]:
    """A row that may grow past what a row can hold."""
    for plan in table.entities:
        endless = [field.name for field in plan.fields.values() if _most_bytes(field) is None]
        most = sum(_most_bytes(field) or 0 for field in plan.fields.values())
        if endless:
            yield Finding(
                "unbounded-row",
                "warning",
                table.name,
                plan.name,
                f"nothing says how long {' and '.join(endless)} may be",
                f"a row holds {ITEM_BYTES // 1024} KB, and a write that would make it longer fails, in production first",
                "Say Meta(max_length=...), of the text and of what holds it, or give each element a row of its own",
            )
        elif most > ITEM_BYTES:
            largest = max(plan.fields.values(), key=lambda field: _most_bytes(field) or 0).name
            yield Finding(
                "unbounded-row",
                "warning",
                table.name,
                plan.name,
                f"its bounds allow {most // 1024:,} KB, most of it in {largest}",
                f"a row holds {ITEM_BYTES // 1024} KB, and a write that would make it longer fails",
                "Lower the bounds, or split the row",
            )


# --- what is there for nothing ---------------------------------------------------------------------------------------


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
                "Take the index out of the table",
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
                    "every write of such a row is paid for twice, and other queries may meet it there",
                    f"Take {index}=... out of the class, or declare the question it answers",
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
                "it is written for nobody, or found by requests that the design does not show",
                "Declare the question it answers, with @get or @query",
            )


RULES: tuple[Callable[[Table], Iterable[Finding]], ...] = (
    open_prefixes,
    shared_keys,
    time_keys,
    split_groups,
    unreachable_alternatives,
    overlaps,
    filters,
    unpadded_numbers,
    code_point_order,
    crowded_partitions,
    shared_rows,
    unbounded_rows,
    unread_indexes,
    unread_entities,
)


# --- reading the plans -----------------------------------------------------------------------------------------------


def _queries(table: Table) -> Iterator[Pattern]:
    return (pattern for pattern in table.patterns if pattern.operation == "Query")


def _rows(table: Table, index: str | None) -> Iterator[Rows]:
    for plan in table.entities:
        if index is None:
            yield Rows(plan.name, plan.key, plan.fields, plan)
            for each in plan.uniques:
                yield Rows(f"the guard of {plan.name}.{each.field}", each.key, plan.fields, None)
        elif index in plan.indexes:
            yield Rows(plan.name, plan.indexes[index], plan.fields, plan)


def _sort_templates(table: Table) -> Iterator[tuple[EntityPlan, KeyPlan, Template]]:
    for plan in table.entities:
        for key in (plan.key, *plan.indexes.values()):
            for template in key.sort:
                yield plan, key, template


def _keys_meet(one: EntityPlan, other: EntityPlan) -> bool:
    pairs = [(one.key.partition, other.key.partition), *zip(one.key.sort, other.key.sort, strict=True)]
    return all(can_equal(template_segments(a, one.fields), template_segments(b, other.fields)) for a, b in pairs)


def _key_text(plan: EntityPlan) -> str:
    return " / ".join(template.text for template in (plan.key.partition, *plan.key.sort))


def _last_component(pattern: Pattern, prefix: str) -> Component | None:
    """The component that a prefix ends with."""
    if not prefix.endswith("}"):
        return None
    return pattern.sort_templates(pattern.members[0])[0].components[prefix.count("{") - 1]


def _up_to_separator(template: Template, prefix: str) -> str:
    rest, separator, _ = template.text[len(prefix) :].partition(SEPARATOR)
    return prefix + rest + separator if separator and "{" not in rest else prefix


def _is_plain_text(plan: EntityPlan, component: Component) -> bool:
    """Whether it is text as people spell it; a pattern says that they do not."""
    field = plan.fields[component.field]
    return (
        field.kind is Kind.TEXT
        and field.pattern is None
        and field.in_keys is None
        and component.form.decode is not None
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
            return high - low + 1 + field.optional
    return math.inf


FIXED_BYTES = {
    Kind.INTEGER: 21,
    Kind.DECIMAL: 21,
    Kind.FLOAT: 21,
    Kind.BOOLEAN: 1,
    Kind.UUID: 36,
    Kind.TIME: 24,
    Kind.DATE: 10,
}


def _most_bytes(field: FieldPlan) -> int | None:
    """How long its value can be at most; None if nothing says."""
    if field.kind in FIXED_BYTES:
        return FIXED_BYTES[field.kind]
    if field.kind in (Kind.LITERAL, Kind.ENUM):
        return max(len(str(each).encode()) for each in field.choices)
    if field.kind is Kind.STRUCT:
        return _sum(_most_bytes(member) for member in field.members.values())
    if field.kind is Kind.ANY or field.max_length is None:
        return None
    if field.kind is Kind.TEXT:
        return field.max_length * LONGEST_CHARACTER
    if field.kind is Kind.BYTES:
        return field.max_length
    inside = _sum(_most_bytes(each) for each in (field.element, field.map_key) if each is not None)
    return None if inside is None else field.max_length * inside


def _sum(sizes: Iterable[int | None]) -> int | None:
    listed: Sequence[int | None] = list(sizes)
    known = [size for size in listed if size is not None]
    return sum(known) if len(known) == len(listed) else None

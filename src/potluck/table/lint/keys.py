"""Keys that do not distinguish rows, or do not sort them as people expect."""

from __future__ import annotations

from collections.abc import Iterator

from potluck.table.design.relations import key_fields
from potluck.table.design.shapes import can_equal, segments, template_segments
from potluck.table.entity import EntityPlan
from potluck.table.fields import Kind
from potluck.table.keys import SEPARATOR, KeyTemplate
from potluck.table.lint.findings import Finding, is_plain_text, queries, sort_templates
from potluck.table.tables import Table


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
                    f"both can have the key {_key_text(one)}, and no type distinguishes them",
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


def _keys_meet(one: EntityPlan, other: EntityPlan) -> bool:
    pairs = [(one.key.partition, other.key.partition), *zip(one.key.sort, other.key.sort, strict=True)]
    return all(can_equal(template_segments(a, one.fields), template_segments(b, other.fields)) for a, b in pairs)


def _key_text(plan: EntityPlan) -> str:
    return " / ".join(template.text for template in (plan.key.partition, *plan.key.sort))


def time_keys(table: Table) -> Iterator[Finding]:
    """Rows that only their time distinguishes."""
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
                    f"only {name} distinguishes one row from the next",
                    f"two of the same {'second' if precision == 'seconds' else 'millisecond'} are one row, "
                    f"and the first is lost",
                    f"Write {template.text}#{{...}} with an id or a number after the time",
                )


def unpadded_numbers(table: Table) -> Iterator[Finding]:
    """Numbers that sort as text."""
    for plan, key, template in sort_templates(table):
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
                "10 sorts before 9, and ranges cannot be queried",
                f"Write {{{component.field}:{digits:02}}}",
            )


def split_groups(table: Table) -> Iterator[Finding]:
    """Text that ends one key and is followed by "#" in another of the same list."""
    seen = set()
    for pattern in queries(table):
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


def _splits(plan: EntityPlan, ends: KeyTemplate, other: EntityPlan, goes_on: KeyTemplate) -> bool:
    """Whether keys of one template can sort between the keys that continue the same text with "#"."""
    place = len(ends.components)
    if len(goes_on.components) < place or not goes_on.literals[place].startswith(SEPARATOR):
        return False
    before = [part for pair in zip(goes_on.literals, goes_on.components[:place], strict=False) for part in pair]
    if not can_equal(template_segments(ends, plan.fields), segments(before, other.fields)):
        return False
    return is_plain_text(plan, ends.components[-1]) or is_plain_text(other, goes_on.components[place - 1])


def code_point_order(table: Table) -> Iterator[Finding]:
    """An index that sorts people's text by its bytes."""
    for plan, key, template in sort_templates(table):
        if key.index is None:
            continue
        for place, component in enumerate(template.components):
            if not is_plain_text(plan, component):
                continue
            sorting = [
                pattern
                for pattern in queries(table)
                if pattern.index == key.index and plan in pattern.members and len(pattern.given(template)) <= place
            ]
            if sorting:
                yield Finding(
                    "code-point-order",
                    "warning",
                    table.name,
                    f"{plan.name}.{component.field} in {key.sort_attribute}",
                    f"{sorting[0].name} lists by {component.field} as it is spelt",
                    "É comes after z" if component.spec else "Zebra comes before apple, and É after z",
                    f"Write {{{component.field}:folded}}; an index key need not be unique, and the attribute keeps "
                    f"its spelling",
                )


def unreachable_alternatives(table: Table) -> Iterator[Finding]:
    """A sort key template of first_of that no row ever uses."""
    for plan in table.entities:
        for key in plan.indexes.values():
            for place, template in enumerate(key.sort[:-1]):
                if all(not component.optional or component.substitute is not None for component in template.components):
                    never = ", ".join(template.text for template in key.sort[place + 1 :])
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

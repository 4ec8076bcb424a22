"""A table design as a page to read, made of the declarations: keys, attributes, access patterns and what they cost."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any

import msgspec

from potluck.dynamo.limits import PAGE_BYTES, PARTITION_KEY_BYTES, READ_UNIT_BYTES, SORT_KEY_BYTES
from potluck.table.access import Pattern
from potluck.table.diagram import mermaid
from potluck.table.entity import EntityPlan
from potluck.table.fields import FieldPlan, Kind
from potluck.table.keys import Component, KeyPlan, Template
from potluck.table.reach import Reach
from potluck.table.tables import RENAMING, Table

__all__ = ["BEGINS", "ENDS", "markdown", "with_section"]

BEGINS = "<!-- design -->"
ENDS = "<!-- /design -->"


def markdown(tables: Sequence[Table]) -> str:
    """The design of these tables, from the second level of headings down."""
    return "\n\n".join(block for table in tables for block in _table(table)) + "\n"


def with_section(document: str, section: str) -> str:
    """The document with this between its two design markers; ValueError if it does not have them."""
    before, begins, rest = document.partition(BEGINS)
    _, ends, after = rest.partition(ENDS)
    if not begins or not ends:
        raise ValueError(f"it has no {BEGINS} with {ENDS} behind it, between which the design would go")
    return f"{before}{begins}\n{section}{ends}{after}"


def _table(table: Table) -> Iterator[str]:
    yield f"## The table `{table.name}`"
    allowed = f"{PARTITION_KEY_BYTES:,} and {SORT_KEY_BYTES:,}"
    yield _rows(("", "partition key", "sort key", f"longest, of {allowed} bytes"), _key_attributes(table))
    yield " ".join(_properties(table))
    yield "### Entities"
    yield _rows(("entity", "is", "type") if table.type_attribute else ("entity", "is"), _entities(table))
    yield f"```mermaid\n{mermaid([table])}```"
    yield "### Keys"
    yield _rows(("entity", *map(_code, table.key_names)), _primary_keys(table))
    for index in table.indexes:
        names = [key.name for key in table.indexes[index] if key is not None]
        yield f"In `{index}`:"
        yield _rows(("entity", *map(_code, names), "which rows"), _index_keys(table, index))
    notation = list(_notation(table))
    if notation:
        yield "\n".join(notation)
    yield "### Access patterns"
    yield _rows(("question", "call", "request", "cost"), map(_pattern, table.patterns))
    yield _costs(table)
    together = list(_together(table))
    if together:
        yield "\n".join(together)
    if table.accepted:
        yield "### Weighed and left so"
        yield "\n".join(f"- `{label}`: {reason}" for label, reason in table.accepted.items())
    yield "### Attributes"
    for plan in table.entities:
        yield f"#### {plan.name}"
        yield _rows(("attribute", "type", "bounds", "notes"), _attributes(plan))


# --- keys ------------------------------------------------------------------------------------------------------------


def _key_attributes(table: Table) -> Iterator[Sequence[str]]:
    for index in (None, *table.indexes):
        pair = (table.partition, table.sort) if index is None else table.indexes[index]
        cells = [_code(index) if index else "the table"]
        cells += ["" if key is None else _code(key.name) + (" (number)" if key.type == "N" else "") for key in pair]
        yield *cells, _longest(list(_keys(table, index)))


def _keys(table: Table, index: str | None) -> Iterator[KeyPlan]:
    for plan in table.entities:
        if index is None:
            yield from (plan.key, *(unique.key for unique in plan.uniques))
        elif index in plan.indexes:
            yield plan.indexes[index]


def _longest(keys: Sequence[KeyPlan]) -> str:
    """How long the keys can get."""
    partitions = [key.partition.max_bytes for key in keys if not key.partition_is_number]
    sorts = [template.max_bytes for key in keys if not key.sort_is_number for template in key.sort]
    return _listed([f"{max(sizes):,}" for sizes in (partitions, sorts) if sizes])


def _properties(table: Table) -> Iterator[str]:
    if table.type_attribute is not None:
        yield f"A row says in `{table.type_attribute}` what it is."
    if table.ttl is not None:
        yield f"A row is gone for every reader at the second that its `{table.ttl}` says."
    yield "Billed on demand; the stream shows new and old images."


def _entities(table: Table) -> Iterator[Sequence[str]]:
    for plan in table.entities:
        cells = [plan.name, _first_paragraph(plan.question)]
        if table.type_attribute is not None:
            cells.append(_code(plan.type) if plan.type else "")
        yield cells


def _primary_keys(table: Table) -> Iterator[Sequence[str]]:
    for plan in table.entities:
        yield plan.name, *_templates(plan.key)
        for former in plan.former_keys:
            yield f"{plan.name}, formerly", *_templates(former)
        for unique in plan.uniques:
            yield f"guard of `{plan.name}.{unique.field}`", *_templates(unique.key)


def _index_keys(table: Table, index: str) -> Iterator[Sequence[str]]:
    for plan in table.entities:
        if index in plan.indexes:
            key = plan.indexes[index]
            yield plan.name, *_templates(key), "; ".join(_which_rows(key)) or "all"


def _templates(key: KeyPlan) -> Iterator[str]:
    yield _code(key.partition.text)
    if key.sort:
        yield "<br>else ".join(_code(template.text) for template in key.sort)


def _which_rows(key: KeyPlan) -> Iterator[str]:
    if key.when is not None:
        yield f"while {_code(_written_condition(key.when, key.when_fields))}"
    # Of several sort keys the last decides: the others give way to it.
    needed = [*key.partition.components, *(key.sort[-1].components if key.sort else ())]
    missing = [each.field for each in needed if each.optional and each.substitute is None]
    if missing:
        yield f"with {' and '.join(map(_code, missing))}"


def _written_condition(when: Callable[..., bool], fields: Sequence[str]) -> str:
    """The condition as it is written in the declaration."""
    code = when.__code__
    tree = ast.parse("".join(linecache.getlines(code.co_filename)) or "None")
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            if [argument.arg for argument in node.args.args] == list(fields):
                return ast.unparse(node.body)
    name = "" if when.__name__ == "<lambda>" else when.__name__
    return f"{name}({', '.join(fields)})"


def _notation(table: Table) -> Iterator[str]:
    """What the templates mean that is not just a field's name."""
    meanings: dict[str, dict[str, None]] = {}
    for template in _all_templates(table):
        for component in template.components:
            spelt = f"{{{component.field}:{component.spec}}}" if component.spec else f"{{{component.field}}}"
            if component.spec and not template.is_number:
                meanings.setdefault(_form(component), {})[spelt] = None
            if component.substitute is not None:
                spelt = f"{spelt[:-1]}|{component.substitute}}}"
                meanings.setdefault(f"`{component.substitute}` where it is None", {})[spelt] = None
    for meaning, spellings in meanings.items():
        yield f"- {_listed(list(map(_code, spellings)))}: {meaning}"


def _form(component: Component) -> str:
    form = component.form
    if form.decode is not None:
        return form.name
    cut = f", cut to {form.max_bytes} bytes" if component.spec != "folded" else ""
    return f"folded, that is, lower case without accents and without what sorts before `#`{cut}"


def _all_templates(table: Table) -> Iterator[Template]:
    for plan in table.entities:
        for key in (plan.key, *plan.former_keys, *(each.key for each in plan.uniques), *plan.indexes.values()):
            yield key.partition
            yield from key.sort


# --- access patterns -------------------------------------------------------------------------------------------------


def _pattern(pattern: Pattern) -> Sequence[str]:
    return _first_paragraph(pattern.question), _code(_call(pattern)), _request(pattern), _cost(pattern)


def _call(pattern: Pattern) -> str:
    kinds = {"value": "", "range": ": Range", "prefix": ": StartsWith"}
    return f"{pattern.name}({', '.join(each.name + kinds[each.kind] for each in pattern.parameters)})"


def _request(pattern: Pattern) -> str:
    index = f" `{pattern.index}`" if pattern.index else ""
    said = [f"{pattern.operation}{index}: {_code(Reach.of(pattern).condition)}"]
    if pattern.filter:
        attributes = pattern.members[0].fields
        said.append(f"filter {_code(' and '.join(f'{attributes[name].attribute} = {{{name}}}' for name in pattern.filter))}")
    if pattern.descending:
        said.append("descending")
    if pattern.consistent:
        said.append("consistent")
    return "; ".join(said)


def _cost(pattern: Pattern) -> str:
    units = "1 read unit" if pattern.consistent else "0.5 read units"
    size = f"{READ_UNIT_BYTES // 1024} KB"
    if pattern.operation == "GetItem":
        return f"1 request, {units} per {size}"
    left_out = ", with what the filter leaves out" if pattern.filter else ""
    return f"1 request per {PAGE_BYTES // 1024**2} MB, {units} per {size} read{left_out}"


def _costs(table: Table) -> str:
    said = (
        "What a query reads is added up and then rounded up to 4 KB; a single item is rounded up by itself. "
        "A write costs 1 write unit per KB, in a transaction 2."
    )
    if table.indexes:
        said += (
            " It costs as much again for each index that the row is in, and twice that where its key there changes. "
            "An index answers as of a moment ago and never consistently."
        )
    return said


def _together(table: Table) -> Iterator[str]:
    """What the answers are that hold several kinds of rows."""
    seen = set()
    for pattern in table.patterns:
        owner = pattern.name.partition(".")[0]
        if len(pattern.members) == 1 and not pattern.buckets or owner in seen:
            continue
        seen.add(owner)
        if pattern.buckets:
            counts = {"one": "one {}", "maybe one": "one {} or none", "many": "every {}"}
            held = [f"`{each.name}` ({counts[each.holds].format(each.plan.name)})" for each in pattern.buckets]
            yield f"- `{owner}` has {_listed(held)}."
        else:
            yield f"- `{owner}` is a {_listed([plan.name for plan in pattern.members], 'or')}."


# --- attributes ------------------------------------------------------------------------------------------------------

WORDS = {
    Kind.TEXT: "text",
    Kind.INTEGER: "whole number",
    Kind.DECIMAL: "decimal number",
    Kind.FLOAT: "number",
    Kind.BOOLEAN: "true or false",
    Kind.BYTES: "bytes",
    Kind.UUID: "UUID",
    Kind.DATE: "date",
    Kind.STRUCT: "record",
    Kind.ANY: "anything",
}


def _attributes(plan: EntityPlan) -> Iterator[Sequence[str]]:
    table = plan.table
    for field in plan.fields.values():
        yield from _attribute(field, "", table)
    if plan.type is not None:
        yield f"`{table.type_attribute}`", "text", f"`{plan.type}`", ""


def _attribute(field: FieldPlan, inside: str, table: Table) -> Iterator[Sequence[str]]:
    name = inside + field.attribute
    yield _code(name), _type(field), _bounds(field), "; ".join(_notes(field, table, bool(inside)))
    of = field.element if field.kind in (Kind.LIST, Kind.MAP) else field
    if of is not None and of.kind is Kind.STRUCT:
        for member in of.members.values():
            yield from _attribute(member, f"{name}.", table)


def _type(field: FieldPlan) -> str:
    if field.kind is Kind.TIME:
        return f"time, in {field.precision}"
    if field.kind in (Kind.LITERAL, Kind.ENUM):
        return "text" if field.wire == "S" else "whole number"
    if field.kind in (Kind.LIST, Kind.SET):
        assert field.element is not None
        return f"{field.kind.value} of {_type(field.element)}"
    if field.kind is Kind.MAP:
        assert field.element is not None
        assert field.map_key is not None
        return f"map of {_type(field.map_key)} to {_type(field.element)}"
    return WORDS[field.kind]


def _bounds(field: FieldPlan) -> str:
    said = []
    if field.choices:
        values = [str(each.value if isinstance(each, Enum) else each) for each in field.choices]
        said.append(_listed(list(map(_code, values)), "or"))
    unit = {Kind.TEXT: "characters", Kind.BYTES: "bytes", Kind.MAP: "entries"}.get(field.kind, "elements")
    if (field.min_length, field.max_length) != (None, None):
        said.append(f"{_range(field.min_length, field.max_length)} {unit}")
    low = field.ge if field.ge is not None else field.gt
    high = field.le if field.le is not None else field.lt
    if (low, high) != (None, None) and not (field.is_version or field.is_expiry):
        bounds = _range(low, high)
        if field.gt is not None and field.ge is None:
            bounds = f"more than {_number(low)}" + (f", {_range(None, high)}" if high is not None else "")
        if field.lt is not None and field.le is None:
            least = "" if field.ge is None else f"at least {_number(low)}, "
            bounds = f"{least}less than {_number(high)}"
        said.append(bounds)
    if field.pattern is not None:
        said.append(f"like {_code(field.pattern)}")
    if field.element is not None and field.element.kind is not Kind.STRUCT:
        inside = _bounds(field.element)
        if inside:
            said.append(f"each {inside}")
    return ", ".join(said)


def _range(low: Any, high: Any) -> str:
    if low is None:
        return f"at most {_number(high)}"
    if high is None:
        return f"at least {_number(low)}"
    return _number(low) if low == high else f"{_number(low)} to {_number(high)}"


def _number(number: Any) -> str:
    # 1800 may be a year.
    return f"{number:,}" if abs(number) >= 10_000 else str(number)


def _notes(field: FieldPlan, table: Table, nested: bool) -> Iterator[str]:
    if field.key_only:
        yield "in the key only"
    if field.is_version:
        yield "version, checked and raised by every update"
    if field.is_expiry:
        yield "expiry, in seconds since 1970"
    if field.is_counter:
        yield "counter, added to without being read"
    if field.unique is not None:
        yield "unique"
    if field.optional:
        yield "None is stored as NULL" if field.none_as == "null" else "left out when None"
    elif field.kind is Kind.SET:
        yield "left out when empty"
    if field.required:
        yield "required"
    elif not (field.optional and field.default is None) and not field.is_version:
        yield f"default {_default(field)}"
    if not nested and _renamed(field.name, table) != field.attribute:
        yield f"`{field.name}` in code"


def _default(field: FieldPlan) -> str:
    default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    if isinstance(default, list | dict | set | frozenset | tuple) and not default:
        return "empty"
    if isinstance(default, bool):
        return "true" if default else "false"
    value = default.value if isinstance(default, Enum) else default
    return _code(str(value)) if value != "" else "empty"


def _renamed(field: str, table: Table) -> str:
    """What msgspec calls an attribute after its field."""
    first, *others = field.split("_")
    renaming = RENAMING[table.names]
    if renaming is None:
        return field
    words = [first if renaming == "camel" else first.capitalize(), *(each.capitalize() for each in others)]
    return "".join(words)


# --- markdown --------------------------------------------------------------------------------------------------------


def _rows(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, cells))} |" for cells in lines)


def _cell(text: str) -> str:
    # A bar ends a cell, also inside code.
    return " ".join(text.split()).replace("|", "\\|")


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _first_paragraph(text: str) -> str:
    return " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())


def _listed(words: Sequence[str], last: str = "and") -> str:
    return f" {last} ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)

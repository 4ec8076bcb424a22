"""A table design as a page to read, made of the declarations: keys, attributes, access patterns and what they cost."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable, Iterator, Sequence

from potluck.dynamo.limits import PAGE_BYTES, PARTITION_KEY_BYTES, READ_UNIT_BYTES, SORT_KEY_BYTES
from potluck.table.design.attributes import attributes
from potluck.table.design.diagram import mermaid
from potluck.table.design.markdown_text import code, listed, rows_of
from potluck.table.keys import Component, KeyPlan, Template
from potluck.table.lint.reach import Reach
from potluck.table.patterns import Pattern
from potluck.table.tables import Table

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
    yield rows_of(("", "partition key", "sort key", f"longest, of {allowed} bytes"), _key_attributes(table))
    yield " ".join(_properties(table))
    yield "### Entities"
    yield rows_of(("entity", "is", "type") if table.type_attribute else ("entity", "is"), _entities(table))
    yield f"```mermaid\n{mermaid([table])}```"
    yield "### Keys"
    yield rows_of(("entity", *map(code, table.key_names)), _primary_keys(table))
    for index in table.indexes:
        names = [key.name for key in table.indexes[index] if key is not None]
        yield f"In `{index}`:"
        yield rows_of(("entity", *map(code, names), "which rows"), _index_keys(table, index))
    notation = list(_notation(table))
    if notation:
        yield "\n".join(notation)
    yield "### Access patterns"
    if table.patterns:
        yield rows_of(("question", "call", "request", "cost"), map(_pattern, table.patterns))
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
        yield rows_of(("attribute", "type", "bounds", "notes"), attributes(plan))


# --- keys ------------------------------------------------------------------------------------------------------------


def _key_attributes(table: Table) -> Iterator[Sequence[str]]:
    for index in (None, *table.indexes):
        pair = (table.partition, table.sort) if index is None else table.indexes[index]
        cells = [code(index) if index else "the table"]
        cells += ["" if key is None else code(key.name) + (" (number)" if key.type == "N" else "") for key in pair]
        yield *cells, _longest(list(_keys(table, index)))


def _keys(table: Table, index: str | None) -> Iterator[KeyPlan]:
    for plan in table.entities:
        if index is None:
            yield from (plan.key, *(unique.key for unique in plan.uniques))
        elif index in plan.indexes:
            yield plan.indexes[index]


def _longest(keys: Sequence[KeyPlan]) -> str:
    """How long the keys can get."""
    partitions = [key.partition for key in keys]
    sorts = [template for key in keys for template in key.sort]
    return listed(
        [
            "a number" if templates[0].is_number else f"{max(each.max_bytes for each in templates):,}"
            for templates in (partitions, sorts)
            if templates
        ]
    )


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
            cells.append(code(plan.type) if plan.type else "")
        yield cells


def _primary_keys(table: Table) -> Iterator[Sequence[str]]:
    for plan in table.entities:
        yield plan.name, *_templates(plan.key)
        for former in plan.former_keys:
            yield f"{plan.name}, formerly", *_templates(former.key)
        for unique in plan.uniques:
            yield f"guard of `{plan.name}.{unique.field}`", *_templates(unique.key)


def _index_keys(table: Table, index: str) -> Iterator[Sequence[str]]:
    for plan in table.entities:
        if index in plan.indexes:
            key = plan.indexes[index]
            yield plan.name, *_templates(key), "; ".join(_which_rows(key)) or "all"


def _templates(key: KeyPlan) -> Iterator[str]:
    yield code(key.partition.text)
    if key.sort:
        yield "<br>else ".join(code(template.text) for template in key.sort)


def _which_rows(key: KeyPlan) -> Iterator[str]:
    if key.when is not None:
        yield f"while {code(_written_condition(key.when, key.when_fields))}"
    # Of several sort keys the last decides: the others give way to it.
    needed = [*key.partition.components, *(key.sort[-1].components if key.sort else ())]
    missing = [each.field for each in needed if each.optional and each.substitute is None]
    if missing:
        yield f"with {' and '.join(map(code, missing))}"


def _written_condition(when: Callable[..., bool], fields: Sequence[str]) -> str:
    """The condition as it is written in the declaration."""
    code = when.__code__
    tree = ast.parse("".join(linecache.getlines(code.co_filename)) or "None")
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Lambda)
            and node.lineno == code.co_firstlineno
            and [argument.arg for argument in node.args.args] == list(fields)
        ):
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
        yield f"- {listed(list(map(code, spellings)))}: {meaning}"


def _form(component: Component) -> str:
    form = component.form
    if form.decode is not None:
        return form.name
    cut = f", cut to {form.max_bytes} bytes" if component.spec != "folded" else ""
    return f"folded, that is, lower case without accents and without what sorts before `#`{cut}"


def _all_templates(table: Table) -> Iterator[Template]:
    for plan in table.entities:
        others = [*(each.key for each in plan.former_keys), *(each.key for each in plan.uniques)]
        for key in (plan.key, *others, *plan.indexes.values()):
            yield key.partition
            yield from key.sort


def _first_paragraph(text: str) -> str:
    return " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())


# --- access patterns -------------------------------------------------------------------------------------------------


def _pattern(pattern: Pattern) -> Sequence[str]:
    return _first_paragraph(pattern.question), code(_call(pattern)), _request(pattern), _cost(pattern)


def _call(pattern: Pattern) -> str:
    kinds = {"value": "", "range": ": Range", "prefix": ": StartsWith"}
    return f"{pattern.name}({', '.join(each.name + kinds[each.kind] for each in pattern.parameters)})"


def _request(pattern: Pattern) -> str:
    index = f" `{pattern.index}`" if pattern.index else ""
    said = [f"{pattern.operation}{index}: {code(Reach.of(pattern).condition)}"]
    if pattern.filter:
        attributes = pattern.members[0].fields
        said.append(
            f"filter {code(' and '.join(f'{attributes[name].attribute} = {{{name}}}' for name in pattern.filter))}"
        )
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
        if (len(pattern.members) == 1 and not pattern.buckets) or owner in seen:
            continue
        seen.add(owner)
        if pattern.buckets:
            counts = {"one": "one {}", "maybe one": "one {} or none", "many": "every {}"}
            held = [f"`{each.name}` ({counts[each.holds].format(each.plan.name)})" for each in pattern.buckets]
            yield f"- `{owner}` has {listed(held)}."
        else:
            yield f"- `{owner}` is a {listed([plan.name for plan in pattern.members], 'or')}."

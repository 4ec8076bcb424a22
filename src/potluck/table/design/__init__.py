"""A table's design as Markdown, generated from the declarations: keys, attributes, access patterns and their cost."""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from collections.abc import Callable, Iterator, Sequence

from potluck.dynamo.limits import PAGE_BYTES, PARTITION_KEY_BYTES, READ_UNIT_BYTES, SORT_KEY_BYTES
from potluck.table.design.attributes import attributes
from potluck.table.design.diagram import mermaid
from potluck.table.design.markdown_text import anchor, code, listed, rows_of
from potluck.table.design.reach import Reach
from potluck.table.entity import EntityPlan
from potluck.table.keys import Component, KeyPlan, KeyTemplate
from potluck.table.patterns import Pattern
from potluck.table.tables import Table

__all__ = ["BEGINS", "ENDS", "markdown", "with_section"]

BEGINS = "<!-- design -->"
ENDS = "<!-- /design -->"


def markdown(tables: Sequence[Table]) -> str:
    """The design of these tables, with headings from the second level down."""
    return "\n\n".join(block for table in tables for block in _table(table)) + "\n"


def with_section(document: str, section: str) -> str:
    """The document with this section between its two design markers; raises ValueError if it lacks them."""
    before, begins, rest = document.partition(BEGINS)
    _, ends, after = rest.partition(ENDS)
    if not begins or not ends:
        raise ValueError(f"it has no {BEGINS} followed by {ENDS}, between which the design goes")
    return f"{before}{begins}\n{section}{ends}{after}"


def _table(table: Table) -> Iterator[str]:
    yield f"## The table `{table.name}`"
    yield rows_of(("", "partition key", "sort key", "longest keys"), _key_attributes(table))
    yield " ".join(_properties(table))
    yield "### Entities"
    typed = _says_types(table)
    yield rows_of(("entity", "what it is", code(table.type_attribute or ""))[: 2 + typed], _entities(table, typed))
    if len(table.entities) > 1:
        yield f"```mermaid\n{mermaid([table], only_keys=True)}```"
        yield (
            "The diagram shows the attributes that are part of a key, and of which; all are listed further down. "
            "A solid line connects entities in one partition."
        )
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
        yield rows_of(("question", "request", "a small answer costs"), map(_pattern, table.patterns))
    together = list(_together(table))
    if together:
        yield "\n".join(together)
    yield _costs(table)
    if table.accepted:
        yield "### Accepted findings"
        yield "Findings of a design review, and why they are accepted:"
        yield "\n".join(f"- `{label}`: {reason}" for label, reason in table.accepted.items())
    for plan in table.entities:
        yield f"### {_attributes_heading(plan)}"
        yield rows_of(("attribute", "holds", "notes"), attributes(plan))


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
    """The longest possible keys."""
    partitions = [key.partition for key in keys]
    sorts = [template for key in keys for template in key.sort]
    lengths = [
        "a number" if templates[0].is_number else f"{max(template.max_bytes for template in templates):,}"
        for templates in (partitions, sorts)
        if templates
    ]
    return listed(lengths) + ("" if lengths[-1:] in ([], ["a number"]) else " bytes")


def _properties(table: Table) -> Iterator[str]:
    yield f"DynamoDB allows {PARTITION_KEY_BYTES:,} bytes for a partition key and {SORT_KEY_BYTES:,} for a sort key."
    if table.type_attribute is not None:
        by_name = "" if _says_types(table) else ", by the entity's name"
        yield f"`{table.type_attribute}` holds the row's type{by_name}."
    if table.ttl is not None:
        yield f"A row expires for every reader at the second in its `{table.ttl}`."
    yield f"Billed on demand; {'the stream shows new and old images' if table.stream else 'it has no stream'}."


def _says_types(table: Table) -> bool:
    """Whether some rows have a type other than their entity's name."""
    return table.type_attribute is not None and any(plan.type != plan.name for plan in table.entities)


def _entities(table: Table, typed: bool) -> Iterator[Sequence[str]]:
    for plan in table.entities:
        cells = [f"[{plan.name}](#{anchor(_attributes_heading(plan))})", _first_paragraph(plan.question)]
        if typed:
            cells.append(code(plan.type) if plan.type else "")
        yield cells


def _attributes_heading(plan: EntityPlan) -> str:
    # Not the bare name, which may be the page's title.
    return f"Attributes of {plan.name}"


def _primary_keys(table: Table) -> Iterator[Sequence[str]]:
    for plan in table.entities:
        yield plan.name, *_templates(plan.key, plan)
        for former in plan.former_keys:
            yield f"{plan.name}, formerly", *_templates(former.key, plan)
        for unique in plan.uniques:
            yield f"guard of `{plan.name}.{unique.field}`", *_templates(unique.key, plan)


def _index_keys(table: Table, index: str) -> Iterator[Sequence[str]]:
    for plan in table.entities:
        if index in plan.indexes:
            key = plan.indexes[index]
            yield plan.name, *_templates(key, plan), "; ".join(_which_rows(key, plan)) or "all"


def _templates(key: KeyPlan, plan: EntityPlan) -> Iterator[str]:
    yield code(_with_attributes(key.partition.text, plan))
    if key.sort:
        yield "<br>else ".join(code(_with_attributes(template.text, plan)) for template in key.sort)


def _with_attributes(text: str, plan: EntityPlan) -> str:
    """A template with the names of the stored attributes in place of the fields' names."""

    def attribute(match: re.Match[str]) -> str:
        field = plan.fields.get(match[1])
        return f"{{{field.attribute if field is not None and field.attribute else match[1]}"

    return re.sub(r"\{(\w+)", attribute, text)


def _which_rows(key: KeyPlan, plan: EntityPlan) -> Iterator[str]:
    if key.when is not None:
        yield f"while {code(_written_condition(key.when, key.when_fields))}"
    # Of several sort templates the last decides: the others fall back to it.
    needed = [*key.partition.components, *(key.sort[-1].components if key.sort else ())]
    missing = [
        plan.fields[part.field].attribute or part.field for part in needed if part.optional and part.substitute is None
    ]
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
    """Explanations of everything in the templates that is not just a field's name."""
    if any(plan.uniques for plan in table.entities):
        yield "- A guard is a row that reserves a unique value; it is written and deleted with its owner."
    meanings: dict[str, dict[str, None]] = {}
    for plan, template in _all_templates(table):
        for component in template.components:
            spelt = f"{{{component.field}:{component.spec}}}" if component.spec else f"{{{component.field}}}"
            spelt = _with_attributes(spelt, plan)
            if component.spec and not template.is_number:
                meanings.setdefault(_meaning(component), {})[spelt] = None
            if component.substitute is not None:
                spelt = f"{spelt[:-1]}|{component.substitute}}}"
                meanings.setdefault(f"`{component.substitute}` in place of None", {})[spelt] = None
    for meaning, spellings in meanings.items():
        yield f"- {listed(list(map(code, spellings)))}: {meaning}"


def _meaning(component: Component) -> str:
    form = component.form
    if form.name == "caseless":
        return "without differences of case, surrounding space and Unicode normalisation"
    if form.name.startswith("collated"):
        return (
            "for alphabetical lists: folded, in base letters, without quotes or a leading article, numbers by value; "
            "a number is the most bytes it may have"
        )
    if form.decode is None:
        return (
            "for search: lower case, without accents, `_` for what sorts before `#`; "
            "a number is the most bytes it may have"
        )
    return "padded with zeros to this many digits" if "digits" in form.name else form.name


def _all_templates(table: Table) -> Iterator[tuple[EntityPlan, KeyTemplate]]:
    for plan in table.entities:
        others = [*(other.key for other in plan.former_keys), *(other.key for other in plan.uniques)]
        for key in (plan.key, *others, *plan.indexes.values()):
            yield plan, key.partition
            yield from ((plan, template) for template in key.sort)


def _first_paragraph(text: str) -> str:
    return " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())


# --- access patterns -------------------------------------------------------------------------------------------------


def _pattern(pattern: Pattern) -> Sequence[str]:
    question = _first_paragraph(pattern.question)
    return f"{question}<br>{code(_call(pattern))}", "<br>".join(_request(pattern)), _cost(pattern)


def _call(pattern: Pattern) -> str:
    kinds = {"value": "", "range": ": Range", "prefix": ": StartsWith"}
    return f"{pattern.name}({', '.join(parameter.name + kinds[parameter.kind] for parameter in pattern.parameters)})"


def _request(pattern: Pattern) -> Iterator[str]:
    """The operation, the two halves of its key condition, and its filter."""
    operation = f"{pattern.operation} {code(pattern.index)}" if pattern.index else pattern.operation
    how = [word for word in ("descending", "consistent") if getattr(pattern, word)]
    yield ", ".join([operation, *how])
    if pattern.operation == "Scan":
        return
    plan = pattern.members[0]
    partition, *sort = (_with_attributes(condition, plan) for condition in Reach.of(pattern).conditions)
    yield code(partition)
    yield from (code(f"and {condition}") for condition in sort)
    if pattern.filter:
        attributes = plan.fields
        conditions = [f"{attributes[name].attribute} = {{{attributes[name].attribute}}}" for name in pattern.filter]
        yield f"filter {code(' and '.join(conditions))}"


def _cost(pattern: Pattern) -> str:
    """The cost, if everything that is read fits into one read unit."""
    units = "1 unit" if pattern.consistent else "0.5 units"
    if pattern.operation == "Scan":
        return f"the whole table: {units} for each {READ_UNIT_BYTES // 1024} KB in it"
    return f"1 call, {units}" + (", with what the filter leaves out" if pattern.filter else "")


def _costs(table: Table) -> str:
    size = f"{READ_UNIT_BYTES // 1024} KB"
    costs = (
        f"A small answer reads up to {size}: 0.5 read units, twice that if it is consistent. "
        f"Each further {size} cost as much again, and each further {PAGE_BYTES // 1024**2} MB takes another call. "
        f"A write costs 1 write unit per KB, in a transaction 2"
    )
    if not table.indexes:
        return f"{costs}."
    return (
        f"{costs}; as much again for each index that the row is in, and twice that where its key there changes. "
        "An index answers as of a moment ago and never consistently."
    )


def _together(table: Table) -> Iterator[str]:
    """The contents of answers with several kinds of rows."""
    seen = set()
    for pattern in table.patterns:
        owner = pattern.name.partition(".")[0]
        if (len(pattern.members) == 1 and not pattern.buckets) or owner in seen:
            continue
        seen.add(owner)
        if pattern.buckets:
            counts = {"one": "one {}", "maybe one": "one {} or none", "many": "every {}"}
            held = [f"`{bucket.name}` ({counts[bucket.holds].format(bucket.plan.name)})" for bucket in pattern.buckets]
            yield f"- `{owner}` has {listed(held)}."
        else:
            yield f"- `{owner}` is a {listed([plan.name for plan in pattern.members], 'or')}."

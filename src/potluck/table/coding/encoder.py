"""Generates the function that encodes entities as rows.

The generated function tests every value against its field and builds the row if all pass. A value that does not pass
may still be valid (a subclass, a date far in the past): the careful path decides, and names the invalid field.
"""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, get_origin
from uuid import UUID

from msgspec import to_builtins

from potluck.dynamo.limits import NUMBER_DIGITS
from potluck.dynamo.numbers import canonical_number
from potluck.table.coding.written_code import GeneratedCode, indented
from potluck.table.fields.plans import FieldPlan, Kind
from potluck.table.fields.values import places_of, stored_value, written_time
from potluck.table.keys import Component, KeyPlan, KeyTemplate

# Within these bounds every integer has few enough digits, and every float is finite and not too large.
PLAIN_NUMBERS = 10**NUMBER_DIGITS
PLAIN_FLOATS = 1e125

# msgspec formats these fastest, and several in one call.
WRITTEN_TOGETHER = {Kind.UUID: UUID, Kind.TIME: datetime, Kind.DATE: date}
SECONDS_LENGTH = len("2025-12-10T12:00:00Z")
MILLISECONDS_LENGTH = len("2025-12-10T12:00:00.000Z")

# Python builds a dict literal with more entries than this one entry at a time, and in several parts.
ENTRIES_AT_ONCE = 15


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


KNOWN_TO_ENCODERS: dict[str, Any] = {
    "Decimal": Decimal,
    "UTC": UTC,
    "UUID": UUID,
    "b2a_base64": b2a_base64,
    "canonical_number": canonical_number,
    "date": date,
    "datetime": datetime,
    "encodable": _encodable,
    "stored_value": stored_value,
    "to_builtins": to_builtins,
    "written_time": written_time,
}


@dataclass
class _Making:
    """The source that builds a row: statements that run first, entries that are always there, and optional ones."""

    before: list[str] = field(default_factory=list)
    entries: list[tuple[str, str]] = field(default_factory=list)
    after: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        at_once, later = self.entries[:ENTRIES_AT_ONCE], self.entries[ENTRIES_AT_ONCE:]
        return [
            *self.before,
            "row = {",
            *(f"    {name!r}: {wire}," for name, wire in at_once),
            "}",
            *(f"row[{name!r}] = {wire}" for name, wire in later),
            *self.after,
            "return row",
        ]


def write_encoder(
    code: GeneratedCode, fields: Mapping[str, FieldPlan], constants: Mapping[str, str], keys: Sequence[KeyPlan]
) -> None:
    """Add `encode(it)`, which falls back to `encode_carefully(it)` for entities that it cannot encode."""
    row = _Making()
    _take_values(code, fields, row)
    for key in keys:
        _write_key(code, key, fields, row)
    row.entries += [(name, f"{{'S': {text!r}}}") for name, text in constants.items()]
    _write_attributes(code, fields, row)
    code.lines += ["def encode(it):", "    try:", *indented(row.lines(), 2)]
    code.lines += ["    except Exception:", "        return encode_carefully(it)", ""]


def write_key_function(code: GeneratedCode, fields: Mapping[str, FieldPlan], key: KeyPlan) -> None:
    """Add `key_of(...)`, which takes these fields' values in order and raises if they make no key."""
    row = _Making()
    _test_values(code, fields, row)
    _write_key(code, key, fields, row)
    code.lines += [f"def key_of({', '.join(f'v_{name}' for name in fields)}):", *indented(row.lines()), ""]


def _struct_encoder(code: GeneratedCode, plan: FieldPlan) -> list[str]:
    row = _Making()
    _take_values(code, plan.members, row)
    _write_attributes(code, plan.members, row)
    return row.lines()


# --- values ----------------------------------------------------------------------------------------------------------


def _take_values(code: GeneratedCode, fields: Mapping[str, FieldPlan], row: _Making) -> None:
    """Assign every value to v_NAME, test it, and assign the text of those that msgspec formats to t_NAME."""
    row.before += [f"v_{name} = it.{name}" for name in fields]
    _test_values(code, fields, row)


def _test_values(code: GeneratedCode, fields: Mapping[str, FieldPlan], row: _Making) -> None:
    tests = [_test_or_none(code, plan, f"v_{name}") for name, plan in fields.items()]
    if tests:
        row.before += ["if not (", f"    {tests[0]}", *(f"    and {test}" for test in tests[1:])]
        row.before += ["):", "    unusual(None)"]
    together = [name for name, plan in fields.items() if plan.kind in WRITTEN_TOGETHER]
    if together:
        texts, values = (", ".join(f"{letter}_{name}" for name in together) for letter in "tv")
        row.before.append(f"({texts},) = to_builtins(({values},))")
    for name in together:
        if fields[name].precision is not None:
            _cut_time(fields[name], f"t_{name}", f"v_{name}", row)


def _cut_time(plan: FieldPlan, text: str, value: str, row: _Making) -> None:
    # Only times in UTC: msgspec rounds offsets to minutes, and some zones once had offsets with seconds.
    lines = [f"if {value}.tzinfo is not UTC:", f"    {text} = written_time({value}, {plan.precision!r})"]
    if plan.precision == "seconds":
        lines += [f"elif len({text}) != {SECONDS_LENGTH}:", f"    {text} = {text}[:{SECONDS_LENGTH - 1}] + 'Z'"]
    else:
        lines += [f"elif len({text}) == {SECONDS_LENGTH}:", f"    {text} = {text}[:-1] + '.000Z'"]
        lines += ["else:", f"    {text} = {text}[:{MILLISECONDS_LENGTH - 1}] + 'Z'"]
    row.before += [f"if {value} is not None:", *indented(lines)] if plan.optional else lines


def _write_attributes(code: GeneratedCode, fields: Mapping[str, FieldPlan], row: _Making) -> None:
    for name, plan in fields.items():
        value = f"v_{name}"
        if plan.key_only:
            if plan.kind in (Kind.LIST, Kind.MAP, Kind.SET, Kind.STRUCT):
                # Contents are tested when an attribute is written, and this value is only in the key.
                row.before.append(f"stored_value({code.constant(plan)}, {value})")
            continue
        wire = f"{{'S': t_{name}}}" if plan.kind in WRITTEN_TOGETHER else _wire(code, plan, value)
        if plan.kind is Kind.SET:
            if plan.optional:
                row.after += [f"if {value} is None:", f"    row[{plan.attribute!r}] = {{'NULL': True}}"]
            row.after += [f"if {value}:", f"    row[{plan.attribute!r}] = {wire}"]
        elif plan.optional and plan.none_as == "left out":
            row.after += [f"if {value} is not None:", f"    row[{plan.attribute!r}] = {wire}"]
        elif plan.unwritten is not None:
            row.after += [f"if (wire := {wire}) != {plan.unwritten!r}:", f"    row[{plan.attribute!r}] = wire"]
        elif plan.optional:
            row.entries.append((plan.attribute, f"{{'NULL': True}} if {value} is None else {wire}"))
        else:
            row.entries.append((plan.attribute, wire))


def _test_or_none(code: GeneratedCode, plan: FieldPlan, value: str) -> str:
    test = _test(code, plan, value)
    return f"({value} is None or {test})" if plan.optional else test


def _test(code: GeneratedCode, plan: FieldPlan, value: str) -> str:
    """An expression that is true only for values that the field allows."""
    tests = [_type_test(code, plan, value)]
    if plan.kind is Kind.INTEGER:
        tests.append(_within(plan, value))
    elif plan.kind in (Kind.DECIMAL, Kind.FLOAT):
        bounds = {">=": plan.ge, ">": plan.gt, "<=": plan.le, "<": plan.lt}
        tests += [f"{value} {sign} {code.constant(bound)}" for sign, bound in bounds.items() if bound is not None]
    if plan.places is not None:
        tests.append(f"{code.constant(places_of)}({value}) <= {plan.places}")
    if plan.multiple_of is not None:
        tests.append(f"not {value} % {plan.multiple_of!r}")
    if plan.min_length is not None or plan.max_length is not None:
        least = "" if plan.min_length is None else f"{plan.min_length} <= "
        most = "" if plan.max_length is None else f" <= {plan.max_length}"
        tests.append(f"{least}len({value}){most}")
    if plan.kind is Kind.TEXT:
        tests.append(f"({value}.isascii() or encodable({value}))")
    if plan.pattern is not None:
        tests.append(f"{code.constant(re.compile(plan.pattern).search)}({value})")
    return " and ".join(tests)


def _type_test(code: GeneratedCode, plan: FieldPlan, value: str) -> str:
    match plan.kind:
        case Kind.ANY:
            return "True"
        case Kind.BOOLEAN:
            return f"({value} is True or {value} is False)"
        case Kind.DECIMAL:
            return f"type({value}) is Decimal and {value}.is_finite()"
        case Kind.FLOAT:
            return f"type({value}) is float and {-PLAIN_FLOATS} < {value} < {PLAIN_FLOATS}"
        case Kind.LITERAL:
            # True == 1, so equality alone would let a bool pass for a number.
            kind = "str" if plan.wire == "S" else "int"
            return f"type({value}) is {kind} and {value} in {code.constant(frozenset(plan.choices))}"
        case Kind.LIST | Kind.MAP | Kind.SET:
            return f"type({value}) is {get_origin(plan.core).__name__}"
        case Kind.ENUM | Kind.STRUCT:
            return f"type({value}) is {code.constant(plan.core)}"
        case _:
            return f"type({value}) is {plan.core.__name__}"


def _within(plan: FieldPlan, value: str) -> str:
    above = [-PLAIN_NUMBERS, None if plan.ge is None else plan.ge - 1, plan.gt]
    below = [PLAIN_NUMBERS, None if plan.le is None else plan.le + 1, plan.lt]
    low = max(bound for bound in above if bound is not None)
    high = min(bound for bound in below if bound is not None)
    return f"{low} < {value} < {high}"


def _wire(code: GeneratedCode, plan: FieldPlan, value: str) -> str:
    """An expression for the wire form of a value that passed its test."""
    if plan.kind is Kind.ANY:
        return f"stored_value({code.constant(plan)}, {value})"
    return f"{{{plan.wire!r}: {_content(code, plan, value)}}}"


def _content(code: GeneratedCode, plan: FieldPlan, value: str) -> str:
    """An expression for the content of the wire form."""
    match plan.kind:
        case Kind.DECIMAL:
            return f"canonical_number(str({value}))"
        case Kind.FLOAT:
            return f"canonical_number(repr({value}))"
        case Kind.BYTES:
            return f"b2a_base64({value}, newline=False).decode()"
        case Kind.UUID | Kind.DATE:
            return f"to_builtins({value})"
        case Kind.TIME:
            return f"written_time({value}, {plan.precision!r})"
        case Kind.ENUM:
            return f"{value}._value_" if plan.wire == "S" else f"f'{{{value}._value_}}'"
        case Kind.INTEGER | Kind.LITERAL:
            return value if plan.wire == "S" else f"f'{{{value}}}'"
        case Kind.STRUCT:
            return f"{code.struct_function('encode', plan, _struct_encoder)}({value})"
        case Kind.LIST | Kind.MAP | Kind.SET:
            return _contents(code, plan, value)
        case _:
            return value


def _contents(code: GeneratedCode, plan: FieldPlan, value: str) -> str:
    assert plan.element is not None
    element = f"{value}_"
    test = _test(code, plan.element, element)
    if plan.kind is Kind.SET:
        # A set of texts first: times that differ only beyond their precision are one element.
        text = _content(code, plan.element, element)
        return f"sorted({{{text} if {test} else unusual({element}) for {element} in {value}}})"
    if plan.element.kind is Kind.SET:
        test = f"{element} and {test}"
    wire = f"{_wire(code, plan.element, element)} if {test} else unusual({element})"
    if plan.element.optional:
        wire = f"{{'NULL': True}} if {element} is None else {wire}"
    if plan.kind is Kind.LIST:
        return f"[{wire} for {element} in {value}]"
    assert plan.map_key is not None
    key = f"{element}key"
    text, test = _content(code, plan.map_key, key), _test(code, plan.map_key, key)
    return f"{{{text} if {test} and {key} else unusual({key}): {wire} for {key}, {element} in {value}.items()}}"


# --- keys ------------------------------------------------------------------------------------------------------------


def _write_key(code: GeneratedCode, key: KeyPlan, fields: Mapping[str, FieldPlan], row: _Making) -> None:
    templates = (key.partition, *key.sort)
    if not all(any(template.literals) for template in templates):
        # Left to KeyPlan: numbers, and texts that could be empty, which no key may be.
        values = ", ".join(f"{name!r}: v_{name}" for name in sorted(key.components))
        row.after.append(f"row |= {code.constant(key.wire)}({{{values}}})")
        return
    conditions = _there(key.partition)
    if key.when is not None:
        conditions.insert(0, f"{code.constant(key.when)}({', '.join(f'v_{name}' for name in key.when_fields)})")
    partition = f"{{'S': {_key_text(code, key.partition, fields)}}}"
    sorts = [(_there(template), f"{{'S': {_key_text(code, template, fields)}}}") for template in key.sort]
    if not conditions and len(sorts) <= 1 and not any(needed for needed, _ in sorts):
        row.entries.append((key.partition_attribute, partition))
        row.entries += [(str(key.sort_attribute), text) for _, text in sorts]
        return
    word = "if"
    for needed, sort in sorts or [([], "")]:
        row.after.append(f"{word} {' and '.join(conditions + needed) or True}:")
        row.after.append(f"    row[{key.partition_attribute!r}] = {partition}")
        row.after += [f"    row[{key.sort_attribute!r}] = {sort}"] if sort else []
        word = "elif"


def _there(template: KeyTemplate) -> list[str]:
    """Tests that every component has a value or a substitute."""
    lacking = [component for component in template.components if component.optional and component.substitute is None]
    return [f"v_{component.field} is not None" for component in lacking]


def _key_text(code: GeneratedCode, template: KeyTemplate, fields: Mapping[str, FieldPlan]) -> str:
    """An expression for the key's text; `+` is fastest for two parts, and an f-string for more."""
    texts = [_component_text(code, component, fields) for component in template.components]
    literals = template.literals
    if len(template.parts) <= 2 or any(set("'\"\\{}") & set(literal) for literal in literals):
        parts = [
            repr(part) if isinstance(part, str) else texts[template.components.index(part)] for part in template.parts
        ]
        return " + ".join(parts)
    inside = "".join(f"{{{text}}}{literal}" for text, literal in zip(texts, literals[1:], strict=True))
    return f'f"{literals[0]}{inside}"'


def _component_text(code: GeneratedCode, component: Component, fields: Mapping[str, FieldPlan]) -> str:
    plan, value = fields[component.field], f"v_{component.field}"
    if not component.form.stored_text:
        text = f"{code.constant(component.form.encode)}({value})"
    elif plan.kind in WRITTEN_TOGETHER:
        text = f"t_{component.field}"
    else:
        text = _content(code, plan, value)
    if component.optional and component.substitute is not None:
        return f"({code.constant(component.substitute)} if {value} is None else {text})"
    return text

"""Generates the function that decodes rows: it unwraps the wire forms and leaves the rest to one msgspec.convert."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from msgspec import convert

from potluck.table.coding.written_code import GeneratedCode, indented
from potluck.table.fields.plans import FieldPlan, Kind
from potluck.table.fields.values import ANY_WHOLE_NUMBERS, limits_broken
from potluck.table.keys import KeyPlan

Row = Mapping[str, Any]


class Unreadable(Exception):
    """Why a stored value cannot be read."""


# --- the careful path ------------------------------------------------------------------------------------------------


def read_member(plan: FieldPlan, row: Row) -> tuple[Any, ...]:
    """The input of msgspec for a member, as a tuple of one; empty where its default applies."""
    wire = row.get(plan.attribute)
    if wire is not None:
        return (_read(plan, wire),)
    if plan.kind is Kind.SET:
        return ((),)
    if plan.optional and plan.none_as == "left out":
        return (None,)
    if plan.required:
        raise Unreadable(f"the attribute {plan.attribute} is missing")
    return ()


def _read(plan: FieldPlan, wire: Any) -> Any:
    if not isinstance(wire, dict) or len(wire) != 1:
        raise Unreadable(f"{wire!r:.100} is not an attribute value")
    [(kind, content)] = wire.items()
    if kind == "NULL" and plan.optional:
        return None
    if plan.kind is Kind.ANY:
        return _read_any(wire)
    if kind != plan.wire:
        raise Unreadable(f"expected type {plan.wire}, found {kind}")
    match plan.kind:
        case Kind.STRUCT:
            return {part.attribute: value for part in plan.members.values() for value in read_member(part, content)}
        case Kind.LIST:
            return [_read(_element(plan), element) for element in content]
        case Kind.MAP:
            return {name: _read(_element(plan), element) for name, element in content.items()}
        case Kind.SET:
            return [_read(_element(plan), {_element(plan).wire: element}) for element in content]
        case Kind.DECIMAL:
            return _read_limited(plan, content)
        case Kind.FLOAT:
            return float(content)
        case _:
            return _read_whole(content) if kind == "N" else content


def _element(plan: FieldPlan) -> FieldPlan:
    assert plan.element is not None
    return plan.element


def _read_whole(text: str) -> int:
    number = Decimal(text)
    if number != number.to_integral_value():
        raise Unreadable(f"{text} is not a whole number")
    return int(number)


def _read_limited(plan: FieldPlan, text: str) -> Decimal:
    value = Decimal(text)
    if broken := limits_broken(plan, value):
        raise Unreadable(broken)
    return value


def _read_any(wire: Mapping[str, Any]) -> Any:
    [(kind, content)] = wire.items()
    match kind:
        case "L":
            return [_read_any(element) for element in content]
        case "M":
            return {name: _read_any(element) for name, element in content.items()}
        case "N":
            number = Decimal(content)
            # Comparison is exact; arithmetic, even abs(), would round to the precision of the context.
            whole = -ANY_WHOLE_NUMBERS < number < ANY_WHOLE_NUMBERS and number == number.to_integral_value()
            return int(number) if whole else float(content)
        case "NULL":
            return None
        case "S" | "BOOL":
            return content
        case _:
            raise Unreadable(f"type {kind} cannot be read into an Any field")


# --- generated code --------------------------------------------------------------------------------------------------

KNOWN_TO_DECODERS: dict[str, Any] = {"convert": convert, "read_any": _read_any, "read_limited": _read_limited}


def write_decoder(code: GeneratedCode, cls: type, fields: Mapping[str, FieldPlan], key: KeyPlan) -> None:
    """Add `decode(it)`, which falls back to `decode_carefully(it)` for rows that it cannot decode."""
    entries = []
    lines = []
    for name, plan in fields.items():
        entries.append(f"{plan.attribute!r}: key[{name!r}]," if plan.key_only else _entry(code, plan))
    if any(plan.key_only for plan in fields.values()):
        lines.append(f"key = {code.constant(key.decode)}(it)")
    lines += ["return convert({", *indented(entries), f"}}, {code.constant(cls)})"]
    code.lines += ["def decode(it):", "    try:", *indented(lines, 2)]
    code.lines += ["    except Exception:", "        return decode_carefully(it)", ""]


def _struct_decoder(code: GeneratedCode, plan: FieldPlan) -> list[str]:
    return ["return {", *indented([_entry(code, member) for member in plan.members.values()]), "}"]


def _entry(code: GeneratedCode, plan: FieldPlan) -> str:
    """The entry that msgspec reads a member from; raises KeyError if an attribute that is always written is missing."""
    name = repr(plan.attribute)
    if plan.kind is Kind.SET or (plan.optional and plan.none_as == "left out"):
        left_out = "()" if plan.kind is Kind.SET else "None"
        read = (_reading_or_none if plan.optional else _reading)(code, plan, "wire")
        return f"{name}: {left_out} if (wire := it.get({name})) is None else {read},"
    if plan.optional:
        return f"{name}: {_reading_or_none(code, plan, 'wire', f'(wire := it[{name}])')},"
    if plan.unwritten is not None:
        return f"{name}: {_reading(code, plan, f'(it.get({name}) or {plan.unwritten!r})')},"
    return f"{name}: {_reading(code, plan, f'it[{name}]')},"


def _reading_or_none(code: GeneratedCode, plan: FieldPlan, wire: str, first: str | None = None) -> str:
    read = _reading(code, plan, wire)
    return f"{read} if {plan.wire!r} in {first or wire} else None if 'NULL' in {wire} else unusual({wire})"


def _reading(code: GeneratedCode, plan: FieldPlan, wire: str) -> str:
    """An expression for the input of msgspec."""
    content = f"{wire}[{plan.wire!r}]"
    item = f"{wire}_" if wire.isidentifier() else "item"
    match plan.kind:
        case Kind.ANY:
            return f"read_any({wire})"
        case Kind.STRUCT:
            return f"{code.struct_function('decode', plan, _struct_decoder)}({content})"
        case Kind.LIST:
            return f"[{_reading_element(code, plan, item)} for {item} in {content}]"
        case Kind.MAP:
            return f"{{{item}_key: {_reading_element(code, plan, item)} for {item}_key, {item} in {content}.items()}}"
        case Kind.SET:
            read = _from_content(code, _element(plan), item)
            return content if read == item else f"[{read} for {item} in {content}]"
        case _:
            return _from_content(code, plan, content)


def _reading_element(code: GeneratedCode, plan: FieldPlan, item: str) -> str:
    read = _reading_or_none if _element(plan).optional else _reading
    return read(code, _element(plan), item)


def _from_content(code: GeneratedCode, plan: FieldPlan, content: str) -> str:
    if plan.kind is Kind.DECIMAL:
        return content if (plan.ge, plan.le) == (None, None) else f"read_limited({code.constant(plan)}, {content})"
    if plan.kind is Kind.FLOAT:
        return f"float({content})"
    return f"int({content})" if plan.wire == "N" else content

"""Encodes entities as rows and decodes them, with functions generated for each class when it is declared.

Generated functions handle ordinary, valid values. Everything else is left to the careful path here, which goes field by
field and names the invalid one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_origin

import msgspec

from potluck.table.coding.decoder import KNOWN_TO_DECODERS, Unreadable, read_member, write_decoder
from potluck.table.coding.encoder import KNOWN_TO_ENCODERS, write_encoder, write_key_function
from potluck.table.coding.written_code import GeneratedCode
from potluck.table.errors import UnreadableItem
from potluck.table.fields.plans import FieldPlan, Kind
from potluck.table.fields.values import stored_value
from potluck.table.keys import KeyPlan

__all__ = ["Coding", "Row", "compile_coding", "compile_key"]

Row = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Coding:
    """How entities of one class become rows and are read back."""

    encode: Callable[[Any], Row]
    """The row of an entity, keys included; raises InvalidValue if a field does not allow its value."""
    decode: Callable[[Row], Any]
    """The entity of a row; raises UnreadableItem if the row cannot be decoded."""
    shareable: bool
    """Whether readers of the same row may share the entity, because it is immutable."""
    source: str


def compile_coding(
    entity_name: str,
    cls: type,
    fields: Mapping[str, FieldPlan],
    constants: Mapping[str, str],
    key: KeyPlan,
    indexes: Sequence[KeyPlan],
) -> Coding:
    """Generate the functions for one class; `constants` are attributes that all its rows have."""
    careful = _Careful(entity_name, cls, fields, constants, key, indexes)
    ways_out = {"encode_carefully": careful.encode, "decode_carefully": careful.decode}
    code = GeneratedCode(KNOWN_TO_ENCODERS | KNOWN_TO_DECODERS | ways_out)
    write_encoder(code, fields, constants, (key, *indexes))
    write_decoder(code, cls, fields, key)
    written = code.run(f"<coding of {cls.__module__}.{entity_name}>")
    # A __post_init__ may do anything, and an instance with a __dict__ can get attributes later.
    shareable = not hasattr(cls, "__post_init__") and not cls.__dictoffset__ and all(map(_fixed, fields.values()))
    return Coding(written["encode"], written["decode"], shareable, "\n".join(code.lines))


def compile_key(title: str, fields: Mapping[str, FieldPlan], key: KeyPlan) -> Callable[..., Row]:
    """Generate a function from these fields' values, in order, to a key; its errors explain nothing."""
    code = GeneratedCode(KNOWN_TO_ENCODERS)
    write_key_function(code, fields, key)
    key_of: Callable[..., Row] = code.run(f"<key of {title}>")["key_of"]
    return key_of


def _fixed(plan: FieldPlan) -> bool:
    """Whether a field's values come from the row alone and are immutable."""
    match plan.kind:
        case Kind.SET:
            return get_origin(plan.core) is frozenset
        case Kind.LIST:
            inside = plan.element is not None and _fixed(plan.element)
            return get_origin(plan.core) is tuple and inside and plan.default_factory is msgspec.NODEFAULT
        case Kind.MAP | Kind.STRUCT | Kind.ANY:
            return False
    return plan.default_factory is msgspec.NODEFAULT


@dataclass(frozen=True)
class _Careful:
    """The slow and complete path, field by field."""

    entity: str
    cls: type
    fields: Mapping[str, FieldPlan]
    constants: Mapping[str, str]
    key: KeyPlan
    indexes: Sequence[KeyPlan]

    def encode(self, entity: Any) -> Row:
        attributes: Row = {name: {"S": text} for name, text in self.constants.items()}
        values = {}
        for name, plan in self.fields.items():
            values[name] = getattr(entity, name)
            wire = stored_value(plan, values[name])
            if wire is not None and not plan.key_only:
                attributes[plan.attribute] = wire
        keys: Row = {}
        for key in (self.key, *self.indexes):
            keys |= key.wire(values)
        return keys | attributes

    def decode(self, row: Row) -> Any:
        values = {}
        for name, plan in self.fields.items():
            try:
                for read in self._in_key(row, name) if plan.key_only else read_member(plan, row):
                    values[name] = msgspec.convert(read, plan.annotation)
            except (Unreadable, ValueError, ArithmeticError) as why:
                raise self._unreadable(row, name, str(why)) from None
        try:
            return self.cls(**values)
        except (TypeError, ValueError) as why:
            raise self._unreadable(row, None, str(why)) from why

    def _in_key(self, row: Row, name: str) -> tuple[Any]:
        values = self.key.decode(row)
        if values is None:
            forms = ", ".join(template.text for template in (self.key.partition, *self.key.sort))
            raise Unreadable(f"the key is not of the form {forms}")
        return (values[name],)

    def _unreadable(self, row: Row, field: str | None, why: str) -> UnreadableItem:
        names = (self.key.partition_attribute, self.key.sort_attribute)
        return UnreadableItem(self.entity, {name: row[name] for name in names if name in row}, field, why)

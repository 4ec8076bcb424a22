"""JSON Schema of inputs and responses; inputs are described by the types that decode them."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import inspect as declared

from potluck.validation.compiling import schema_of
from potluck.validation.schema_keywords import Schema, description_of, enum, present

REF = "#/components/schemas/"
SIMPLE_ANSWERS: dict[type[declared.Type], Schema] = {
    declared.NoneType: {"type": "null"},
    declared.BoolType: {"type": "boolean"},
    declared.IntType: {"type": "integer"},
    declared.FloatType: {"type": "number"},
    declared.StrType: {"type": "string"},
    declared.DecimalType: {"type": "number"},
    declared.UUIDType: {"type": "string", "format": "uuid"},
    declared.DateTimeType: {"type": "string", "format": "date-time"},
    declared.DateType: {"type": "string", "format": "date"},
}


class Schemas:
    """The schemas of all structs, each once and under a unique name."""

    def __init__(self, kinds: Iterable[Any]) -> None:
        """`kinds` are all types to be described: whether a short name is unique depends on all of them."""
        self._names = _named(sorted({struct for kind in kinds for struct in _structs(kind)}, key=_full_name))
        self.components: dict[str, Schema] = {}

    def of_input(self, kind: Any) -> Schema:
        return schema_of(kind).json_schema(self)

    def reference(self, kind: Any, schema: Callable[[], Schema], *, variant: str = "") -> Schema:
        name = self._names[kind] + variant
        if name not in self.components:
            self.components[name] = schema()
        return {"$ref": REF + name}

    def of_answer(self, kind: Any) -> Schema:
        several = _alternatives(kind)
        if len(several) == 1:
            return self._answer(declared.type_info(kind))
        return {"anyOf": [self._answer(declared.type_info(alternative)) for alternative in several]}

    def _answer(self, info: declared.Type) -> Schema:
        if type(info) in SIMPLE_ANSWERS:
            return dict(SIMPLE_ANSWERS[type(info)])
        match info:
            case declared.Metadata():
                return self._answer(info.type) | (info.extra_json_schema or {})
            case declared.EnumType():
                return enum(sorted((member.value for member in info.cls), key=str))
            case declared.LiteralType():
                return enum(info.values)
            case declared.CollectionType():
                return {"type": "array", "items": self._answer(info.item_type)}
            case declared.TupleType():
                return {"type": "array", "prefixItems": [self._answer(item) for item in info.item_types]}
            case declared.DictType():
                return {"type": "object", "additionalProperties": self._answer(info.value_type)}
            case declared.UnionType():
                return {"anyOf": [self._answer(member) for member in info.types]}
            case declared.StructType():
                return self._struct(info)
        return {}

    def _struct(self, info: declared.StructType) -> Schema:
        name = self._names[info.cls]
        if name not in self.components:
            # A response can contain itself, so it has its name before its fields are described.
            schema: Schema = {"type": "object", **present(description=description_of(_origin(info.cls)))}
            self.components[name] = schema
            properties = {field.encode_name: self._answer(field.type) for field in info.fields}
            # Fields with a default are left out only by structs that omit defaults.
            left_out = _origin(info.cls).__struct_config__.omit_defaults
            required = [
                field.encode_name
                for field in info.fields
                if field.required or not (left_out or _may_be_unset(info.cls, field.name))
            ]
            if info.tag_field is not None:
                properties = {info.tag_field: enum([info.tag])} | properties
                required = [info.tag_field, *required]
            schema["properties"] = properties
            if required:
                schema["required"] = required
        return {"$ref": REF + name}


# --- names ------------------------------------------------------------------------------------------------------------


def _structs(kind: Any) -> Iterator[Any]:
    """Every struct in an annotation, generic ones with their parameters."""
    waiting = [declared.type_info(alternative) for alternative in _alternatives(kind)]
    seen: set[int] = set()
    while waiting:
        info = waiting.pop()
        if id(info) in seen:
            continue
        seen.add(id(info))
        if isinstance(info, declared.StructType):
            yield info.cls
        waiting += _inner(info)


def _alternatives(kind: Any) -> Sequence[Any]:
    """The structs of a union: msgspec cannot decode such a union, but responses need only be encoded."""
    several = get_args(kind) if get_origin(kind) in (Union, UnionType) else ()
    structs = [
        alternative
        for alternative in several
        if isinstance(alternative, type) and issubclass(alternative, msgspec.Struct)
    ]
    return several if len(structs) > 1 else (kind,)


def _inner(info: declared.Type) -> Iterator[declared.Type]:
    for name in ("type", "item_type", "key_type", "value_type"):
        if isinstance(inner := getattr(info, name, None), declared.Type):
            yield inner
    for name in ("item_types", "types"):
        yield from getattr(info, name, ())
    for field in getattr(info, "fields", ()):
        yield field.type


def _named(kinds: list[Any]) -> dict[Any, str]:
    """A unique name for each type: short names that collide are prefixed with their package."""
    short = {kind: _short_name(kind) for kind in kinds}
    often = Counter(short.values())
    named: dict[Any, str] = {}
    for kind, name in short.items():
        full_name = f"{_belongs_to(kind)}{name}" if often[name] > 1 else name
        taken = sum(name == full_name or re.fullmatch(rf"{full_name}_\d+", name) is not None for name in named.values())
        named[kind] = f"{full_name}_{taken + 1}" if taken else full_name
    return named


def _short_name(kind: Any) -> str:
    of = "".join(_short_name(argument) for argument in getattr(kind, "__args__", ()))
    return f"{of}{kind.__name__}"


def _full_name(kind: Any) -> str:
    return f"{kind.__module__}.{kind!r}"


def _belongs_to(kind: Any) -> str:
    """`potluck.apps.shopping.stores` belongs to Shopping."""
    folder = kind.__module__.rpartition(".")[0].rpartition(".")[2]
    return re.sub(r"\W|_", " ", folder).title().replace(" ", "")


def _origin(kind: Any) -> Any:
    return getattr(kind, "__origin__", kind)


def _may_be_unset(kind: type[Any], attribute: str) -> bool:
    return any(field.name == attribute and field.default is msgspec.UNSET for field in msgspec.structs.fields(kind))

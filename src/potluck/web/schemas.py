"""JSON Schema of what is taken and what is answered: of bodies, the same shapes that they are decoded by."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import inspect as declared

from potluck.web.declarations import shape_of
from potluck.web.shapes import (
    DAY_TEXT,
    LOCAL_MOMENT_TEXT,
    MOMENT_TEXT,
    UUID_LENGTH,
    UUID_TEXT,
    Choice,
    Day,
    Exact,
    Id,
    Many,
    Moment,
    Names,
    Nullable,
    Number,
    OneOf,
    Record,
    Shape,
    Text,
    Truth,
    Whole,
)

__all__ = ["Schema", "Schemas"]

Schema = dict[str, Any]

REF = "#/components/schemas/"


class Schemas:
    """The schemas of everything that is named, each once, under a name that no other has."""

    def __init__(self, kinds: Iterable[Any]) -> None:
        """`kinds` are all that will be asked for: which names are short enough depends on all of them."""
        self._names = _named(sorted({each for kind in kinds for each in _structs(kind)}, key=_full_name))
        self.components: dict[str, Schema] = {}

    def of_body(self, kind: Any) -> Schema:
        return self.of_shape(shape_of(kind))

    def of_shape(self, shape: Shape) -> Schema:
        schema = self._of(shape)
        extra: Schema = {}
        if shape.description:
            extra["description"] = shape.description
        if shape.examples:
            extra["examples"] = shape.examples
        return schema | extra

    def of_answer(self, kind: Any) -> Schema:
        return self._answer(declared.type_info(kind))

    # --- what is taken ------------------------------------------------------------------------------------------------

    def _of(self, shape: Shape) -> Schema:
        match shape:
            case Text():
                return _text(shape)
            case Whole():
                schema = {"type": "integer", "minimum": shape.least, "maximum": shape.most}
                return schema | ({"multipleOf": shape.multiple} if shape.multiple is not None else {})
            case Number():
                return {"type": "number"} | _only(
                    minimum=shape.least, maximum=shape.most, exclusiveMinimum=shape.above, exclusiveMaximum=shape.below
                )
            case Exact():
                step = None if shape.places is None else _plain(Decimal(1).scaleb(-shape.places))
                return {"type": "number"} | _only(
                    minimum=_plain(shape.least), maximum=_plain(shape.most), multipleOf=step
                )
            case Truth():
                return {"type": "boolean"}
            case Id():
                return _written("uuid", UUID_TEXT) | {"minLength": UUID_LENGTH, "maxLength": UUID_LENGTH}
            case Moment():
                return _written("date-time", MOMENT_TEXT) if not shape.local else _written("", LOCAL_MOMENT_TEXT)
            case Day():
                return _written("date", DAY_TEXT)
            case Choice():
                return _enum(shape.values)
            case Nullable():
                return {"anyOf": [self.of_shape(shape.inner), {"type": "null"}]}
            case Many():
                return self._many(shape)
            case Names():
                return {
                    "type": "object",
                    "propertyNames": self.of_shape(shape.name),
                    "additionalProperties": self.of_shape(shape.value),
                } | _only(minProperties=shape.least, maxProperties=shape.most)
            case Record():
                return self._record(shape, tagged=False)
            case OneOf():
                records = {str(tag): self._record(record, tagged=True) for tag, record in shape.records.items()}
                mapping = {tag: schema["$ref"] for tag, schema in records.items()}
                return {
                    "oneOf": list(records.values()),
                    "discriminator": {"propertyName": shape.tag_field, "mapping": mapping},
                }
        raise TypeError(type(shape).__name__)

    def _many(self, shape: Many) -> Schema:
        bounds = _only(minItems=shape.least, maxItems=shape.most)
        if shape.item is not None:
            return {"type": "array", "items": self.of_shape(shape.item)} | bounds
        return {"type": "array", "prefixItems": [self.of_shape(each) for each in shape.each], "items": False} | bounds

    def _record(self, record: Record, *, tagged: bool) -> Schema:
        # One that is told from others must say its tag; alone it may.
        name = self._names[record.kind] + ("Tagged" if tagged else "")
        if name not in self.components:
            properties = {field.name: self._field(field) for field in record.fields.values()}
            required = [field.name for field in record.fields.values() if field.required]
            if record.tag_field is not None:
                properties = {record.tag_field: _enum([record.tag])} | properties
                required = [record.tag_field, *required] if tagged else required
            self.components[name] = {
                "type": "object",
                **_only(description=_described(record.kind)),
                "properties": properties,
                **({"required": required} if required else {}),
                "additionalProperties": False,
            }
        return {"$ref": REF + name}

    def _field(self, field: Any) -> Schema:
        schema = self.of_shape(field.shape)
        if field.default in (msgspec.NODEFAULT, msgspec.UNSET, None):
            return schema
        return schema | {"default": msgspec.to_builtins(field.default)}

    # --- what is answered ---------------------------------------------------------------------------------------------

    def _answer(self, found: declared.Type) -> Schema:
        match found:
            case declared.Metadata():
                return self._answer(found.type) | (found.extra_json_schema or {})
            case declared.NoneType():
                return {"type": "null"}
            case declared.BoolType():
                return {"type": "boolean"}
            case declared.IntType():
                return {"type": "integer"}
            case declared.FloatType():
                return {"type": "number"}
            case declared.StrType() | declared.DecimalType():
                return {"type": "string"}
            case declared.UUIDType():
                return {"type": "string", "format": "uuid"}
            case declared.DateTimeType():
                return {"type": "string", "format": "date-time"}
            case declared.DateType():
                return {"type": "string", "format": "date"}
            case declared.EnumType():
                return _enum(sorted((member.value for member in found.cls), key=str))
            case declared.LiteralType():
                return _enum(found.values)
            case declared.CollectionType():
                return {"type": "array", "items": self._answer(found.item_type)}
            case declared.TupleType():
                return {"type": "array", "prefixItems": [self._answer(each) for each in found.item_types]}
            case declared.DictType():
                return {"type": "object", "additionalProperties": self._answer(found.value_type)}
            case declared.UnionType():
                return {"anyOf": [self._answer(each) for each in found.types]}
            case declared.StructType():
                return self._struct(found)
        return {}

    def _struct(self, found: declared.StructType) -> Schema:
        name = self._names[found.cls]
        if name not in self.components:
            schema: Schema = {"type": "object", **_only(description=_described(_origin(found.cls)))}
            self.components[name] = schema
            properties = {each.encode_name: self._answer(each.type) for each in found.fields}
            # What has a default is left out only by those that leave defaults out.
            left_out = _origin(found.cls).__struct_config__.omit_defaults
            required = [
                each.encode_name
                for each in found.fields
                if each.required or not (left_out or _may_be_unset(found.cls, each.name))
            ]
            if found.tag_field is not None:
                properties = {found.tag_field: _enum([found.tag])} | properties
                required = [found.tag_field, *required]
            schema["properties"] = properties
            if required:
                schema["required"] = required
        return {"$ref": REF + name}


# --- names ------------------------------------------------------------------------------------------------------------


def _structs(kind: Any) -> Iterator[Any]:
    """Every struct in an annotation, generic ones as they are filled in."""
    waiting = [declared.type_info(kind)]
    seen: set[int] = set()
    while waiting:
        found = waiting.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        if isinstance(found, declared.StructType):
            yield found.cls
        waiting += _inner(found)


def _inner(found: declared.Type) -> Iterator[declared.Type]:
    for name in ("type", "item_type", "key_type", "value_type"):
        if isinstance(each := getattr(found, name, None), declared.Type):
            yield each
    for name in ("item_types", "types"):
        yield from getattr(found, name, ())
    for field in getattr(found, "fields", ()):
        yield field.type


def _named(kinds: list[Any]) -> dict[Any, str]:
    """The name of each, with what it belongs to in front where two would have the same."""
    short = {kind: _short_name(kind) for kind in kinds}
    often = Counter(short.values())
    named: dict[Any, str] = {}
    for kind, name in short.items():
        wanted = f"{_belongs_to(kind)}{name}" if often[name] > 1 else name
        taken = sum(each == wanted or re.fullmatch(rf"{wanted}_\d+", each) is not None for each in named.values())
        named[kind] = f"{wanted}_{taken + 1}" if taken else wanted
    return named


def _short_name(kind: Any) -> str:
    of = "".join(_short_name(each) for each in getattr(kind, "__args__", ()))
    return f"{of}{kind.__name__}"


def _full_name(kind: Any) -> str:
    return f"{kind.__module__}.{kind!r}"


def _belongs_to(kind: Any) -> str:
    """`potluck.apps.shopping.routes` belongs to Shopping."""
    folder = kind.__module__.rpartition(".")[0].rpartition(".")[2]
    return re.sub(r"\W|_", " ", folder).title().replace(" ", "")


def _origin(kind: Any) -> Any:
    return getattr(kind, "__origin__", kind)


# --- pieces -----------------------------------------------------------------------------------------------------------


def _only(**given: Any) -> Schema:
    return {name: value for name, value in given.items() if value is not None}


def _enum(values: Iterable[Any]) -> Schema:
    found = list(values)
    kinds = {type(each) for each in found}
    if kinds in ({str}, {int}):
        return {"type": "string" if kinds == {str} else "integer", "enum": found}
    return {"enum": found}


def _text(shape: Text) -> Schema:
    return {"type": "string"} | _only(minLength=shape.least, maxLength=shape.most, pattern=shape.pattern)


def _written(form: str, text: re.Pattern[str]) -> Schema:
    return {"type": "string", **({"format": form} if form else {}), "pattern": f"^{text.pattern}$"}


def _plain(number: Decimal | None) -> int | float | None:
    if number is None:
        return None
    return int(number) if number == number.to_integral_value() else float(number)


def _described(kind: type[Any]) -> str | None:
    return kind.__doc__.strip() if "__doc__" in vars(kind) and kind.__doc__ else None


def _may_be_unset(kind: type[Any], attribute: str) -> bool:
    return any(each.name == attribute and each.default is msgspec.UNSET for each in msgspec.structs.fields(kind))

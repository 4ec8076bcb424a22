"""JSON Schema of inputs and responses; inputs are described by the types that decode them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import inspect as declared

from potluck.validation import compound_types, types
from potluck.validation.characters import ONE_LINE_IN_WORDS, SEVERAL_LINES_IN_WORDS, TextRule, one_line, several_lines
from potluck.validation.compiling import schema_of
from potluck.validation.types import SchemaType

Schema = dict[str, Any]

NOT_BLANK = r"\S"
# In words, not as a pattern: whitespace is trimmed first, and regex engines disagree on what that is.
RULES_IN_WORDS: dict[TextRule, str] = {one_line: ONE_LINE_IN_WORDS, several_lines: SEVERAL_LINES_IN_WORDS}
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
        return self.of_type(schema_of(kind))

    def of_type(self, expected: SchemaType) -> Schema:
        schema = self._of(expected)
        extra: Schema = {}
        ruled = RULES_IN_WORDS[expected.rule] if isinstance(expected, types.TextType) and expected.rule else None
        if described := " ".join(filter(None, (expected.description, ruled))):
            extra["description"] = described
        if expected.examples:
            extra["examples"] = expected.examples
        return schema | extra

    def of_answer(self, kind: Any) -> Schema:
        several = _alternatives(kind)
        if len(several) == 1:
            return self._answer(declared.type_info(kind))
        return {"anyOf": [self._answer(declared.type_info(alternative)) for alternative in several]}

    # --- inputs -------------------------------------------------------------------------------------------------------

    def _of(self, expected: SchemaType) -> Schema:
        match expected:
            case types.TextType():
                return _text(expected)
            case types.IntegerType():
                schema = {"type": "integer", "minimum": expected.least, "maximum": expected.most}
                return schema | ({"multipleOf": expected.multiple} if expected.multiple is not None else {})
            case types.FloatType():
                return {"type": "number"} | _only(
                    minimum=expected.least,
                    maximum=expected.most,
                    exclusiveMinimum=expected.above,
                    exclusiveMaximum=expected.below,
                )
            case types.DecimalType():
                step = None if expected.places is None else _plain(Decimal(1).scaleb(-expected.places))
                return {"type": "number"} | _only(
                    minimum=_plain(expected.least), maximum=_plain(expected.most), multipleOf=step
                )
            case types.BooleanType():
                return {"type": "boolean"}
            case types.UuidType():
                length = types.UUID_LENGTH
                return _written("uuid", types.UUID_TEXT) | {"minLength": length, "maxLength": length}
            case types.DateTimeType(local=True):
                return _written("", types.LOCAL_DATE_TIME_TEXT)
            case types.DateTimeType():
                return _written("date-time", types.DATE_TIME_TEXT)
            case types.DateType():
                return _written("date", types.DATE_TEXT)
            case types.ChoiceType():
                return _enum(expected.values)
            case compound_types.NullableType():
                return {"anyOf": [self.of_type(expected.inner), {"type": "null"}]}
            case compound_types.ListType():
                return self._list(expected)
            case compound_types.MapType():
                return {
                    "type": "object",
                    "propertyNames": self.of_type(expected.name),
                    "additionalProperties": self.of_type(expected.value),
                } | _only(minProperties=expected.least, maxProperties=expected.most)
            case compound_types.ObjectType():
                return self._object(expected, tagged=False)
            case compound_types.UnionType():
                objects = {str(tag): self._object(member, tagged=True) for tag, member in expected.objects.items()}
                mapping = {tag: schema["$ref"] for tag, schema in objects.items()}
                return {
                    "oneOf": list(objects.values()),
                    "discriminator": {"propertyName": expected.tag_field, "mapping": mapping},
                }
        raise TypeError(type(expected).__name__)

    def _list(self, expected: compound_types.ListType) -> Schema:
        bounds = _only(minItems=expected.least, maxItems=expected.most)
        if expected.item is not None:
            return {"type": "array", "items": self.of_type(expected.item)} | bounds
        return {
            "type": "array",
            "prefixItems": [self.of_type(item) for item in expected.items],
            "items": False,
        } | bounds

    def _object(self, expected: compound_types.ObjectType, *, tagged: bool) -> Schema:
        # In a union an object must have its tag; alone it may.
        name = self._names[expected.kind] + ("Tagged" if tagged else "")
        if name not in self.components:
            properties = {field.name: self._field(field) for field in expected.fields.values()}
            required = [field.name for field in expected.fields.values() if field.required]
            if expected.tag_field is not None:
                properties = {expected.tag_field: _enum([expected.tag])} | properties
                required = [expected.tag_field, *required] if tagged else required
            self.components[name] = {
                "type": "object",
                **_only(description=_described(expected.kind)),
                "properties": properties,
                **({"required": required} if required else {}),
                "additionalProperties": False,
            }
        return {"$ref": REF + name}

    def _field(self, field: Any) -> Schema:
        schema = self.of_type(field.type)
        if field.default in (msgspec.NODEFAULT, msgspec.UNSET, None):
            return schema
        return schema | {"default": default_value(field.default)}

    # --- responses ----------------------------------------------------------------------------------------------------

    def _answer(self, info: declared.Type) -> Schema:
        if type(info) in SIMPLE_ANSWERS:
            return dict(SIMPLE_ANSWERS[type(info)])
        match info:
            case declared.Metadata():
                return self._answer(info.type) | (info.extra_json_schema or {})
            case declared.EnumType():
                return _enum(sorted((member.value for member in info.cls), key=str))
            case declared.LiteralType():
                return _enum(info.values)
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
            schema: Schema = {"type": "object", **_only(description=_described(_origin(info.cls)))}
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
                properties = {info.tag_field: _enum([info.tag])} | properties
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
        wanted = f"{_belongs_to(kind)}{name}" if often[name] > 1 else name
        taken = sum(name == wanted or re.fullmatch(rf"{wanted}_\d+", name) is not None for name in named.values())
        named[kind] = f"{wanted}_{taken + 1}" if taken else wanted
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


# --- pieces -----------------------------------------------------------------------------------------------------------


def _only(**values: Any) -> Schema:
    return {name: value for name, value in values.items() if value is not None}


def _enum(values: Iterable[Any]) -> Schema:
    members = list(values)
    kinds = {type(member) for member in members}
    if kinds in ({str}, {int}):
        return {"type": "string" if kinds == {str} else "integer", "enum": members}
    return {"enum": members}


def _text(expected: types.TextType) -> Schema:
    # Text is measured after trimming, so blank text is too short.
    not_blank = NOT_BLANK if expected.trim and not expected.may_be_blank else None
    pattern = expected.pattern or not_blank
    return {"type": "string"} | _only(minLength=expected.least, maxLength=expected.most, pattern=pattern)


def _written(form: str, text: re.Pattern[str]) -> Schema:
    return {"type": "string", **({"format": form} if form else {}), "pattern": f"^{text.pattern}$"}


def default_value(value: Any) -> Any:
    """A default as JSON."""
    return _plain(value) if isinstance(value, Decimal) else msgspec.to_builtins(value)


def _plain(number: Decimal | None) -> int | float | None:
    if number is None:
        return None
    return int(number) if number == number.to_integral_value() else float(number)


def _described(kind: type[Any]) -> str | None:
    return kind.__doc__.strip() if "__doc__" in vars(kind) and kind.__doc__ else None


def _may_be_unset(kind: type[Any], attribute: str) -> bool:
    return any(field.name == attribute and field.default is msgspec.UNSET for field in msgspec.structs.fields(kind))

"""JSON Schema of inputs and responses; that of inputs is made from the same types that decode them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import inspect as declared

from potluck.validation import types
from potluck.validation.characters import ONE_LINE_IN_WORDS, SEVERAL_LINES_IN_WORDS, TextRule, one_line, several_lines
from potluck.validation.compiling import schema_of
from potluck.validation.types import SchemaType

Schema = dict[str, Any]

NOT_BLANK = r"\S"
# In words, not as a pattern: regex engines disagree on what is whitespace, which is trimmed first.
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
        """`kinds` are all that will be asked for: whether a short name is unique depends on all of them."""
        self._names = _named(sorted({each for kind in kinds for each in _structs(kind)}, key=_full_name))
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
        return {"anyOf": [self._answer(declared.type_info(each)) for each in several]}

    # --- what is taken ------------------------------------------------------------------------------------------------

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
            case types.NullableType():
                return {"anyOf": [self.of_type(expected.inner), {"type": "null"}]}
            case types.ListType():
                return self._list(expected)
            case types.MapType():
                return {
                    "type": "object",
                    "propertyNames": self.of_type(expected.name),
                    "additionalProperties": self.of_type(expected.value),
                } | _only(minProperties=expected.least, maxProperties=expected.most)
            case types.ObjectType():
                return self._object(expected, tagged=False)
            case types.UnionType():
                objects = {str(tag): self._object(each, tagged=True) for tag, each in expected.objects.items()}
                mapping = {tag: schema["$ref"] for tag, schema in objects.items()}
                return {
                    "oneOf": list(objects.values()),
                    "discriminator": {"propertyName": expected.tag_field, "mapping": mapping},
                }
        raise TypeError(type(expected).__name__)

    def _list(self, expected: types.ListType) -> Schema:
        bounds = _only(minItems=expected.least, maxItems=expected.most)
        if expected.item is not None:
            return {"type": "array", "items": self.of_type(expected.item)} | bounds
        return {"type": "array", "prefixItems": [self.of_type(each) for each in expected.each], "items": False} | bounds

    def _object(self, found: types.ObjectType, *, tagged: bool) -> Schema:
        # In a union an object must have its tag; alone it may.
        name = self._names[found.kind] + ("Tagged" if tagged else "")
        if name not in self.components:
            properties = {field.name: self._field(field) for field in found.fields.values()}
            required = [field.name for field in found.fields.values() if field.required]
            if found.tag_field is not None:
                properties = {found.tag_field: _enum([found.tag])} | properties
                required = [found.tag_field, *required] if tagged else required
            self.components[name] = {
                "type": "object",
                **_only(description=_described(found.kind)),
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

    # --- what is answered ---------------------------------------------------------------------------------------------

    def _answer(self, found: declared.Type) -> Schema:
        if type(found) in SIMPLE_ANSWERS:
            return dict(SIMPLE_ANSWERS[type(found)])
        match found:
            case declared.Metadata():
                return self._answer(found.type) | (found.extra_json_schema or {})
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
            # Fields with a default are left out only by structs that omit defaults.
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
    """Every struct in an annotation, generic ones with their parameters."""
    waiting = [declared.type_info(each) for each in _alternatives(kind)]
    seen: set[int] = set()
    while waiting:
        found = waiting.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        if isinstance(found, declared.StructType):
            yield found.cls
        waiting += _inner(found)


def _alternatives(kind: Any) -> Sequence[Any]:
    """The structs that a response may be, depending on the caller: msgspec decodes no such union, but need not here."""
    several = get_args(kind) if get_origin(kind) in (Union, UnionType) else ()
    structs = [each for each in several if isinstance(each, type) and issubclass(each, msgspec.Struct)]
    return several if len(structs) > 1 else (kind,)


def _inner(found: declared.Type) -> Iterator[declared.Type]:
    for name in ("type", "item_type", "key_type", "value_type"):
        if isinstance(each := getattr(found, name, None), declared.Type):
            yield each
    for name in ("item_types", "types"):
        yield from getattr(found, name, ())
    for field in getattr(found, "fields", ()):
        yield field.type


def _named(kinds: list[Any]) -> dict[Any, str]:
    """A unique name for each: where short names collide, they are prefixed with what they belong to."""
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
    """`potluck.apps.shopping.stores` belongs to Shopping."""
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


def _text(expected: types.TextType) -> Schema:
    # Text is measured after trimming, so blank text is too short.
    not_blank = NOT_BLANK if expected.trim and not expected.may_be_blank else None
    pattern = expected.pattern or not_blank
    return {"type": "string"} | _only(minLength=expected.least, maxLength=expected.most, pattern=pattern)


def _written(form: str, text: re.Pattern[str]) -> Schema:
    return {"type": "string", **({"format": form} if form else {}), "pattern": f"^{text.pattern}$"}


def default_value(value: Any) -> Any:
    """A default as JSON has it."""
    return _plain(value) if isinstance(value, Decimal) else msgspec.to_builtins(value)


def _plain(number: Decimal | None) -> int | float | None:
    if number is None:
        return None
    return int(number) if number == number.to_integral_value() else float(number)


def _described(kind: type[Any]) -> str | None:
    return kind.__doc__.strip() if "__doc__" in vars(kind) and kind.__doc__ else None


def _may_be_unset(kind: type[Any], attribute: str) -> bool:
    return any(each.name == attribute and each.default is msgspec.UNSET for each in msgspec.structs.fields(kind))

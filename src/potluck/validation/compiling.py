"""Compiles annotations to schema types, once: what is declared in Python is what callers are held to."""

from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any

from msgspec import inspect as declared

from potluck.validation import types
from potluck.validation.types import SchemaType, without_null


@cache
def _schema_of(kind: Any) -> SchemaType:
    return _compiled(declared.type_info(kind), ())


def schema_of(kind: Any) -> SchemaType:
    """The type that an annotation declares; TypeError, once and early, for what cannot be described to callers."""
    return _schema_of(kind)


def _compiled(found: declared.Type, within: tuple[type[Any], ...]) -> SchemaType:
    """`within` are the enclosing objects: one that can contain itself has no bound, and is refused."""
    extra: dict[str, Any] = {}
    described: dict[str, Any] = {}
    while isinstance(found, declared.Metadata):
        extra |= found.extra or {}
        described |= found.extra_json_schema or {}
        found = found.type
    made = _schema_type(found, extra, within)
    checked = without_null(made)
    checked.check = extra.get("check", checked.check)
    made.message = extra.get("message", made.message)
    made.description = described.get("description", made.description)
    made.examples = described.get("examples", made.examples)
    return made


def _schema_type(found: declared.Type, extra: dict[str, Any], within: tuple[type[Any], ...]) -> SchemaType:
    match found:
        case declared.StrType():
            return types.TextType(
                least=found.min_length,
                most=found.max_length,
                pattern=found.pattern,
                trim=extra.get("trim", False),
                spelled=extra.get("spelled"),
                rule=extra.get("rule"),
            )
        case declared.IntType():
            return _integer(found, extra)
        case declared.FloatType():
            if found.multiple_of is not None:
                raise TypeError(
                    "Doubles do not keep tenths, so their multiples mean little: use Decimal, Amount(places=)"
                )
            return types.FloatType(least=found.ge, most=found.le, above=found.gt, below=found.lt)
        case declared.DecimalType():
            return types.DecimalType(
                least=_decimal(extra.get("ge")), most=_decimal(extra.get("le")), places=extra.get("places")
            )
        case declared.BoolType():
            return types.BooleanType()
        case declared.UUIDType():
            return types.UuidType()
        case declared.DateTimeType():
            return types.DateTimeType(local=found.tz is False)
        case declared.DateType():
            return types.DateType()
        case declared.EnumType():
            return types.ChoiceType(values=_members(found.cls), kind=found.cls)
        case declared.LiteralType():
            choice = types.ChoiceType(values=tuple(value for value in found.values if value is not None))
            return types.NullableType(inner=choice) if None in found.values else choice
        case declared.ListType() | declared.VarTupleType():
            return types.ListType(
                item=_compiled(found.item_type, within), least=found.min_length, most=found.max_length
            )
        case declared.TupleType():
            count = len(found.item_types)
            each = tuple(_compiled(item, within) for item in found.item_types)
            return types.ListType(each=each, least=count, most=count)
        case declared.DictType():
            name = _compiled(found.key_type, within)
            if not isinstance(name, types.TextType | types.UuidType):
                raise TypeError("The names in an object are texts or UUIDs")
            if isinstance(name, types.TextType) and name.trim:
                raise TypeError("The names in an object are not trimmed, or two could become one: say Text(trim=False)")
            return types.MapType(
                name=name,
                value=_compiled(found.value_type, within),
                least=found.min_length,
                most=found.max_length,
            )
        case declared.StructType():
            return _object(found, within)
        case declared.UnionType():
            return _union(found, within)
    raise TypeError(f"An input cannot hold {type(found).__name__.removesuffix('Type')}: nothing says how to check it")


def _integer(found: declared.IntType, extra: dict[str, Any]) -> types.IntegerType:
    least = -types.LARGEST_INTEGER
    most = types.LARGEST_INTEGER
    if found.ge is not None:
        least = found.ge
    elif found.gt is not None:
        least = found.gt + 1
    if found.le is not None:
        most = found.le
    elif found.lt is not None:
        most = found.lt - 1
    return types.IntegerType(least=least, most=most, multiple=found.multiple_of, too_large=extra.get("too_large"))


def _decimal(bound: Decimal | int | None) -> Decimal | None:
    return None if bound is None else Decimal(bound)


def _members(kind: type[Enum]) -> tuple[str | int, ...]:
    values = tuple(member.value for member in kind)
    if not all(type(value) in (str, int) for value in values):
        raise TypeError(f"{kind.__name__} has values that JSON has no text or whole number for")
    return values


def _object(found: declared.StructType, within: tuple[type[Any], ...]) -> types.ObjectType:
    kind = found.cls
    if kind in within:
        raise TypeError(f"{kind.__name__} can hold itself, so that nothing bounds how deep it gets")
    if found.array_like or not found.forbid_unknown_fields:
        raise TypeError(f"{kind.__name__} is no Input: only what derives from Input can be in one")
    if "__post_init__" in vars(kind):
        raise TypeError(f"{kind.__name__} checks itself in __post_init__, which no caller can be told the field of")
    fields = {
        each.encode_name: types.ObjectField(
            name=each.encode_name,
            attribute=each.name,
            type=_compiled(each.type, (*within, kind)),
            required=each.required,
            default=each.default,
        )
        for each in found.fields
    }
    return types.ObjectType(
        kind=kind, fields=fields, rule=getattr(kind, "check", None), tag_field=found.tag_field, tag=found.tag
    )


def _union(found: declared.UnionType, within: tuple[type[Any], ...]) -> SchemaType:
    held = [_compiled(each, within) for each in found.types if not isinstance(each, declared.NoneType)]
    inner: SchemaType
    if len(held) == 1:
        (inner,) = held
    else:
        objects = [each for each in held if isinstance(each, types.ObjectType)]
        if len(objects) != len(held):
            raise TypeError("A field is of one kind, or null, or one of several tagged objects; not of several kinds")
        # msgspec has refused those without a tag, with the same one, or with tags in different fields.
        inner = types.UnionType(
            tag_field=objects[0].tag_field or "type",
            objects={each.tag: each for each in objects if each.tag is not None},
        )
    if len(held) == len(found.types):
        return inner
    return types.NullableType(
        inner=inner, message=inner.message, description=inner.description, examples=inner.examples
    )

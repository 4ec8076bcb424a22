"""Compiles annotations to schema types."""

from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any

from msgspec import inspect as declared

from potluck.validation import compound_types, types
from potluck.validation.compound_types import without_null
from potluck.validation.types import SchemaType


@cache
def _schema_of(kind: Any) -> SchemaType:
    return _compiled(declared.type_info(kind), ())


def schema_of(kind: Any) -> SchemaType:
    """The type that an annotation declares; TypeError if callers cannot be told what to send."""
    return _schema_of(kind)


def _compiled(info: declared.Type, within: tuple[type[Any], ...]) -> SchemaType:
    """`within` are the enclosing objects: one that can contain itself is refused, because its depth is unbounded."""
    extra: dict[str, Any] = {}
    described: dict[str, Any] = {}
    while isinstance(info, declared.Metadata):
        extra |= info.extra or {}
        described |= info.extra_json_schema or {}
        info = info.type
    compiled = _schema_type(info, extra, within)
    checked = without_null(compiled)
    checked.check = extra.get("check", checked.check)
    compiled.message = extra.get("message", compiled.message)
    compiled.description = described.get("description", compiled.description)
    compiled.examples = described.get("examples", compiled.examples)
    return compiled


def _schema_type(info: declared.Type, extra: dict[str, Any], within: tuple[type[Any], ...]) -> SchemaType:
    match info:
        case declared.StrType():
            return types.TextType(
                least=info.min_length,
                most=info.max_length,
                pattern=info.pattern,
                trim=extra.get("trim", False),
                spelled=extra.get("spelled"),
                rule=extra.get("rule"),
            )
        case declared.IntType():
            return _integer(info, extra)
        case declared.FloatType():
            if info.multiple_of is not None:
                raise TypeError(
                    "Doubles cannot represent tenths, so their multiples mean little: use Decimal, Amount(places=)"
                )
            return types.FloatType(least=info.ge, most=info.le, above=info.gt, below=info.lt)
        case declared.DecimalType():
            return types.DecimalType(
                least=_decimal(extra.get("ge")), most=_decimal(extra.get("le")), places=extra.get("places")
            )
        case declared.BoolType():
            return types.BooleanType()
        case declared.UUIDType():
            return types.UuidType()
        case declared.DateTimeType():
            return types.DateTimeType(local=info.tz is False)
        case declared.DateType():
            return types.DateType()
        case declared.EnumType():
            return types.ChoiceType(values=_members(info.cls), kind=info.cls)
        case declared.LiteralType():
            choice = types.ChoiceType(values=tuple(value for value in info.values if value is not None))
            return compound_types.NullableType(inner=choice) if None in info.values else choice
        case declared.ListType() | declared.VarTupleType():
            return compound_types.ListType(
                item=_compiled(info.item_type, within), least=info.min_length, most=info.max_length
            )
        case declared.TupleType():
            count = len(info.item_types)
            items = tuple(_compiled(item, within) for item in info.item_types)
            return compound_types.ListType(items=items, least=count, most=count)
        case declared.DictType():
            name = _compiled(info.key_type, within)
            if not isinstance(name, types.TextType | types.UuidType):
                raise TypeError("The names in an object must be text or UUIDs")
            if isinstance(name, types.TextType) and name.trim:
                raise TypeError("Trimming the names in an object could make two the same: use Text(trim=False)")
            return compound_types.MapType(
                name=name, value=_compiled(info.value_type, within), least=info.min_length, most=info.max_length
            )
        case declared.StructType():
            return _object(info, within)
        case declared.UnionType():
            return _union(info, within)
    raise TypeError(f"An input cannot hold {type(info).__name__.removesuffix('Type')}: nothing says how to check it")


def _integer(info: declared.IntType, extra: dict[str, Any]) -> types.IntegerType:
    least = -types.LARGEST_INTEGER
    most = types.LARGEST_INTEGER
    if info.ge is not None:
        least = info.ge
    elif info.gt is not None:
        least = info.gt + 1
    if info.le is not None:
        most = info.le
    elif info.lt is not None:
        most = info.lt - 1
    return types.IntegerType(least=least, most=most, multiple=info.multiple_of, too_large=extra.get("too_large"))


def _decimal(bound: Decimal | int | None) -> Decimal | None:
    return None if bound is None else Decimal(bound)


def _members(kind: type[Enum]) -> tuple[str | int, ...]:
    values = tuple(member.value for member in kind)
    if not all(type(value) in (str, int) for value in values):
        raise TypeError(f"{kind.__name__} has values that are neither text nor whole numbers")
    return values


def _object(info: declared.StructType, within: tuple[type[Any], ...]) -> compound_types.ObjectType:
    kind = info.cls
    if kind in within:
        raise TypeError(f"{kind.__name__} can contain itself, so its depth is unbounded")
    if info.array_like or not info.forbid_unknown_fields:
        raise TypeError(f"{kind.__name__} is not an Input: an Input can only contain Inputs")
    if "__post_init__" in vars(kind):
        raise TypeError(f"{kind.__name__} validates in __post_init__, whose errors name no field: use Check")
    fields = {
        field.encode_name: compound_types.ObjectField(
            name=field.encode_name,
            attribute=field.name,
            type=_compiled(field.type, (*within, kind)),
            required=field.required,
            default=field.default,
        )
        for field in info.fields
    }
    return compound_types.ObjectType(
        kind=kind, fields=fields, rule=getattr(kind, "check", None), tag_field=info.tag_field, tag=info.tag
    )


def _union(info: declared.UnionType, within: tuple[type[Any], ...]) -> SchemaType:
    members = [_compiled(member, within) for member in info.types if not isinstance(member, declared.NoneType)]
    inner: SchemaType
    if len(members) == 1:
        (inner,) = members
    else:
        objects = [member for member in members if isinstance(member, compound_types.ObjectType)]
        if len(objects) != len(members):
            raise TypeError("A field has one type, or null, or is one of several tagged objects")
        # msgspec has already refused objects without a tag, with the same tag, or with tags in different fields.
        inner = compound_types.UnionType(
            tag_field=objects[0].tag_field or "type",
            objects={member.tag: member for member in objects if member.tag is not None},
        )
    if len(members) == len(info.types):
        return inner
    return compound_types.NullableType(
        inner=inner, message=inner.message, description=inner.description, examples=inner.examples
    )

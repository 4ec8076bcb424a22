"""Compiles annotations to schema types."""

from decimal import Decimal
from functools import cache, singledispatch
from typing import Any

from msgspec import inspect as declared

from potluck.validation import compound_types, types
from potluck.validation.compound_types import without_null
from potluck.validation.types import SchemaType

Extra = dict[str, Any]
"""What msgspec cannot express, from the annotation."""

Within = tuple[type[Any], ...]
"""The enclosing objects: one that can contain itself is refused, because its depth is unbounded."""


@cache
def _schema_of(kind: Any) -> SchemaType:
    return _compiled(declared.type_info(kind), ())


def schema_of(kind: Any) -> SchemaType:
    """The type that an annotation declares; TypeError if callers cannot be told what to send."""
    return _schema_of(kind)


def _compiled(info: declared.Type, within: Within) -> SchemaType:
    extra: Extra = {}
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


@singledispatch
def _schema_type(info: declared.Type, extra: Extra, within: Within) -> SchemaType:
    """The schema type of each type that msgspec knows."""
    raise TypeError(f"An input cannot hold {type(info).__name__.removesuffix('Type')}: nothing says how to check it")


@_schema_type.register
def _text(info: declared.StrType, extra: Extra, within: Within) -> SchemaType:
    return types.TextType(
        least=info.min_length,
        most=info.max_length,
        pattern=info.pattern,
        trim=extra.get("trim", False),
        spelled=extra.get("spelled"),
        rule=extra.get("rule"),
    )


@_schema_type.register
def _integer(info: declared.IntType, extra: Extra, within: Within) -> SchemaType:
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


@_schema_type.register
def _float(info: declared.FloatType, extra: Extra, within: Within) -> SchemaType:
    if info.multiple_of is not None:
        raise TypeError("Doubles cannot represent tenths, so their multiples mean little: use Decimal, Amount(places=)")
    return types.FloatType(least=info.ge, most=info.le, above=info.gt, below=info.lt)


@_schema_type.register
def _decimal(info: declared.DecimalType, extra: Extra, within: Within) -> SchemaType:
    least, most = (None if bound is None else Decimal(bound) for bound in (extra.get("ge"), extra.get("le")))
    return types.DecimalType(least=least, most=most, places=extra.get("places"))


@_schema_type.register
def _boolean(info: declared.BoolType, extra: Extra, within: Within) -> SchemaType:
    return types.BooleanType()


@_schema_type.register
def _uuid(info: declared.UUIDType, extra: Extra, within: Within) -> SchemaType:
    return types.UuidType()


@_schema_type.register
def _date_time(info: declared.DateTimeType, extra: Extra, within: Within) -> SchemaType:
    return types.DateTimeType(local=info.tz is False)


@_schema_type.register
def _date(info: declared.DateType, extra: Extra, within: Within) -> SchemaType:
    return types.DateType()


@_schema_type.register
def _enum(info: declared.EnumType, extra: Extra, within: Within) -> SchemaType:
    values = tuple(member.value for member in info.cls)
    if not all(type(value) in (str, int) for value in values):
        raise TypeError(f"{info.cls.__name__} has values that are neither text nor whole numbers")
    return types.ChoiceType(values=values, kind=info.cls)


@_schema_type.register
def _literal(info: declared.LiteralType, extra: Extra, within: Within) -> SchemaType:
    choice = types.ChoiceType(values=tuple(value for value in info.values if value is not None))
    return compound_types.NullableType(inner=choice) if None in info.values else choice


@_schema_type.register(declared.ListType)
@_schema_type.register(declared.VarTupleType)
def _list(info: declared.ListType | declared.VarTupleType, extra: Extra, within: Within) -> SchemaType:
    return compound_types.ListType(item=_compiled(info.item_type, within), least=info.min_length, most=info.max_length)


@_schema_type.register
def _tuple(info: declared.TupleType, extra: Extra, within: Within) -> SchemaType:
    count = len(info.item_types)
    items = tuple(_compiled(item, within) for item in info.item_types)
    return compound_types.ListType(items=items, least=count, most=count)


@_schema_type.register
def _map(info: declared.DictType, extra: Extra, within: Within) -> SchemaType:
    name = _compiled(info.key_type, within)
    if not isinstance(name, types.TextType | types.UuidType):
        raise TypeError("The names in an object must be text or UUIDs")
    if isinstance(name, types.TextType) and name.trim:
        raise TypeError("Trimming the names in an object could make two the same: use Text(..., trim=False)")
    return compound_types.MapType(
        name=name, value=_compiled(info.value_type, within), least=info.min_length, most=info.max_length
    )


@_schema_type.register
def _object(info: declared.StructType, extra: Extra, within: Within) -> SchemaType:
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


@_schema_type.register
def _union(info: declared.UnionType, extra: Extra, within: Within) -> SchemaType:
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

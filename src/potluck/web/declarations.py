"""Declarations, worked out once: what is annotated in Python becomes the shapes that callers are held to."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any

from msgspec import Meta
from msgspec import inspect as declared

from potluck.people.errors import WrongField
from potluck.web.shapes import (
    LARGEST_WHOLE,
    Choice,
    Day,
    Exact,
    Field,
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

__all__ = ["Amount", "Holds", "Says", "shape_of"]


def Says(sentence: str, *, too_large: str | None = None) -> Meta:
    """The sentence for whatever is wrong with this field, instead of one made from its bounds.

    `too_large` is said of a whole number above its bound, where the sentence is about what it must be at least.
    """
    return Meta(extra={"says": sentence, "too_large": too_large})


def Amount(*, ge: Decimal | int | None = None, le: Decimal | int | None = None, places: int | None = None) -> Meta:
    """The bounds of a Decimal, which Meta cannot state, and how many digits it may have behind the point."""
    return Meta(extra={"ge": ge, "le": le, "places": places})


def Holds(wrong_with: Callable[[Any], Iterable[WrongField]]) -> Meta:
    """A rule that bounds cannot state, asked of whatever has the right kind and bounds, and so has all it holds.

    It is given the value as JSON has it. Fields are named from there on: "" is the value itself, "[2]" an entry of it.
    Without a message of its own, what is wrong has the one that the value Says.
    """
    return Meta(extra={"holds": wrong_with})


@cache
def _shape_of(kind: Any) -> Shape:
    return _compiled(declared.type_info(kind), ())


def shape_of(kind: Any) -> Shape:
    """The shape of a declaration; TypeError, once and early, if it states something that callers could not be told."""
    return _shape_of(kind)


def _compiled(found: declared.Type, within: tuple[type[Any], ...]) -> Shape:
    """`within` are the bodies around it: a body that can hold itself has no bound, and is refused."""
    extra: dict[str, Any] = {}
    described: dict[str, Any] = {}
    while isinstance(found, declared.Metadata):
        extra |= found.extra or {}
        described |= found.extra_json_schema or {}
        found = found.type
    shape = _shaped(found, extra, within)
    ruled = shape.inner if isinstance(shape, Nullable) else shape
    ruled.holds = extra.get("holds", ruled.holds)
    ruled.precise = _precise(ruled)
    shape.precise = _precise(shape)
    shape.says = extra.get("says", shape.says)
    shape.description = described.get("description", shape.description)
    shape.examples = described.get("examples", shape.examples)
    return shape


def _precise(shape: Shape) -> bool:
    if shape.holds is not None:
        # Of rules, the decoder knows nothing.
        return False
    match shape:
        case Number() | Truth() | Choice():
            return True
        case Text():
            return shape.pattern is None
        case Whole():
            # Its bounds reach the decoder only if they were declared.
            return shape.least > -LARGEST_WHOLE and shape.most < LARGEST_WHOLE
        case Nullable():
            return shape.inner.precise
        case Many():
            return all(inner.precise for inner in (shape.each if shape.item is None else (shape.item,)))
        case Names():
            return shape.name.precise and shape.value.precise
        case Record():
            return all(each.shape.precise for each in shape.fields.values())
        case OneOf():
            return all(record.precise for record in shape.records.values())
    # Ids in capitals, times without a zone, numbers in quotes: there the decoder is more generous.
    return False


def _shaped(found: declared.Type, extra: dict[str, Any], within: tuple[type[Any], ...]) -> Shape:
    match found:
        case declared.StrType():
            return Text(least=found.min_length, most=found.max_length, pattern=found.pattern)
        case declared.IntType():
            return _whole(found, extra)
        case declared.FloatType():
            if found.multiple_of is not None:
                raise TypeError(
                    "Doubles do not keep tenths, so their multiples mean little: use Decimal, Amount(places=)"
                )
            return Number(least=found.ge, most=found.le, above=found.gt, below=found.lt)
        case declared.DecimalType():
            return Exact(least=_decimal(extra.get("ge")), most=_decimal(extra.get("le")), places=extra.get("places"))
        case declared.BoolType():
            return Truth()
        case declared.UUIDType():
            return Id()
        case declared.DateTimeType():
            return Moment(local=found.tz is False)
        case declared.DateType():
            return Day()
        case declared.EnumType():
            return Choice(values=_members(found.cls))
        case declared.LiteralType():
            values = tuple(value for value in found.values if value is not None)
            return Nullable(inner=Choice(values=values)) if None in found.values else Choice(values=values)
        case declared.ListType() | declared.VarTupleType():
            return Many(item=_compiled(found.item_type, within), least=found.min_length, most=found.max_length)
        case declared.TupleType():
            count = len(found.item_types)
            each = tuple(_compiled(item, within) for item in found.item_types)
            return Many(each=each, least=count, most=count)
        case declared.DictType():
            name = _compiled(found.key_type, within)
            if not isinstance(name, Text | Id):
                raise TypeError("The names in an object are texts or UUIDs")
            return Names(
                name=name,
                value=_compiled(found.value_type, within),
                least=found.min_length,
                most=found.max_length,
            )
        case declared.StructType():
            return _record(found, within)
        case declared.UnionType():
            return _union(found, within)
    raise TypeError(f"A body cannot hold {type(found).__name__.removesuffix('Type')}: nothing says how to check it")


def _whole(found: declared.IntType, extra: dict[str, Any]) -> Whole:
    least = -LARGEST_WHOLE
    most = LARGEST_WHOLE
    if found.ge is not None:
        least = found.ge
    elif found.gt is not None:
        least = found.gt + 1
    if found.le is not None:
        most = found.le
    elif found.lt is not None:
        most = found.lt - 1
    return Whole(least=least, most=most, multiple=found.multiple_of, too_large=extra.get("too_large"))


def _decimal(bound: Decimal | int | None) -> Decimal | None:
    return None if bound is None else Decimal(bound)


def _members(kind: type[Enum]) -> tuple[str | int, ...]:
    values = tuple(member.value for member in kind)
    if not all(type(value) in (str, int) for value in values):
        raise TypeError(f"{kind.__name__} has values that JSON has no text or whole number for")
    return values


def _record(found: declared.StructType, within: tuple[type[Any], ...]) -> Record:
    kind = found.cls
    if kind in within:
        raise TypeError(f"{kind.__name__} can hold itself, so that nothing bounds how deep it gets")
    if found.array_like or not found.forbid_unknown_fields:
        raise TypeError(f"{kind.__name__} is no Body: only what derives from Body can be in one")
    if "__post_init__" in vars(kind):
        raise TypeError(f"{kind.__name__} checks itself in __post_init__, which no caller can be told the field of")
    fields = {
        each.encode_name: Field(
            name=each.encode_name,
            attribute=each.name,
            shape=_compiled(each.type, (*within, kind)),
            required=each.required,
            default=each.default,
        )
        for each in found.fields
    }
    return Record(kind=kind, fields=fields, tag_field=found.tag_field, tag=found.tag)


def _union(found: declared.UnionType, within: tuple[type[Any], ...]) -> Shape:
    held = [_compiled(each, within) for each in found.types if not isinstance(each, declared.NoneType)]
    inner: Shape
    if len(held) == 1:
        (inner,) = held
    else:
        records = [each for each in held if isinstance(each, Record)]
        if len(records) != len(held):
            raise TypeError("A field is of one kind, or null, or one of several tagged bodies; not of several kinds")
        # msgspec has refused those without a tag, with the same one, or with tags in different fields.
        inner = OneOf(
            tag_field=records[0].tag_field or "type",
            records={record.tag: record for record in records if record.tag is not None},
        )
    if len(held) == len(found.types):
        return inner
    return Nullable(inner=inner, says=inner.says, description=inner.description, examples=inner.examples)

"""Annotations of fields, and how they become plans."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from inspect import get_annotations
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NewType, TypeVar, Union, get_args, get_origin
from uuid import UUID

import msgspec
from msgspec import Meta

from potluck.dynamo.limits import NESTING_LEVELS
from potluck.table.errors import DesignError, InvalidValue
from potluck.table.fields.plans import FieldPlan, InKeys, Kind, Limits, Precision, Unique
from potluck.table.fields.values import NULL, encode_element, encode_value, stored_value, written_time

__all__ = [
    "NULL",
    "Counter",
    "ExpiresAt",
    "FieldPlan",
    "InKeys",
    "KeyOnly",
    "Kind",
    "LeftOut",
    "Limits",
    "Milliseconds",
    "OrNull",
    "Precision",
    "Seconds",
    "Unique",
    "Version",
    "encode_element",
    "encode_value",
    "plain_type",
    "plan_fields",
    "plan_value",
    "stored_value",
    "written_time",
]

T = TypeVar("T")


# --- annotations -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Marker:
    says: str


@dataclass(frozen=True)
class _StoredTo:
    precision: Precision


_VERSION = _Marker("version")
_EXPIRES = _Marker("expiry")
_COUNTER = _Marker("counter")
_NULL = _Marker("None is stored as NULL")

LeftOut = _Marker("the default is left out")
"""The default is not written: the row lacks the attribute where the entity has its default."""

KeyOnly = _Marker("key only")
"""The value is stored in the primary key only, not as an attribute."""

Version = Annotated[int, Meta(ge=1), _VERSION]
"""Incremented by every update, which fails if another caller changed the row first."""

ExpiresAt = Annotated[int, Meta(ge=0), _EXPIRES]
"""When the row expires, in seconds since 1970."""

Counter = Annotated[int, _COUNTER]
"""Added to without being read; never part of a key and never a reason to increment the version."""

Seconds = Annotated[datetime, Meta(tz=True), _StoredTo("seconds")]
"""An instant, stored in UTC as 2025-12-10T12:00:00Z."""

Milliseconds = Annotated[datetime, Meta(tz=True), _StoredTo("milliseconds")]
"""An instant, stored in UTC as 2025-12-10T12:00:00.000Z."""

OrNull = Annotated[T | None, _NULL]
"""None is stored as NULL; plain `T | None` leaves the attribute out instead."""


# --- plans -----------------------------------------------------------------------------------------------------------

_PLAIN = {
    str: (Kind.TEXT, "S"),
    int: (Kind.INTEGER, "N"),
    Decimal: (Kind.DECIMAL, "N"),
    float: (Kind.FLOAT, "N"),
    bool: (Kind.BOOLEAN, "BOOL"),
    bytes: (Kind.BYTES, "B"),
    UUID: (Kind.UUID, "S"),
    date: (Kind.DATE, "S"),
    Any: (Kind.ANY, ""),
}
_SET_OF = {"S": "SS", "N": "NS", "B": "BS"}
_META = ("min_length", "max_length", "ge", "gt", "le", "lt", "multiple_of", "pattern")
# The bounds of a Decimal, which Meta does not support; field types carry them in Meta's extra.
_LIMITS = ("ge", "le", "places")
MOST_PLACES = 130
"""DynamoDB stores no number closer to zero than this."""
_TEXT_KEYS = (Kind.TEXT, Kind.UUID, Kind.LITERAL, Kind.ENUM)


def plan_fields(cls: type) -> dict[str, FieldPlan]:
    """The plans of a struct's fields in order of declaration; raises a DesignError for a type that cannot be stored."""
    plans = _plan_members(cls, cls.__name__, "", NESTING_LEVELS - 1, ())
    for plan in plans.values():
        try:
            # msgspec reads the rows, so it must understand the annotation too.
            msgspec.json.Decoder(plan.annotation)
        except (TypeError, ValueError) as error:
            raise DesignError(f"{plan.where}: {error}") from error
    for role in ("is_version", "is_expiry"):
        having = [name for name, plan in plans.items() if getattr(plan, role)]
        if len(having) > 1:
            raise DesignError(f"{cls.__name__} has two {role[3:]} fields, {' and '.join(having)}: keep one of them")
    return plans


def _plan_members(cls: Any, entity: str, inside: str, levels: int, above: tuple[Any, ...]) -> dict[str, FieldPlan]:
    try:
        infos = msgspec.structs.fields(cls)
    except NameError as error:
        raise DesignError(f"{entity}: an annotation of {cls.__name__} uses an undefined name: {error}") from error
    # The class's own fields come first, in its order: msgspec begins with inherited ones, even if they are repeated.
    own = list(get_annotations(cls))
    plans: dict[str, FieldPlan] = {}
    for info in sorted(infos, key=lambda info: own.index(info.name) if info.name in own else len(own)):
        plan = replace(
            _plan(info.type, entity, inside + info.name, levels, (*above, cls)),
            attribute=info.encode_name,
            required=info.required,
            default=info.default,
            default_factory=info.default_factory,
        )
        _check_default(plan)
        if LeftOut in _unwrapped(info.type)[1]:
            plan = replace(plan, unwritten=_unwritten(plan))
        plans[info.name] = plan
    return plans


def plan_value(annotation: Any, entity: str, name: str) -> FieldPlan:
    """The plan of a value of this type, as if it were a field; raises a DesignError if it cannot be stored."""
    return _plan(annotation, entity, name, NESTING_LEVELS - 1, ())


def _plan(annotation: Any, entity: str, name: str, levels: int, above: tuple[Any, ...]) -> FieldPlan:
    where = f"{entity}.{name}"
    core, extras, optional = _unwrapped(annotation)
    options: dict[str, Any] = {}
    roles: dict[str, Any] = {}
    for extra in extras:
        if isinstance(extra, Meta):
            options.update({bound: value for bound in _META if (value := getattr(extra, bound)) is not None})
            options.update({bound: value for bound in _LIMITS if (value := (extra.extra or {}).get(bound)) is not None})
        elif isinstance(extra, Limits):
            options.update({bound: value for bound in _LIMITS if (value := getattr(extra, bound)) is not None})
        elif isinstance(extra, _StoredTo):
            options["precision"] = extra.precision
        elif isinstance(extra, Unique):
            roles["unique"] = extra
        elif isinstance(extra, InKeys):
            roles["in_keys"] = extra
        elif isinstance(extra, _Marker):
            if extra is _NULL:
                options["none_as"] = "null"
            elif extra is not LeftOut:
                roles[_ROLES[extra]] = True
    what = _plan_core(core, where, entity, name, levels, above)
    plan = FieldPlan(
        entity=entity,
        name=name,
        attribute=name,
        annotation=annotation,
        type=plain_type(annotation),
        core=core,
        optional=optional,
        remaining_levels=levels,
        **{"kind": Kind.ANY, "wire": "", **what, **options, **roles},
    )
    _check_plan(plan, bool(roles), any(_has_limits(extra) for extra in extras))
    return plan


def _has_limits(extra: Any) -> bool:
    return isinstance(extra, Limits) or (
        isinstance(extra, Meta) and any(bound in (extra.extra or ()) for bound in _LIMITS)
    )


def _unwrapped(annotation: Any) -> tuple[Any, list[Any], bool]:
    """The type inside Annotated, NewType and `| None`, all metadata of Annotated, and whether it may be None."""
    extras: list[Any] = []
    optional = False
    while True:
        if get_origin(annotation) is Annotated:
            extras[:0] = annotation.__metadata__
            annotation = annotation.__origin__
        elif isinstance(annotation, NewType):
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":
            annotation = annotation.__value__
        elif get_origin(annotation) in (Union, UnionType) and NoneType in get_args(annotation):
            optional = True
            annotation = Union[tuple(part for part in get_args(annotation) if part is not NoneType)]  # noqa: UP007
        elif get_origin(annotation) is Literal and None in get_args(annotation):
            optional = True
            annotation = Literal[tuple(value for value in get_args(annotation) if value is not None)]
        else:
            return annotation, extras, optional


def plain_type(annotation: Any) -> Any:
    """The annotation without the metadata of Annotated."""
    core, _, optional = _unwrapped(annotation)
    origin, arguments = get_origin(core), get_args(core)
    if origin in (list, set, frozenset, dict, tuple):
        core = origin[tuple(argument if argument is ... else plain_type(argument) for argument in arguments)]
    return core | None if optional else core


def _plan_core(core: Any, where: str, entity: str, name: str, levels: int, above: tuple[Any, ...]) -> dict[str, Any]:
    """The kind of a type, its wire type, and the plans of its parts."""
    if core is datetime:
        return {"kind": Kind.TIME, "wire": "S"}
    if core in _PLAIN:
        kind, wire = _PLAIN[core]
        return {"kind": kind, "wire": wire}
    if isinstance(core, type) and issubclass(core, Enum):
        members = tuple(core)
        return {
            "kind": Kind.ENUM,
            "wire": _choices_wire([choice.value for choice in members], where),
            "choices": members,
        }
    origin, arguments = get_origin(core), get_args(core)
    if origin is Literal:
        return {"kind": Kind.LITERAL, "wire": _choices_wire(arguments, where), "choices": arguments}
    if levels < 1:
        raise DesignError(f"{where} nests deeper than the {NESTING_LEVELS} levels that DynamoDB stores")
    if isinstance(core, type) and issubclass(core, msgspec.Struct):
        return _plan_struct(core, where, entity, name, levels, above)
    if core in (list, dict, tuple, set, frozenset):
        raise DesignError(
            f"{where}: declare the contents of the {core.__name__}, such as {core.__name__}[{_EXAMPLES[core]}]"
        )
    if origin is list or (origin is tuple and len(arguments) == 2 and arguments[1] is ...):
        element = _plan(arguments[0], entity, f"{name}[]", levels - 1, above)
        return {"kind": Kind.LIST, "wire": "L", "element": _always_null(element)}
    if origin is dict:
        key = _plan(arguments[0], entity, f"{name} key", levels - 1, above)
        if key.kind not in _TEXT_KEYS or key.wire != "S" or key.optional:
            raise DesignError(f"{where}: the keys of a map are text; use dict[str, ...] or dict[UUID, ...]")
        element = _plan(arguments[1], entity, f"{name}[]", levels - 1, above)
        return {"kind": Kind.MAP, "wire": "M", "map_key": key, "element": _always_null(element)}
    if origin in (set, frozenset):
        element = _plan(arguments[0], entity, f"{name}[]", levels - 1, above)
        if element.wire not in _SET_OF or element.optional:
            raise DesignError(f"{where}: DynamoDB has sets of text, numbers and bytes only; use a list")
        return {"kind": Kind.SET, "wire": _SET_OF[element.wire], "element": element}
    if origin in (Union, UnionType):
        raise DesignError(f"{where}: {core} would be ambiguous when read; use one type, or one field per type")
    raise DesignError(
        f"{where}: {core!r} cannot be stored; use str, int, Decimal, float, bool, bytes, UUID, Seconds, Milliseconds, "
        "date, a Literal, an Enum, a msgspec.Struct, or a list, dict or set of these"
    )


def _plan_struct(core: Any, where: str, entity: str, name: str, levels: int, above: tuple[Any, ...]) -> dict[str, Any]:
    if core in above:
        raise DesignError(f"{where}: {core.__name__} contains itself, so its depth is unbounded")
    config = core.__struct_config__
    if config.array_like or config.tag is not None:
        raise DesignError(f"{where}: {core.__name__} is array_like or tagged, which is not stored; use a plain Struct")
    return {
        "kind": Kind.STRUCT,
        "wire": "M",
        "members": _plan_members(core, entity, f"{name}.", levels - 1, above),
    }


def _choices_wire(values: Any, where: str) -> str:
    if values and all(type(value) is str for value in values):
        return "S"
    if values and all(type(value) is int for value in values):
        return "N"
    raise DesignError(f"{where}: the choices must be all text or all whole numbers")


def _always_null(element: FieldPlan) -> FieldPlan:
    # Leaving None out would shift the elements of a list, or lose the key of a map.
    return replace(element, none_as="null") if element.optional else element


_ROLES = {_VERSION: "is_version", _EXPIRES: "is_expiry", _COUNTER: "is_counter", KeyOnly: "key_only"}
_EXAMPLES = {list: "str", set: "str", frozenset: "str", tuple: "str, ...", dict: "str, int"}


def _check_plan(plan: FieldPlan, has_role: bool, has_limits: bool) -> None:
    where = plan.where
    if plan.kind is Kind.TIME and plan.precision is None:
        raise DesignError(f"{where}: declare its precision: Seconds or Milliseconds instead of datetime")
    if plan.none_as == "null" and not plan.optional:
        raise DesignError(f"{where}: OrNull needs a type that can be None")
    if has_role and not plan.name.isidentifier():
        raise DesignError(f"{where}: versions, expiries, counters and keys are fields of the entity itself")
    if plan.optional and (plan.is_version or plan.is_counter or plan.key_only):
        raise DesignError(f"{where} cannot be None: it is a version, a counter or part of the key")
    if plan.kind is Kind.SET and plan.optional and plan.none_as == "left out":
        raise DesignError(f"{where}: an empty set is left out of the row, as None would be; drop None or use OrNull")
    if (plan.is_version or plan.is_counter or plan.is_expiry) and plan.kind is not Kind.INTEGER:
        raise DesignError(f"{where}: versions, counters and expiries are whole numbers")
    if has_limits != (plan.kind is Kind.DECIMAL and (plan.ge, plan.le, plan.places) != (None, None, None)):
        raise DesignError(f"{where}: Limits are for Decimal, and Meta for everything else")
    if plan.kind is Kind.DECIMAL:
        _check_limits(plan)


def _check_limits(plan: FieldPlan) -> None:
    for bound in (plan.ge, plan.le):
        if bound is not None and not (isinstance(bound, int) or (isinstance(bound, Decimal) and bound.is_finite())):
            raise DesignError(f"{plan.where}: the bounds of a Decimal are int or Decimal, not {bound!r}")
    if plan.places is not None and not (type(plan.places) is int and 0 <= plan.places <= MOST_PLACES):
        raise DesignError(f"{plan.where}: places is a whole number from 0 to {MOST_PLACES}, not {plan.places!r}")


def _unwritten(plan: FieldPlan) -> dict[str, Any]:
    """How a default that is left out of the row would be stored."""
    if plan.required or plan.optional or plan.key_only or plan.kind is Kind.SET:
        raise DesignError(f"{plan.where}: LeftOut is for an attribute with a default that is neither None nor a set")
    return encode_value(plan, plan.default if plan.default_factory is msgspec.NODEFAULT else plan.default_factory())


def _check_default(plan: FieldPlan) -> None:
    if plan.required:
        return
    default = plan.default if plan.default_factory is msgspec.NODEFAULT else plan.default_factory()
    if plan.optional and plan.none_as == "left out" and default is not None:
        raise DesignError(
            f"{plan.where}: None is left out of the row, which would then read as the default {default!r}; use OrNull"
        )
    if plan.kind is Kind.SET and default != set():
        raise DesignError(f"{plan.where}: an empty set is left out of the row, so the default can only be an empty set")
    if default is not None or not plan.optional:
        try:
            stored_value(plan, default)
        except InvalidValue as refused:
            raise DesignError(f"{plan.where}: the default {default!r} is not allowed: {refused.why}") from None

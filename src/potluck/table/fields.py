"""What a field of an entity may hold, and how a single value of it is written."""

import re
from binascii import b2a_base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NewType, TypeVar, Union, get_args, get_origin
from uuid import UUID

import msgspec
from msgspec import Meta

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.limits import NESTING_LEVELS, NUMBER_DIGITS
from potluck.dynamo.numbers import canonical_number
from potluck.table.errors import DesignError, InvalidValue

__all__ = [
    "Counter",
    "ExpiresAt",
    "FieldPlan",
    "InKeys",
    "KeyOnly",
    "Kind",
    "Limits",
    "Milliseconds",
    "OrNull",
    "Precision",
    "Seconds",
    "Unique",
    "Version",
    "encode_element",
    "encode_value",
    "limits_broken",
    "plan_fields",
    "stored_value",
    "written_time",
]

T = TypeVar("T")
WireValue = dict[str, Any]
Precision = Literal["seconds", "milliseconds"]

NULL: WireValue = {"NULL": True}
"""What None is where it is stored; for comparing with, since rows are handed out to be changed."""


# --- what an annotation may say --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Marker:
    says: str


@dataclass(frozen=True)
class _StoredTo:
    precision: Precision


@dataclass(frozen=True)
class Unique:
    """No two rows share this value: a guard row with this key stands for it."""

    partition: str
    sort: str | None = None


@dataclass(frozen=True)
class Limits:
    """The bounds of a Decimal, for which Meta has none."""

    ge: Decimal | int | None = None
    le: Decimal | int | None = None


@dataclass(frozen=True)
class InKeys:
    """How values of this field are written in keys."""

    encode: Callable[[Any], str]
    decode: Callable[[str], Any]
    max_bytes: int


_VERSION = _Marker("version")
_EXPIRES = _Marker("expiry")
_COUNTER = _Marker("counter")
_NULL = _Marker("None is stored as NULL")

KeyOnly = _Marker("key only")
"""The value lives in the primary key and is no attribute of its own."""

Version = Annotated[int, Meta(ge=1), _VERSION]
"""Raised by every update, which fails if somebody else was there first."""

ExpiresAt = Annotated[int, Meta(ge=0), _EXPIRES]
"""When the row ceases to be, in seconds since 1970."""

Counter = Annotated[int, _COUNTER]
"""Added to without being read; never part of a key and never a reason to raise the version."""

Seconds = Annotated[datetime, Meta(tz=True), _StoredTo("seconds")]
"""An instant, stored in UTC as 2025-12-10T12:00:00Z."""

Milliseconds = Annotated[datetime, Meta(tz=True), _StoredTo("milliseconds")]
"""An instant, stored in UTC as 2025-12-10T12:00:00.000Z."""

OrNull = Annotated[T | None, _NULL]
"""None is stored as NULL; plain `T | None` leaves the attribute out instead."""


# --- the plan of a field ---------------------------------------------------------------------------------------------


class Kind(Enum):
    """What a value is, apart from being None."""

    TEXT = "text"
    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    BOOLEAN = "boolean"
    BYTES = "bytes"
    UUID = "uuid"
    TIME = "time"
    DATE = "date"
    LITERAL = "literal"
    ENUM = "enum"
    LIST = "list"
    MAP = "map"
    STRUCT = "struct"
    SET = "set"
    ANY = "any"


@dataclass(frozen=True, kw_only=True)
class FieldPlan:
    """All that is known of a field, or of a value inside one."""

    entity: str
    name: str
    attribute: str
    annotation: Any
    type: Any  # the annotation without what Annotated adds
    core: Any  # the same, without None
    kind: Kind
    wire: str  # the type in DynamoDB: S, N, B, BOOL, SS, NS, BS, L, M; "" where the value decides
    optional: bool = False
    none_as: Literal["null", "left out"] = "left out"
    required: bool = True
    default: Any = msgspec.NODEFAULT
    default_factory: Any = msgspec.NODEFAULT
    precision: Precision | None = None
    min_length: int | None = None
    max_length: int | None = None
    ge: Any = None
    gt: Any = None
    le: Any = None
    lt: Any = None
    multiple_of: Any = None
    pattern: str | None = None
    choices: tuple[Any, ...] = ()  # of a Literal its values, of an Enum its members
    is_version: bool = False
    is_expiry: bool = False
    is_counter: bool = False
    key_only: bool = False
    unique: Unique | None = None
    in_keys: InKeys | None = None
    element: "FieldPlan | None" = None  # of a list or set its elements, of a map its values
    map_key: "FieldPlan | None" = None
    members: Mapping[str, "FieldPlan"] = field(default_factory=dict)  # of a struct
    remaining_levels: int = NESTING_LEVELS - 1  # how deep a value here may still nest

    @property
    def where(self) -> str:
        return f"{self.entity}.{self.name}"


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
_TEXT_KEYS = (Kind.TEXT, Kind.UUID, Kind.LITERAL, Kind.ENUM)


def plan_fields(cls: type, entity: str | None = None) -> dict[str, FieldPlan]:
    """The plans of a struct's fields in the order of declaration, or a DesignError for what cannot be stored."""
    plans = _plan_members(cls, entity or cls.__name__, "", NESTING_LEVELS - 1, ())
    for plan in plans.values():
        try:
            # msgspec reads the rows, so it must understand the annotation too.
            msgspec.json.Decoder(plan.annotation)
        except (TypeError, ValueError) as error:
            raise DesignError(f"{plan.where}: {error}") from error
    for role in ("is_version", "is_expiry"):
        having = [name for name, plan in plans.items() if getattr(plan, role)]
        if len(having) > 1:
            raise DesignError(
                f"{entity or cls.__name__} has two {role[3:]} fields, {' and '.join(having)}: keep one of them"
            )
    return plans


def _plan_members(cls: Any, entity: str, inside: str, levels: int, above: tuple[Any, ...]) -> dict[str, FieldPlan]:
    try:
        infos = msgspec.structs.fields(cls)
    except NameError as error:
        raise DesignError(
            f"{entity}: an annotation of {cls.__name__} uses a name that is not there: {error}"
        ) from error
    plans: dict[str, FieldPlan] = {}
    for info in infos:
        plan = replace(
            _plan(info.type, entity, inside + info.name, levels, (*above, cls)),
            attribute=info.encode_name,
            required=info.required,
            default=info.default,
            default_factory=info.default_factory,
        )
        _check_default(plan)
        plans[info.name] = plan
    return plans


def _plan(annotation: Any, entity: str, name: str, levels: int, above: tuple[Any, ...]) -> FieldPlan:
    where = f"{entity}.{name}"
    core, extras, optional = _unwrapped(annotation)
    said: dict[str, Any] = {}
    roles: dict[str, Any] = {}
    for extra in extras:
        if isinstance(extra, Meta):
            said.update({bound: value for bound in _META if (value := getattr(extra, bound)) is not None})
        elif isinstance(extra, Limits):
            said.update({bound: value for bound in ("ge", "le") if (value := getattr(extra, bound)) is not None})
        elif isinstance(extra, _StoredTo):
            said["precision"] = extra.precision
        elif isinstance(extra, Unique):
            roles["unique"] = extra
        elif isinstance(extra, InKeys):
            roles["in_keys"] = extra
        elif isinstance(extra, _Marker):
            if extra is _NULL:
                said["none_as"] = "null"
            else:
                roles[_ROLES[extra]] = True
    what = _plan_core(core, where, entity, name, levels, above)
    plan = FieldPlan(
        entity=entity,
        name=name,
        attribute=name,
        annotation=annotation,
        type=_without_extras(annotation),
        core=core,
        optional=optional,
        remaining_levels=levels,
        **{"kind": Kind.ANY, "wire": "", **what, **said, **roles},
    )
    _check_plan(plan, bool(roles), any(isinstance(extra, Limits) for extra in extras))
    return plan


def _unwrapped(annotation: Any) -> tuple[Any, list[Any], bool]:
    """The type inside Annotated, NewType and `| None`, with all that the Annotated ones add."""
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


def _without_extras(annotation: Any) -> Any:
    core, _, optional = _unwrapped(annotation)
    origin, arguments = get_origin(core), get_args(core)
    if origin in (list, set, frozenset, dict, tuple):
        core = origin[tuple(each if each is ... else _without_extras(each) for each in arguments)]
    return core | None if optional else core


def _plan_core(core: Any, where: str, entity: str, name: str, levels: int, above: tuple[Any, ...]) -> dict[str, Any]:
    """The kind of a type, its wire form, and the plans of what is inside."""
    if core is datetime:
        return {"kind": Kind.TIME, "wire": "S"}
    if core in _PLAIN:
        kind, wire = _PLAIN[core]
        return {"kind": kind, "wire": wire}
    if isinstance(core, type) and issubclass(core, Enum):
        members = tuple(core)
        return {"kind": Kind.ENUM, "wire": _choices_wire([each.value for each in members], where), "choices": members}
    origin, arguments = get_origin(core), get_args(core)
    if origin is Literal:
        return {"kind": Kind.LITERAL, "wire": _choices_wire(arguments, where), "choices": arguments}
    if levels < 1:
        raise DesignError(f"{where} nests deeper than the {NESTING_LEVELS} levels that DynamoDB stores")
    if isinstance(core, type) and issubclass(core, msgspec.Struct):
        return _plan_struct(core, where, entity, name, levels, above)
    if core in (list, dict, tuple, set, frozenset):
        raise DesignError(f"{where}: say what is in the {core.__name__}, such as {core.__name__}[{_EXAMPLES[core]}]")
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
        raise DesignError(f"{where}: {core} could not be told apart when read; use one type, or one field for each")
    raise DesignError(
        f"{where}: {core!r} cannot be stored; use str, int, Decimal, float, bool, bytes, UUID, Seconds, Milliseconds, "
        "date, a Literal, an Enum, a msgspec.Struct, or a list, dict or set of these"
    )


def _plan_struct(core: Any, where: str, entity: str, name: str, levels: int, above: tuple[Any, ...]) -> dict[str, Any]:
    if core in above:
        raise DesignError(f"{where}: {core.__name__} contains itself, and nothing says how deep")
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
    # Nothing can be left out of a list without moving the rest, nor out of a map without losing the key.
    return replace(element, none_as="null") if element.optional else element


_ROLES = {_VERSION: "is_version", _EXPIRES: "is_expiry", _COUNTER: "is_counter", KeyOnly: "key_only"}
_EXAMPLES = {list: "str", set: "str", frozenset: "str", tuple: "str, ...", dict: "str, int"}


def _check_plan(plan: FieldPlan, has_role: bool, has_limits: bool) -> None:
    where = plan.where
    if plan.kind is Kind.TIME and plan.precision is None:
        raise DesignError(f"{where}: say how precise the time is: Seconds or Milliseconds instead of datetime")
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
    if has_limits != (plan.kind is Kind.DECIMAL and (plan.ge, plan.le) != (None, None)):
        raise DesignError(f"{where}: Limits are for Decimal, and Meta for everything else")


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
            _written(plan, default)
        except _Refused as refused:
            raise DesignError(f"{plan.where}: the default {default!r} is not allowed: {refused}") from None


# --- one value -------------------------------------------------------------------------------------------------------


class _Refused(Exception):
    """Why a value is not allowed."""


def encode_value(plan: FieldPlan, value: Any) -> WireValue:
    """A value as it is sent, or InvalidValue; what is never stored (None that is left out, no elements) is refused."""
    wire = stored_value(plan, value)
    if wire is None:
        raise InvalidValue(plan.entity, plan.name, f"{shown(value)} is left out of the row, so it has no stored form")
    return wire


def stored_value(plan: FieldPlan, value: Any) -> WireValue | None:
    """A value as it is stored, None where the attribute is left out, or InvalidValue."""
    try:
        return _written(plan, value)
    except _Refused as refused:
        raise InvalidValue(plan.entity, plan.name, str(refused)) from None


def encode_element(plan: FieldPlan, value: Any) -> WireValue:
    """An element of a set or list, or a part of a text, as it is sent; InvalidValue if it could not be in there."""
    try:
        if plan.kind is Kind.TEXT:
            return {"S": _valid_text(value)}
        if plan.element is None or plan.kind is Kind.MAP:
            raise _Refused("it has no elements")
        return _written_element(plan.element, value)
    except _Refused as refused:
        raise InvalidValue(plan.entity, plan.name, str(refused)) from None


def written_time(value: datetime, precision: Precision) -> str:
    """An instant as it is stored: UTC, cut to the precision; ValueError if it has no time zone."""
    if value.tzinfo is not UTC:
        if value.utcoffset() is None:
            raise ValueError("a time needs a time zone")
        try:
            value = value.astimezone(UTC)
        except OverflowError:
            raise ValueError("the time is outside the years 1 to 9999 in UTC") from None
    if precision == "seconds":
        return value.isoformat()[:19] + "Z"
    return value.isoformat(timespec="milliseconds")[:23] + "Z"


def _written(plan: FieldPlan, value: Any) -> WireValue | None:
    if value is None:
        if plan.optional or plan.kind is Kind.ANY:
            return {"NULL": True} if plan.none_as == "null" or plan.kind is Kind.ANY else None
        raise _Refused("None is not allowed")
    return _WRITERS[plan.kind](plan, value)


def _written_element(plan: FieldPlan, value: Any) -> WireValue:
    wire = _written(plan, value)
    if wire is None:
        raise _Refused("an empty set cannot be inside a list or map")
    return wire


def _expected(plan: FieldPlan, value: Any) -> _Refused:
    name = getattr(plan.core, "__name__", str(plan.core))
    return _Refused(f"expected {name}, got {type(value).__name__} {shown(value)}")


def _valid_text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Refused(f"expected text, got {type(value).__name__} {shown(value)}")
    # A plain str, so that nothing downstream meets a subclass (of an Enum, say).
    text = str.__str__(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _Refused("the text is not valid Unicode: it holds half of a surrogate pair") from None
    return text


def _check_length(plan: FieldPlan, length: int, of: str) -> None:
    if plan.min_length is not None and length < plan.min_length:
        raise _Refused(f"{length} {of}, fewer than {plan.min_length}")
    if plan.max_length is not None and length > plan.max_length:
        raise _Refused(f"{length} {of}, more than {plan.max_length}")


def limits_broken(plan: FieldPlan, value: Any) -> str | None:
    """Which bound of its field a number breaks, in words."""
    if plan.ge is not None and not value >= plan.ge:
        return f"{shown(value)} is less than {plan.ge}"
    if plan.gt is not None and not value > plan.gt:
        return f"{shown(value)} is not more than {plan.gt}"
    if plan.le is not None and not value <= plan.le:
        return f"{shown(value)} is more than {plan.le}"
    if plan.lt is not None and not value < plan.lt:
        return f"{shown(value)} is not less than {plan.lt}"
    if plan.multiple_of is not None and value % plan.multiple_of:
        return f"{shown(value)} is not a multiple of {plan.multiple_of}"
    return None


def shown(value: Any, length: int = 100) -> str:
    """A value for a message: not too long, and whatever it is."""
    try:
        return f"{value!r:.{length}}"
    except Exception as error:  # of a number with thousands of digits, say
        return f"({error})"


def _check_bounds(plan: FieldPlan, value: Any) -> None:
    if broken := limits_broken(plan, value):
        raise _Refused(broken)


def _number(text: str) -> WireValue:
    try:
        return {"N": canonical_number(text)}
    except DynamoError as error:
        raise _Refused(f"{text:.100}: {error.message}") from None


def _write_text(plan: FieldPlan, value: Any) -> WireValue:
    if not isinstance(value, str):
        raise _expected(plan, value)
    text = _valid_text(value)
    _check_length(plan, len(text), "characters")
    if plan.pattern is not None and not re.search(plan.pattern, text):
        raise _Refused(f"{shown(text)} does not match {plan.pattern!r}")
    return {"S": text}


def _write_integer(plan: FieldPlan, value: Any) -> WireValue:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _expected(plan, value)
    _check_bounds(plan, value)
    try:
        return _number(int.__repr__(value))
    except ValueError:  # Python itself does not write whole numbers this long
        raise _Refused("a number has at most 38 digits") from None


def _write_decimal(plan: FieldPlan, value: Any) -> WireValue:
    if not isinstance(value, Decimal):
        raise _expected(plan, value)
    if not value.is_finite():
        raise _Refused(f"{value} is not a number that can be stored")
    _check_bounds(plan, value)
    return _number(str(value))


def _write_float(plan: FieldPlan, value: Any) -> WireValue:
    if not isinstance(value, float):
        if not isinstance(value, int) or isinstance(value, bool) or abs(value) > 2**53:
            raise _expected(plan, value)
        value = float(value)
    if value - value != 0:
        raise _Refused(f"{value} is not a number that can be stored")
    _check_bounds(plan, value)
    return _number(float.__repr__(value))


def _write_boolean(plan: FieldPlan, value: Any) -> WireValue:
    if value is not True and value is not False:
        raise _expected(plan, value)
    return {"BOOL": value}


def _write_bytes(plan: FieldPlan, value: Any) -> WireValue:
    if not isinstance(value, bytes):
        raise _expected(plan, value)
    _check_length(plan, len(value), "bytes")
    return {"B": b2a_base64(value, newline=False).decode()}


def _write_uuid(plan: FieldPlan, value: Any) -> WireValue:
    if not isinstance(value, UUID):
        raise _expected(plan, value)
    return {"S": str(value)}


def _write_time(plan: FieldPlan, value: Any) -> WireValue:
    if not isinstance(value, datetime):
        raise _expected(plan, value)
    assert plan.precision is not None
    try:
        return {"S": written_time(value, plan.precision)}
    except ValueError as error:
        raise _Refused(str(error)) from None


def _write_date(plan: FieldPlan, value: Any) -> WireValue:
    if not isinstance(value, date) or isinstance(value, datetime):
        raise _expected(plan, value)
    return {"S": value.isoformat()}


def _write_literal(plan: FieldPlan, value: Any) -> WireValue:
    # True == 1, so equality alone would let a bool pass for a number.
    if isinstance(value, str if plan.wire == "S" else int) and not isinstance(value, bool) and value in plan.choices:
        return {plan.wire: str.__str__(value) if plan.wire == "S" else int.__repr__(value)}
    raise _Refused(f"{shown(value)} is none of {', '.join(map(repr, plan.choices))}")


def _write_enum(plan: FieldPlan, value: Any) -> WireValue:
    if not isinstance(value, plan.core):
        raise _expected(plan, value)
    return {plan.wire: value.value if plan.wire == "S" else str(value.value)}


def _write_list(plan: FieldPlan, value: Any) -> WireValue:
    if not isinstance(value, get_origin(plan.core)):
        raise _expected(plan, value)
    _check_length(plan, len(value), "elements")
    assert plan.element is not None
    return {"L": [_inside(plan.element, each, f"[{position}]") for position, each in enumerate(value)]}


def _write_map(plan: FieldPlan, value: Any) -> WireValue:
    if not isinstance(value, dict):
        raise _expected(plan, value)
    _check_length(plan, len(value), "entries")
    assert plan.element is not None
    assert plan.map_key is not None
    written = {}
    for key, each in value.items():
        name = _inside(plan.map_key, key, f" key {shown(key, 40)}")["S"]
        if not name:
            raise _Refused("a map cannot have an empty key")
        written[name] = _inside(plan.element, each, f"[{shown(key, 40)}]")
    return {"M": written}


def _write_struct(plan: FieldPlan, value: Any) -> WireValue:
    # Not a subclass either, whose further members would be lost.
    if type(value) is not plan.core:
        raise _expected(plan, value)
    written = {}
    for name, member in plan.members.items():
        try:
            wire = _written(member, getattr(value, name))
        except _Refused as refused:
            raise _Refused(_placed(f".{name}", refused)) from None
        if wire is not None:
            written[member.attribute] = wire
    return {"M": written}


def _write_set(plan: FieldPlan, value: Any) -> WireValue | None:
    if not isinstance(value, set | frozenset):
        raise _expected(plan, value)
    _check_length(plan, len(value), "elements")
    if not value:
        return None
    assert plan.element is not None
    # Times that differ only beyond their precision are one element.
    texts = {_inside(plan.element, each, f" element {shown(each, 40)}")[plan.element.wire] for each in value}
    return {plan.wire: sorted(texts)}


def _inside(plan: FieldPlan, value: Any, place: str) -> WireValue:
    try:
        return _written_element(plan, value)
    except _Refused as refused:
        raise _Refused(_placed(place, refused)) from None


def _placed(place: str, refused: _Refused) -> str:
    reason = str(refused)
    return f"{place}{reason}" if reason.startswith((".", "[", " ")) else f"{place}: {reason}"


def _write_any(plan: FieldPlan, value: Any) -> WireValue:
    return _written_any(value, plan.remaining_levels)


def _written_any(value: Any, levels: int) -> WireValue:
    if value is None:
        return {"NULL": True}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, str):
        return {"S": _valid_text(value)}
    if isinstance(value, float):
        if not (value.is_integer() and abs(value) < ANY_WHOLE_NUMBERS):
            return _write_float(_ANY_FLOAT, value)
        # Read back as a whole number, so every digit must be there to be equal.
        value = int(value)
    if isinstance(value, int):
        return _write_integer(_ANY_WHOLE_NUMBER, value)
    if isinstance(value, list | dict) and levels < 1:
        raise _Refused(f"it nests deeper than the {NESTING_LEVELS} levels that DynamoDB stores")
    if isinstance(value, list):
        return {"L": [_written_any(each, levels - 1) for each in value]}
    if isinstance(value, dict):
        written = {}
        for key, each in value.items():
            name = _valid_text(key)
            if not name:
                raise _Refused("a map cannot have an empty key")
            written[name] = _written_any(each, levels - 1)
        return {"M": written}
    raise _Refused(f"{type(value).__name__} {shown(value)} is not None, bool, int, float, str, list or dict")


# Where anything may be, numbers with a fraction or more digits are read as floats.
ANY_WHOLE_NUMBERS = 10**NUMBER_DIGITS
_ANY_WHOLE_NUMBER = replace(_plan(int, "", "any", 0, ()), gt=-ANY_WHOLE_NUMBERS, lt=ANY_WHOLE_NUMBERS)
_ANY_FLOAT = _plan(float, "", "any", 0, ())

_WRITERS: dict[Kind, Callable[[FieldPlan, Any], WireValue | None]] = {
    Kind.TEXT: _write_text,
    Kind.INTEGER: _write_integer,
    Kind.DECIMAL: _write_decimal,
    Kind.FLOAT: _write_float,
    Kind.BOOLEAN: _write_boolean,
    Kind.BYTES: _write_bytes,
    Kind.UUID: _write_uuid,
    Kind.TIME: _write_time,
    Kind.DATE: _write_date,
    Kind.LITERAL: _write_literal,
    Kind.ENUM: _write_enum,
    Kind.LIST: _write_list,
    Kind.MAP: _write_map,
    Kind.STRUCT: _write_struct,
    Kind.SET: _write_set,
    Kind.ANY: _write_any,
}

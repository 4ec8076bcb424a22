"""JSON bodies, taken exactly as they are declared: all that is wrong with one is said at once."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, Generic, NoReturn, TypeVar, dataclass_transform

import msgspec
from litestar.connection import ASGIConnection
from litestar.dto import AbstractDTO, DTOConfig
from litestar.dto.data_structures import DTOFieldDefinition
from litestar.exceptions import ValidationException
from litestar.handlers import BaseRouteHandler
from litestar.openapi.spec import Reference, Schema
from litestar.types.serialization import LitestarEncodableType
from litestar.typing import FieldDefinition
from msgspec import UNSET, Meta, UnsetType

from potluck.people.errors import InvalidFields, WrongField
from potluck.web.declarations import Amount, Holds, Says, shape_of
from potluck.web.errors import BodyNotJson, WrongMediaType
from potluck.web.parameters import check_parameters, parameters_of
from potluck.web.shapes import (
    Many,
    Names,
    Nullable,
    OneOf,
    Record,
    Shape,
    Written,
    words_of,
)

__all__ = [
    "UNSET",
    "Amount",
    "Body",
    "BodyNotJson",
    "Holds",
    "Meta",
    "Says",
    "StrictBody",
    "UnsetType",
    "WrongMediaType",
    "check_parameters",
    "decode",
    "wrong_parameters",
]

T = TypeVar("T")

NOT_JSON = "The body must be JSON, in UTF-8"
NOT_AS_JSON = "The body must be sent as application/json, in UTF-8 and without a content encoding"

# A body can be wrong in as many places as it has bytes; nobody reads further than this.
MOST_ERRORS = 100

# Names of fields that do not exist come from the caller; as much of them as one finds them by is given back.
LONGEST_NAME = 100

# No whole number with more digits is in any bounds, and making one of a million digits takes long.
LONGEST_WHOLE = 20

SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

MISSING = re.compile(r"Missing required \w+ parameter '([^']+)'")

JSON_TYPE = re.compile(r"application/(?:json|[a-z0-9!#$&^_.-]+\+json)")
UTF_8 = {"utf-8", "utf8"}


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Body(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True, frozen=True):
    """What an app declares a request's body with; in JSON its fields are in camelCase."""


def decode(kind: type[T], raw: bytes) -> T:
    """The body as declared; BodyNotJson, or InvalidFields with everything that is wrong."""
    plan = _plan_of(kind)
    try:
        value: T = plan.decoder.decode(raw)
        tree = _parsed(raw, _once)
    except (msgspec.DecodeError, ValueError, RecursionError):
        _refuse(plan.shape, raw)
    if not plan.shape.precise and any(_wrong(plan.shape, tree, imprecise_only=True)):
        _refuse(plan.shape, raw)
    return value


@dataclass(frozen=True, slots=True)
class _Plan:
    decoder: msgspec.json.Decoder[Any]
    shape: Shape


def _plan_of(kind: Any) -> _Plan:
    return _planned(kind)


@cache
def _planned(kind: Any) -> _Plan:
    return _Plan(msgspec.json.Decoder(kind), shape_of(kind))


class _GivenTwice(ValueError):
    pass


class _Repeating(dict[str, Any]):
    """An object in which names came more than once, and which."""

    repeated: frozenset[str]


def _refuse(shape: Shape, raw: bytes) -> NoReturn:
    try:
        tree = _parsed(raw, _marked)
    except (ValueError, RecursionError):
        raise BodyNotJson(NOT_JSON) from None
    if not shape.takes(tree):
        raise InvalidFields(WrongField("body", "The body must be a JSON object"))
    wrong = tuple(islice(_wrong(shape, tree), MOST_ERRORS))
    # The decoder has refused it, so it is wrong even if the fields do not say where.
    raise InvalidFields(*wrong or (WrongField("body", "The body is not as it was described"),))


# Strictly JSON ------------------------------------------------------------------------------------------------------


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _GivenTwice
    return made


def _marked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    seen: set[str] = set()
    repeating = _Repeating(made)
    repeating.repeated = frozenset(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
    return repeating


@cache
def _reader(pairs: Any) -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=pairs, parse_int=_whole, parse_float=Written, parse_constant=_no_number)


def _parsed(raw: bytes, pairs: Any) -> Any:
    """The JSON as Python has it, numbers that Python would change as they were written; ValueError if it is none."""
    text = raw.decode()
    tree = _reader(pairs).decode(text)
    if SURROGATE.search(text):
        # Half a pair stands for no character, and could not be written anywhere.
        json.dumps(tree, ensure_ascii=False).encode()
    return tree


def _whole(digits: str) -> int | Written:
    return int(digits) if len(digits) <= LONGEST_WHOLE else Written(digits)


def _no_number(name: str) -> NoReturn:
    raise ValueError


# Everything that is wrong -------------------------------------------------------------------------------------------


def _wrong(
    shape: Shape, value: Any, path: str = "", label: str = "", *, imprecise_only: bool = False
) -> Iterator[WrongField]:
    """What is wrong with a value, in the order of the declaration; unknown fields last."""
    if isinstance(shape, Nullable):
        if value is None:
            return
        shape = shape.inner
    if imprecise_only and shape.precise:
        return
    if not shape.takes(value):
        yield WrongField(path or "body", shape.sentence(value) or f"{label} {shape.words}")
        return
    whole = True
    for each in _wrong_within(shape, value, path, label, imprecise_only):
        whole = False
        yield each
    if whole and shape.holds is not None:
        for each in shape.holds(value):
            message = each.message or shape.sentence(value) or f"{label} {shape.words}"
            yield WrongField(f"{path}{each.field}" or "body", message)


def _wrong_within(shape: Shape, value: Any, path: str, label: str, imprecise_only: bool) -> Iterator[WrongField]:
    match shape:
        case Record():
            yield from _wrong_fields(shape, value, path, imprecise_only)
        case OneOf():
            tag = value.get(shape.tag_field)
            if shape.tag_field not in value:
                yield _missing(shape.choice, shape.tag_field, path)
            elif not shape.choice.takes(tag):
                yield from _wrong(shape.choice, tag, _inside(path, shape.tag_field), words_of(shape.tag_field))
            else:
                yield from _wrong_fields(shape.records[tag], value, path, imprecise_only)
        case Many():
            entry = f"Each entry of {label[:1].lower()}{label[1:]}"
            for index, each in enumerate(value):
                inner = shape.each[index] if shape.item is None else shape.item
                yield from _wrong(inner, each, f"{path}[{index}]", entry, imprecise_only=imprecise_only)
        case Names():
            yield from _repeated(value, path)
            entry = f"{label[:1].lower()}{label[1:]}"
            for name, each in value.items():
                inside = _inside(path, name)
                yield from _wrong(shape.name, name, inside, f"Each name in {entry}", imprecise_only=imprecise_only)
                yield from _wrong(shape.value, each, inside, f"Each entry of {entry}", imprecise_only=imprecise_only)


def _wrong_fields(record: Record, value: dict[str, Any], path: str, imprecise_only: bool) -> Iterator[WrongField]:
    yield from _repeated(value, path)
    for name, field in record.fields.items():
        if name in value:
            inside = _inside(path, name)
            yield from _wrong(field.shape, value[name], inside, words_of(name), imprecise_only=imprecise_only)
        elif field.required:
            yield _missing(field.shape, name, path)
    for name, given in value.items():
        if name == record.tag_field:
            if given != record.tag or type(given) is not type(record.tag):
                yield WrongField(_inside(path, name), f"{words_of(name)} must be {record.tag}")
        elif name not in record.fields:
            yield WrongField(_inside(path, name), "There is no such field")


def _missing(shape: Shape, name: str, path: str) -> WrongField:
    return WrongField(_inside(path, name), shape.says or f"{words_of(name)} is missing")


def _repeated(value: dict[str, Any], path: str) -> Iterator[WrongField]:
    if isinstance(value, _Repeating):
        for name in value:
            if name in value.repeated:
                yield WrongField(_inside(path, name), "This field is given more than once")


def _inside(path: str, name: str) -> str:
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME]}…"
    return f"{path}.{name}" if path else name


# For Litestar -------------------------------------------------------------------------------------------------------


class StrictBody(AbstractDTO[T], Generic[T]):
    """Set once as the `dto` of an application, it decodes the `data` of every handler that declares a Body."""

    config = DTOConfig()
    model_type = Body  # type: ignore[assignment]

    _kinds: dict[str, Any] = {}  # noqa: RUF012 - by handler, as the superclass keeps its own

    @classmethod
    def create_for_field_definition(
        cls, field_definition: FieldDefinition, handler_id: str, backend_cls: Any = None
    ) -> None:
        if field_definition.name == "data":
            cls._kinds[handler_id] = field_definition.annotation
            if is_body(field_definition.annotation):
                # What cannot be decoded is known before the first request.
                _plan_of(field_definition.annotation)

    @classmethod
    def create_openapi_schema(
        cls, field_definition: FieldDefinition, handler_id: str, schema_creator: Any
    ) -> Reference | Schema:
        found: Reference | Schema = schema_creator.for_field_definition(field_definition)
        return found

    @classmethod
    def generate_field_definitions(cls, model_type: type[Any]) -> Iterator[DTOFieldDefinition]:  # type: ignore[override]
        return iter(())

    @classmethod
    def detect_nested_field(cls, field_definition: FieldDefinition) -> bool:
        return False

    def decode_bytes(self, value: bytes) -> Any:
        kind = self._kinds[self.asgi_connection.route_handler.handler_id]
        if not is_body(kind):
            return msgspec.json.decode(value)
        check_content_type(self.asgi_connection)
        return decode(kind, value)

    def decode_builtins(self, value: Any) -> Any:
        return value

    def data_to_encodable_type(self, data: Any) -> LitestarEncodableType:
        return data  # type: ignore[no-any-return]


def is_body(kind: Any) -> bool:
    """Whether it is a Body, or one of several."""
    members = getattr(kind, "__args__", None) or (kind,)
    return all(isinstance(member, type) and issubclass(member, Body) for member in members)


def check_content_type(connection: ASGIConnection[Any, Any, Any, Any]) -> None:
    kind, parameters = connection.content_type if hasattr(connection, "content_type") else ("", {})
    encoding = connection.headers.get("content-encoding", "identity").strip().lower()
    charset = parameters.get("charset", "utf-8").lower()
    if not JSON_TYPE.fullmatch(kind.lower()) or charset not in UTF_8 or encoding not in ("identity", ""):
        raise WrongMediaType(NOT_AS_JSON)


def wrong_parameters(error: ValidationException, handler: BaseRouteHandler) -> InvalidFields | BodyNotJson:
    """What Litestar found wrong, in our words."""
    if missing := MISSING.match(error.detail):
        return InvalidFields(WrongField(missing[1], f"{missing[1]} is missing"))
    known = {each.argument: each for each in parameters_of(handler)}
    extra = error.extra if isinstance(error.extra, list) else []
    keys = [str(each.get("key", "")).partition(".")[0] for each in extra if isinstance(each, dict)]
    if "data" in keys:
        # An empty body: the decoder is never asked.
        return BodyNotJson(NOT_JSON)
    wrong = [WrongField(known[key].name, known[key].words) for key in keys if key in known]
    return InvalidFields(*wrong or (WrongField("request", "The request has parameters that cannot be read"),))

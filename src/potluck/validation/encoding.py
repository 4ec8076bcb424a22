"""Encodes JSON as in every response: times are in UTC and to the millisecond, `2026-11-16T10:00:00.000Z`, and decimal
numbers are numbers.

msgspec writes as many digits as a time happens to need, so times are formatted first. A struct whose types cannot hold
times is encoded unchanged.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import fields, replace

SECONDS = len("2026-11-16T10:00:00")
MILLISECONDS = len("2026-11-16T10:00:00.000")

Writer = Callable[[Any], Any]


def _plain(value: Any) -> str:
    """A text of a class of its own, such as one that pages translate: as it is, in English."""
    if isinstance(value, str):
        return str.__str__(value)
    raise NotImplementedError(f"{type(value).__name__} cannot be encoded as JSON")


# A decimal number is sent as a JSON number with every digit.
_encode = msgspec.json.Encoder(decimal_format="number", enc_hook=_plain).encode


def encode(value: Any) -> bytes:
    return _encode(WRITERS[type(value)](value))


def _time(value: datetime) -> str:
    # Several times faster than isoformat.
    text: str = msgspec.to_builtins(value if value.tzinfo is UTC else value.astimezone(UTC))
    return text[:SECONDS] + (".000Z" if text[SECONDS] == "Z" else text[SECONDS:MILLISECONDS] + "Z")


def _same(value: Any) -> Any:
    return value


def _each(values: Any) -> list[Any]:
    return [WRITERS[type(value)](value) for value in values]


def _each_named(values: dict[Any, Any]) -> dict[Any, Any]:
    return {name: WRITERS[type(value)](value) for name, value in values.items()}


class _Writers(dict[type[Any], Writer]):
    """The function that formats the times in a value, by the value's type."""

    def __missing__(self, kind: type[Any]) -> Writer:
        writer = self[kind] = _struct_writer(kind) if issubclass(kind, Struct) else _same
        return writer


WRITERS = _Writers({datetime: _time, list: _each, tuple: _each, dict: _each_named})


def _struct_writer(kind: type[Struct]) -> Writer:
    names = [field.name for field in fields(kind) if _may_hold_times(field.type)]
    if not names:
        return _same

    def written(value: Any) -> Any:
        # Not of the field's type, which does not matter: the struct is only encoded.
        return replace(value, **{name: WRITERS[type(held)](held) for name in names if (held := getattr(value, name))})

    return written


def _may_hold_times(kind: Any, within: frozenset[type[Struct]] = frozenset()) -> bool:
    parts = get_args(kind)
    if parts:
        return any(_may_hold_times(part, within) for part in parts if part is not Ellipsis)
    if isinstance(kind, type) and issubclass(kind, Struct):
        return kind not in within and any(_may_hold_times(field.type, within | {kind}) for field in fields(kind))
    return kind is Any or isinstance(kind, TypeVar) or kind in (datetime, object, list, tuple, dict)

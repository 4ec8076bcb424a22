"""Values whose text always has the same form: booleans, UUIDs, times and dates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from potluck.table.errors import InvalidValue
from potluck.table.fields import FieldPlan, written_time
from potluck.table.keys.forms import KeyEncoding, discrete, expected_other, misspelt

DATE = "[0-9]{4}(?:-[0-9]{2}){2}"


def boolean_form(field: FieldPlan, spec: str) -> KeyEncoding:
    if spec:
        raise misspelt(field, spec, f"{{{field.name}}}")

    def encode(value: bool) -> str:
        if value is True:
            return "true"
        if value is False:
            return "false"
        raise expected_other(field, value)

    def floor(bound: Any) -> bool:
        encode(bound)
        return bool(bound)

    def step(value: bool, by: int) -> bool | None:
        return None if value is (by > 0) else not value

    return KeyEncoding(
        name="boolean",
        encode=encode,
        decode=lambda text: text == "true",
        max_bytes=5,
        pattern="true|false",
        prefix_free=True,
        span=discrete(encode, floor, step),
    )


def uuid_form(field: FieldPlan, spec: str) -> KeyEncoding:
    if spec not in ("", "hex"):
        raise misspelt(field, spec, f"{{{field.name}}}, or {{{field.name}:hex}} without dashes")
    write: Callable[[UUID], str] = (lambda value: value.hex) if spec else str

    def encode(value: UUID) -> str:
        if not isinstance(value, UUID):
            raise expected_other(field, value)
        return write(value)

    def floor(bound: Any) -> Any:
        encode(bound)
        return bound

    def step(value: UUID, by: int) -> UUID | None:
        return UUID(int=value.int + by) if 0 <= value.int + by < 2**128 else None

    digit = "[0-9a-f]"
    return KeyEncoding(
        name="UUID without dashes" if spec else "UUID",
        encode=encode,
        decode=UUID,
        max_bytes=32 if spec else 36,
        pattern=f"{digit}{{32}}" if spec else f"{digit}{{8}}(?:-{digit}{{4}}){{3}}-{digit}{{12}}",
        prefix_free=True,
        stored_text=not spec,
        span=discrete(encode, floor, step),
    )


def time_form(field: FieldPlan, spec: str) -> KeyEncoding:
    if spec:
        raise misspelt(field, spec, f"{{{field.name}}}")
    precision = field.precision
    assert precision is not None
    whole_seconds = precision == "seconds"
    unit = timedelta(seconds=1) if whole_seconds else timedelta(milliseconds=1)

    def encode(value: datetime) -> str:
        if not isinstance(value, datetime):
            raise expected_other(field, value)
        try:
            return written_time(value, precision)
        except ValueError as error:
            raise InvalidValue(field.entity, field.name, str(error)) from None

    def floor(bound: Any) -> datetime:
        return datetime.fromisoformat(encode(bound))

    return KeyEncoding(
        name=f"time in {precision}",
        encode=encode,
        decode=datetime.fromisoformat,
        max_bytes=20 if whole_seconds else 24,
        pattern=f"{DATE}T[0-9]{{2}}(?::[0-9]{{2}}){{2}}{'' if whole_seconds else '[.][0-9]{3}'}Z",
        prefix_free=True,
        stored_text=True,
        span=discrete(encode, floor, partial(_moved, unit)),
    )


def date_form(field: FieldPlan, spec: str) -> KeyEncoding:
    if spec:
        raise misspelt(field, spec, f"{{{field.name}}}")

    def encode(value: date) -> str:
        if not isinstance(value, date) or isinstance(value, datetime):
            raise expected_other(field, value)
        return value.isoformat()

    def floor(bound: Any) -> date:
        return date.fromisoformat(encode(bound))

    return KeyEncoding(
        name="date",
        encode=encode,
        decode=date.fromisoformat,
        max_bytes=10,
        pattern=DATE,
        prefix_free=True,
        stored_text=True,
        span=discrete(encode, floor, partial(_moved, timedelta(days=1))),
    )


def _moved(unit: timedelta, value: Any, by: int) -> Any:
    try:
        return value + unit * by
    except OverflowError:
        return None

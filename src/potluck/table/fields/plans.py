"""The plan of a field, compiled from its declaration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

import msgspec

from potluck.dynamo.limits import NESTING_LEVELS

Precision = Literal["seconds", "milliseconds"]


@dataclass(frozen=True)
class Unique:
    """No two rows share this value: a guard row with this key reserves it."""

    partition: str
    sort: str | None = None


@dataclass(frozen=True)
class Limits:
    """The bounds of a Decimal, which Meta does not support, and how many decimal places it may have."""

    ge: Decimal | int | None = None
    le: Decimal | int | None = None
    places: int | None = None


@dataclass(frozen=True)
class InKeys:
    """How values of this field are written in keys."""

    encode: Callable[[Any], str]
    decode: Callable[[str], Any]
    max_bytes: int


class Kind(Enum):
    """The type of a value that is not None."""

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
    """The plan of a field, or of a value inside one."""

    entity: str
    name: str
    attribute: str
    annotation: Any
    type: Any  # the annotation without the metadata of Annotated
    core: Any  # the same, without None
    kind: Kind
    wire: str  # the DynamoDB type: S, N, B, BOOL, SS, NS, BS, L, M; "" if it depends on the value
    optional: bool = False
    none_as: Literal["null", "left out"] = "left out"
    required: bool = True
    default: Any = msgspec.NODEFAULT
    default_factory: Any = msgspec.NODEFAULT
    unwritten: dict[str, Any] | None = None  # the default as it would be stored, if it is left out of the row
    precision: Precision | None = None
    min_length: int | None = None
    max_length: int | None = None
    ge: Any = None
    gt: Any = None
    le: Any = None
    lt: Any = None
    multiple_of: Any = None
    places: int | None = None  # of a Decimal
    pattern: str | None = None
    choices: tuple[Any, ...] = ()  # the values of a Literal or the members of an Enum
    is_version: bool = False
    is_expiry: bool = False
    is_counter: bool = False
    key_only: bool = False
    unique: Unique | None = None
    in_keys: InKeys | None = None
    element: FieldPlan | None = None  # the elements of a list or set, or the values of a map
    map_key: FieldPlan | None = None
    members: Mapping[str, FieldPlan] = field(default_factory=dict)  # of a struct
    remaining_levels: int = NESTING_LEVELS - 1  # how deep a value here may still nest

    @property
    def as_compared(self) -> FieldPlan:
        """For values that are only compared: an old row may have more decimal places than are allowed today."""
        return self if self.places is None else replace(self, places=None)

    @property
    def where(self) -> str:
        return f"{self.entity}.{self.name}"

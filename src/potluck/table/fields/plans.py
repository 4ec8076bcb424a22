"""What is known of a field: the plan that a declaration becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

import msgspec

from potluck.dynamo.limits import NESTING_LEVELS

__all__ = ["FieldPlan", "InKeys", "Kind", "Limits", "Precision", "Unique"]

Precision = Literal["seconds", "milliseconds"]


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
    unwritten: dict[str, Any] | None = None  # the default as it would be stored, where a row has nothing instead
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
    element: FieldPlan | None = None  # of a list or set its elements, of a map its values
    map_key: FieldPlan | None = None
    members: Mapping[str, FieldPlan] = field(default_factory=dict)  # of a struct
    remaining_levels: int = NESTING_LEVELS - 1  # how deep a value here may still nest

    @property
    def where(self) -> str:
        return f"{self.entity}.{self.name}"

"""The table itself: its key attributes, its indexes, and the requests that create it."""

from __future__ import annotations

import re
from binascii import a2b_base64
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from potluck.table.errors import DesignError

if TYPE_CHECKING:
    from potluck.table.entity import EntityPlan
    from potluck.table.patterns import Pattern

RowName = tuple[str, ...]
"""A table's name and the text of each part of a primary key."""


class Request(NamedTuple):
    """One call of the DynamoDB API, not yet sent; any engine accepts its body."""

    operation: str
    body: dict[str, Any]

    def for_boto3(self) -> dict[str, Any]:
        """The body as boto3's client takes it: with raw bytes, which boto3 encodes itself."""
        body: dict[str, Any] = _with_bytes(self.body)
        return body


@dataclass(frozen=True, slots=True)
class KeyAttribute:
    """One attribute that a table or an index is keyed by."""

    name: str
    type: Literal["S", "N"] = "S"


def row_name(table: Table, item: Mapping[str, Any]) -> RowName:
    """The identity of an item, in any table; `item` needs no attributes but its key."""
    name = [table.name]
    for attribute in table.key_names:
        # The value of a key attribute is always a single {type: text}.
        name += item[attribute].values()
    return tuple(name)


class Table:
    """A table's design: the entities declared on it, and their access patterns."""

    def __init__(
        self,
        name: str,
        partition: str,
        sort: str | None = None,
        *,
        indexes: Mapping[str, tuple[str, str | None]] | None = None,
        numbers: Collection[str] = (),
        ttl: str | None = None,
        type_attribute: str | None = None,
        names: Literal["camel", "pascal", "as written"] = "camel",
        stream: bool = True,
        accepted: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.partition, self.sort = _key(partition, sort, numbers)
        self.indexes = {index: _key(*keys, numbers) for index, keys in (indexes or {}).items()}
        self.ttl = ttl
        self.type_attribute = type_attribute
        self.names = names
        self.stream = stream
        # Findings that the author accepts: "name: subject" as `potluck design --lint` prints it, and the reason.
        self.accepted = dict(accepted or {})
        self.entities: list[EntityPlan] = []
        self.patterns: list[Pattern] = []
        if not NAME.fullmatch(name):
            raise DesignError(f"{name!r} is not a valid table name: {NAME_IN_WORDS}")
        if names not in RENAMING:
            raise DesignError(f"table {name}: names must be one of {', '.join(map(repr, RENAMING))}, not {names!r}")
        _check_indexes(self)
        _check_attributes(self, numbers)

    def __repr__(self) -> str:
        return f"Table({self.name!r})"

    # Cached because every read uses it.
    @cached_property
    def key_names(self) -> tuple[str, ...]:
        """The attributes of the primary key."""
        return (self.partition.name,) if self.sort is None else (self.partition.name, self.sort.name)

    def index_key_names(self, index: str | None) -> tuple[str, ...]:
        """The attributes that identify one row of the index, or of the table."""
        if index is None:
            return self.key_names
        return tuple(dict.fromkeys((*self.key_names, *(key.name for key in self.indexes[index] if key is not None))))

    def creation(self) -> list[Request]:
        """The requests that create the table, with its indexes and stream, and set its TTL."""
        keys = [self.partition, self.sort, *(key for pair in self.indexes.values() for key in pair)]
        attributes = {key.name: key.type for key in keys if key is not None}
        body: dict[str, Any] = {
            "TableName": self.name,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": type} for name, type in attributes.items()
            ],
            "KeySchema": _schema(self.partition, self.sort),
        }
        if self.stream:
            body["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": STREAM_VIEW}
        if self.indexes:
            body["GlobalSecondaryIndexes"] = [self.index_creation(index) for index in self.indexes]
        requests = [Request("CreateTable", body)]
        if self.ttl is not None:
            specification = {"Enabled": True, "AttributeName": self.ttl}
            requests.append(
                Request("UpdateTimeToLive", {"TableName": self.name, "TimeToLiveSpecification": specification})
            )
        return requests

    def index_creation(self, index: str) -> dict[str, Any]:
        """One index in the form that CreateTable and UpdateTable take."""
        return {
            "IndexName": index,
            "KeySchema": _schema(*self.indexes[index]),
            "Projection": {"ProjectionType": "ALL"},
        }


# Consumers and live updates compare the two images of a change.
STREAM_VIEW = "NEW_AND_OLD_IMAGES"

NAME = re.compile("[A-Za-z0-9_.-]{3,255}")
NAME_IN_WORDS = "it has 3 to 255 letters, digits, dots, dashes, underscores"

# The keywords of an entity's class statement, which no index can be called.
CLASS_KEYWORDS = frozenset({"table", "type", "key", "formerly"})

# How msgspec derives an attribute's name from a field's.
RENAMING: dict[str, str | None] = {"camel": "camel", "pascal": "pascal", "as written": None}


def _with_bytes(part: Any) -> Any:
    if isinstance(part, dict):
        # The value of an attribute that happens to be called B is a dict, not a string.
        if isinstance(part.get("B"), str):
            return {"B": a2b_base64(part["B"])}
        if isinstance(part.get("BS"), list):
            return {"BS": [a2b_base64(encoded) for encoded in part["BS"]]}
        return {name: _with_bytes(value) for name, value in part.items()}
    return [_with_bytes(value) for value in part] if isinstance(part, list) else part


def _check_indexes(table: Table) -> None:
    for index in table.indexes:
        if not NAME.fullmatch(index):
            raise DesignError(f"table {table.name}: {index!r} is not a valid index name: {NAME_IN_WORDS}")
        if index in CLASS_KEYWORDS:
            raise DesignError(
                f"table {table.name}: an index cannot be called {index}, which is another keyword of a class statement"
            )


def _check_attributes(table: Table, numbers: Collection[str]) -> None:
    """Raise a DesignError for an attribute with conflicting roles, or a number that is no key."""
    names: set[str] = set()
    for place, keys in {"the table": (table.partition, table.sort), **table.indexes}.items():
        names |= {key.name for key in keys if key is not None}
        if keys[1] is not None and keys[0].name == keys[1].name:
            raise DesignError(f"table {table.name}: {keys[0].name} is both the partition and the sort key of {place}")
    for attribute, role in ((table.ttl, "the expiry"), (table.type_attribute, "the type of rows")):
        if attribute in names:
            raise DesignError(f"table {table.name}: {attribute} is a key, so it cannot be {role}")
    for number in numbers:
        if number not in names:
            raise DesignError(f"table {table.name}: {number} holds numbers, but is not in a key")
    if table.ttl is not None and table.ttl == table.type_attribute:
        raise DesignError(f"table {table.name}: {table.ttl} cannot be both the type and the expiry of rows")


def _key(partition: str, sort: str | None, numbers: Collection[str]) -> tuple[KeyAttribute, KeyAttribute | None]:
    return _attribute(partition, numbers), None if sort is None else _attribute(sort, numbers)


def _attribute(name: str, numbers: Collection[str]) -> KeyAttribute:
    return KeyAttribute(name, "N" if name in numbers else "S")


def _schema(partition: KeyAttribute, sort: KeyAttribute | None) -> list[dict[str, str]]:
    schema = [{"AttributeName": partition.name, "KeyType": "HASH"}]
    if sort is not None:
        schema.append({"AttributeName": sort.name, "KeyType": "RANGE"})
    return schema

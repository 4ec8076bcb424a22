"""Differences between tables as they are and as they are declared, with what to do about each.

Needs DescribeTable, and DescribeTimeToLive for tables whose rows expire: the service describes expiry nowhere else.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from potluck.engines import DynamoError, Engine
from potluck.table.tables import STREAM_VIEW, Table

CREATE = "run `potluck tables create`"
ANOTHER_TABLE = (
    "it cannot be changed: restore or export this table's rows into a table of the right design, or start with "
    "another POTLUCK_TABLE_PREFIX"
)


class Difference(NamedTuple):
    """One way in which a table is not as it is declared."""

    table: str
    what: str
    to_do: str

    def __str__(self) -> str:
        return f"{self.table}: {self.what}: {self.to_do}"


async def differences(engine: Engine, tables: Sequence[Table]) -> list[Difference]:
    """Every difference, table by table."""
    return [difference for table in tables for difference in await _of(engine, table)]


async def _of(engine: Engine, table: Table) -> list[Difference]:
    try:
        described = (await engine.call("DescribeTable", {"TableName": table.name}))["Table"]
    except DynamoError as error:
        if error.code != "ResourceNotFoundException":
            raise
        return [Difference(table.name, "the table is missing", CREATE)]
    found = [*_keys(table, described), *_indexes(table, described), *_stream(table, described)]
    if table.ttl is not None:
        expiry = await engine.call("DescribeTimeToLive", {"TableName": table.name})
        found += _expiry(table, expiry["TimeToLiveDescription"])
    return [Difference(table.name, what, to_do) for what, to_do in found]


def _keys(table: Table, described: dict[str, Any]) -> Iterator[tuple[str, str]]:
    wanted = table.creation()[0].body
    if described["TableStatus"] != "ACTIVE":
        yield f"its status is {described['TableStatus']}", "wait until it is ACTIVE, and verify again"
    if _schema(described) != _schema(wanted):
        yield f"its key is {_shown(described)}, and should be {_shown(wanted)}", ANOTHER_TABLE
    types = {attribute["AttributeName"]: attribute["AttributeType"] for attribute in wanted["AttributeDefinitions"]}
    for attribute in described["AttributeDefinitions"]:
        name, type = attribute["AttributeName"], attribute["AttributeType"]
        if types.get(name, type) != type:
            yield f"the key attribute {name} has the type {type}, and should have {types[name]}", ANOTHER_TABLE


def _indexes(table: Table, described: dict[str, Any]) -> Iterator[tuple[str, str]]:
    there = {index["IndexName"]: index for index in described.get("GlobalSecondaryIndexes", ())}
    for name in table.indexes:
        wanted, index = table.index_creation(name), there.get(name)
        again = f"delete the index, then {CREATE}"
        if index is None:
            yield f"the index {name} is missing", CREATE
            continue
        if index["IndexStatus"] != "ACTIVE":
            yield f"the index {name} is {index['IndexStatus']}", "wait until it is ACTIVE, and verify again"
        if _schema(index) != _schema(wanted):
            yield f"the key of the index {name} is {_shown(index)}, and should be {_shown(wanted)}", again
        if index["Projection"]["ProjectionType"] != "ALL":
            yield f"the index {name} holds only some attributes ({index['Projection']['ProjectionType']})", again
    for name in sorted(there.keys() - table.indexes.keys()):
        yield f"the index {name} is not used", "delete it: every write of an item in it costs write units"


def _stream(table: Table, described: dict[str, Any]) -> Iterator[tuple[str, str]]:
    stream = described.get("StreamSpecification", {})
    enabled = stream.get("StreamEnabled", False)
    turn_on = f"turn it on with the view {STREAM_VIEW}"
    if table.stream and not enabled:
        yield "it has no stream, so there are no live updates and no background work follows its changes", CREATE
    elif table.stream and stream["StreamViewType"] != STREAM_VIEW:
        yield (
            f"its stream shows {stream['StreamViewType']}, and should show {STREAM_VIEW}",
            f"turn it off, then {turn_on}; the consumers then rebuild what they maintain",
        )
    elif enabled and not table.stream:
        yield "it has a stream that nothing reads", "turn it off"


def _expiry(table: Table, described: dict[str, Any]) -> Iterator[tuple[str, str]]:
    attribute = described.get("AttributeName")
    if described["TimeToLiveStatus"] not in ("ENABLED", "ENABLING"):
        yield f"its rows do not expire by {table.ttl}", CREATE
    elif attribute != table.ttl:
        yield (
            f"its rows expire by {attribute}, and should by {table.ttl}",
            f"turn expiry by {attribute} off, wait an hour, as the service demands, then {CREATE}",
        )


def _schema(of: dict[str, Any]) -> list[tuple[str, str]]:
    return sorted((key["KeyType"], key["AttributeName"]) for key in of["KeySchema"])


def _shown(of: dict[str, Any]) -> str:
    return " and ".join(name for _, name in _schema(of))

"""Reads everything a store tells through the public API, and holds its parts against each other."""

from collections.abc import AsyncIterator
from decimal import Decimal
from itertools import pairwise
from typing import Any

from tests.faults.workload import Database, Item

PAGE_ITEMS = 173


async def pages(database: Database, operation: str, request: dict[str, Any]) -> AsyncIterator[list[Item]]:
    start: dict[str, Any] = {}
    while True:
        answer = await database.call(operation, {**request, **start})
        yield answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


async def everything(database: Database, operation: str, request: dict[str, Any]) -> list[Item]:
    return [item async for page in pages(database, operation, {"Limit": PAGE_ITEMS, **request}) for item in page]


def key_names(schema: list[dict[str, str]]) -> list[str]:
    return [part["AttributeName"] for part in schema]


def comparable(value: dict[str, Any]) -> tuple[str, Any]:
    ((kind, content),) = value.items()
    return kind, Decimal(content) if kind == "N" else content.encode() if kind == "S" else content


def identity(item: Item, names: list[str]) -> tuple[Any, ...]:
    return tuple(comparable(item[name]) for name in names)


async def check_indexes(database: Database, table_name: str) -> dict[tuple[Any, ...], Item]:
    """Every index holds exactly what the items imply, in order; returns the items."""
    table = (await database.call("DescribeTable", {"TableName": table_name}))["Table"]
    table_keys = key_names(table["KeySchema"])
    scanned = await everything(database, "Scan", {"TableName": table_name, "ConsistentRead": True})
    items = {identity(item, table_keys): item for item in scanned}
    assert len(items) == len(scanned), "a scan returned an item twice"
    for index in table.get("GlobalSecondaryIndexes", []) + table.get("LocalSecondaryIndexes", []):
        await check_index(database, table_name, table_keys, index, items)
    return items


async def check_index(
    database: Database,
    table_name: str,
    table_keys: list[str],
    index: dict[str, Any],
    items: dict[tuple[Any, ...], Item],
) -> None:
    name = index["IndexName"]
    index_keys = key_names(index["KeySchema"])
    hash_names = [part["AttributeName"] for part in index["KeySchema"] if part["KeyType"] == "HASH"]
    range_names = [part["AttributeName"] for part in index["KeySchema"] if part["KeyType"] == "RANGE"]
    kept = {*table_keys, *index_keys, *index["Projection"].get("NonKeyAttributes", [])}
    everything_kept = index["Projection"]["ProjectionType"] == "ALL"

    expected = {
        key: item if everything_kept else {attribute: value for attribute, value in item.items() if attribute in kept}
        for key, item in items.items()
        if all(attribute in item for attribute in index_keys)
    }
    scanned = await everything(database, "Scan", {"TableName": table_name, "IndexName": name})
    found = {identity(item, table_keys): item for item in scanned}
    assert len(found) == len(scanned), f"{name} holds an item twice"
    assert found == expected, f"{name} differs from what the items imply"

    partitions: dict[tuple[Any, ...], list[Item]] = {}
    for item in expected.values():
        partitions.setdefault(identity(item, hash_names), []).append(item)
    for members in partitions.values():
        request = {
            "TableName": table_name,
            "IndexName": name,
            "KeyConditionExpression": " AND ".join(f"#{n} = :{n}" for n, _ in enumerate(hash_names)),
            "ExpressionAttributeNames": {f"#{n}": attribute for n, attribute in enumerate(hash_names)},
            "ExpressionAttributeValues": {f":{n}": members[0][attribute] for n, attribute in enumerate(hash_names)},
        }
        queried = await everything(database, "Query", request)
        assert {identity(item, table_keys) for item in queried} == {identity(item, table_keys) for item in members}
        assert len(queried) == len(members)
        sort_keys = [identity(item, range_names) for item in queried]
        assert sort_keys == sorted(sort_keys), f"{name} is out of order"


async def stream_records(database: Database, table_name: str) -> list[dict[str, Any]]:
    """Every record of the table's stream, oldest first; within a shard the sequence numbers must rise."""
    table = (await database.call("DescribeTable", {"TableName": table_name}))["Table"]
    arn = table["LatestStreamArn"]
    shards: list[dict[str, Any]] = []
    request: dict[str, Any] = {"StreamArn": arn}
    while True:
        description = (await database.call("DescribeStream", request))["StreamDescription"]
        shards += description["Shards"]
        if "LastEvaluatedShardId" not in description:
            break
        request["ExclusiveStartShardId"] = description["LastEvaluatedShardId"]
    records: list[dict[str, Any]] = []
    for shard in shards:
        records += await shard_records(database, arn, shard["ShardId"])
    return records


async def shard_records(database: Database, arn: str, shard_id: str) -> list[dict[str, Any]]:
    request = {"StreamArn": arn, "ShardId": shard_id, "ShardIteratorType": "TRIM_HORIZON"}
    iterator = (await database.call("GetShardIterator", request)).get("ShardIterator")
    records: list[dict[str, Any]] = []
    while iterator is not None:
        answer = await database.call("GetRecords", {"ShardIterator": iterator})
        if not answer["Records"]:
            break
        records += answer["Records"]
        iterator = answer.get("NextShardIterator")
    numbers = [int(record["dynamodb"]["SequenceNumber"]) for record in records]
    assert all(a < b for a, b in pairwise(numbers)), "sequence numbers do not rise"
    return records


def check_stream_replays(
    records: list[dict[str, Any]], table_keys: list[str], items: dict[tuple[Any, ...], Item]
) -> None:
    """Each record starts from where the one before left the item, and the last ones leave what is stored."""
    replayed: dict[tuple[Any, ...], Item] = {}
    identifiers = {record["eventID"] for record in records}
    assert len(identifiers) == len(records)
    for record in records:
        change = record["dynamodb"]
        key = identity(change["Keys"], table_keys)
        assert change.get("OldImage") == replayed.get(key), f"a change of {key} is missing before {record}"
        event = {(False, True): "INSERT", (True, True): "MODIFY", (True, False): "REMOVE"}
        assert record["eventName"] == event["OldImage" in change, "NewImage" in change]
        if "NewImage" in change:
            replayed[key] = change["NewImage"]
        else:
            del replayed[key]
    assert replayed == items, "the stream does not lead to what is stored"

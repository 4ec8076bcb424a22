"""Data models of NoSQL Workbench: tables, indexes and sample data."""

import json
from pathlib import Path

from potluck.seeds.contents import Contents, Json, SeedError, SeedItems, created

KEY_TYPES = {"PartitionKey": "HASH", "SortKey": "RANGE"}
INDEXES = ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")


def read_model(file: Path, model: Json) -> Contents:
    contents: Contents = []
    for number, table in enumerate(model["DataModel"], 1):
        try:
            contents.append(created(file, _create(table)))
            contents.append(SeedItems(file, table["TableName"], _items(table)))
        except (KeyError, TypeError, AttributeError) as error:
            raise SeedError(f"{file}: table {number} of the model cannot be read: {error!r}") from error
    return contents


def _create(table: Json) -> Json:
    types: dict[str, str] = {}
    create: Json = {"TableName": table["TableName"], "KeySchema": _keys(table["KeyAttributes"], types)}
    for kind in INDEXES:
        indexes = [_index(index, table["KeyAttributes"], types) for index in table.get(kind) or []]
        if indexes:
            create[kind] = indexes
    create["AttributeDefinitions"] = [
        {"AttributeName": name, "AttributeType": attribute_type} for name, attribute_type in types.items()
    ]
    return create


def _items(table: Json) -> list[Json]:
    """The sample data of the table and of its facets, each of which may have some attributes of an item."""
    parts = [part for owner in (table, *(table.get("TableFacets") or [])) for part in owner.get("TableData") or []]
    keys = [key["AttributeName"] for key in table["KeyAttributes"].values()]
    items: dict[str, Json] = {}
    for part in parts:
        items.setdefault(json.dumps([part.get(name) for name in keys]), {}).update(part)
    return list(items.values())


def _index(index: Json, table_keys: Json, types: dict[str, str]) -> Json:
    # A local index may leave out the partition key, which is that of its table.
    keys = {"PartitionKey": table_keys["PartitionKey"], **index["KeyAttributes"]}
    projection = index.get("Projection") or {"ProjectionType": "ALL"}
    return {"IndexName": index["IndexName"], "KeySchema": _keys(keys, types), "Projection": projection}


def _keys(keys: Json, types: dict[str, str]) -> list[Json]:
    """The key schema; the types of its attributes are added to those that are known."""
    schema = []
    for kind, key_type in KEY_TYPES.items():
        if attribute := keys.get(kind):
            types[attribute["AttributeName"]] = attribute["AttributeType"]
            schema.append({"AttributeName": attribute["AttributeName"], "KeyType": key_type})
    return schema

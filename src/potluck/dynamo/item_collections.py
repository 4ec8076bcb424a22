"""Item collections: the items that share a partition in a table with local indexes."""

from typing import Any

from potluck.dynamo.tables import Table
from potluck.dynamo.values import Item

SIZE_ESTIMATE_GB = [0.0, 1.0]


def metrics(table: Table, key: Item) -> dict[str, Any] | None:
    """The size metrics of an item's collection; None if the table has no local index, and so no collections."""
    if all(index.is_global for index in table.indexes):
        return None
    return {
        "ItemCollectionKey": {table.partition_name: key[table.partition_name]},
        "SizeEstimateRangeGB": SIZE_ESTIMATE_GB,
    }


def collection_metrics(table: Table, key: Item) -> dict[str, Any]:
    collection = metrics(table, key)
    return {"ItemCollectionMetrics": collection} if collection else {}

"""UpdateItem."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.capacity import Consumed
from potluck.dynamo.item_collections import collection_metrics
from potluck.dynamo.storage.rows import ItemRow, Rows
from potluck.dynamo.values import Item
from potluck.dynamo.writes import UpdateWrite

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def update_item(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    write = UpdateWrite(request)
    table = database.table(request["TableName"])
    write.bind(table)
    now = database.clock()

    def work(rows: Rows) -> dict[str, Any]:
        old, new = write.evaluate(rows)
        rows.store(table, write.key, old, new, now, touched=write.touched)
        answer: dict[str, Any] = {}
        wanted = request.get("ReturnValues", "NONE")
        if wanted != "NONE":
            attributes = returned(write, wanted, old, new)
            if attributes:
                answer["Attributes"] = attributes
        asked = request.get("ReturnConsumedCapacity", "NONE")
        if asked != "NONE":
            consumed = Consumed(table.name)
            consumed.write(table, old, new)
            answer["ConsumedCapacity"] = consumed.report(asked)
        if request.get("ReturnItemCollectionMetrics") == "SIZE":
            answer |= collection_metrics(table, write.key_item)
        return answer

    answer: dict[str, Any] = await database.write(work)
    return answer


def returned(write: UpdateWrite, wanted: str, old: ItemRow | None, new: ItemRow | None) -> Item:
    """The attributes asked for: all of them or those the update touched, from before or after it."""
    row = old if wanted.endswith("OLD") else new
    if row is None:
        return {}
    if wanted.startswith("ALL"):
        return row.item
    return write.update.touched(row.item) if write.update else {}

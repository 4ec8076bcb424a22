"""PutItem."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.capacity import Consumed
from potluck.dynamo.item_collections import collection_metrics
from potluck.dynamo.storage.rows import Rows
from potluck.dynamo.writes import Put, Write

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def put_item(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    return await write_one(database, request, Put(request, request["Item"]))


async def write_one(database: "Database", request: dict[str, Any], write: Write) -> dict[str, Any]:
    """Write one item, and answer with the requested values."""
    table = database.table(request["TableName"])
    write.bind(table)
    now = database.clock()

    def work(rows: Rows) -> dict[str, Any]:
        old, new = write.evaluate(rows)
        rows.store(table, write.key, old, new, now, touched=write.touched)
        answer: dict[str, Any] = {}
        wanted = request.get("ReturnValues", "NONE")
        if wanted != "NONE" and (attributes := write.returned(wanted, old, new)):
            answer["Attributes"] = attributes
        asked = request.get("ReturnConsumedCapacity", "NONE")
        if asked != "NONE":
            consumed = Consumed(table.name)
            consumed.write(table, old, new)
            answer["ConsumedCapacity"] = consumed.report(asked)
        if request.get("ReturnItemCollectionMetrics") == "SIZE":
            answer |= collection_metrics(table, write.key_item)
        return answer

    answer: dict[str, Any] = await database.file.writer.submit(work)
    return answer

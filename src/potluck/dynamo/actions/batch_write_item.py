"""BatchWriteItem."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.capacity import Consumed
from potluck.dynamo.errors import invalid
from potluck.dynamo.item_collections import metrics
from potluck.dynamo.limits import BATCH_WRITE_REQUESTS
from potluck.dynamo.storage.rows import Rows
from potluck.dynamo.tables import KEY_MISMATCH
from potluck.dynamo.writes import Delete, Put, Write

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def batch_write_item(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    writes = [(name, asked_write(write)) for name, asked in request["RequestItems"].items() for write in asked]
    if len(writes) > BATCH_WRITE_REQUESTS:
        invalid("Too many items requested for the BatchWriteItem call")
    taken: set[tuple[int, bytes]] = set()
    for name, write in writes:
        write.bind(database.table(name))
        place = write.table.number, write.key
        if place in taken:
            invalid("Provided list of item keys contains duplicates")
        taken.add(place)
    now = database.clock()

    def work(rows: Rows) -> dict[str, Any]:
        asked = request.get("ReturnConsumedCapacity", "NONE")
        consumed: dict[str, Consumed] = {}
        collections: dict[str, list[dict[str, Any]]] = {}
        for write in [write for _, write in writes]:
            table = write.table
            old, new = write.evaluate(rows)
            rows.store(table, write.key, old, new, now)
            if asked != "NONE":
                consumed.setdefault(table.name, Consumed(table.name)).write(table, old, new)
            collection = metrics(table, write.key_item)
            if collection and collection not in collections.setdefault(table.name, []):
                collections[table.name].append(collection)
        answer: dict[str, Any] = {"UnprocessedItems": {}}
        if asked != "NONE":
            answer["ConsumedCapacity"] = [capacity.report(asked) for capacity in consumed.values()]
        if collections and request.get("ReturnItemCollectionMetrics") == "SIZE":
            answer["ItemCollectionMetrics"] = collections
        return answer

    answer: dict[str, Any] = await database.write(work)
    return answer


def asked_write(asked: dict[str, Any]) -> Write:
    if len(asked) != 1:
        invalid(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
            "datatypes"
        )
    if "PutRequest" in asked:
        return Put({}, asked["PutRequest"]["Item"], KEY_MISMATCH)
    return Delete(asked["DeleteRequest"])

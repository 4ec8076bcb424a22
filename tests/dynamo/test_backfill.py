"""An index added to a table that is being written to."""

import asyncio

from potluck.dynamo import backfill
from potluck.dynamo.database import Database
from tests.patience import PATIENCE_SECONDS

ITEMS = 3000


async def test_an_index_filled_while_items_come_change_and_go_is_complete_and_counted(tmp_path, monkeypatch):
    # So that it is still being filled when the changes below come.
    monkeypatch.setattr(backfill, "ROWS_AT_A_TIME", 10)
    database = await Database.open(tmp_path / "store.db")
    call = database.call
    await call(
        "CreateTable",
        {
            "TableName": "Notes",
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        },
    )

    def item(number: int, owner: str):
        return {"id": {"S": f"{number:05}"}, "owner": {"S": owner}, "text": {"S": "x" * (number % 50)}}

    await asyncio.gather(
        *(call("PutItem", {"TableName": "Notes", "Item": item(number, "old")}) for number in range(ITEMS))
    )
    index = {
        "IndexName": "by-owner",
        "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}, {"AttributeName": "id", "KeyType": "RANGE"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    names = [{"AttributeName": name, "AttributeType": "S"} for name in ("id", "owner")]
    changes = {"AttributeDefinitions": names, "GlobalSecondaryIndexUpdates": [{"Create": index}]}
    await call("UpdateTable", {"TableName": "Notes", **changes})
    # While it is being filled: a third goes, a third moves within the index, a third grows where it is.
    for number in range(0, ITEMS - 9, 9):
        key = {"id": {"S": f"{number:05}"}}
        longer = {"UpdateExpression": "SET #t = :t", "ExpressionAttributeNames": {"#t": "text"}}
        grown = {**longer, "ExpressionAttributeValues": {":t": {"S": "y" * 200}}}
        await asyncio.gather(
            call("DeleteItem", {"TableName": "Notes", "Key": key}),
            call("PutItem", {"TableName": "Notes", "Item": item(number + 3, "new")}),
            call("UpdateItem", {"TableName": "Notes", "Key": {"id": {"S": f"{number + 6:05}"}}, **grown}),
        )
    await asyncio.gather(*database._filling.values())

    async def everything(**where):
        found, start = [], {}
        while True:
            page = await call("Scan", {"TableName": "Notes", **where, **start})
            found += page["Items"]
            if "LastEvaluatedKey" not in page:
                return sorted(found, key=lambda each: each["id"]["S"])
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    items = await everything()
    assert len(items) == ITEMS - len(range(0, ITEMS - 9, 9))
    assert await everything(IndexName="by-owner") == items
    described = (await call("DescribeTable", {"TableName": "Notes"}))["Table"]
    indexed = described["GlobalSecondaryIndexes"][0]
    assert indexed["IndexStatus"] == "ACTIVE"
    assert (indexed["ItemCount"], indexed["IndexSizeBytes"]) == (described["ItemCount"], described["TableSizeBytes"])
    await database.close()


async def test_an_index_whose_process_went_away_is_filled_by_another(tmp_path, monkeypatch):
    monkeypatch.setattr(backfill, "ROWS_AT_A_TIME", 1)
    beginning = await Database.open(tmp_path / "store.db")
    other = await Database.open(tmp_path / "store.db")
    names = [{"AttributeName": name, "AttributeType": "S"} for name in ("id", "owner")]
    await beginning.call(
        "CreateTable",
        {
            "TableName": "Notes",
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": names[:1],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        },
    )
    items = [{"id": {"S": str(number)}, "owner": {"S": "mara"}} for number in range(20)]
    for item in items:
        await beginning.call("PutItem", {"TableName": "Notes", "Item": item})
    index = {
        "IndexName": "by-owner",
        "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    changes = {"AttributeDefinitions": names, "GlobalSecondaryIndexUpdates": [{"Create": index}]}
    await beginning.call("UpdateTable", {"TableName": "Notes", **changes})
    await beginning.close()

    async with asyncio.timeout(PATIENCE_SECONDS):
        while other.current_table("Notes").indexes[0].is_filling:  # noqa: ASYNC110 - it happens in the store
            await asyncio.sleep(0.05)
    found = await other.call("Scan", {"TableName": "Notes", "IndexName": "by-owner"})
    assert found["Count"] == len(items)
    await other.close()

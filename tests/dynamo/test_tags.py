"""Tags of tables in the file."""

from pathlib import Path

from potluck.dynamo.database import Database

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/Tagged"
TABLE = {
    "TableName": "Tagged",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
}


async def test_tags_outlast_the_process(tmp_path: Path) -> None:
    tags = [{"Key": "stage", "Value": "test"}]
    async with await Database.open(tmp_path / "tags.db") as database:
        await database.call("CreateTable", TABLE)
        await database.call("TagResource", {"ResourceArn": ARN, "Tags": tags})
    async with await Database.open(tmp_path / "tags.db") as database:
        assert (await database.call("ListTagsOfResource", {"ResourceArn": ARN}))["Tags"] == tags

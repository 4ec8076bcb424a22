"""A backup's way back: what it holds besides the store, what is no backup, and streams that go on."""

import os
import shutil

import apsw
import pytest

from potluck.dynamo.database import Database
from potluck.dynamo.errors import DynamoError, StoreUnusable
from potluck.dynamo.storage.backup import let_go_of, restored
from potluck.dynamo.storage.backup_check import reading_backup
from potluck.dynamo.storage.private_files import place

KEPT = {"secret": b"only the backup knows it"}


async def streamed(path):
    database = await Database.open(path)
    await database.call(
        "CreateTable",
        {
            "TableName": "Notes",
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        },
    )
    return database


async def write(database, *ids):
    for each in ids:
        await database.call("PutItem", {"TableName": "Notes", "Item": {"id": {"S": each}}})


async def read(database, after=None):
    """The ids and numbers of changes behind this one, or of all."""
    arn = (await database.call("DescribeTable", {"TableName": "Notes"}))["Table"]["LatestStreamArn"]
    stream = await database.call("DescribeStream", {"StreamArn": arn})
    asked = {"StreamArn": arn, "ShardId": stream["StreamDescription"]["Shards"][0]["ShardId"]}
    if after is None:
        asked |= {"ShardIteratorType": "TRIM_HORIZON"}
    else:
        asked |= {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": after}
    iterator = (await database.call("GetShardIterator", asked))["ShardIterator"]
    records = (await database.call("GetRecords", {"ShardIterator": iterator}))["Records"]
    return [(each["dynamodb"]["Keys"]["id"]["S"], each["eventName"]) for each in records], [
        each["dynamodb"]["SequenceNumber"] for each in records
    ]


def bring_back(backup, path):
    with restored(backup, path, None) as (partial, kept):
        place(partial, path)
    return kept


@pytest.fixture
async def backup(tmp_path):
    database = await streamed(tmp_path / "store.db")
    await write(database, "one", "two")
    await database.backup(tmp_path / "backup", files=KEPT)
    await database.close()
    return tmp_path / "backup"


async def test_what_is_kept_comes_back_and_is_not_in_the_store(tmp_path, backup):
    assert bring_back(backup, tmp_path / "again.db") == KEPT
    assert KEPT["secret"] in backup.read_bytes()
    assert KEPT["secret"] not in (tmp_path / "again.db").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["again.db", "backup", "store.db"]


async def test_a_backup_can_be_opened_as_it_is_and_restored_after_that(tmp_path, backup):
    opened = await Database.open(backup)
    await write(opened, "three")
    await opened.backup(tmp_path / "second")
    await opened.close()
    assert KEPT["secret"] not in (tmp_path / "second").read_bytes()
    assert bring_back(backup, tmp_path / "again.db") == KEPT
    assert bring_back(tmp_path / "second", tmp_path / "other.db") == {}


async def test_whoever_read_on_after_the_backup_is_not_passed_over(tmp_path, backup):
    before = await Database.open(tmp_path / "store.db")
    _, [_, second] = await read(before)
    await write(before, "lost", "lost too")
    _, [*_, last] = await read(before)
    await before.close()
    bring_back(backup, tmp_path / "again.db")
    again = await Database.open(tmp_path / "again.db")
    await write(again, "three", "four", "five")
    # From before the backup it goes on; the last change is told again, as one that changed nothing.
    told, _ = await read(again, second)
    assert told == [("two", "MODIFY"), ("three", "INSERT"), ("four", "INSERT"), ("five", "INSERT")]
    # From a number that only the lost store gave out, it does not: whoever asks has to read everything anew.
    with pytest.raises(DynamoError) as refused:
        await read(again, last)
    assert refused.value.code == "ValidationException"
    await again.close()


@pytest.mark.parametrize("harm", ["cut", "text", "other program", "later", "scribbled"])
async def test_what_is_no_whole_backup_is_refused_and_leaves_nothing(tmp_path, backup, harm):
    if harm == "cut":
        os.truncate(backup, backup.stat().st_size // 2)
    elif harm == "text":
        backup.write_text("a shopping list, on paper" * 100)
    elif harm == "scribbled":
        whole = bytearray(backup.read_bytes())
        whole[8192:16384] = b"\xff" * 8192
        backup.write_bytes(whole)
    else:
        if harm == "other program":
            backup.unlink()
        other = apsw.Connection(str(backup))
        other.execute("CREATE TABLE theirs(x)" if harm == "other program" else "PRAGMA user_version=1000")
        other.close()
    (tmp_path / "new").mkdir()
    with pytest.raises(StoreUnusable):
        bring_back(backup, tmp_path / "new" / "again.db")
    assert not list((tmp_path / "new").iterdir())


# As the number of a stream: a statement of its own, behind the one that it is put into.
STATEMENTS = "1 SELECT 1, 1, 1, 1, 1, 1 WHERE 0; ATTACH '{file}' AS m; CREATE TABLE m.made(x); SELECT ?, ?, ?, ? --"


@pytest.mark.parametrize("made_up", ["statements", "trigger", "view"])
async def test_what_somebody_made_up_to_be_restored_is_refused_and_does_nothing(tmp_path, backup, made_up):
    other = apsw.Connection(str(backup))
    if made_up == "statements":
        other.execute("CREATE TABLE t AS SELECT * FROM streams; DROP TABLE streams; ALTER TABLE t RENAME TO streams")
        other.execute("INSERT INTO streams(number) VALUES (?)", (STATEMENTS.format(file=tmp_path / "made"),))
    elif made_up == "trigger":
        other.execute("CREATE TRIGGER each_time AFTER INSERT ON changes_1 BEGIN DELETE FROM tables; END")
    else:
        other.execute("CREATE VIEW looks_like_one AS SELECT * FROM streams")
    other.close()
    (tmp_path / "new").mkdir()
    with pytest.raises(StoreUnusable):
        bring_back(backup, tmp_path / "new" / "again.db")
    assert not (tmp_path / "made").exists()
    assert not list((tmp_path / "new").iterdir())


async def test_a_store_in_use_is_known_and_one_that_is_not_becomes_one_file(tmp_path):
    path = tmp_path / "store.db"
    database = await streamed(path)
    await write(database, "one")
    with pytest.raises(StoreUnusable, match="in use"):
        let_go_of(path)
    # As a kill -9 leaves it: the log beside the file has what was written last.
    for ending in ("", "-wal"):
        shutil.copy(f"{path}{ending}", f"{tmp_path / 'killed.db'}{ending}")
    await database.close()
    let_go_of(tmp_path / "killed.db")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["killed.db", "store.db"]
    killed = await Database.open(tmp_path / "killed.db")
    assert (await killed.call("Scan", {"TableName": "Notes", "Select": "COUNT"}))["Count"] == 1
    await killed.close()


async def indexed(path):
    """A backup of a table with an index of each projection, whose items have grown, shrunk, moved and gone."""
    names = {"ALL": {}, "KEYS_ONLY": {}, "INCLUDE": {"NonKeyAttributes": ["text"]}}
    async with await Database.open(path.with_name("store.db")) as database:
        await database.call(
            "CreateTable",
            {
                "TableName": "Notes",
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("id", "shelf")],
                "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": projection,
                        "KeySchema": [{"AttributeName": "shelf", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": projection} | more,
                    }
                    for projection, more in names.items()
                ],
            },
        )
        versions = [{"text": "a"}, {"text": "a" * 90}, {"text": ""}, {"shelf": "low"}, {"more": "b" * 50}]
        for note in ("one", "two", "three"):
            for version in versions:
                item = {name: {"S": value} for name, value in ({"id": note, "shelf": "high"} | version).items()}
                await database.call("PutItem", {"TableName": "Notes", "Item": item})
        await database.call("DeleteItem", {"TableName": "Notes", "Key": {"id": {"S": "two"}}})
        update = {"UpdateExpression": "SET more = :m", "ExpressionAttributeValues": {":m": {"S": "longer" * 50}}}
        await database.call("UpdateItem", {"TableName": "Notes", "Key": {"id": {"S": "one"}}} | update)
        await database.backup(path)


async def test_a_backup_of_items_that_have_changed_in_their_indexes_is_whole(tmp_path):
    await indexed(tmp_path / "backup")
    with reading_backup(tmp_path / "backup") as backup:
        assert backup.check() == {"Notes": 2}


async def test_an_index_row_that_leads_to_no_item_is_damage(tmp_path):
    await indexed(tmp_path / "backup")
    connection = apsw.Connection(str(tmp_path / "backup"))
    connection.execute("UPDATE index_1_1 SET key = key || x'00' WHERE key = (SELECT max(key) FROM index_1_1)")
    connection.close()
    with pytest.raises(StoreUnusable, match="other rows than were counted"), reading_backup(tmp_path / "backup") as it:
        it.check()

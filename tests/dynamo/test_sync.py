"""The engine without `await`, on a file."""

import threading

import pytest

from potluck.dynamo import Database, DynamoError, StoreUnusable, SyncDatabase
from tests.engine_targets import table

NOTE = {"PK": {"S": "a"}, "SK": {"S": "b"}}


def test_what_was_written_is_in_the_file(tmp_path):
    with SyncDatabase.open(tmp_path / "notes.db") as store:
        store.call("CreateTable", table("Notes"))
        store.call("PutItem", {"TableName": "Notes", "Item": NOTE})
        store.backup(tmp_path / "copy.db")
    for name in ("notes.db", "copy.db"):
        with SyncDatabase.open(tmp_path / name) as store:
            assert store.call("GetItem", {"TableName": "Notes", "Key": NOTE}) == {"Item": NOTE}


async def test_a_service_reads_what_a_script_wrote(tmp_path):
    with SyncDatabase.open(tmp_path / "notes.db") as store:
        store.call("CreateTable", table("Notes"))
    async with await Database.open(tmp_path / "notes.db") as database:
        assert await database.call("ListTables", {}) == {"TableNames": ["Notes"]}


def test_regions_and_accounts_have_tables_of_their_own():
    with SyncDatabase.open() as store:
        store.call("CreateTable", table("Notes"), region="eu-west-1", account="123456789012")
        assert store.call("ListTables", {}) == {"TableNames": []}
        assert store.call("ListTables", {}, region="eu-west-1", account="123456789012") == {"TableNames": ["Notes"]}


def test_a_file_is_neither_reset_nor_copied(tmp_path):
    with SyncDatabase.open(tmp_path / "notes.db") as store:
        for refused in (store.reset, store.copy):
            with pytest.raises(ValueError, match="only a store in memory"):
                refused()


def test_errors_are_those_of_the_service_and_a_closed_store_says_so(tmp_path):
    store = SyncDatabase.open(tmp_path / "notes.db")
    with pytest.raises(DynamoError, match="ResourceNotFoundException"):
        store.call("DescribeTable", {"TableName": "Missing"})
    store.close()
    with pytest.raises(DynamoError, match="EngineClosed"):
        store.call("ListTables", {})
    store.close()


def test_a_folder_that_does_not_exist_leaves_no_thread_behind(tmp_path):
    before = threading.active_count()
    with pytest.raises(StoreUnusable):
        SyncDatabase.open(tmp_path / "missing" / "notes.db")
    assert threading.active_count() == before

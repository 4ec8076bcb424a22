"""Seeds from exports to S3."""

import pytest

from potluck.dynamo import SyncDatabase
from potluck.seeds.contents import SeedError
from potluck.seeds.folder import read_folder
from potluck.seeds.seeding import seed
from tests.seeds.notes import CREATE, FIRST, SECOND, write, write_export


def test_the_items_of_an_export_below_the_folder(tmp_path):
    write_export(write(tmp_path, table__json=CREATE) / "bucket", "Notes", [FIRST, SECOND])
    with SyncDatabase.open() as store:
        assert seed(store, tmp_path).items == {"Notes": 2}
        assert store.call("GetItem", {"TableName": "Notes", "Key": {"id": FIRST["id"]}})["Item"] == FIRST


def test_the_manifests_of_a_folder_that_is_an_export_are_no_seeds(tmp_path):
    export = write_export(tmp_path, "Notes", [FIRST]).parent.parent
    write(export, table__json=CREATE)
    with SyncDatabase.open() as store:
        assert seed(store, export).items == {"Notes": 1}


def test_a_damaged_file_is_named(tmp_path):
    write_export(tmp_path, "Notes", [FIRST]).write_bytes(b"changed")
    with pytest.raises(SeedError, match=r"asdl123\.json\.gz is damaged"):
        read_folder(tmp_path)


def test_an_export_whose_table_no_file_creates_is_refused(tmp_path):
    write_export(tmp_path, "Notes", [FIRST])
    with SyncDatabase.open() as store, pytest.raises(SeedError, match="the table Notes, which no file creates"):
        seed(store, tmp_path)

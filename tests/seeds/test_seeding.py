"""A folder of seeds becomes tables and items: all of it, or nothing."""

import pytest

from potluck.dynamo import SyncDatabase
from potluck.seeds.contents import SeedError
from potluck.seeds.seeding import seed
from tests.seeds.notes import BATCH, CREATE, FIRST, SECOND, TEMPLATE, write


def tables(store: SyncDatabase) -> list[str]:
    return store.call("ListTables", {})["TableNames"]


def count(store: SyncDatabase, table: str = "Notes") -> int:
    return store.call("Scan", {"TableName": table, "Select": "COUNT"})["Count"]


def test_a_template_and_items(tmp_path):
    folder = write(tmp_path, template__yaml=TEMPLATE, notes__json=BATCH, README__md="seeds")
    with SyncDatabase.open() as store:
        assert seed(store, folder).items == {"Notes": 2}
        expiry = store.call("DescribeTimeToLive", {"TableName": "Notes"})["TimeToLiveDescription"]
    assert expiry == {"TimeToLiveStatus": "ENABLED", "AttributeName": "until"}


def test_a_template_in_json(tmp_path):
    resource = {"Type": "AWS::DynamoDB::Table", "Properties": CREATE}
    with SyncDatabase.open() as store:
        assert seed(store, write(tmp_path, template__json={"Resources": {"Notes": resource}})).items == {"Notes": 0}


def test_the_last_of_several_puts_of_one_key_wins(tmp_path):
    later = {**SECOND, "text": {"S": "later"}}
    with SyncDatabase.open() as store:
        seed(store, write(tmp_path, a__json=BATCH, table__json=CREATE, Notes__items__json={"Items": []}))
        assert count(store) == 2
    with SyncDatabase.open() as store:
        seed(store, write(tmp_path, z__json={"Notes": [{"PutRequest": {"Item": later}}]}))
        assert store.call("GetItem", {"TableName": "Notes", "Key": {"id": SECOND["id"]}})["Item"] == later


def test_a_table_that_is_there_is_left_alone(tmp_path):
    folder = write(tmp_path, table__json=CREATE, notes__json=BATCH)
    with SyncDatabase.open() as store:
        seed(store, folder)
        store.call("DeleteItem", {"TableName": "Notes", "Key": {"id": FIRST["id"]}})
        write(folder, other__json={**CREATE, "TableName": "Other"})
        assert seed(store, folder) == ({"Other": 0}, ["Notes"])
        assert count(store) == 1


def test_a_region_has_seeds_of_its_own(tmp_path):
    with SyncDatabase.open() as store:
        seed(store, write(tmp_path, table__json=CREATE), region="eu-central-1")
        assert tables(store) == []
        assert store.call("ListTables", {}, region="eu-central-1")["TableNames"] == ["Notes"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a__json": "{"}, r"a\.json cannot be read"),
        ({"a__json": "[" * 100_000}, r"a\.json cannot be read"),
        ({"a__json": [1]}, r"a\.json is none of these"),
        ({"a__json": {}}, r"a\.json is none of these"),
        ({"a__json": {"name": "package"}}, r"a\.json is none of these"),
        ({"a__yaml": "services: {}"}, r"a\.yaml is no template: it has no Resources"),
        ({"a__yml": "a: [b"}, r"a\.yml cannot be read"),
        ({"a__md": "nothing"}, "has no tables and no items"),
        ({"a__json": BATCH}, r"a\.json has items of the table Notes, which no file creates"),
        ({"a__json": CREATE, "b__yaml": TEMPLATE}, r"b\.yaml creates the table Notes, as .*a\.json does"),
        ({"a__json": {**CREATE, "TableName": ["Notes"]}}, r"a\.json has a table whose name is not a string"),
        ({"a__json": {**CREATE, "TableName": "N"}}, r"a\.json: the table N cannot be created"),
        ({"a__json": {**CREATE, "AttributeDefinitions": []}}, r"a\.json: the table Notes cannot be created"),
        (
            {"a__json": CREATE, "b__json": {"Notes": [*BATCH["Notes"], {"PutRequest": {"Item": {"x": {"S": "y"}}}}]}},
            r"b\.json: item 3 of Notes cannot be put: .*Missing the key id",
        ),
        ({"a__json": CREATE, "Notes__items__json": {"Items": ["text"]}}, "item 1 of Notes cannot be put"),
    ],
)
def test_what_cannot_be_used_is_named_and_nothing_stays(tmp_path, files, message):
    with SyncDatabase.open() as store:
        with pytest.raises(SeedError, match=message):
            seed(store, write(tmp_path, **files))
        assert tables(store) == []


def test_a_table_that_is_protected_does_not_stay_either(tmp_path):
    create = {**CREATE, "DeletionProtectionEnabled": True}
    folder = write(tmp_path, a__json=create, Notes__items__json={"Items": [{"x": {"S": "y"}}]})
    with SyncDatabase.open() as store:
        with pytest.raises(SeedError):
            seed(store, folder)
        assert tables(store) == []


def test_no_folder_is_an_error(tmp_path):
    with SyncDatabase.open() as store, pytest.raises(SeedError, match=r"there is no folder .*missing"):
        seed(store, tmp_path / "missing")

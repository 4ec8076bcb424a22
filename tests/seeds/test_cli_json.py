"""Seeds in the JSON of the AWS CLI."""

import pytest

from potluck.dynamo import SyncDatabase
from potluck.seeds.contents import SeedError
from potluck.seeds.folder import read_folder
from potluck.seeds.seeding import seed
from tests.seeds.notes import BATCH, CREATE, FIRST, SECOND, write


@pytest.mark.parametrize("batch", [BATCH, {"RequestItems": BATCH}], ids=["plain", "RequestItems"])
def test_a_table_and_a_batch_that_comes_before_it(tmp_path, batch):
    with SyncDatabase.open() as store:
        seeded = seed(store, write(tmp_path, a__json=batch, b__json=CREATE))
        assert seeded.items == {"Notes": 2}
        assert store.call("GetItem", {"TableName": "Notes", "Key": {"id": FIRST["id"]}})["Item"] == FIRST
        described = store.call("DescribeTable", {"TableName": "Notes"})["Table"]
        assert described["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"


def test_the_items_of_a_scan_are_those_of_the_table_that_names_the_file(tmp_path):
    scanned = {"Items": [FIRST, SECOND], "Count": 2, "ScannedCount": 2, "ConsumedCapacity": None}
    with SyncDatabase.open() as store:
        assert seed(store, write(tmp_path, Notes__items__json=scanned, table__json=CREATE)).items == {"Notes": 2}


def test_provisioned_throughput_stays(tmp_path):
    throughput = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 2}
    with SyncDatabase.open() as store:
        seed(store, write(tmp_path, table__json={**CREATE, "ProvisionedThroughput": throughput}))
        described = store.call("DescribeTable", {"TableName": "Notes"})["Table"]["ProvisionedThroughput"]
    assert described | throughput == described


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("scan__json", {"Items": [FIRST]}, "Name it after its table"),
        ("Notes__items__json", {"Items": FIRST}, "Items is not a list"),
        ("batch__json", {"Notes": [{"DeleteRequest": {"Key": {}}}]}, "request 1 for Notes is not a PutRequest"),
        ("batch__json", {"Notes": [{"PutRequest": FIRST}]}, "request 1 for Notes is not a PutRequest with an Item"),
    ],
)
def test_what_is_wrong_is_said_with_the_name_of_the_file(tmp_path, name, content, message):
    with pytest.raises(SeedError, match=message) as refusal:
        read_folder(write(tmp_path, **{name: content}))
    assert name.replace("__", ".") in str(refusal.value)

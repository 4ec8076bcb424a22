"""What a SELECT reads, and with which tokens it goes on."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest

from potluck.dynamo import SyncDatabase
from potluck.dynamo.errors import DynamoError
from potluck.dynamo.partiql.keys import MOST_RANGES

NAMES = "abcd"


@pytest.fixture
def store():
    """A table with one item, and an index of which a partition has four attributes."""
    with SyncDatabase.open() as store:
        index = {
            "IndexName": "four",
            "KeySchema": [{"AttributeName": name, "KeyType": "HASH"} for name in NAMES],
            "Projection": {"ProjectionType": "ALL"},
        }
        store.call(
            "CreateTable",
            {
                "TableName": "tab",
                "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in f"p{NAMES}"],
                "GlobalSecondaryIndexes": [index],
            },
        )
        for key in ("1", "2"):
            item = {"p": {"S": key}} | {name: {"S": key} for name in NAMES}
            store.call("PutItem", {"TableName": "tab", "Item": item})
        yield store


def select(store, where, **more):
    return store.call("ExecuteStatement", {"Statement": f'SELECT p FROM "tab"."four" WHERE {where}', **more})


def test_more_partitions_than_can_be_read_one_by_one_are_a_scan(store):
    values = ", ".join(f"'{number}'" for number in range(30))
    assert 30 ** len(NAMES) > MOST_RANGES
    answer = select(store, " AND ".join(f"{name} IN ({values})" for name in NAMES))
    assert sorted(item["p"]["S"] for item in answer["Items"]) == ["1", "2"]


def test_more_values_than_partitions_that_are_read_one_by_one_are_a_scan(store):
    values = ", ".join(["?"] * 100)
    where = " OR ".join([f"p IN ({values})"] * 12)
    parameters = [{"S": str(number)} for number in range(1200)]
    statement = {"Statement": f"SELECT p FROM tab WHERE {where}", "Parameters": parameters}
    assert sorted(item["p"]["S"] for item in store.call("ExecuteStatement", statement)["Items"]) == ["1", "2"]


OTHER_VALUES = [{"N": "1"}, {"S": 5}, {"S": "a", "N": "1"}, {"S": ""}, {"M": 5}, {"Q": 1}, {}, [], 5, None]


@pytest.mark.parametrize("value", OTHER_VALUES)
def test_a_token_that_was_changed_is_refused(store, value):
    where = "a = '1'"
    token = select(store, where, Limit=1)["NextToken"]
    digest, number, key = json.loads(urlsafe_b64decode(token))
    changed = urlsafe_b64encode(json.dumps([digest, number, key | {"b": value}]).encode()).decode()
    with pytest.raises(DynamoError, match="Invalid NextToken"):
        select(store, where, NextToken=changed)

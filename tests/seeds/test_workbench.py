"""Seeds from models of NoSQL Workbench."""

import pytest

from potluck.dynamo import SyncDatabase
from potluck.seeds.contents import SeedError
from potluck.seeds.folder import read_folder
from potluck.seeds.seeding import seed
from tests.seeds.notes import write


def attribute(name: str, attribute_type: str = "S") -> dict[str, str]:
    return {"AttributeName": name, "AttributeType": attribute_type}


ORDERS = {
    "TableName": "Orders",
    "KeyAttributes": {"PartitionKey": attribute("customer"), "SortKey": attribute("number", "N")},
    "NonKeyAttributes": [attribute("status")],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "ByStatus",
            "KeyAttributes": {"PartitionKey": attribute("status"), "SortKey": attribute("number", "N")},
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["total"]},
        }
    ],
    "LocalSecondaryIndexes": [
        {"IndexName": "ByTotal", "KeyAttributes": {"SortKey": attribute("total", "N")}},
    ],
    "TableData": [
        {"customer": {"S": "ana"}, "number": {"N": "1"}, "status": {"S": "paid"}, "total": {"N": "12.5"}},
        {"customer": {"S": "ana"}, "number": {"N": "2"}},
    ],
    "TableFacets": [],
    "DataAccess": {"MySql": {}},
    "BillingMode": "PROVISIONED",
    "ProvisionedCapacitySettings": {"ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}},
}
CUSTOMERS = {"TableName": "Customers", "KeyAttributes": {"PartitionKey": attribute("name")}}
MODEL = {"ModelName": "Shop", "ModelMetadata": {"Author": "ana"}, "DataModel": [ORDERS, CUSTOMERS]}


def test_tables_indexes_and_sample_data(tmp_path):
    with SyncDatabase.open() as store:
        assert seed(store, write(tmp_path, shop__json=MODEL)).items == {"Orders": 2, "Customers": 0}
        described = store.call("DescribeTable", {"TableName": "Orders"})["Table"]
        assert [key["AttributeName"] for key in described["KeySchema"]] == ["customer", "number"]
        by_status = {
            "TableName": "Orders",
            "IndexName": "ByStatus",
            "KeyConditionExpression": "#status = :paid",
            "ExpressionAttributeNames": {"#status": "status"},
            "ExpressionAttributeValues": {":paid": {"S": "paid"}},
        }
        assert store.call("Query", by_status)["Items"] == ORDERS["TableData"][:1]
        assert described["LocalSecondaryIndexes"][0]["KeySchema"] == [
            {"AttributeName": "customer", "KeyType": "HASH"},
            {"AttributeName": "total", "KeyType": "RANGE"},
        ]


def test_the_sample_data_of_facets_is_put_together(tmp_path):
    ana, ben = {"name": {"S": "ana"}}, {"name": {"S": "ben"}}
    facets = [
        {"FacetName": "Addresses", "TableData": [{**ana, "street": {"S": "Long Street"}}, ben]},
        {"FacetName": "Ages", "TableData": [{**ana, "age": {"N": "40"}}]},
        {"FacetName": "None"},
    ]
    with SyncDatabase.open() as store:
        seed(store, write(tmp_path, shop__json={"DataModel": [{**CUSTOMERS, "TableFacets": facets}]}))
        items = store.call("Scan", {"TableName": "Customers"})["Items"]
    assert sorted(items, key=lambda item: item["name"]["S"]) == [
        {**ana, "street": {"S": "Long Street"}, "age": {"N": "40"}},
        ben,
    ]


def test_sample_data_that_is_no_item_is_an_error(tmp_path):
    with pytest.raises(SeedError, match="table 1 of the model cannot be read"):
        read_folder(write(tmp_path, shop__json={"DataModel": [{**CUSTOMERS, "TableData": ["ana"]}]}))


def test_a_table_that_cannot_be_read_is_named(tmp_path):
    model = {"DataModel": [CUSTOMERS, {"TableName": "Orders"}]}
    with pytest.raises(
        SeedError, match=r"shop\.json: table 2 of the model cannot be read: KeyError\('KeyAttributes'\)"
    ):
        read_folder(write(tmp_path, shop__json=model))

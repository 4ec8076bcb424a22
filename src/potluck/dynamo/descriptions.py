"""Table descriptions, as DescribeTable and related operations return them."""

from typing import Any

from potluck.dynamo.storage.rows import Rows
from potluck.dynamo.tables import IndexDefinition, Table, TableDefinition, Throughput


def described(table: Table, rows: Rows, status: str = "ACTIVE") -> dict[str, Any]:
    """A table's description in the service's form."""
    definition = table.definition
    items, size = rows.counted(table.rows)
    on_demand = definition.billing == "PAY_PER_REQUEST"
    description: dict[str, Any] = {
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind} for name, kind in definition.attributes.items()
        ],
        "TableName": table.name,
        "KeySchema": key_schema(definition.key[:1], definition.key[1:]),
        "TableStatus": status,
        "CreationDateTime": definition.created,
        "ProvisionedThroughput": throughput(definition.throughput),
        "TableSizeBytes": size,
        "ItemCount": items,
        "TableArn": table.arn,
        "TableId": definition.unique_id,
        "DeletionProtectionEnabled": definition.protected,
    }
    if on_demand or definition.billing_changed is not None:
        summary: dict[str, Any] = {"BillingMode": definition.billing}
        if definition.billing_changed is not None:
            summary["LastUpdateToPayPerRequestDateTime"] = definition.billing_changed
        description["BillingModeSummary"] = summary
    for parameter, is_global in (("LocalSecondaryIndexes", False), ("GlobalSecondaryIndexes", True)):
        indexes = [
            described_index(index.definition, table, rows, index.rows)
            for index in table.indexes
            if index.is_global is is_global
        ]
        if indexes:
            description[parameter] = indexes
    if definition.streams:
        stream = definition.streams[-1]
        if stream.ended is None:
            description["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": stream.view}
        description["LatestStreamLabel"] = stream.label
        description["LatestStreamArn"] = table.stream_arn(stream)
    if definition.table_class:
        description["TableClassSummary"] = {"TableClass": definition.table_class}
    if definition.encryption:
        description["SSEDescription"] = definition.encryption
    return description | settings(definition)


def described_index(index: IndexDefinition, table: Table, rows: Rows, counted: str) -> dict[str, Any]:
    items, size = rows.counted(counted)
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if index.included:
        projection["NonKeyAttributes"] = list(index.included)
    description: dict[str, Any] = {
        "IndexName": index.name,
        "KeySchema": key_schema(index.partition, index.sort),
        "Projection": projection,
        "IndexSizeBytes": size,
        "ItemCount": items,
        "IndexArn": f"{table.arn}/index/{index.name}",
    }
    if index.is_global:
        description["IndexStatus"] = index.status
        description["ProvisionedThroughput"] = throughput(index.throughput)
        if index.status == "CREATING":
            description["Backfilling"] = True
    return description | settings(index)


def settings(definition: TableDefinition | IndexDefinition) -> dict[str, Any]:
    """Settings that are accepted and reported back without effect: this engine neither warms up nor throttles."""
    described: dict[str, Any] = {}
    if definition.on_demand:
        described["OnDemandThroughput"] = definition.on_demand
    if definition.warm:
        described["WarmThroughput"] = {**definition.warm, "Status": "ACTIVE"}
    return described


def key_schema(partition: tuple[str, ...], sort: tuple[str, ...]) -> list[dict[str, str]]:
    return [
        *({"AttributeName": name, "KeyType": "HASH"} for name in partition),
        *({"AttributeName": name, "KeyType": "RANGE"} for name in sort),
    ]


def throughput(units: Throughput) -> dict[str, Any]:
    described: dict[str, Any] = {
        "NumberOfDecreasesToday": units.decreases,
        "ReadCapacityUnits": units.read,
        "WriteCapacityUnits": units.write,
    }
    if units.increased is not None:
        described["LastIncreaseDateTime"] = units.increased
    if units.decreased is not None:
        described["LastDecreaseDateTime"] = units.decreased
    return described

"""UpdateTable."""

from typing import TYPE_CHECKING, Any

import msgspec

from potluck.dynamo.descriptions import described
from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.limits import GLOBAL_INDEXES
from potluck.dynamo.namespaces import name_of
from potluck.dynamo.parameters import refuse_not_offered
from potluck.dynamo.schemas import (
    WRONG,
    check_projected,
    checked_definitions,
    checked_encryption,
    checked_global_index,
    checked_stream,
    checked_throughput,
)
from potluck.dynamo.storage.catalog import create_index, create_log, drop_index
from potluck.dynamo.storage.rows import Rows
from potluck.dynamo.streams import new_stream
from potluck.dynamo.tables import IndexDefinition, Table, TableDefinition, not_found

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

replaced = msgspec.structs.replace

CHANGES = (
    "ProvisionedThroughput",
    "BillingMode",
    "StreamSpecification",
    "GlobalSecondaryIndexUpdates",
    "SSESpecification",
    "DeletionProtectionEnabled",
    "TableClass",
    "OnDemandThroughput",
    "WarmThroughput",
)


async def update_table(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    refuse_not_offered("UpdateTable", request)
    check_request(request)
    key = database.key_of(request["TableName"])

    def change(rows: Rows) -> tuple[dict[str, Any], bool]:
        table = rows.catalog.tables.get(key)
        if table is None:
            raise not_found(name_of(key))
        definition = with_settings(table.definition, request, database.clock())
        definition = with_stream(rows, definition, request.get("StreamSpecification"), database.clock())
        updates = request.get("GlobalSecondaryIndexUpdates") or []
        definition = with_indexes(rows, table, definition, request, updates, database.clock())
        changed = Table(definition)
        rows.catalog.save(rows.connection, changed)
        description = described(changed, rows, "UPDATING")
        for update in updates:
            if "Delete" in update:
                gone = described(table, rows)["GlobalSecondaryIndexes"]
                leaving = next(index for index in gone if index["IndexName"] == update["Delete"]["IndexName"])
                leaving["IndexStatus"] = "DELETING"
                description.setdefault("GlobalSecondaryIndexes", []).append(leaving)
        return {"TableDescription": description}, any("Create" in update for update in updates)

    answer: dict[str, Any]
    answer, fills = await database.write(change)
    if fills:
        database.fill_indexes()
    return answer


def check_request(request: dict[str, Any]) -> None:
    if not any(request.get(change) not in (None, []) for change in CHANGES):
        invalid(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or "
            "SSESpecification or ReplicaUpdates is required"
        )
    if request.get("BillingMode") == "PROVISIONED" and not request.get("ProvisionedThroughput"):
        invalid(f"{WRONG}ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
    checked_throughput(request.get("ProvisionedThroughput"))
    names = set()
    changing = 0
    for update in request.get("GlobalSecondaryIndexUpdates") or ():
        if sum(update.get(kind) is not None for kind in ("Update", "Create", "Delete")) > 1:
            invalid(
                f"{WRONG}Only one of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
                "GlobalSecondaryIndexUpdate.Delete may be given"
            )
        asked = update.get("Update") or update.get("Create") or update.get("Delete")
        if not asked:
            invalid(
                f"{WRONG}One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
                "GlobalSecondaryIndexUpdate.Delete must not be null"
            )
        if asked["IndexName"] in names:
            invalid(
                f"{WRONG}Only one global secondary index update per index is allowed simultaneously. "
                f"Index: {asked['IndexName']}"
            )
        names.add(asked["IndexName"])
        changing += "Update" not in update
    if changing > 1:
        raise DynamoError(
            "LimitExceededException",
            "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
        )


def with_settings(definition: TableDefinition, request: dict[str, Any], now: float) -> TableDefinition:
    """Apply the settings that do not affect rows: billing, throughput, protection, class."""
    billing = request.get("BillingMode") or definition.billing
    units = request.get("ProvisionedThroughput")
    if units and billing == "PAY_PER_REQUEST":
        invalid(
            f"{WRONG}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
            "PAY_PER_REQUEST"
        )
    asked, current = checked_throughput(units), definition.throughput
    if units and billing == definition.billing and (asked.read, asked.write) == (current.read, current.write):
        invalid(
            "The provisioned throughput for the table will not change. The requested value equals the current value. "
            f"Current ReadCapacityUnits provisioned for the table: {current.read}. "
            f"Requested ReadCapacityUnits: {units['ReadCapacityUnits']}. "
            f"Current WriteCapacityUnits provisioned for the table: {current.write}. "
            f"Requested WriteCapacityUnits: {units['WriteCapacityUnits']}. "
            "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
        )
    if billing != definition.billing:
        definition = replaced(
            definition,
            billing=billing,
            billing_changed=now if billing == "PAY_PER_REQUEST" else definition.billing_changed,
            throughput=current.changed(asked, now),
        )
    elif units:
        definition = replaced(definition, throughput=current.changed(asked, now))
    if request.get("DeletionProtectionEnabled") is not None:
        definition = replaced(definition, protected=request["DeletionProtectionEnabled"])
    if request.get("TableClass"):
        definition = replaced(definition, table_class=request["TableClass"])
    if request.get("OnDemandThroughput"):
        definition = replaced(definition, on_demand=request["OnDemandThroughput"])
    if request.get("WarmThroughput"):
        definition = replaced(definition, warm={**(definition.warm or {}), **request["WarmThroughput"]})
    encryption = request.get("SSESpecification")
    if encryption is not None:
        definition = replaced(definition, encryption=checked_encryption(encryption))
    return definition


def with_stream(rows: Rows, definition: TableDefinition, asked: dict[str, Any] | None, now: float) -> TableDefinition:
    if asked is None:
        return definition
    view = checked_stream(asked)
    current = definition.streams[-1] if definition.streams and definition.streams[-1].ended is None else None
    if view is None:
        if current is None:
            invalid("Table is already in the requested stream state: disabled")
        return replaced(definition, streams=(*definition.streams[:-1], replaced(current, ended=now)))
    if current is not None:
        invalid("Table already has an enabled stream: " + name_of(definition.name))
    stream = new_stream(rows, definition, view, now)
    create_log(rows.connection, stream)
    return replaced(definition, streams=(*definition.streams, stream))


def with_indexes(
    rows: Rows,
    table: Table,
    definition: TableDefinition,
    request: dict[str, Any],
    updates: list[dict[str, Any]],
    now: float,
) -> TableDefinition:
    """Add and drop global indexes, or change their throughput."""
    for update in updates:
        if "Create" in update:
            definition = with_new_index(rows, definition, request, update["Create"])
        elif "Delete" in update:
            name = update["Delete"]["IndexName"]
            index = table.indexes_by_name.get(name)
            if index is None or not index.is_global:
                raise DynamoError(
                    "ResourceNotFoundException", f"Requested resource not found: Index: {name} not found for table"
                )
            drop_index(rows.connection, index)
            remaining = tuple(index for index in definition.indexes if index.name != name)
            definition = replaced(definition, indexes=remaining, attributes=used_attributes(definition, remaining))
        else:
            name = update["Update"]["IndexName"]
            if name not in table.indexes_by_name:
                invalid(
                    "This operation cannot be performed with given input values. "
                    "Please contact DynamoDB service team for more info: Action Blocked: IndexUpdate"
                )
            indexes = tuple(
                with_index_settings(index, update["Update"], now) if index.name == name else index
                for index in definition.indexes
            )
            definition = replaced(definition, indexes=indexes)
    return definition


def with_index_settings(index: IndexDefinition, asked: dict[str, Any], now: float) -> IndexDefinition:
    if asked.get("ProvisionedThroughput"):
        units = checked_throughput(asked["ProvisionedThroughput"])
        index = replaced(index, throughput=index.throughput.changed(units, now))
    if asked.get("OnDemandThroughput"):
        index = replaced(index, on_demand=asked["OnDemandThroughput"])
    if asked.get("WarmThroughput"):
        index = replaced(index, warm={**(index.warm or {}), **asked["WarmThroughput"]})
    return index


def with_new_index(
    rows: Rows, definition: TableDefinition, request: dict[str, Any], asked: dict[str, Any]
) -> TableDefinition:
    new_attributes = checked_definitions(request.get("AttributeDefinitions") or [])
    for name, kind in new_attributes.items():
        if definition.attributes.get(name, kind) != kind:
            invalid(
                f"{WRONG}Attributes cannot be redefined. Please check that your attribute has the same type as "
                "previously defined. "
                f"Existing schema: Schema:[SchemaElement: key{{{name}:{definition.attributes[name]}:HASH}}] "
                f"New schema: Schema:[SchemaElement: key{{{name}:{kind}:HASH}}]"
            )
    if any(index.name == asked["IndexName"] for index in definition.indexes):
        invalid("Attempting to create an index which already exists")
    index = checked_global_index(asked, new_attributes, definition.billing, list(definition.indexes))
    attributes = definition.attributes | new_attributes
    indexes = (*definition.indexes, replaced(index, number=definition.next_number, status="CREATING"))
    if sum(index.is_global for index in indexes) > GLOBAL_INDEXES:
        raise DynamoError(
            "LimitExceededException",
            f"Subscriber limit exceeded: GlobalSecondaryIndex count exceeds the per-table limit of {GLOBAL_INDEXES}",
        )
    check_projected(list(indexes))
    changed = replaced(
        definition,
        indexes=indexes,
        next_number=definition.next_number + 1,
        attributes=used_attributes(replaced(definition, attributes=attributes), indexes),
    )
    create_index(rows.connection, Table(changed).indexes[-1])
    return changed


def used_attributes(definition: TableDefinition, indexes: tuple[Any, ...]) -> dict[str, str]:
    used = {*definition.key, *(name for index in indexes for name in (*index.partition, *index.sort))}
    return {name: kind for name, kind in definition.attributes.items() if name in used}

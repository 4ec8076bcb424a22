"""CreateTable."""

import uuid
from typing import TYPE_CHECKING, Any

import msgspec

from potluck.dynamo.actions.tag_resource import checked_tags
from potluck.dynamo.descriptions import described
from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.parameters import refuse_not_offered
from potluck.dynamo.schemas import (
    WRONG,
    checked_definitions,
    checked_encryption,
    checked_indexes,
    checked_key,
    checked_stream,
)
from potluck.dynamo.schemas import checked_throughput as checked_units
from potluck.dynamo.storage.catalog import create_log
from potluck.dynamo.storage.rows import Rows
from potluck.dynamo.streams import new_stream
from potluck.dynamo.tables import TableDefinition

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def create_table(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    refuse_not_offered("CreateTable", request)
    wanted = checked_table(request, database.clock())
    view = checked_stream(request.get("StreamSpecification"), of_new_table=True)
    name, key = wanted.name, database.namespace.key(wanted.name)

    def create(rows: Rows) -> dict[str, Any]:
        if key in rows.catalog.tables:
            raise DynamoError("ResourceInUseException", f"Table already exists: {name}")
        number = rows.catalog.next_number(rows.connection, "table")
        definition = msgspec.structs.replace(wanted, name=key, number=number)
        if view is not None:
            stream = new_stream(rows, definition, view, definition.created)
            create_log(rows.connection, stream)
            definition = msgspec.structs.replace(definition, streams=(stream,))
        table = rows.catalog.create(rows.connection, definition)
        description = described(table, rows, "CREATING")
        for index in description.get("GlobalSecondaryIndexes", ()):
            index["IndexStatus"] = "CREATING"
        description.get("BillingModeSummary", {}).pop("LastUpdateToPayPerRequestDateTime", None)
        return {"TableDescription": description}

    answer: dict[str, Any] = await database.write(create)
    return answer


def checked_table(request: dict[str, Any], now: float) -> TableDefinition:
    billing = request.get("BillingMode") or "PROVISIONED"
    units = request.get("ProvisionedThroughput")
    if billing == "PAY_PER_REQUEST" and units:
        invalid(
            f"{WRONG}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
            "PAY_PER_REQUEST"
        )
    if billing == "PROVISIONED" and not units:
        invalid(
            f"{WRONG}ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
        )
    throughput = checked_units(units)
    attributes = checked_definitions(request["AttributeDefinitions"])
    key = checked_key(request["KeySchema"], attributes)
    local, global_ = request.get("LocalSecondaryIndexes"), request.get("GlobalSecondaryIndexes")
    if local is None and global_ is None and len(key) != len(attributes):
        invalid(
            f"{WRONG}Number of attributes in KeySchema does not exactly match number of attributes defined in "
            "AttributeDefinitions"
        )
    indexes = checked_indexes(local, global_, attributes, key, billing)
    used = {*key, *(name for index in indexes for name in (*index.partition, *index.sort))}
    if used != attributes.keys():
        unused = [name for name in attributes if name not in used]
        invalid(
            f"{WRONG}Some AttributeDefinitions are not used. AttributeDefinitions: [{', '.join(attributes)}], "
            f"keys used: [{', '.join(name for name in attributes if name not in unused)}]"
        )
    return TableDefinition(
        name=request["TableName"].rpartition("/")[2],
        number=0,
        unique_id=str(uuid.uuid4()),
        created=now,
        attributes=attributes,
        key=key,
        indexes=tuple(msgspec.structs.replace(index, number=at) for at, index in enumerate(indexes, 1)),
        billing=billing,
        billing_changed=now if billing == "PAY_PER_REQUEST" else None,
        throughput=throughput,
        protected=request.get("DeletionProtectionEnabled", False),
        table_class=request.get("TableClass"),
        encryption=checked_encryption(request.get("SSESpecification")),
        on_demand=request.get("OnDemandThroughput"),
        warm=request.get("WarmThroughput"),
        tags=checked_tags(request.get("Tags") or []),
        next_number=len(indexes) + 1,
    )

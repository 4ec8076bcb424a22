"""Validating what CreateTable and UpdateTable ask for, and building definitions from it."""

from typing import Any

from potluck.dynamo.errors import invalid
from potluck.dynamo.limits import GLOBAL_INDEXES, LOCAL_INDEXES, PROJECTED_ATTRIBUTES, THROUGHPUT_UNITS
from potluck.dynamo.tables import IndexDefinition, Throughput

WRONG = "One or more parameter values were invalid: "
ATTRIBUTES_PER_KEY = 4


def checked_definitions(definitions: list[dict[str, Any]]) -> dict[str, str]:
    """Attribute definitions by name; duplicates are refused."""
    attributes: dict[str, str] = {}
    for definition in definitions:
        name = definition["AttributeName"]
        if name in attributes:
            invalid(f"Attribute Name is duplicated: {name}")
        attributes[name] = definition["AttributeType"]
    return attributes


def checked_key(schema: list[dict[str, Any]], attributes: dict[str, str]) -> tuple[str, ...]:
    """A table's key: one attribute, or two."""
    names = [element["AttributeName"] for element in schema]
    if len(names) > len(attributes):
        invalid("Invalid KeySchema: Some index key attribute have no definition")
    check_defined(names, attributes)
    check_two(schema, names)
    return tuple(names)


def check_defined(names: list[str], attributes: dict[str, str]) -> None:
    if any(name not in attributes for name in names):
        invalid(
            f"{WRONG}Some index key attributes are not defined in AttributeDefinitions. "
            f"Keys: [{', '.join(names)}], AttributeDefinitions: [{', '.join(attributes)}]"
        )


def check_two(schema: list[dict[str, Any]], names: list[str]) -> None:
    if len(names) > 1 and names[0] == names[1]:
        invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
    if schema[0]["KeyType"] != "HASH":
        invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if len(schema) > 1 and schema[1]["KeyType"] != "RANGE":
        invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")


def checked_indexes(
    local: list[dict[str, Any]] | None,
    global_: list[dict[str, Any]] | None,
    attributes: dict[str, str],
    key: tuple[str, ...],
    billing: str,
) -> list[IndexDefinition]:
    """The indexes of a new table."""
    indexes: list[IndexDefinition] = []
    if local is not None:
        if not local:
            invalid(f"{WRONG}List of LocalSecondaryIndexes is empty")
        if len(key) != 2:
            invalid(
                f"{WRONG}Table KeySchema does not have a range key, which is required when specifying a "
                "LocalSecondaryIndex"
            )
        for index in local:
            indexes.append(checked_local_index(index, attributes, key, indexes))
        if len(local) > LOCAL_INDEXES:
            invalid(f"{WRONG}Number of LocalSecondaryIndexes exceeds per-table limit of {LOCAL_INDEXES}")
    if global_ is not None:
        if not global_:
            invalid(f"{WRONG}List of GlobalSecondaryIndexes is empty")
        for index in global_:
            indexes.append(checked_global_index(index, attributes, billing, indexes))
        if len(global_) > GLOBAL_INDEXES:
            invalid(f"{WRONG}GlobalSecondaryIndex count exceeds the per-table limit of {GLOBAL_INDEXES}")
    check_projected(indexes)
    return indexes


def checked_local_index(
    index: dict[str, Any], attributes: dict[str, str], key: tuple[str, ...], others: list[IndexDefinition]
) -> IndexDefinition:
    name, schema = index["IndexName"], index["KeySchema"]
    names = [element["AttributeName"] for element in schema]
    check_defined(names, attributes)
    check_two(schema, names)
    if len(schema) != 2:
        invalid(f"{WRONG}Index KeySchema does not have a range key for index: {name}")
    if names[0] != key[0]:
        invalid(
            f"{WRONG}Index KeySchema does not have the same leading hash key as table KeySchema for index: {name}. "
            f"index hash key: {names[0]}, table hash key: {key[0]}"
        )
    projection, included = checked_projection(index["Projection"])
    check_new_name(name, others)
    return IndexDefinition(name, 0, False, (names[0],), (names[1],), projection, included)


def checked_global_index(
    index: dict[str, Any], attributes: dict[str, str], billing: str, others: list[IndexDefinition]
) -> IndexDefinition:
    name, schema = index["IndexName"], index["KeySchema"]
    names = [element["AttributeName"] for element in schema]
    check_defined(names, attributes)
    if len(schema) <= 2 and (len(schema) < 2 or schema[1]["KeyType"] == "RANGE" or schema[0]["KeyType"] != "HASH"):
        check_two(schema, names)
    kinds = [element["KeyType"] for element in schema]
    partition = tuple(element["AttributeName"] for element in schema if element["KeyType"] == "HASH")
    sort = tuple(element["AttributeName"] for element in schema if element["KeyType"] == "RANGE")
    if kinds != ["HASH"] * len(partition) + ["RANGE"] * len(sort) or not partition:
        invalid("Invalid KeySchema: All HASH key attributes must precede RANGE key attributes in the KeySchema")
    for role, of_role in (("HASH", partition), ("RANGE", sort)):
        if len(of_role) > ATTRIBUTES_PER_KEY:
            invalid(f"Invalid KeySchema: The KeySchema exceeds the maximum allowed number of {role} key attributes")
    if len(set(names)) != len(names):
        invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
    projection, included = checked_projection(index["Projection"])
    units = index.get("ProvisionedThroughput")
    if billing == "PAY_PER_REQUEST" and units:
        invalid(
            f"{WRONG}ProvisionedThroughput should not be specified for index: {name} when BillingMode is "
            "PAY_PER_REQUEST"
        )
    if billing == "PROVISIONED" and not units:
        invalid(f"{WRONG}ProvisionedThroughput must be specified for index: {name}")
    check_new_name(name, others)
    return IndexDefinition(
        name,
        0,
        True,
        partition,
        sort,
        projection,
        included,
        checked_throughput(units),
        on_demand=index.get("OnDemandThroughput"),
        warm=index.get("WarmThroughput"),
    )


def checked_projection(projection: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    kind = projection.get("ProjectionType")
    if kind is None:
        invalid(f"{WRONG}Unknown ProjectionType: null")
    included = projection.get("NonKeyAttributes")
    if included is not None and kind != "INCLUDE":
        invalid(f"{WRONG}ProjectionType is {kind}, but NonKeyAttributes is specified")
    if kind == "INCLUDE" and not included:
        invalid(f"{WRONG}ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    if included and len(set(included)) != len(included):
        repeated = next(name for name in included if included.count(name) > 1)
        invalid(f"{WRONG}Duplicate attribute name in NonKeyAttributes: {repeated}")
    return kind, tuple(included or ())


def check_new_name(name: str, others: list[IndexDefinition]) -> None:
    if any(other.name == name for other in others):
        invalid(f"{WRONG}Duplicate index name: {name}")


def check_projected(indexes: list[IndexDefinition]) -> None:
    if sum(len(index.included) for index in indexes) > PROJECTED_ATTRIBUTES:
        invalid(
            f"{WRONG}Number of NonKeyAttributes projected across all secondary indexes exceeds the limit of "
            f"{PROJECTED_ATTRIBUTES}"
        )


def checked_throughput(units: dict[str, Any] | None) -> Throughput:
    if units is None:
        return Throughput()
    for name in ("ReadCapacityUnits", "WriteCapacityUnits"):
        if units[name] > THROUGHPUT_UNITS:
            invalid(f"Given value {units[name]} for {name} is out of bounds")
    return Throughput(units["ReadCapacityUnits"], units["WriteCapacityUnits"])


def checked_encryption(encryption: dict[str, Any] | None) -> dict[str, Any] | None:
    """The description of the encryption; None for the service's own default key."""
    if encryption is None or not encryption.get("Enabled"):
        return None
    key = {"KMSMasterKeyArn": encryption["KMSMasterKeyId"]} if encryption.get("KMSMasterKeyId") else {}
    return {"Status": "ENABLED", "SSEType": "KMS", **key}


def checked_stream(stream: dict[str, Any] | None, *, of_new_table: bool = False) -> str | None:
    """The requested view type; None if no stream was requested."""
    if stream is None:
        return None
    view: str | None = stream.get("StreamViewType")
    if not stream.get("StreamEnabled"):
        if view is not None:
            if of_new_table:
                invalid(f"{WRONG}Table is being created with a stream disabled, UpdateViewType should not be specified")
            invalid(f"{WRONG}StreamViewType is not allowed when StreamEnabled is false")
        return None
    if view is None:
        invalid(f"{WRONG}StreamViewType must be specified when StreamEnabled is true")
    return view

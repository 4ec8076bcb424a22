"""What the service says to requests of the wrong types or outside the constraints of their parameters."""

import copy
import json
from typing import Any

import botocore.session
import pytest
from hypothesis import given
from hypothesis import strategies as st

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.parameters import (
    OPERATIONS,
    OPERATIONS_NOT_OFFERED,
    SHAPES,
    STREAM_OPERATIONS,
    check,
    check_whole,
    table_name_of,
)
from potluck.dynamo.parameters.scalars import Anything

CAST = (
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class "
    "(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class "
    "are in module java.base of loader 'bootstrap')"
)
MODEL = "com.amazonaws.dynamodb.v20120810."
MAP_OF_VALUES = f"Unrecognized collection type java.util.Map<java.lang.String, {MODEL}AttributeValue>"
STRUCTURE = "Start of structure or map found where not expected"
NUMBERS = (23, -2147483648, 2147483648)

# What the service answers to each JSON value, for each kind of parameter (measured on it by dynalite's authors).
MISFITS: dict[str, list[tuple[Any, str]]] = {
    "String": [
        (True, "TRUE_VALUE cannot be converted to String"),
        (False, "FALSE_VALUE cannot be converted to String"),
        *[(number, "NUMBER_VALUE cannot be converted to String") for number in NUMBERS],
        (34.56, "DECIMAL_VALUE cannot be converted to String"),
        ([], "Unrecognized collection type class java.lang.String"),
        ({}, STRUCTURE),
    ],
    "Boolean": [
        ("23", "Unexpected token received from parser"),
        *[(number, "NUMBER_VALUE cannot be converted to Boolean") for number in NUMBERS],
        (34.56, "DECIMAL_VALUE cannot be converted to Boolean"),
        ([], "Unrecognized collection type class java.lang.Boolean"),
        ({}, STRUCTURE),
    ],
    **{
        kind: [
            ("23", f"STRING_VALUE cannot be converted to {kind}"),
            (True, f"TRUE_VALUE cannot be converted to {kind}"),
            (False, f"FALSE_VALUE cannot be converted to {kind}"),
            ([], f"Unrecognized collection type class java.lang.{kind}"),
            ({}, STRUCTURE),
        ]
        for kind in ("Integer", "Long")
    },
    "Blob": [
        *[(scalar, "only base-64-encoded strings are convertible to bytes") for scalar in (True, *NUMBERS, 34.56)],
        ([], "Unrecognized collection type class java.nio.ByteBuffer"),
        ({}, STRUCTURE),
        ("23456", "Base64 encoded length is expected a multiple of 4 bytes but found: 5"),
        ("=+/=", "Invalid last non-pad Base64 character dectected"),
        ("+/+=", "Invalid last non-pad Base64 character dectected"),
    ],
    "List": [
        *[(scalar, "Unexpected field type") for scalar in ("23", True, *NUMBERS, 34.56)],
        ({}, STRUCTURE),
    ],
    "ParameterizedList": [
        *[(scalar, CAST) for scalar in ("23", True, *NUMBERS, 34.56)],
        ({}, STRUCTURE),
    ],
    "ParameterizedMap": [
        *[(scalar, CAST) for scalar in ("23", True, *NUMBERS, 34.56)],
        ([], MAP_OF_VALUES),
    ],
}


def misfits(kind: str) -> list[tuple[Any, str]]:
    """The wrong values for a kind such as "Map<AttributeValue>" or "ValueStruct<Condition>"."""
    if kind in MISFITS:
        return MISFITS[kind]
    form, _, of = kind.removesuffix(">").partition("<")
    scalars = ("23", True, *NUMBERS, 34.56)
    told = "Unexpected value type in payload" if form == "ValueStruct" else "Unexpected field type"
    name = of if "." in of else MODEL + of
    collection = f"java.util.Map<java.lang.String, {name}>" if form == "Map" else f"class {name}"
    return [*[(scalar, told) for scalar in scalars], ([], f"Unrecognized collection type {collection}")]


def value_at(place: str, form: str) -> list[tuple[str, str]]:
    """Everything that can be of the wrong type in an attribute value at this place."""
    return [
        (place, f"{form}<AttributeValue>"),
        (f"{place}.S", "String"),
        (f"{place}.N", "String"),
        (f"{place}.B", "Blob"),
        (f"{place}.BOOL", "Boolean"),
        (f"{place}.NULL", "Boolean"),
        (f"{place}.SS", "List"),
        (f"{place}.SS.0", "String"),
        (f"{place}.NS", "List"),
        (f"{place}.NS.0", "String"),
        (f"{place}.BS", "List"),
        (f"{place}.BS.0", "Blob"),
        (f"{place}.L", "List"),
        (f"{place}.L.0", "ValueStruct<AttributeValue>"),
        (f"{place}.L.0.BS.0", "Blob"),
        (f"{place}.M", "Map<AttributeValue>"),
        (f"{place}.M.a", "ValueStruct<AttributeValue>"),
        (f"{place}.M.a.M.b.N", "String"),
    ]


def map_at(place: str) -> list[tuple[str, str]]:
    return [(place, "Map<AttributeValue>"), *value_at(f"{place}.Attr", "ValueStruct")]


def conditions_at(place: str, name: str) -> list[tuple[str, str]]:
    return [
        (place, f"Map<{name}>"),
        (f"{place}.Attr", f"ValueStruct<{name}>"),
        (f"{place}.Attr.ComparisonOperator", "String"),
        (f"{place}.Attr.AttributeValueList", "List"),
        *value_at(f"{place}.Attr.AttributeValueList.0", "ValueStruct"),
    ]


PLACEHOLDERS = [
    *map_at("ExpressionAttributeValues"),
    ("ExpressionAttributeNames", "Map<java.lang.String>"),
    ("ExpressionAttributeNames.a", "String"),
]
EXPECTED = [
    *conditions_at("Expected", "ExpectedAttributeValue"),
    ("Expected.Attr.Exists", "Boolean"),
    *value_at("Expected.Attr.Value", "FieldStruct"),
]
TYPES = {
    "GetItem": [
        ("TableName", "String"),
        *map_at("Key"),
        ("AttributesToGet", "List"),
        ("AttributesToGet.0", "String"),
        ("ConsistentRead", "Boolean"),
        ("ReturnConsumedCapacity", "String"),
        ("ProjectionExpression", "String"),
    ],
    "PutItem": [("ReturnValues", "String"), *map_at("Item"), *EXPECTED, *PLACEHOLDERS],
    "UpdateItem": [
        ("AttributeUpdates", "Map<AttributeValueUpdate>"),
        ("AttributeUpdates.Attr", "ValueStruct<AttributeValueUpdate>"),
        ("AttributeUpdates.Attr.Action", "String"),
        *value_at("AttributeUpdates.Attr.Value", "FieldStruct"),
        ("UpdateExpression", "String"),
        *PLACEHOLDERS,
    ],
    "DeleteItem": [*map_at("Key"), *EXPECTED, ("ConditionalOperator", "String")],
    "Query": [
        ("Limit", "Integer"),
        ("ScanIndexForward", "Boolean"),
        *map_at("ExclusiveStartKey"),
        *conditions_at("KeyConditions", "Condition"),
        *conditions_at("QueryFilter", "Condition"),
        *PLACEHOLDERS,
    ],
    "Scan": [("Segment", "Integer"), ("TotalSegments", "Integer"), *conditions_at("ScanFilter", "Condition")],
    "BatchGetItem": [
        ("RequestItems", "Map<KeysAndAttributes>"),
        ("RequestItems.Attr", "ValueStruct<KeysAndAttributes>"),
        ("RequestItems.Attr.Keys", "List"),
        ("RequestItems.Attr.Keys.0", "ParameterizedMap"),
        *value_at("RequestItems.Attr.Keys.0.Attr", "ValueStruct"),
        ("RequestItems.Attr.ConsistentRead", "Boolean"),
    ],
    "BatchWriteItem": [
        ("RequestItems", f"Map<java.util.List<{MODEL}WriteRequest>>"),
        ("RequestItems.Attr", "ParameterizedList"),
        ("RequestItems.Attr.0", "ValueStruct<WriteRequest>"),
        ("RequestItems.Attr.0.DeleteRequest", "FieldStruct<DeleteRequest>"),
        *map_at("RequestItems.Attr.0.DeleteRequest.Key"),
        ("RequestItems.Attr.0.PutRequest", "FieldStruct<PutRequest>"),
        *map_at("RequestItems.Attr.0.PutRequest.Item"),
    ],
    "CreateTable": [
        ("TableName", "String"),
        ("AttributeDefinitions", "List"),
        ("AttributeDefinitions.0", "ValueStruct<AttributeDefinition>"),
        ("AttributeDefinitions.0.AttributeName", "String"),
        ("KeySchema", "List"),
        ("KeySchema.0", "ValueStruct<KeySchemaElement>"),
        ("KeySchema.0.KeyType", "String"),
        ("BillingMode", "String"),
        ("ProvisionedThroughput", "FieldStruct<ProvisionedThroughput>"),
        ("ProvisionedThroughput.WriteCapacityUnits", "Long"),
        ("LocalSecondaryIndexes", "List"),
        ("LocalSecondaryIndexes.0", "ValueStruct<LocalSecondaryIndex>"),
        ("LocalSecondaryIndexes.0.Projection", "FieldStruct<Projection>"),
        ("LocalSecondaryIndexes.0.Projection.NonKeyAttributes.0", "String"),
        ("GlobalSecondaryIndexes.0.ProvisionedThroughput.ReadCapacityUnits", "Long"),
    ],
    "UpdateTable": [
        ("GlobalSecondaryIndexUpdates.0", "ValueStruct<GlobalSecondaryIndexUpdate>"),
        ("GlobalSecondaryIndexUpdates.0.Create", "FieldStruct<CreateGlobalSecondaryIndexAction>"),
    ],
    "UpdateTimeToLive": [("TimeToLiveSpecification.Enabled", "Boolean")],
    "ListTables": [("Limit", "Integer"), ("ExclusiveStartTableName", "String")],
    "TransactWriteItems": [("TransactItems", "List"), ("TransactItems.0.Put.ExpressionAttributeNames.a", "String")],
    "GetRecords": [("ShardIterator", "String"), ("Limit", "Integer")],
}


def request_with(place: str, value: Any) -> dict[str, Any]:
    for step in reversed(place.split(".")):
        value = [value] if step == "0" else {step: value}
    return value


def told(operation: str, request: Any, checking: Any = check) -> DynamoError:
    with pytest.raises(DynamoError) as caught:
        checking(operation, request)
    return caught.value


@pytest.mark.parametrize(("operation", "place", "kind"), [(op, *row) for op, rows in TYPES.items() for row in rows])
def test_a_value_of_the_wrong_type_is_a_serialization_exception(operation: str, place: str, kind: str) -> None:
    for value, message in misfits(kind):
        error = told(operation, request_with(place, value), check_whole)
        assert (error.code, error.message) == ("SerializationException", message), (place, value)


@pytest.mark.parametrize("request_", [[], "x", 5, None, True])
def test_a_request_that_is_no_object_is_a_serialization_exception(request_: Any) -> None:
    for operation in SHAPES:
        assert told(operation, request_).code == "SerializationException"


NULL = "Value null at '{}' failed to satisfy constraint: Member must not be null"
PATTERN = (
    "Value '{}' at '{}' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
)
AT_LEAST = "Value '{}' at '{}' failed to satisfy constraint: Member must have length greater than or equal to {}"
AT_MOST = "Value '{}' at '{}' failed to satisfy constraint: Member must have length less than or equal to {}"
ENUM = "Value '{}' at '{}' failed to satisfy constraint: Member must satisfy enum value set: [{}]"
LOW = "Value '{}' at '{}' failed to satisfy constraint: Member must have value greater than or equal to {}"
HIGH = "Value '{}' at '{}' failed to satisfy constraint: Member must have value less than or equal to {}"
TABLE_KEYS = (
    "Map keys must satisfy constraint: [Member must have length less than or equal to 255, "
    "Member must have length greater than or equal to 3, "
    "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
)
LENGTH = "TableName must be at least 3 characters long and at most 255 characters long"
CAPACITY = "INDEXES, TOTAL, NONE"
LONG_NAME = "a" * 256
ELEMENT = {"AttributeName": "a", "KeyType": "HASH"}

CONSTRAINTS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("GetItem", {}, [NULL.format("tableName"), NULL.format("key")]),
    ("GetItem", {"TableName": None, "Key": None}, [NULL.format("tableName"), NULL.format("key")]),
    (
        "GetItem",
        {"TableName": "a;", "Key": {}},
        [PATTERN.format("a;", "tableName"), AT_LEAST.format("a;", "tableName", 3)],
    ),
    ("GetItem", {"TableName": LONG_NAME, "Key": {}}, [AT_MOST.format(LONG_NAME, "tableName", 255)]),
    (
        "GetItem",
        {"TableName": "abc;", "ReturnConsumedCapacity": "hi", "AttributesToGet": []},
        [
            ENUM.format("hi", "returnConsumedCapacity", CAPACITY),
            AT_LEAST.format("[]", "attributesToGet", 1),
            PATTERN.format("abc;", "tableName"),
            NULL.format("key"),
        ],
    ),
    (
        "PutItem",
        {
            "TableName": "abc",
            "Item": {},
            "ReturnValues": "hi",
            "ReturnItemCollectionMetrics": "hi",
            "ReturnValuesOnConditionCheckFailure": "hi",
        },
        [
            ENUM.format("hi", "returnValues", "ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW"),
            ENUM.format("hi", "returnItemCollectionMetrics", "SIZE, NONE"),
            ENUM.format("hi", "returnValuesOnConditionCheckFailure", "ALL_OLD, NONE"),
        ],
    ),
    (
        "Query",
        {"TableName": "abc", "IndexName": "a;", "Select": "hi", "Limit": 0, "KeyConditions": {"a": {}}},
        [
            ENUM.format("hi", "select", "SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES"),
            PATTERN.format("a;", "indexName"),
            AT_LEAST.format("a;", "indexName", 3),
            "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
            NULL.format("keyConditions.a.member.comparisonOperator"),
        ],
    ),
    (
        "Scan",
        {"TableName": "abc", "Segment": -1, "TotalSegments": 1_000_001},
        [HIGH.format(1_000_001, "totalSegments", 1_000_000), LOW.format(-1, "segment", 0)],
    ),
    ("ListTables", {"Limit": 101}, [HIGH.format(101, "limit", 100)]),
    (
        "BatchGetItem",
        {"RequestItems": {"abc": {"Keys": []}, "def": {}}},
        [
            "Value at 'RequestItems.abc.member.Keys' failed to satisfy constraint: "
            "Member must have length greater than or equal to 1",
            NULL.format("requestItems.def.member.keys"),
        ],
    ),
    (
        "BatchWriteItem",
        {"RequestItems": {"a": []}},
        [
            f"Value '{{a=[]}}' at 'requestItems' failed to satisfy constraint: {TABLE_KEYS}",
            "Value '{a=[]}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: "
            "[Member must have length less than or equal to 25, Member must have length greater than or equal to 1]",
        ],
    ),
    (
        "BatchWriteItem",
        {"RequestItems": {"abc": [{"PutRequest": {}, "DeleteRequest": {}}]}},
        [
            NULL.format("requestItems.abc.member.1.member.deleteRequest.key"),
            NULL.format("requestItems.abc.member.1.member.putRequest.item"),
        ],
    ),
    ("TransactWriteItems", {"TransactItems": []}, [AT_LEAST.format("[]", "transactItems", 1)]),
    (
        "TransactWriteItems",
        {"TransactItems": [{"Update": {"TableName": "abc", "Key": {}}}], "ClientRequestToken": "a" * 37},
        [
            AT_MOST.format("a" * 37, "clientRequestToken", 36),
            NULL.format("transactItems.1.member.update.updateExpression"),
        ],
    ),
    ("TransactGetItems", {"TransactItems": [{}]}, [NULL.format("transactItems.1.member.get")]),
    (
        "CreateTable",
        {"TableName": "abc;", "BillingMode": "A", "ProvisionedThroughput": {"ReadCapacityUnits": -1}},
        [
            NULL.format("attributeDefinitions"),
            PATTERN.format("abc;", "tableName"),
            ENUM.format("A", "billingMode", "PROVISIONED, PAY_PER_REQUEST"),
            NULL.format("provisionedThroughput.writeCapacityUnits"),
            LOW.format(-1, "provisionedThroughput.readCapacityUnits", 1),
            NULL.format("keySchema"),
        ],
    ),
    (
        "CreateTable",
        {
            "TableName": "abc",
            "AttributeDefinitions": [{"AttributeName": "b", "AttributeType": "SS"}, None],
            "KeySchema": [ELEMENT],
            "LocalSecondaryIndexes": [{"IndexName": "h;", "KeySchema": [], "Projection": {"ProjectionType": "x"}}],
        },
        [
            ENUM.format("SS", "attributeDefinitions.1.member.attributeType", "B, N, S"),
            NULL.format("attributeDefinitions.2.member"),
            PATTERN.format("h;", "localSecondaryIndexes.1.member.indexName"),
            AT_LEAST.format("h;", "localSecondaryIndexes.1.member.indexName", 3),
            AT_LEAST.format("[]", "localSecondaryIndexes.1.member.keySchema", 1),
            ENUM.format("x", "localSecondaryIndexes.1.member.projection.projectionType", "ALL, INCLUDE, KEYS_ONLY"),
        ],
    ),
    ("UpdateTimeToLive", {"TableName": "abc"}, [NULL.format("timeToLiveSpecification")]),
    (
        "UpdateTimeToLive",
        {"TableName": "abc", "TimeToLiveSpecification": {"AttributeName": ""}},
        [
            NULL.format("timeToLiveSpecification.enabled"),
            AT_LEAST.format("", "timeToLiveSpecification.attributeName", 1),
        ],
    ),
    ("ListStreams", {"Limit": 0}, [LOW.format(0, "limit", 1)]),
    ("DescribeStream", {}, [NULL.format("streamArn")]),
    ("GetShardIterator", {"StreamArn": "a" * 37}, [NULL.format("shardId"), NULL.format("shardIteratorType")]),
    ("GetRecords", {"Limit": 1001}, [NULL.format("shardIterator"), HIGH.format(1001, "limit", 1000)]),
]


@pytest.mark.parametrize(("operation", "request_", "faults"), CONSTRAINTS)
def test_broken_constraints_are_told_together(operation: str, request_: dict[str, Any], faults: list[str]) -> None:
    error = told(operation, request_)
    plural = "" if len(faults) == 1 else "s"
    assert error.code == "ValidationException"
    assert error.message == f"{len(faults)} validation error{plural} detected: {'; '.join(faults)}"


def test_no_more_than_ten_faults_are_told() -> None:
    error = told("CreateTable", {"TableName": "abc", "LocalSecondaryIndexes": [{}] * 9})
    assert error.message.startswith("10 validation errors detected: ")
    assert error.message.count("failed to satisfy constraint") == 10


def test_a_list_that_is_too_long_is_shown_as_the_service_shows_it() -> None:
    message = told("CreateTable", {"TableName": "abc", "AttributeDefinitions": [], "KeySchema": [ELEMENT] * 3}).message
    assert "Value '[com.amazonaws.dynamodb.v20120810.KeySchemaElement@" in message
    assert message.endswith(
        "at 'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2"
    )


TABLE_REQUESTS = [
    "CreateTable",
    "DescribeTable",
    "UpdateTable",
    "DeleteTable",
    "UpdateTimeToLive",
    "DescribeTimeToLive",
    "DescribeContinuousBackups",
    "UpdateContinuousBackups",
]


@pytest.mark.parametrize("operation", TABLE_REQUESTS)
def test_operations_on_tables_look_at_the_name_first(operation: str) -> None:
    absent = "The parameter 'TableName' is required but was not present in the request"
    assert told(operation, {}).message == absent
    assert told(operation, {"TableName": None}).message == absent
    if operation == "CreateTable":
        assert told(operation, {"TableName": "ab"}).message == (
            f"1 validation error detected: {AT_LEAST.format('ab', 'tableName', 3)}"
        )
        return
    for name in ("", "a;", LONG_NAME):
        assert told(operation, {"TableName": name}).message == LENGTH


ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/Accounts"


def test_an_arn_may_stand_for_a_table_name() -> None:
    for operation, request in [
        ("GetItem", {"TableName": ARN, "Key": {}}),
        ("DescribeTable", {"TableName": ARN}),
        ("BatchGetItem", {"RequestItems": {ARN: {"Keys": [{}]}}}),
        ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": ARN, "Key": {}}}]}),
    ]:
        assert check(operation, request) is request
    assert table_name_of(ARN) == "Accounts"
    assert table_name_of("Accounts") == "Accounts"
    assert told("GetItem", {"TableName": f"{ARN}/index/ByName", "Key": {}}).code == "ValidationException"
    assert told("ListTables", {"ExclusiveStartTableName": ARN}).code == "ValidationException"


def test_an_unknown_operation_is_told() -> None:
    refusal = told("MakeCoffee", {})
    assert (refusal.code, refusal.message) == (
        "UnknownOperationException",
        "MakeCoffee is not an operation of this engine",
    )


def test_every_operation_of_the_service_is_offered_or_known_not_to_be() -> None:
    assert {*OPERATIONS, *OPERATIONS_NOT_OFFERED} == set(SDK.get_service_model("dynamodb").operation_names)


def test_unknown_fields_are_ignored() -> None:
    request = {"TableName": "abc", "Key": {}, "Colour": 5}
    assert check("GetItem", request) is request


def test_nulls_words_and_fractions_are_read_as_the_service_reads_them() -> None:
    assert check("GetItem", {"TableName": "abc", "Key": {}, "ConsistentRead": "yes", "ProjectionExpression": None}) == {
        "TableName": "abc",
        "Key": {},
        "ConsistentRead": True,
    }
    assert check("Query", {"TableName": "abc", "Limit": 34.56})["Limit"] == 34


def item_read(item: dict[str, Any]) -> Any:
    return check_whole("PutItem", {"TableName": "abc", "Item": item})["Item"]


def test_attribute_values_are_read_to_the_bottom() -> None:
    assert item_read({"a": {"S": "x", "N": None}, "b": None, "c": {"L": [{"BOOL": "true"}, {"X": 1}]}}) == {
        "a": {"S": "x"},
        "b": {},
        "c": {"L": [{"BOOL": True}, {}]},
    }
    plain = {"a": {"M": {"b": {"L": [{"N": "1"}, {"B": "YQ=="}]}}}, "c": {"SS": ["x"]}}
    assert item_read(plain) is plain


@pytest.mark.parametrize(("kind", "word"), [("SS", "string"), ("NS", "number")])
def test_a_null_in_a_set_is_told(kind: str, word: str) -> None:
    with pytest.raises(DynamoError, match=f"An {word} set  may not have a null string as a member"):
        item_read({"a": {kind: ["1", None]}})


def test_a_bottomless_document_is_no_crash() -> None:
    value: dict[str, Any] = {"S": "x"}
    for _ in range(50_000):
        value = {"L": [value]}
    assert check_whole("PutItem", {"TableName": "abc", "Item": {"a": value}})["TableName"] == "abc"
    while "L" in value:  # Python would take it apart by recursion.
        value = value["L"].pop()


WORDS = ["abc", "", "TOTAL", "HASH", "S", "ALL", "EQ", "a;", "true"]
LEAVES = st.none() | st.booleans() | st.integers(-2, 200) | st.floats(0, 3) | st.sampled_from(WORDS)


def requests_of(shape: Any, depth: int = 4) -> st.SearchStrategy[Any]:
    """Requests that are right often enough to reach the deeper parts, and wrong in every way."""
    right: st.SearchStrategy[Any] = LEAVES
    if depth and hasattr(shape, "fields"):
        right = st.fixed_dictionaries(
            {}, optional={name: requests_of(field, depth - 1) for name, field in shape.fields.items()}
        )
    elif depth and hasattr(shape, "member"):
        right = st.lists(requests_of(shape.member, depth - 1), max_size=3)
    elif depth and hasattr(shape, "keys"):
        right = st.dictionaries(st.sampled_from(["abc", "a;"]), requests_of(shape.value, depth - 1), max_size=2)
    elif depth and hasattr(shape, "scalars"):
        right = st.dictionaries(st.sampled_from(["S", "N", "SS", "L", "M", "X"]), LEAVES, max_size=2)
    elif getattr(shape, "options", ()):
        right = st.sampled_from(shape.options)
    elif hasattr(shape, "least") and shape.java == "java.lang.String":
        right = st.sampled_from(["abc", "a" * 40])
    return st.one_of(right, right, right, LEAVES | st.just([]) | st.just({}))


@given(st.sampled_from(sorted(SHAPES)).flatmap(lambda name: st.tuples(st.just(name), requests_of(SHAPES[name]))))
def test_the_quick_look_lets_nothing_through_that_the_close_look_refuses(case: tuple[str, Any]) -> None:
    operation, request = case
    before = json.dumps(request)
    quick, close = outcome(check, operation, request), outcome(check_whole, operation, request)
    assert json.dumps(request) == before, "the caller's request was changed"
    if quick is request:
        # Attribute values are not looked into by the quick look, so only they may be refused by the close one.
        close = outcome(check_whole, operation, without_attribute_values(SHAPES[operation], request))
        assert not isinstance(close, DynamoError), close
    else:
        assert str(quick) == str(close)


def outcome(checking: Any, operation: str, request: Any) -> Any:
    try:
        return checking(operation, request)
    except DynamoError as error:
        # Structures are shown with an address in the messages.
        return DynamoError(error.code, error.message.split("@")[0])


def without_attribute_values(shape: Any, value: Any) -> Any:
    if hasattr(shape, "scalars"):
        return {}
    if hasattr(shape, "fields"):
        return {
            name: without_attribute_values(shape.fields[name], member) if name in shape.fields else member
            for name, member in value.items()
        }
    if hasattr(shape, "member"):
        return [without_attribute_values(shape.member, member) for member in value]
    if hasattr(shape, "keys"):
        return {key: without_attribute_values(shape.value, member) for key, member in value.items()}
    return copy.copy(value)


# --- against the SDK's description of the service ---

# Demanded by the operations themselves, with words of their own.
DEMANDED_ELSEWHERE = {"TableName", "ResourceArn", "Tags", "TagKeys"}
SDK = botocore.session.Session()
MODELS = {
    **{name: SDK.get_service_model("dynamodb") for name in OPERATIONS},
    **{name: SDK.get_service_model("dynamodbstreams") for name in STREAM_OPERATIONS},
}


def differences(declared: Any, described: Any, place: str) -> list[str]:
    if isinstance(declared, Anything):
        return []
    if described.type_name == "structure" and hasattr(declared, "fields"):
        members = described.members
        missing = [f"{place}.{name} is not declared" for name in members.keys() - declared.fields.keys()]
        extra = [f"{place}.{name} is not described" for name in declared.fields.keys() - members.keys()]
        demanded = set(described.required_members) ^ declared.required
        unlike = [f"{place}.{name} is required on one side" for name in demanded if name not in DEMANDED_ELSEWHERE]
        below = [
            difference
            for name in members.keys() & declared.fields.keys()
            for difference in differences(declared.fields[name], members[name], f"{place}.{name}")
        ]
        return missing + extra + unlike + below
    if described.type_name == "list" and hasattr(declared, "member"):
        return differences(declared.member, described.member, f"{place}[]")
    if described.type_name == "map" and hasattr(declared, "keys"):
        return differences(declared.value, described.value, f"{place}{{}}")
    if described.type_name == "structure" and hasattr(declared, "scalars"):
        kinds = {*declared.scalars, *declared.sets, "L", "M"}
        return [] if kinds == described.members.keys() else [f"{place} has other types"]
    java = {"string": "String", "integer": "Integer", "long": "Long", "boolean": "Boolean", "timestamp": "Double"}
    if declared.java != f"java.lang.{java.get(described.type_name)}":
        return [f"{place} is {declared.java} here and {described.type_name} there"]
    if set(getattr(declared, "options", ())) not in (set(), set(getattr(described, "enum", ()))):
        return [f"{place} takes other words"]
    return []


@pytest.mark.parametrize("operation", sorted(SHAPES))
def test_declarations_agree_with_the_sdk(operation: str) -> None:
    described = MODELS[operation].operation_model(operation).input_shape
    # CreateTable demands these of the tables that are not replicas, and there are no replicas here.
    allowed = {f"CreateTable.{name} is required on one side" for name in ("AttributeDefinitions", "KeySchema")}
    assert set(differences(SHAPES[operation], described, operation)) - allowed == set()

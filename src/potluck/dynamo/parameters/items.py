"""The parameters of the operations on items, in the order in which the service reports errors."""

from potluck.dynamo.parameters.compounds import AttributeValue, Fields, ListOf, MapOf, Required, Structure
from potluck.dynamo.parameters.names import NAME, TABLE_NAME, TEXT, TRUTH
from potluck.dynamo.parameters.scalars import Number, Text

POSITIVE = Number("Integer", least=1)
QUERY_LIMIT = Number("Integer", least=1, is_shown=False)
VALUE = AttributeValue()
VALUES = ListOf(VALUE)
ITEM = MapOf(VALUE)
NAMES = MapOf(TEXT)
ATTRIBUTES_TO_GET = ListOf(TEXT, least=1, most=255)

CAPACITY = Text("INDEXES", "TOTAL", "NONE")
METRICS = Text("SIZE", "NONE")
RETURN_VALUES = Text("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW")
RETURN_ON_FAILURE = Text("ALL_OLD", "NONE")
CONDITIONAL_OPERATOR = Text("OR", "AND")
SELECT = Text("SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
COMPARISON = Text(
    "IN",
    "NULL",
    "BETWEEN",
    "LT",
    "NOT_CONTAINS",
    "EQ",
    "GT",
    "NOT_NULL",
    "NE",
    "LE",
    "BEGINS_WITH",
    "GE",
    "CONTAINS",
)

STATEMENT = Text(least=1, most=8192)
PARAMETERS = ListOf(VALUE, least=1)

EXPECTED = MapOf(
    Structure(
        "ExpectedAttributeValue",
        {"AttributeValueList": VALUES, "ComparisonOperator": COMPARISON, "Exists": TRUTH, "Value": VALUE},
    )
)
CONDITIONS = MapOf(Structure("Condition", {"AttributeValueList": VALUES, "ComparisonOperator": Required(COMPARISON)}))
ATTRIBUTE_UPDATES = MapOf(Structure("AttributeValueUpdate", {"Action": TEXT, "Value": VALUE}))

EXPRESSION_PLACEHOLDERS: Fields = {
    "ExpressionAttributeValues": ITEM,
    "ExpressionAttributeNames": NAMES,
}


def transaction_action(name: str, fields: Fields) -> Structure:
    shared: Fields = {
        "ConditionExpression": TEXT,
        "ReturnValuesOnConditionCheckFailure": RETURN_ON_FAILURE,
        **EXPRESSION_PLACEHOLDERS,
    }
    return Structure(name, {"TableName": Required(TABLE_NAME), **shared, **fields})


ITEM_OPERATIONS = {
    "PutItem": Structure(
        "PutItemInput",
        {
            "ReturnConsumedCapacity": CAPACITY,
            "TableName": Required(TABLE_NAME),
            "Item": Required(ITEM),
            "ConditionalOperator": CONDITIONAL_OPERATOR,
            "Expected": EXPECTED,
            "ReturnValues": RETURN_VALUES,
            "ReturnItemCollectionMetrics": METRICS,
            "ReturnValuesOnConditionCheckFailure": RETURN_ON_FAILURE,
            "ConditionExpression": TEXT,
            **EXPRESSION_PLACEHOLDERS,
        },
    ),
    "GetItem": Structure(
        "GetItemInput",
        {
            "ReturnConsumedCapacity": CAPACITY,
            "AttributesToGet": ATTRIBUTES_TO_GET,
            "TableName": Required(TABLE_NAME),
            "Key": Required(ITEM),
            "ConsistentRead": TRUTH,
            "ProjectionExpression": TEXT,
            "ExpressionAttributeNames": NAMES,
        },
    ),
    "UpdateItem": Structure(
        "UpdateItemInput",
        {
            "ReturnConsumedCapacity": CAPACITY,
            "TableName": Required(TABLE_NAME),
            "ReturnItemCollectionMetrics": METRICS,
            "ReturnValues": RETURN_VALUES,
            "ReturnValuesOnConditionCheckFailure": RETURN_ON_FAILURE,
            "Key": Required(ITEM),
            "ConditionalOperator": CONDITIONAL_OPERATOR,
            "Expected": EXPECTED,
            "AttributeUpdates": ATTRIBUTE_UPDATES,
            "ConditionExpression": TEXT,
            "UpdateExpression": TEXT,
            **EXPRESSION_PLACEHOLDERS,
        },
    ),
    "DeleteItem": Structure(
        "DeleteItemInput",
        {
            "ReturnConsumedCapacity": CAPACITY,
            "TableName": Required(TABLE_NAME),
            "ReturnValues": RETURN_VALUES,
            "ReturnItemCollectionMetrics": METRICS,
            "ReturnValuesOnConditionCheckFailure": RETURN_ON_FAILURE,
            "Key": Required(ITEM),
            "ConditionalOperator": CONDITIONAL_OPERATOR,
            "Expected": EXPECTED,
            "ConditionExpression": TEXT,
            **EXPRESSION_PLACEHOLDERS,
        },
    ),
    "Query": Structure(
        "QueryInput",
        {
            "Select": SELECT,
            "IndexName": NAME,
            "ReturnConsumedCapacity": CAPACITY,
            "QueryFilter": CONDITIONS,
            "TableName": Required(TABLE_NAME),
            "ConditionalOperator": CONDITIONAL_OPERATOR,
            "AttributesToGet": ATTRIBUTES_TO_GET,
            "Limit": QUERY_LIMIT,
            "KeyConditions": CONDITIONS,
            "ExclusiveStartKey": ITEM,
            "ConsistentRead": TRUTH,
            "ScanIndexForward": TRUTH,
            "KeyConditionExpression": TEXT,
            "FilterExpression": TEXT,
            "ProjectionExpression": TEXT,
            **EXPRESSION_PLACEHOLDERS,
        },
    ),
    "Scan": Structure(
        "ScanInput",
        {
            "Select": SELECT,
            "IndexName": NAME,
            "TotalSegments": Number("Integer", least=1, most=1_000_000),
            "ReturnConsumedCapacity": CAPACITY,
            "TableName": Required(TABLE_NAME),
            "ConditionalOperator": CONDITIONAL_OPERATOR,
            "ScanFilter": CONDITIONS,
            "Segment": Number("Integer", least=0, most=999_999),
            "Limit": POSITIVE,
            "AttributesToGet": ATTRIBUTES_TO_GET,
            "ExclusiveStartKey": ITEM,
            "ConsistentRead": TRUTH,
            "FilterExpression": TEXT,
            "ProjectionExpression": TEXT,
            **EXPRESSION_PLACEHOLDERS,
        },
    ),
    "BatchGetItem": Structure(
        "BatchGetItemInput",
        {
            "ReturnConsumedCapacity": CAPACITY,
            "RequestItems": Required(
                MapOf(
                    Structure(
                        "KeysAndAttributes",
                        {
                            "Keys": Required(ListOf(ITEM, least=1, most=100, is_shown=False)),
                            "AttributesToGet": ATTRIBUTES_TO_GET,
                            "ConsistentRead": TRUTH,
                            "ProjectionExpression": TEXT,
                            "ExpressionAttributeNames": NAMES,
                        },
                    ),
                    keys=TABLE_NAME,
                    least=1,
                    most=100,
                )
            ),
        },
    ),
    "BatchWriteItem": Structure(
        "BatchWriteItemInput",
        {
            "ReturnConsumedCapacity": CAPACITY,
            "ReturnItemCollectionMetrics": METRICS,
            "RequestItems": Required(
                MapOf(
                    ListOf(
                        Structure(
                            "WriteRequest",
                            {
                                "DeleteRequest": Structure("DeleteRequest", {"Key": Required(ITEM)}),
                                "PutRequest": Structure("PutRequest", {"Item": Required(ITEM)}),
                            },
                        ),
                        least=1,
                        most=25,
                    ),
                    keys=TABLE_NAME,
                    least=1,
                    most=25,
                )
            ),
        },
    ),
    "TransactGetItems": Structure(
        "TransactGetItemsInput",
        {
            "ReturnConsumedCapacity": CAPACITY,
            "TransactItems": Required(
                ListOf(
                    Structure(
                        "TransactGetItem",
                        {
                            "Get": Required(
                                Structure(
                                    "Get",
                                    {
                                        "TableName": Required(TABLE_NAME),
                                        "Key": Required(ITEM),
                                        "ProjectionExpression": TEXT,
                                        "ExpressionAttributeNames": NAMES,
                                    },
                                )
                            )
                        },
                    ),
                    least=1,
                    most=100,
                )
            ),
        },
    ),
    "TransactWriteItems": Structure(
        "TransactWriteItemsInput",
        {
            "ReturnConsumedCapacity": CAPACITY,
            "ReturnItemCollectionMetrics": METRICS,
            "ClientRequestToken": Text(least=1, most=36),
            "TransactItems": Required(
                ListOf(
                    Structure(
                        "TransactWriteItem",
                        {
                            "ConditionCheck": transaction_action(
                                "ConditionCheck", {"Key": Required(ITEM), "ConditionExpression": Required(TEXT)}
                            ),
                            "Put": transaction_action("Put", {"Item": Required(ITEM)}),
                            "Delete": transaction_action("Delete", {"Key": Required(ITEM)}),
                            "Update": transaction_action(
                                "Update", {"Key": Required(ITEM), "UpdateExpression": Required(TEXT)}
                            ),
                        },
                    ),
                    least=1,
                    most=100,
                )
            ),
        },
    ),
    "ExecuteStatement": Structure(
        "ExecuteStatementInput",
        {
            "Statement": Required(STATEMENT),
            "Parameters": PARAMETERS,
            "ConsistentRead": TRUTH,
            "NextToken": Text(least=1, most=32768),
            "ReturnConsumedCapacity": CAPACITY,
            "Limit": POSITIVE,
            "ReturnValuesOnConditionCheckFailure": RETURN_ON_FAILURE,
        },
    ),
    "BatchExecuteStatement": Structure(
        "BatchExecuteStatementInput",
        {
            "Statements": Required(
                ListOf(
                    Structure(
                        "BatchStatementRequest",
                        {
                            "Statement": Required(STATEMENT),
                            "Parameters": PARAMETERS,
                            "ConsistentRead": TRUTH,
                            "ReturnValuesOnConditionCheckFailure": RETURN_ON_FAILURE,
                        },
                    ),
                    least=1,
                    most=25,
                )
            ),
            "ReturnConsumedCapacity": CAPACITY,
        },
    ),
    "ExecuteTransaction": Structure(
        "ExecuteTransactionInput",
        {
            "TransactStatements": Required(
                ListOf(
                    Structure(
                        "ParameterizedStatement",
                        {
                            "Statement": Required(STATEMENT),
                            "Parameters": PARAMETERS,
                            "ReturnValuesOnConditionCheckFailure": RETURN_ON_FAILURE,
                        },
                    ),
                    least=1,
                    most=100,
                )
            ),
            "ClientRequestToken": Text(least=1, most=36),
            "ReturnConsumedCapacity": CAPACITY,
        },
    ),
}

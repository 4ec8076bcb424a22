"""The parameters of the operations on tables, tags and streams, in the service's order of reporting."""

from potluck.dynamo.parameters.compounds import Fields, ListOf, Required, Structure
from potluck.dynamo.parameters.names import NAME, NAMED_TABLE, TEXT, TRUTH
from potluck.dynamo.parameters.scalars import Anything, Number, Text

ANYTHING = Anything()
LONG = Number("Long")
POSITIVE_LONG = Number("Long", least=1)
KEY_ATTRIBUTE_NAME = Text(least=1, most=255)
THROUGHPUT = Structure(
    "ProvisionedThroughput",
    {"WriteCapacityUnits": Required(POSITIVE_LONG), "ReadCapacityUnits": Required(POSITIVE_LONG)},
)
ON_DEMAND = Structure("OnDemandThroughput", {"MaxReadRequestUnits": LONG, "MaxWriteRequestUnits": LONG})
WARM = Structure("WarmThroughput", {"ReadUnitsPerSecond": LONG, "WriteUnitsPerSecond": LONG})
BILLING_MODE = Text("PROVISIONED", "PAY_PER_REQUEST")
TABLE_CLASS = Text("STANDARD", "STANDARD_INFREQUENT_ACCESS")
STREAM = Structure(
    "StreamSpecification",
    {
        "StreamEnabled": Required(TRUTH),
        "StreamViewType": Text("NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"),
    },
)
ENCRYPTION = Structure("SSESpecification", {"Enabled": TRUTH, "SSEType": Text("AES256", "KMS"), "KMSMasterKeyId": TEXT})
TAGS = ListOf(
    Structure("Tag", {"Key": Required(Text(least=1, most=128)), "Value": Required(Text(most=256))}),
)
ATTRIBUTE_DEFINITIONS = ListOf(
    Structure(
        "AttributeDefinition",
        {"AttributeName": Required(KEY_ATTRIBUTE_NAME), "AttributeType": Required(Text("B", "N", "S"))},
    )
)
KEY_ELEMENT = Structure(
    "KeySchemaElement",
    {"AttributeName": Required(KEY_ATTRIBUTE_NAME), "KeyType": Required(Text("HASH", "RANGE"))},
)
KEY_SCHEMA = ListOf(KEY_ELEMENT, least=1, most=2)
# A global index may have four attributes in its partition key and four in its sort key.
GLOBAL_KEY_SCHEMA = ListOf(KEY_ELEMENT, least=1, most=8)
PROJECTION = Structure(
    "Projection",
    {
        "ProjectionType": Text("ALL", "INCLUDE", "KEYS_ONLY"),
        "NonKeyAttributes": ListOf(Text(least=1, most=255), least=1, most=20),
    },
)
GLOBAL_INDEX: Fields = {
    "IndexName": Required(NAME),
    "KeySchema": Required(GLOBAL_KEY_SCHEMA),
    "Projection": Required(PROJECTION),
    "ProvisionedThroughput": THROUGHPUT,
    "OnDemandThroughput": ON_DEMAND,
    "WarmThroughput": WARM,
}
LOCAL_INDEX = Structure(
    "LocalSecondaryIndex",
    {"IndexName": Required(NAME), "KeySchema": Required(KEY_SCHEMA), "Projection": Required(PROJECTION)},
)
INDEX_UPDATE = Structure(
    "GlobalSecondaryIndexUpdate",
    {
        "Update": Structure(
            "UpdateGlobalSecondaryIndexAction",
            {
                "IndexName": Required(NAME),
                "ProvisionedThroughput": THROUGHPUT,
                "OnDemandThroughput": ON_DEMAND,
                "WarmThroughput": WARM,
            },
        ),
        "Create": Structure("CreateGlobalSecondaryIndexAction", GLOBAL_INDEX),
        "Delete": Structure("DeleteGlobalSecondaryIndexAction", {"IndexName": Required(NAME)}),
    },
)

PARAMETERS_NOT_OFFERED = {
    "CreateTable": (
        "GlobalTableSettingsReplicationMode",
        "GlobalTableSourceArn",
        "ResourcePolicy",
        "VectorIndexes",
    ),
    "UpdateTable": (
        "DisassociationProtectionEnabled",
        "GlobalTableSettingsReplicationMode",
        "GlobalTableWitnessUpdates",
        "MultiRegionConsistency",
        "ReplicaUpdates",
        "VectorIndexUpdates",
    ),
}
"""Settings this engine does not support: refused, rather than accepted without effect."""

ONE_TABLE: Fields = {"TableName": NAMED_TABLE}

TABLE_OPERATIONS = {
    "CreateTable": Structure(
        "CreateTableInput",
        {
            "AttributeDefinitions": Required(ATTRIBUTE_DEFINITIONS),
            "TableName": NAMED_TABLE,
            "BillingMode": BILLING_MODE,
            "ProvisionedThroughput": THROUGHPUT,
            "KeySchema": Required(KEY_SCHEMA),
            "LocalSecondaryIndexes": ListOf(LOCAL_INDEX),
            "GlobalSecondaryIndexes": ListOf(Structure("GlobalSecondaryIndex", GLOBAL_INDEX)),
            "StreamSpecification": STREAM,
            "SSESpecification": ENCRYPTION,
            "Tags": TAGS,
            "TableClass": TABLE_CLASS,
            "DeletionProtectionEnabled": TRUTH,
            "WarmThroughput": WARM,
            "OnDemandThroughput": ON_DEMAND,
            **dict.fromkeys(PARAMETERS_NOT_OFFERED["CreateTable"], ANYTHING),
        },
    ),
    "DescribeTable": Structure("DescribeTableInput", ONE_TABLE),
    "DeleteTable": Structure("DeleteTableInput", ONE_TABLE),
    "DescribeTimeToLive": Structure("DescribeTimeToLiveInput", ONE_TABLE),
    "DescribeContinuousBackups": Structure("DescribeContinuousBackupsInput", ONE_TABLE),
    "UpdateContinuousBackups": Structure(
        "UpdateContinuousBackupsInput",
        {
            "TableName": NAMED_TABLE,
            "PointInTimeRecoverySpecification": Required(
                Structure(
                    "PointInTimeRecoverySpecification",
                    {
                        "PointInTimeRecoveryEnabled": Required(TRUTH),
                        "RecoveryPeriodInDays": Number("Integer", least=1, most=35),
                    },
                )
            ),
        },
    ),
    "ListTables": Structure(
        "ListTablesInput", {"Limit": Number("Integer", least=1, most=100), "ExclusiveStartTableName": NAME}
    ),
    "UpdateTable": Structure(
        "UpdateTableInput",
        {
            "AttributeDefinitions": ATTRIBUTE_DEFINITIONS,
            "TableName": NAMED_TABLE,
            "ProvisionedThroughput": THROUGHPUT,
            "BillingMode": BILLING_MODE,
            "GlobalSecondaryIndexUpdates": ListOf(INDEX_UPDATE),
            "StreamSpecification": STREAM,
            "SSESpecification": ENCRYPTION,
            "TableClass": TABLE_CLASS,
            "DeletionProtectionEnabled": TRUTH,
            "WarmThroughput": WARM,
            "OnDemandThroughput": ON_DEMAND,
            **dict.fromkeys(PARAMETERS_NOT_OFFERED["UpdateTable"], ANYTHING),
        },
    ),
    "UpdateTimeToLive": Structure(
        "UpdateTimeToLiveInput",
        {
            "TableName": NAMED_TABLE,
            "TimeToLiveSpecification": Required(
                Structure(
                    "TimeToLiveSpecification",
                    {"Enabled": Required(TRUTH), "AttributeName": Required(KEY_ATTRIBUTE_NAME)},
                )
            ),
        },
    ),
    "DescribeLimits": Structure("DescribeLimitsInput", {}),
    "DescribeEndpoints": Structure("DescribeEndpointsRequest", {}),
    # A bad ResourceArn is reported before bad tags, so the actions themselves require both.
    "TagResource": Structure("TagResourceInput", {"ResourceArn": TEXT, "Tags": TAGS}),
    "UntagResource": Structure("UntagResourceInput", {"ResourceArn": TEXT, "TagKeys": ListOf(TEXT)}),
    "ListTagsOfResource": Structure("ListTagsOfResourceInput", {"ResourceArn": TEXT, "NextToken": TEXT}),
}

STREAM_ARN = Text(least=37, most=1024)
SHARD_ID = Text(least=28, most=65)
STREAM_PAGE = Number("Integer", least=1, most=100)

STREAM_OPERATIONS = {
    "ListStreams": Structure(
        "ListStreamsInput", {"TableName": NAME, "Limit": STREAM_PAGE, "ExclusiveStartStreamArn": STREAM_ARN}
    ),
    "DescribeStream": Structure(
        "DescribeStreamInput",
        {
            "StreamArn": Required(STREAM_ARN),
            "Limit": STREAM_PAGE,
            "ExclusiveStartShardId": SHARD_ID,
            "ShardFilter": Structure("ShardFilter", {"Type": Text("CHILD_SHARDS"), "ShardId": SHARD_ID}),
        },
    ),
    "GetShardIterator": Structure(
        "GetShardIteratorInput",
        {
            "StreamArn": Required(STREAM_ARN),
            "ShardId": Required(SHARD_ID),
            "ShardIteratorType": Required(
                Text("TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "AT_TIMESTAMP")
            ),
            "SequenceNumber": Text(least=21, most=40),
            "Timestamp": Number("Double"),
        },
    ),
    "GetRecords": Structure(
        "GetRecordsInput",
        {"ShardIterator": Required(Text(least=1, most=2048)), "Limit": Number("Integer", least=1, most=1000)},
    ),
}

OPERATIONS_NOT_OFFERED = (
    "CreateBackup",
    "CreateGlobalTable",
    "DeleteBackup",
    "DeleteResourcePolicy",
    "DescribeBackup",
    "DescribeContributorInsights",
    "DescribeExport",
    "DescribeGlobalTable",
    "DescribeGlobalTableSettings",
    "DescribeImport",
    "DescribeKinesisStreamingDestination",
    "DescribeTableReplicaAutoScaling",
    "DisableKinesisStreamingDestination",
    "EnableKinesisStreamingDestination",
    "ExportTableToPointInTime",
    "GetResourcePolicy",
    "ImportTable",
    "ListBackups",
    "ListContributorInsights",
    "ListExports",
    "ListGlobalTables",
    "ListImports",
    "PutResourcePolicy",
    "RestoreTableFromBackup",
    "RestoreTableToPointInTime",
    "SearchVectors",
    "UpdateContributorInsights",
    "UpdateGlobalTable",
    "UpdateGlobalTableSettings",
    "UpdateKinesisStreamingDestination",
    "UpdateTableReplicaAutoScaling",
)
"""Operations of the service that this engine does not support; the error names them."""

OPERATIONS_WITHOUT_EFFECT = {
    "DescribeContinuousBackups": "as it was set; nothing can be restored",
    "DescribeEndpoints": "always this machine",
    "DescribeLimits": "the service's usual quotas, which are not enforced",
    "UpdateContinuousBackups": "stored and described; nothing can be restored",
}
"""Operations that are answered, but describe what does nothing here, and how they do it."""

# These check for a table name of the right length before anything else.
NAMED_FIRST = frozenset(
    {
        "CreateTable",
        "DescribeTable",
        "UpdateTable",
        "DeleteTable",
        "UpdateTimeToLive",
        "DescribeTimeToLive",
        "DescribeContinuousBackups",
        "UpdateContinuousBackups",
    }
)

"""The operations of the API, one module for each."""

from collections.abc import Awaitable, Callable
from typing import Any

from potluck.dynamo.actions.batch_execute_statement import batch_execute_statement
from potluck.dynamo.actions.batch_get_item import batch_get_item
from potluck.dynamo.actions.batch_write_item import batch_write_item
from potluck.dynamo.actions.create_table import create_table
from potluck.dynamo.actions.delete_item import delete_item
from potluck.dynamo.actions.delete_table import delete_table
from potluck.dynamo.actions.describe_continuous_backups import describe_continuous_backups
from potluck.dynamo.actions.describe_endpoints import describe_endpoints
from potluck.dynamo.actions.describe_limits import describe_limits
from potluck.dynamo.actions.describe_stream import describe_stream
from potluck.dynamo.actions.describe_table import describe_table
from potluck.dynamo.actions.describe_time_to_live import describe_time_to_live
from potluck.dynamo.actions.execute_statement import execute_statement
from potluck.dynamo.actions.execute_transaction import execute_transaction
from potluck.dynamo.actions.get_item import get_item
from potluck.dynamo.actions.get_records import get_records
from potluck.dynamo.actions.get_shard_iterator import get_shard_iterator
from potluck.dynamo.actions.list_streams import list_streams
from potluck.dynamo.actions.list_tables import list_tables
from potluck.dynamo.actions.list_tags_of_resource import list_tags_of_resource
from potluck.dynamo.actions.put_item import put_item
from potluck.dynamo.actions.query import query
from potluck.dynamo.actions.scan import scan
from potluck.dynamo.actions.tag_resource import tag_resource
from potluck.dynamo.actions.transact_get_items import transact_get_items
from potluck.dynamo.actions.transact_write_items import transact_write_items
from potluck.dynamo.actions.untag_resource import untag_resource
from potluck.dynamo.actions.update_continuous_backups import update_continuous_backups
from potluck.dynamo.actions.update_item import update_item
from potluck.dynamo.actions.update_table import update_table
from potluck.dynamo.actions.update_time_to_live import update_time_to_live

__all__ = ["ACTIONS", "Action"]

Action = Callable[[Any, dict[str, Any]], Awaitable[dict[str, Any]]]

ACTIONS: dict[str, Action] = {
    "BatchExecuteStatement": batch_execute_statement,
    "BatchGetItem": batch_get_item,
    "BatchWriteItem": batch_write_item,
    "CreateTable": create_table,
    "DeleteItem": delete_item,
    "DeleteTable": delete_table,
    "DescribeContinuousBackups": describe_continuous_backups,
    "DescribeEndpoints": describe_endpoints,
    "DescribeLimits": describe_limits,
    "DescribeStream": describe_stream,
    "DescribeTable": describe_table,
    "DescribeTimeToLive": describe_time_to_live,
    "ExecuteStatement": execute_statement,
    "ExecuteTransaction": execute_transaction,
    "GetItem": get_item,
    "GetRecords": get_records,
    "GetShardIterator": get_shard_iterator,
    "ListStreams": list_streams,
    "ListTables": list_tables,
    "ListTagsOfResource": list_tags_of_resource,
    "PutItem": put_item,
    "Query": query,
    "Scan": scan,
    "TagResource": tag_resource,
    "TransactGetItems": transact_get_items,
    "TransactWriteItems": transact_write_items,
    "UntagResource": untag_resource,
    "UpdateContinuousBackups": update_continuous_backups,
    "UpdateItem": update_item,
    "UpdateTable": update_table,
    "UpdateTimeToLive": update_time_to_live,
}

"""Where DynamoDB Local differs from the service's documented behaviour, and we follow the service.

`DIFFERENCES`: what a test asserts is what the service does, and DynamoDB Local does something else: one case, one test,
or a whole file. Such a test must fail on DynamoDB Local; when it passes there, its line has to go.
`WORDS_OF_DYNAMODB_LOCAL`: the same refusal with the same code, in other words: a pattern of the service's message, and
what DynamoDB Local says instead (`ANY_WORDS`: it has a validator of its own there, and only the code is compared).
"""

import re

__all__ = ["DIFFERENCES", "in_words_of_dynamodb_local"]

NO_COLLECTION_METRICS = "DynamoDB Local never answers ItemCollectionMetrics; the service does when asked for SIZE"
CAPACITY_UNASKED = "DynamoDB Local answers ConsumedCapacity, which was not asked for, when nothing was deleted"
WHOLE_ATTRIBUTES = "DynamoDB Local answers whole top-level attributes; the service only the paths that were updated"
FILTERED_PAGE = "DynamoDB Local measures a page by what passes the filter; the service by what it read"
MISFIT_IN_TRANSACTION = (
    "DynamoDB Local refuses the request; the service cancels the transaction and tells a ValidationError in its place"
)
ABSENT_FOR_NOTHING = "DynamoDB Local reads what is absent for nothing; the service for the least a read costs"
OWN_PROTOCOL = (
    "DynamoDB Local fails (500) on what it cannot read; the service answers a SerializationException or the like"
)
NOT_OFFERED = "DynamoDB Local ignores what it does not offer; the embedded engine refuses it, and the service has it"
SET_ORDER = (
    "DynamoDB Local tells numbers from the smallest on and binaries as they come; the service the other way round"
)
NO_ARN = "DynamoDB Local does not find what is no ARN; the service refuses it"
NO_SPLIT_UNITS = "DynamoDB Local does not tell read and write units of a transaction apart; the service does"

PARTIQL_CAPACITY = "DynamoDB Local tells no consumed capacity for PartiQL"
NO_SUCH_OPERATION = "DynamoDB Local does not know this operation; the service does"

DIFFERENCES: dict[str, str] = {
    "test_describe_continuous_backups.py": NO_SUCH_OPERATION,
    "test_describe_endpoints.py": NO_SUCH_OPERATION,
    "test_list_tags_of_resource.py": NO_SUCH_OPERATION,
    "test_tag_resource.py": NO_SUCH_OPERATION,
    "test_untag_resource.py": NO_SUCH_OPERATION,
    "test_update_continuous_backups.py": NO_SUCH_OPERATION,
    "test_batch_write_item.py::test_item_collection_metrics_by_table": NO_COLLECTION_METRICS,
    "test_capacity.py::test_an_empty_query_costs_the_least": ABSENT_FOR_NOTHING,
    "test_capacity.py::test_a_batch_get_costs_each_item_by_itself": ABSENT_FOR_NOTHING,
    "test_capacity.py::test_a_batch_write_costs_each_item_by_itself": (
        "DynamoDB Local asks two units for deleting what is absent; the service one"
    ),
    "test_capacity.py::test_a_transaction_of_writes_costs_double": NO_SPLIT_UNITS,
    "test_capacity.py::test_a_transaction_of_gets_costs_double": NO_SPLIT_UNITS,
    "test_capacity.py::test_an_unknown_kind_is_refused": (
        "DynamoDB Local takes any ReturnConsumedCapacity; the service those of its model"
    ),
    "test_create_table.py::test_a_bad_table_is_refused[throughput on demand]": (
        "DynamoDB Local takes throughput together with PAY_PER_REQUEST; the service refuses it"
    ),
    "test_create_table.py::test_a_bad_table_is_refused[no local indexes]": (
        "DynamoDB Local takes an empty list of local indexes; the service refuses it"
    ),
    "test_delete_table.py::test_the_answer_describes_the_table_that_goes": (
        "DynamoDB Local deletes at once and describes the table as ACTIVE; the service as DELETING"
    ),
    "test_describe_table.py::test_a_table_has_an_id_that_stays": "DynamoDB Local gives tables no TableId",
    "test_update_table.py::test_items_of_the_wrong_type_are_left_out_of_an_added_index": (
        "DynamoDB Local indexes items whose key has the wrong type; the service leaves them out of the backfill"
    ),
    "test_delete_item.py::test_deleting_what_is_absent_succeeds": CAPACITY_UNASKED,
    "test_delete_item.py::test_all_old_of_what_is_absent_answers_nothing": CAPACITY_UNASKED,
    "test_http.py::test_malformed_json_is_a_serialization_exception": OWN_PROTOCOL,
    "test_http.py::test_a_wrong_json_type_is_a_serialization_exception": OWN_PROTOCOL,
    "test_http.py::test_a_number_not_in_quotes_is_a_serialization_exception": OWN_PROTOCOL,
    "test_http.py::test_bad_base64_is_a_serialization_exception": OWN_PROTOCOL,
    "test_http.py::test_an_unknown_operation_is_refused[NoSuchService.ListTables]": OWN_PROTOCOL,
    "test_http.py::test_an_unknown_operation_is_refused[]": OWN_PROTOCOL,
    "test_http.py::test_a_request_without_target_is_refused": OWN_PROTOCOL,
    "test_legacy_parameters.py::test_attribute_updates_change_exactly_this[PUT by default]": (
        "DynamoDB Local ignores an update without Action; the service puts"
    ),
    "test_limits.py::test_an_attribute_name_has_1_to_65535_bytes[PutItem-65536]": (
        "DynamoDB Local fails (500) on an attribute name that is too long; the service refuses it"
    ),
    "test_describe_stream.py::test_what_is_no_arn_is_refused": NO_ARN,
    "test_get_shard_iterator.py::test_what_is_no_arn_is_refused": NO_ARN,
    "test_create_table.py::test_a_bad_table_is_refused[a view of a stream that is off]": (
        "DynamoDB Local takes the view type of a stream that is off; the service refuses it"
    ),
    "test_create_table.py::test_a_bad_table_is_refused[a policy]": NOT_OFFERED,
    "test_create_table.py::test_a_bad_table_is_refused[a copy of a table elsewhere]": NOT_OFFERED,
    "test_put_item.py::test_a_set_is_answered_in_one_order[numbers]": SET_ORDER,
    "test_put_item.py::test_a_set_is_answered_in_one_order[binaries]": SET_ORDER,
    "test_query.py::test_a_query_without_sort_key_cannot_go_on": (
        "DynamoDB Local answers no items behind the only one; the service refuses to look"
    ),
    "test_update_item.py::test_nothing_is_taken_out_of_what_is_not_there": (
        "DynamoDB Local looks for the path in an item that is not there; the service does not"
    ),
    "test_update_table.py::test_what_is_not_offered_is_refused": NOT_OFFERED,
    "test_update_table.py::test_throughput_that_is_only_described_is_described": (
        "DynamoDB Local takes warm and highest throughput and forgets them; the service describes them"
    ),
    "test_execute_statement.py::test_a_token_fits_only_its_statement": (
        "DynamoDB Local takes the token of another statement, and answers anything"
    ),
    "test_execute_statement.py::test_the_last_key_is_told_beside_the_token": (
        "DynamoDB Local leaves out the LastEvaluatedKey that the service's model has"
    ),
    "test_execute_statement.py::test_a_key_condition_reads_no_more_than_a_query": PARTIQL_CAPACITY,
    "test_batch_execute_statement.py::test_capacity": PARTIQL_CAPACITY,
    "test_execute_transaction.py::test_capacity": PARTIQL_CAPACITY,
    "test_execute_statement.py::test_names_may_be_anything_in_quotes": (
        "DynamoDB Local takes a name with # for a placeholder of its own"
    ),
    "test_put_item.py::test_item_collection_metrics_name_the_partition_of_a_table_with_local_indexes": (
        NO_COLLECTION_METRICS
    ),
    "test_transact_write_items.py::test_an_update_without_expression_is_refused": (
        "DynamoDB Local takes an Update without UpdateExpression; it is a required member of the service's model"
    ),
    "test_transact_write_items.py::"
    "test_an_update_that_does_not_fit_the_item_is_a_validation_error_in_its_place": MISFIT_IN_TRANSACTION,
    "test_transact_write_items.py::"
    "test_a_key_that_is_not_the_schema_is_a_validation_error_in_its_place": MISFIT_IN_TRANSACTION,
    "test_transact_get_items.py::"
    "test_a_key_that_is_not_the_schema_is_a_validation_error_in_its_place": MISFIT_IN_TRANSACTION,
    "test_update_item.py::test_an_update_that_only_takes_away_makes_no_item": (
        "DynamoDB Local makes an item of the key; the service makes none when there is nothing but REMOVE or DELETE"
    ),
    "test_update_item.py::test_item_collection_metrics_name_the_partition": NO_COLLECTION_METRICS,
    "test_update_item.py::test_return_values[UPDATED_OLD]": WHOLE_ATTRIBUTES,
    "test_update_item.py::test_return_values[UPDATED_NEW]": WHOLE_ATTRIBUTES,
    "test_update_item.py::test_updated_values_of_list_elements_show_only_these": WHOLE_ATTRIBUTES,
    "test_query.py::test_a_page_of_one_megabyte_counts_what_the_filter_leaves_out": FILTERED_PAGE,
}

INVALID = "One or more parameter values were invalid: "

ANY_WORDS = None

WORDS_OF_DYNAMODB_LOCAL: list[tuple[str, str | None]] = [
    # Definitions of tables.
    (r"Table already exists: .*", r"Cannot create preexisting table"),
    (r"TableName must be at least 3 .*", ANY_WORDS),
    (r"1 validation error .* at '(tableName|keySchema|attributeDefinitions).*", ANY_WORDS),
    (r"(Invalid KeySchema|Both the Hash Key and the Range Key element).*", ANY_WORDS),
    (INVALID + r"(Some index key attributes|Number of attributes in KeySchema|List of|Duplicate index).*", ANY_WORDS),
    (INVALID + r"(Table KeySchema|Index KeySchema|Unknown ProjectionType|ProjectionType is).*", ANY_WORDS),
    (INVALID + r"(Number of LocalSecondaryIndexes|GlobalSecondaryIndex count|ReadCapacityUnits and).*", ANY_WORDS),
    (r"At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled.*", r"Nothing to update"),
    (r"1 validation error .* at 'timeToLiveSpecification.*", ANY_WORDS),
    (r"1 validation error .* '101' at 'limit' .*", r"Limit in ListTables must be <= 100"),
    (
        r"The parameter 'TableName' is required .*",
        r"Value null at 'tableName' failed to satisfy constraint: Member must not be null",
    ),
    (r"Requested resource not found: Table: .*", r"Cannot do operations on a non-existent table"),
    # Items, keys, expressions.
    (r"Requested resource not found", r"Cannot do operations on a non-existent table"),
    (
        INVALID + r"(Size of hashkey|Aggregated size of all range keys) has exceeded .*",
        r"Hash primary key values must be under 2048 bytes, and range primary key values must be under 1024 bytes",
    ),
    (r"ReturnValues can only be ALL_OLD or NONE", r"Return values set to invalid value"),
    (r"1 validation error .* at 'returnValues' .*", r"Return values set to invalid value"),
    (r"1 validation error .* null at 'item' .*", r"Item to put in PutItem cannot be null"),
    (r"1 validation error .* null at 'key' .*", r"Cannot have null key for GetItem, DeleteItem, or UpdateItem"),
    (r"The provided key element does not match the schema", r"The number of conditions on the keys is invalid"),
    (r"The provided key element does not match the schema", r"One of the required keys was not given a value"),
    (r"The provided key element does not match the schema", INVALID + r"Type mismatch for key"),
    (r"The provided key element does not match the schema", r"Invalid attribute value type"),
    (INVALID + r"Missing the key \w+ in the item", r"One of the required keys was not given a value"),
    (INVALID + r"Type mismatch for key \w+ expected: \w+ actual: \w+", INVALID + r"Type mismatch for key"),
    (INVALID + r"Type mismatch for Index Key .*", INVALID + r"Type mismatch for Index Key"),
    (r"The update expression attempted to update the secondary .*", INVALID + r"Type mismatch for Index Key"),
    (INVALID + r"(Input collection \[.*\] contains duplicates)\.", INVALID + r"\1"),
    (INVALID + r"Input collection \[.*\]of type BS (.*)", INVALID + r"Input collection of type BS \1"),
    (r"The parameter cannot be converted to a numeric value.*", r"A value provided cannot be converted into a number"),
    (r"The requestItems parameter is required for BatchGetItem", r"BatchGetItem must have some requests set"),
    (
        r"The requestItems parameter is required for BatchWriteItem",
        r"BatchWriteItem cannot have a null or no requests set",
    ),
    (
        r"1 validation error .* at 'RequestItems\.(.*)\.member\.Keys' .* greater than or equal to 1",
        r"The list of keys in RequestItems for BatchGetItem is required: \1 has empty list",
    ),
    (r"1 validation error .* '0' at 'limit' .*", r"Limit must be greater than or equal to 1"),
    (r"1 validation error .* at 'Limit' .*", r"Limit must be greater than or equal to 1"),
    (r"Attribute Name is duplicated: .*", r"Cannot have two attributes with the same name"),
    (INVALID + r"Duplicate attribute name in NonKeyAttributes: .*", r"Cannot have two attributes with the same name"),
    (
        r"1 validation error .* at 'select' .*",
        r"Select must be ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES, COUNT, or SPECIFIC_ATTRIBUTES",
    ),
    (r"The provided starting key is invalid.*", r"Exclusive Start Key must have same size as table's key schema"),
    (r"The provided key element does not match the schema", r"Type mismatch for attribute to update"),
    (
        r"The provided starting key is outside query boundaries based on provided conditions",
        r"The provided starting key does not match the range key predicate",
    ),
    (r"The TotalSegments parameter is required .*", r"If segment is specified, total segment must also be specified"),
    (
        r"The Segment parameter is required .*",
        r"If total segments is specified, a particular segment must also be specified for this request",
    ),
    (
        r"The Segment parameter is zero-based .* Segment: 2 .*",
        r"1 validation error detected: Value '2' at 'segment' failed to satisfy constraint: "
        r"Member must have value less than or equal to 1",
    ),
    (
        r"1 validation error .* '-1' at 'segment' .*",
        r"1 validation error detected: Value '-1' at 'segment' failed to satisfy constraint: "
        r"Member must have value less than or equal to 1",
    ),
    (r"The conditional request failed", r"The conditional request failed."),
    (
        r"1 validation error .* '\[\]' at 'transactItems' .*",
        r"Value null at 'transactItems' failed to satisfy constraint: Member must not be null",
    ),
    (r"1 validation error detected: Value '?(.*?)'? at 'transactItems(.*)", r"Value \1 at 'transactItems\2"),
    (r"1 validation error detected: Value '(.*)' at 'clientRequestToken(.*)", r"Value \1 at 'clientRequestToken\2"),
    (r"(Transaction payload size .* Payload Size: ): \1([0-9]+)", r"\1\2"),
    (r"(Query condition missed key schema element): \w+", r"\1"),
    (
        r"KeyConditionExpressions cannot have conditions on nested attributes",
        r"Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: s",
    ),
    (INVALID + r"(.* is not supported for the type) S", INVALID + r"\1 STRING"),
    (INVALID + r"Duplicate value in attribute name: .*", r"Cannot have two attributes with the same name"),
    (r"(.*; type: \w+), valid types: \{.*\}", r"\1, valid types: {N,BS,L,B,NULL,M,S,SS,NS,BOOL}"),
    (
        r"Number overflow\. Attempting to store a number with magnitude larger than supported range",
        r"DynamoDB only supports precision up to 38 digits",
    ),
    (
        r"Attempting to store more than 38 significant digits in a Number",
        r"DynamoDB only supports precision up to 38 digits",
    ),
]


def in_words_of_dynamodb_local(message: str, said: str) -> bool:
    """Whether DynamoDB Local says this where the service says the message."""
    if said == message:
        return True
    for pattern, template in WORDS_OF_DYNAMODB_LOCAL:
        found = re.fullmatch(pattern, message)
        if found is not None and (template is ANY_WORDS or found.expand(template) == said):
            return True
    return False

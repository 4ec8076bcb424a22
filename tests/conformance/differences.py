"""Where DynamoDB Local differs from the service's documented behaviour, and we follow the service.

`DIFFERENCES`: what a test asserts is what the service does, and DynamoDB Local does something else. Such a test must
fail on DynamoDB Local; when it passes there, its line has to go.
`WORDS_OF_DYNAMODB_LOCAL`: the same refusal with the same code, in other words: a pattern of the service's message, and
what DynamoDB Local says instead.
"""

import re

__all__ = ["DIFFERENCES", "words_of_dynamodb_local"]

NO_COLLECTION_METRICS = "DynamoDB Local never answers ItemCollectionMetrics; the service does when asked for SIZE"
CAPACITY_UNASKED = "DynamoDB Local answers ConsumedCapacity, which was not asked for, when nothing was deleted"
WHOLE_ATTRIBUTES = "DynamoDB Local answers whole top-level attributes; the service only the paths that were updated"

FILTERED_PAGE = "DynamoDB Local measures a page by what passes the filter; the service by what it read"
MISFIT_IN_TRANSACTION = (
    "DynamoDB Local refuses the request; the service cancels the transaction and tells a ValidationError in its place"
)

DIFFERENCES: dict[str, str] = {
    "test_batch_write_item.py::test_item_collection_metrics_by_table": NO_COLLECTION_METRICS,
    "test_delete_item.py::test_deleting_what_is_absent_succeeds": CAPACITY_UNASKED,
    "test_delete_item.py::test_all_old_of_what_is_absent_answers_nothing": CAPACITY_UNASKED,
    "test_put_item.py::test_item_collection_metrics_name_the_partition_of_a_table_with_local_indexes": (
        NO_COLLECTION_METRICS
    ),
    "test_transact_write_items.py::test_an_update_without_expression_is_refused": (
        "DynamoDB Local takes an Update without UpdateExpression; it is a required member of the service's model"
    ),
    "test_transact_write_items.py::"
    "test_an_update_that_does_not_fit_the_item_is_a_validation_error_in_its_place": MISFIT_IN_TRANSACTION,
    "test_update_item.py::test_item_collection_metrics_name_the_partition": NO_COLLECTION_METRICS,
    "test_update_item.py::test_return_values[UPDATED_OLD]": WHOLE_ATTRIBUTES,
    "test_update_item.py::test_return_values[UPDATED_NEW]": WHOLE_ATTRIBUTES,
    "test_update_item.py::test_updated_values_of_list_elements_show_only_these": WHOLE_ATTRIBUTES,
    "test_query.py::test_a_page_of_one_megabyte_counts_what_the_filter_leaves_out": FILTERED_PAGE,
}

INVALID = "One or more parameter values were invalid: "

WORDS_OF_DYNAMODB_LOCAL: list[tuple[str, str]] = [
    (r"Requested resource not found", r"Cannot do operations on a non-existent table"),
    (r"ReturnValues can only be ALL_OLD or NONE", r"Return values set to invalid value"),
    (r"1 validation error .* at 'returnValues' .*", r"Return values set to invalid value"),
    (r"1 validation error .* null at 'item' .*", r"Item to put in PutItem cannot be null"),
    (r"1 validation error .* null at 'key' .*", r"Cannot have null key for GetItem, DeleteItem, or UpdateItem"),
    (r"The provided key element does not match the schema", r"The number of conditions on the keys is invalid"),
    (r"The provided key element does not match the schema", r"One of the required keys was not given a value"),
    (r"The provided key element does not match the schema", INVALID + r"Type mismatch for key"),
    (INVALID + r"Missing the key \w+ in the item", r"One of the required keys was not given a value"),
    (INVALID + r"Type mismatch for key \w+ expected: \w+ actual: \w+", INVALID + r"Type mismatch for key"),
    (INVALID + r"Type mismatch for Index Key .*", INVALID + r"Type mismatch for Index Key"),
    (INVALID + r"(Input collection \[.*\] contains duplicates)\.", INVALID + r"\1"),
    (INVALID + r"Input collection \[.*\]of type BS (.*)", INVALID + r"Input collection of type BS \1"),
    (r"The parameter cannot be converted to a numeric value.*", r"A value provided cannot be converted into a number"),
    (r"1 validation error .* '\{\}' at 'requestItems' .*", r"BatchGetItem must have some requests set"),
    (r"1 validation error .* '\{\}' at 'requestItems' .*", r"BatchWriteItem cannot have a null or no requests set"),
    (r"1 validation error .* '0' at 'limit' .*", r"Limit must be greater than or equal to 1"),
    (
        r"1 validation error .* at 'select' .*",
        r"Select must be ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES, COUNT, or SPECIFIC_ATTRIBUTES",
    ),
    (r"The provided starting key is invalid.*", r"Exclusive Start Key must have same size as table's key schema"),
    (r"The provided starting key is invalid.*", r"Type mismatch for attribute to update"),
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
    (r"(Query condition missed key schema element): \w+", r"\1"),
    (
        r"KeyConditionExpressions cannot have conditions on nested attributes",
        r"Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: s",
    ),
    (r"(.*; type: \w+), valid types: \{.*\}", r"\1, valid types: {N,BS,L,B,NULL,M,S,SS,NS,BOOL}"),
    (r"Attempting to store more than 38 significant digits in a Number", r"DynamoDB only supports precision up to 38 digits"),
]


def words_of_dynamodb_local(message: str) -> set[str]:
    """What DynamoDB Local may say where the service says this."""
    found = ((re.fullmatch(pattern, message), template) for pattern, template in WORDS_OF_DYNAMODB_LOCAL)
    return {message} | {match.expand(template) for match, template in found if match is not None}

"""Query: the items of one partition, in order, page by page."""

import re

import pytest

from tests.conformance.tables import definition
from tests.conformance.wire import L, M, N, S


@pytest.fixture
async def seven(dynamo, ranged, fresh):
    """A partition of seven items."""
    requests = [{"PutRequest": {"Item": item}} for item in items(fresh)]
    await dynamo.call("BatchWriteItem", {"RequestItems": {ranged: requests}})
    return fresh


def items(partition):
    return [{"p": S(partition), "s": S(str(number)), "n": N(number), "a": S("x")} for number in range(7)]


def query(table, partition, **more):
    return {
        "TableName": table,
        "KeyConditionExpression": "p = :p",
        "ExpressionAttributeValues": {":p": S(partition)},
        **more,
    }


async def pages(dynamo, request):
    """Every page of a request, following LastEvaluatedKey."""
    found = [await dynamo.call("Query", request)]
    while "LastEvaluatedKey" in found[-1]:
        found.append(await dynamo.call("Query", {**request, "ExclusiveStartKey": found[-1]["LastEvaluatedKey"]}))
    return found


async def test_a_query_answers_the_partition_in_order(dynamo, ranged, seven):
    answer = await dynamo.call("Query", query(ranged, seven))
    assert answer == {"Items": items(seven), "Count": 7, "ScannedCount": 7}


async def test_an_empty_partition_answers_no_items(dynamo, ranged, fresh):
    assert await dynamo.call("Query", query(ranged, fresh)) == {"Items": [], "Count": 0, "ScannedCount": 0}


async def test_scan_index_forward_false_answers_backwards(dynamo, ranged, seven):
    answer = await dynamo.call("Query", query(ranged, seven, ScanIndexForward=False))
    assert answer["Items"] == items(seven)[::-1]


async def test_a_partition_without_sort_key_has_one_item(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "a": N(1)}})
    answer = await dynamo.call("Query", query(plain, fresh))
    assert answer == {"Items": [{"p": S(fresh), "a": N(1)}], "Count": 1, "ScannedCount": 1}


async def test_a_partition_without_sort_key_is_one_page_and_has_no_next(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh)}})
    answer = await dynamo.call("Query", query(plain, fresh, Limit=1))
    assert answer == {"Items": [{"p": S(fresh)}], "Count": 1, "ScannedCount": 1}


async def test_a_query_without_sort_key_cannot_go_on(dynamo, plain, fresh):
    await dynamo.invalid(
        "Query",
        query(plain, fresh, ExclusiveStartKey={"p": S(fresh)}),
        f"The provided exclusive start key is invalid: ExclusiveStartKey: {{p=AttributeValue: {{S:{fresh}}}}}",
    )


async def test_a_limit_ends_the_page_and_names_its_last_key(dynamo, ranged, seven):
    answer = await dynamo.call("Query", query(ranged, seven, Limit=3))
    assert answer == {
        "Items": items(seven)[:3],
        "Count": 3,
        "ScannedCount": 3,
        "LastEvaluatedKey": {"p": S(seven), "s": S("2")},
    }


async def test_the_next_page_begins_after_the_key_given(dynamo, ranged, seven):
    answer = await dynamo.call("Query", query(ranged, seven, ExclusiveStartKey={"p": S(seven), "s": S("2")}))
    assert answer == {"Items": items(seven)[3:], "Count": 4, "ScannedCount": 4}


async def test_a_start_key_need_not_exist(dynamo, ranged, seven):
    answer = await dynamo.call("Query", query(ranged, seven, ExclusiveStartKey={"p": S(seven), "s": S("25")}))
    assert answer["Items"] == items(seven)[3:]


async def test_a_page_that_ends_exactly_at_the_last_item_has_a_next_key(dynamo, ranged, seven):
    # The service does not look further than the limit, so it cannot know that nothing follows.
    answer = await dynamo.call("Query", query(ranged, seven, Limit=7))
    assert answer["Count"] == 7
    assert answer["LastEvaluatedKey"] == {"p": S(seven), "s": S("6")}
    rest = await dynamo.call("Query", query(ranged, seven, ExclusiveStartKey=answer["LastEvaluatedKey"]))
    assert rest == {"Items": [], "Count": 0, "ScannedCount": 0}


async def test_a_limit_past_the_end_has_no_next_key(dynamo, ranged, seven):
    assert "LastEvaluatedKey" not in await dynamo.call("Query", query(ranged, seven, Limit=8))


@pytest.mark.parametrize("forward", [True, False])
async def test_pages_together_are_the_whole_partition(dynamo, ranged, seven, forward):
    found = await pages(dynamo, query(ranged, seven, Limit=2, ScanIndexForward=forward))
    assert [page["Count"] for page in found] == [2, 2, 2, 1]
    together = [item for page in found for item in page["Items"]]
    assert together == (items(seven) if forward else items(seven)[::-1])


async def test_a_page_ends_at_one_megabyte(dynamo, create, fresh):
    ranged = await create(**definition("p:S", "s:S"))
    big = "x" * 300_000
    for number in range(5):
        await dynamo.call("PutItem", {"TableName": ranged, "Item": {"p": S(fresh), "s": S(str(number)), "big": S(big)}})
    found = await pages(dynamo, query(ranged, fresh, ProjectionExpression="s"))
    # The item that passes the megabyte is still on the page.
    assert [page["Count"] for page in found] == [4, 1]
    assert [item["s"]["S"] for page in found for item in page["Items"]] == ["0", "1", "2", "3", "4"]


async def test_a_page_of_one_megabyte_counts_what_the_filter_leaves_out(dynamo, create, fresh):
    ranged = await create(**definition("p:S", "s:S"))
    big = "x" * 380_000
    for number in range(4):
        await dynamo.call("PutItem", {"TableName": ranged, "Item": {"p": S(fresh), "s": S(str(number)), "big": S(big)}})
    answer = await dynamo.call("Query", query(ranged, fresh, FilterExpression="attribute_not_exists(big)"))
    assert answer == {
        "Items": [],
        "Count": 0,
        "ScannedCount": 3,
        "LastEvaluatedKey": {"p": S(fresh), "s": S("2")},
    }


async def test_count_answers_no_items(dynamo, ranged, seven):
    assert await dynamo.call("Query", query(ranged, seven, Select="COUNT")) == {"Count": 7, "ScannedCount": 7}


async def test_all_attributes_answers_whole_items(dynamo, ranged, seven):
    answer = await dynamo.call("Query", query(ranged, seven, Select="ALL_ATTRIBUTES"))
    assert answer["Items"] == items(seven)


async def test_specific_attributes_with_a_projection(dynamo, ranged, seven):
    answer = await dynamo.call(
        "Query", query(ranged, seven, Select="SPECIFIC_ATTRIBUTES", ProjectionExpression="n", Limit=2)
    )
    assert answer["Items"] == [{"n": N(0)}, {"n": N(1)}]


async def test_a_projection_may_reach_into_items(dynamo, ranged, fresh):
    await dynamo.call(
        "PutItem",
        {"TableName": ranged, "Item": {"p": S(fresh), "s": S("1"), "m": M(l=L(N(1), N(2)), x=N(3))}},
    )
    answer = await dynamo.call("Query", query(ranged, fresh, ProjectionExpression="m.l[1]"))
    assert answer["Items"] == [{"m": M(l=L(N(2)))}]


async def test_a_consistent_query_sees_the_last_write(dynamo, ranged, fresh):
    await dynamo.call("PutItem", {"TableName": ranged, "Item": {"p": S(fresh), "s": S("1")}})
    answer = await dynamo.call("Query", query(ranged, fresh, ConsistentRead=True))
    assert answer["Items"] == [{"p": S(fresh), "s": S("1")}]


def select_refused(message):
    # The service puts this sentence in front of some of these, and its documentation does not say of which.
    return re.compile(f"(One or more parameter values were invalid: )?{re.escape(message)}")


REFUSED = {
    "no key condition": (
        {"KeyConditionExpression": None, "ExpressionAttributeValues": None},
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.",
    ),
    "a limit of zero": (
        {"Limit": 0},
        "1 validation error detected: Value at 'Limit' failed to satisfy constraint: "
        "Member must have value greater than or equal to 1",
    ),
    "an unknown select": (
        {"Select": "ALL"},
        "1 validation error detected: Value 'ALL' at 'select' failed to satisfy constraint: "
        "Member must satisfy enum value set: "
        "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
    ),
    "all projected attributes of a table": (
        {"Select": "ALL_PROJECTED_ATTRIBUTES"},
        select_refused("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"),
    ),
    "specific attributes without naming them": (
        {"Select": "SPECIFIC_ATTRIBUTES"},
        select_refused(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
        ),
    ),
    "all attributes with a projection": (
        {"Select": "ALL_ATTRIBUTES", "ProjectionExpression": "a"},
        select_refused("Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES"),
    ),
    "a count with a projection": (
        {"Select": "COUNT", "ProjectionExpression": "a"},
        select_refused("Cannot specify the ProjectionExpression when choosing to get only the Count"),
    ),
    "an index that does not exist": (
        {"IndexName": "absent"},
        "The table does not have the specified index: absent",
    ),
    "a start key without the sort key": (
        {"ExclusiveStartKey": {"p": S("x")}},
        "The provided starting key is invalid",
    ),
    "a start key with another attribute": (
        {"ExclusiveStartKey": {"p": S("x"), "t": S("1")}},
        "The provided starting key is invalid",
    ),
    "a start key with a key of another type": (
        {"ExclusiveStartKey": {"p": S("x"), "s": N(1)}},
        "The provided key element does not match the schema",
    ),
    "a start key of another partition": (
        {"ExclusiveStartKey": {"p": S("y"), "s": S("1")}},
        "The provided starting key is outside query boundaries based on provided conditions",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_bad_query_is_refused(dynamo, ranged, case):
    parameters, message = REFUSED[case]
    request = {name: value for name, value in query(ranged, "x", **parameters).items() if value is not None}
    await dynamo.invalid("Query", request, message)


async def test_a_start_key_outside_of_the_sort_condition_is_refused(dynamo, ranged, seven):
    await dynamo.invalid(
        "Query",
        {
            "TableName": ranged,
            "KeyConditionExpression": "p = :p AND s > :s",
            "ExpressionAttributeValues": {":p": S(seven), ":s": S("4")},
            "ExclusiveStartKey": {"p": S(seven), "s": S("2")},
        },
        "The provided starting key does not match the range key predicate",
    )


async def test_a_table_that_does_not_exist_is_not_found(dynamo):
    await dynamo.refuses("Query", query("absent", "x"), "ResourceNotFoundException", "Requested resource not found")

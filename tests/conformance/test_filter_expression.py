"""FilterExpression: applied after the page is read, on Query and Scan."""

import pytest

from tests.conformance.wire import M, N, S


@pytest.fixture
async def ten(dynamo, ranged, fresh):
    """Ten items, numbered, every other one marked."""
    requests = [
        {
            "PutRequest": {
                "Item": {
                    "p": S(fresh),
                    "s": S(f"{number:02}"),
                    "n": N(number),
                    "m": M(even=N((number + 1) % 2)),
                    **({"mark": S("x")} if number % 2 else {}),
                }
            }
        }
        for number in range(10)
    ]
    await dynamo.call("BatchWriteItem", {"RequestItems": {ranged: requests}})
    return fresh


def query(table, partition, expression, values=None, **more):
    return {
        "TableName": table,
        "KeyConditionExpression": "p = :p",
        "FilterExpression": expression,
        "ExpressionAttributeValues": {":p": S(partition), **(values or {})},
        **more,
    }


async def test_a_filter_leaves_out_items_but_counts_them_as_scanned(dynamo, ranged, ten):
    answer = await dynamo.call("Query", query(ranged, ten, "n >= :v", {":v": N(7)}))
    assert [item["n"]["N"] for item in answer.pop("Items")] == ["7", "8", "9"]
    assert answer == {"Count": 3, "ScannedCount": 10}


async def test_a_filter_that_nothing_passes_answers_no_items(dynamo, ranged, ten):
    answer = await dynamo.call("Query", query(ranged, ten, "n > :v", {":v": N(100)}))
    assert answer == {"Items": [], "Count": 0, "ScannedCount": 10}


async def test_a_limit_counts_items_before_the_filter(dynamo, ranged, ten):
    answer = await dynamo.call("Query", query(ranged, ten, "attribute_exists(mark)", Limit=5))
    assert answer["Count"] == 2
    assert answer["ScannedCount"] == 5
    assert answer["LastEvaluatedKey"] == {"p": S(ten), "s": S("04")}


async def test_a_page_may_be_empty_and_still_have_a_next(dynamo, ranged, ten):
    answer = await dynamo.call("Query", query(ranged, ten, "n = :v", {":v": N(9)}, Limit=3))
    assert answer == {
        "Items": [],
        "Count": 0,
        "ScannedCount": 3,
        "LastEvaluatedKey": {"p": S(ten), "s": S("02")},
    }


async def test_a_filter_may_use_nested_paths_and_functions(dynamo, ranged, ten):
    answer = await dynamo.call(
        "Query", query(ranged, ten, "m.even = :one AND NOT begins_with(mark, :x)", {":one": N(1), ":x": S("x")})
    )
    assert [item["n"]["N"] for item in answer["Items"]] == ["0", "2", "4", "6", "8"]


async def test_a_filter_sees_attributes_that_the_projection_leaves_out(dynamo, ranged, ten):
    answer = await dynamo.call("Query", query(ranged, ten, "n = :v", {":v": N(3)}, ProjectionExpression="mark"))
    assert answer == {"Items": [{"mark": S("x")}], "Count": 1, "ScannedCount": 10}


async def test_count_counts_what_passes_the_filter(dynamo, ranged, ten):
    answer = await dynamo.call("Query", query(ranged, ten, "attribute_exists(mark)", Select="COUNT"))
    assert answer == {"Count": 5, "ScannedCount": 10}


@pytest.mark.parametrize("attribute", ["p", "s"])
async def test_a_query_filter_on_a_key_is_refused(dynamo, ranged, ten, attribute):
    await dynamo.invalid(
        "Query",
        query(ranged, ten, f"{attribute} = :v", {":v": S("x")}),
        f"Filter Expression can only contain non-primary key attributes: Primary key attribute: {attribute}",
    )


async def test_a_scan_filter_may_use_the_key(dynamo, ranged, ten):
    answer = await dynamo.call(
        "Scan",
        {
            "TableName": ranged,
            "FilterExpression": "p = :p AND s < :s",
            "ExpressionAttributeValues": {":p": S(ten), ":s": S("02")},
        },
    )
    assert "LastEvaluatedKey" not in answer, "the shared table has grown past one page"
    assert sorted(item["s"]["S"] for item in answer["Items"]) == ["00", "01"]
    assert answer["ScannedCount"] >= 10


async def test_a_filter_on_the_key_of_an_index_is_refused(dynamo, indexed):
    await dynamo.invalid(
        "Query",
        {
            "TableName": indexed,
            "IndexName": "all",
            "KeyConditionExpression": "g = :g",
            "FilterExpression": "h = :h",
            "ExpressionAttributeValues": {":g": S("x"), ":h": N(1)},
        },
        "Filter Expression can only contain non-primary key attributes: Primary key attribute: h",
    )


REFUSED = {
    "empty": ("", {}, "The expression can not be empty;"),
    "a syntax error": ("n >", {}, 'Syntax error; token: "<EOF>", near: ">"'),
    "a reserved word": (
        "name = :v",
        {":v": N(1)},
        "Attribute name is a reserved keyword; reserved keyword: name",
    ),
    "an undefined value": (
        "n = :w",
        {},
        "An expression attribute value used in expression is not defined; attribute value: :w",
    ),
    "an undefined name": (
        "#n = :v",
        {":v": N(1)},
        "An expression attribute name used in the document path is not defined; attribute name: #n",
    ),
    "an unknown function": ("foo(n)", {}, "Invalid function name; function: foo"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_bad_filter_is_refused(dynamo, ranged, fresh, case):
    expression, values, message = REFUSED[case]
    await dynamo.invalid("Query", query(ranged, fresh, expression, values), f"Invalid FilterExpression: {message}")


async def test_unused_values_are_refused(dynamo, ranged, fresh):
    await dynamo.invalid(
        "Query",
        query(ranged, fresh, "attribute_exists(n)", {":unused": N(1)}),
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:unused}",
    )

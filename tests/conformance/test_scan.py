"""Scan: every item of a table or index, page by page, whole or in segments."""

import re

import pytest

from tests.conformance.tables import definition
from tests.conformance.wire import N, S


@pytest.fixture
async def scanned(dynamo, create):
    """A table of forty items in ten partitions."""
    table = await create(**definition("p:S", "s:S"))
    items = [{"p": S(f"{number % 10}"), "s": S(f"{number:02}"), "n": N(number)} for number in range(40)]
    for start in range(0, 40, 20):
        batch = [{"PutRequest": {"Item": item}} for item in items[start : start + 20]]
        await dynamo.call("BatchWriteItem", {"RequestItems": {table: batch}})
    return table


async def pages(dynamo, request):
    found = [await dynamo.call("Scan", request)]
    while "LastEvaluatedKey" in found[-1]:
        found.append(await dynamo.call("Scan", {**request, "ExclusiveStartKey": found[-1]["LastEvaluatedKey"]}))
    return found


def numbers(*answers):
    return [int(item["n"]["N"]) for answer in answers for item in answer["Items"]]


async def test_a_scan_answers_every_item_once(dynamo, scanned):
    answer = await dynamo.call("Scan", {"TableName": scanned})
    assert sorted(numbers(answer)) == list(range(40))
    assert (answer["Count"], answer["ScannedCount"]) == (40, 40)
    assert answer.keys() == {"Items", "Count", "ScannedCount"}


async def test_items_of_a_partition_come_together_and_in_order(dynamo, scanned):
    answer = await dynamo.call("Scan", {"TableName": scanned})
    partitions = [item["p"]["S"] for item in answer["Items"]]
    together = list(dict.fromkeys(partitions))
    assert partitions == [partition for partition in together for _ in range(4)]
    for partition in together:
        sorts = [item["s"]["S"] for item in answer["Items"] if item["p"]["S"] == partition]
        assert sorts == sorted(sorts)


async def test_pages_together_are_the_whole_table_in_the_same_order(dynamo, scanned):
    whole = await dynamo.call("Scan", {"TableName": scanned})
    found = await pages(dynamo, {"TableName": scanned, "Limit": 7})
    assert [page["Count"] for page in found] == [7, 7, 7, 7, 7, 5]
    assert numbers(*found) == numbers(whole)


async def test_the_last_key_of_a_page_is_the_key_of_its_last_item(dynamo, scanned):
    answer = await dynamo.call("Scan", {"TableName": scanned, "Limit": 7})
    last = answer["Items"][-1]
    assert answer["LastEvaluatedKey"] == {"p": last["p"], "s": last["s"]}


async def test_a_filter_leaves_out_items_but_counts_them(dynamo, scanned):
    answer = await dynamo.call(
        "Scan",
        {"TableName": scanned, "FilterExpression": "n < :v", "ExpressionAttributeValues": {":v": N(10)}},
    )
    assert sorted(numbers(answer)) == list(range(10))
    assert (answer["Count"], answer["ScannedCount"]) == (10, 40)


async def test_count_answers_no_items(dynamo, scanned):
    answer = await dynamo.call("Scan", {"TableName": scanned, "Select": "COUNT"})
    assert answer == {"Count": 40, "ScannedCount": 40}


async def test_a_projection_picks_attributes(dynamo, scanned):
    answer = await dynamo.call("Scan", {"TableName": scanned, "ProjectionExpression": "n", "Limit": 3})
    assert all(item.keys() == {"n"} for item in answer["Items"])


@pytest.mark.parametrize("total", [1, 3, 8])
async def test_segments_together_are_the_table_and_share_nothing(dynamo, scanned, total):
    found = []
    for segment in range(total):
        found += await pages(dynamo, {"TableName": scanned, "Segment": segment, "TotalSegments": total, "Limit": 5})
    assert sorted(numbers(*found)) == list(range(40))


async def test_a_partition_belongs_to_one_segment(dynamo, scanned):
    of = {}
    for segment in range(4):
        answer = await dynamo.call("Scan", {"TableName": scanned, "Segment": segment, "TotalSegments": 4})
        for item in answer["Items"]:
            of.setdefault(item["p"]["S"], set()).add(segment)
    assert all(len(segments) == 1 for segments in of.values())


async def test_the_table_is_spread_over_segments(dynamo, scanned):
    counts = [
        (await dynamo.call("Scan", {"TableName": scanned, "Segment": segment, "TotalSegments": 2}))["Count"]
        for segment in range(2)
    ]
    assert sum(counts) == 40
    assert 0 < counts[0] < 40


async def test_a_page_ends_at_one_megabyte(dynamo, create):
    table = await create(**definition("p:S"))
    for number in range(5):
        await dynamo.call("PutItem", {"TableName": table, "Item": {"p": S(str(number)), "big": S("x" * 300_000)}})
    found = await pages(dynamo, {"TableName": table, "ProjectionExpression": "p"})
    assert [page["Count"] for page in found] == [4, 1]


async def test_an_empty_table_answers_no_items(dynamo, create):
    table = await create(**definition("p:S"))
    assert await dynamo.call("Scan", {"TableName": table}) == {"Items": [], "Count": 0, "ScannedCount": 0}


REFUSED = {
    "a segment without the total": (
        {"Segment": 0},
        "The TotalSegments parameter is required but was not present in the request when Segment parameter is present",
    ),
    "a total without the segment": (
        {"TotalSegments": 2},
        "The Segment parameter is required but was not present in the request when parameter TotalSegments is present",
    ),
    "a segment past the total": (
        {"Segment": 2, "TotalSegments": 2},
        "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
        "Segment: 2 is not less than TotalSegments: 2",
    ),
    "a negative segment": (
        {"Segment": -1, "TotalSegments": 2},
        "1 validation error detected: Value '-1' at 'segment' failed to satisfy constraint: "
        "Member must have value greater than or equal to 0",
    ),
    "too many segments": (
        {"Segment": 0, "TotalSegments": 1_000_001},
        "1 validation error detected: Value '1000001' at 'totalSegments' failed to satisfy constraint: "
        "Member must have value less than or equal to 1000000",
    ),
    "a limit of zero": (
        {"Limit": 0},
        "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: "
        "Member must have value greater than or equal to 1",
    ),
    "an index that does not exist": (
        {"IndexName": "absent"},
        "The table does not have the specified index: absent",
    ),
    "a start key without the sort key": (
        {"ExclusiveStartKey": {"p": S("x")}},
        "The provided starting key is invalid: The provided key element does not match the schema",
    ),
    "a count with a projection": (
        {"Select": "COUNT", "ProjectionExpression": "a"},
        re.compile(
            "(One or more parameter values were invalid: )?"
            "Cannot specify the ProjectionExpression when choosing to get only the Count"
        ),
    ),
    "an undefined value": (
        {"FilterExpression": "a = :v"},
        "Invalid FilterExpression: An expression attribute value used in expression is not defined; "
        "attribute value: :v",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_bad_scan_is_refused(dynamo, ranged, case):
    parameters, message = REFUSED[case]
    await dynamo.invalid("Scan", {"TableName": ranged, **parameters}, message)


async def test_a_table_that_does_not_exist_is_not_found(dynamo):
    await dynamo.refuses("Scan", {"TableName": "absent"}, "ResourceNotFoundException", "Requested resource not found")

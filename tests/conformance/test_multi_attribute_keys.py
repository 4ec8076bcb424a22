"""Global indexes whose partition or sort key is made of several attributes."""

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.tables import definition
from tests.conformance.wire import N, S

PARTS = {"HASH": ["tenant", "region"], "RANGE": ["year", "month", "day"]}


def multi_index(name="composite", partition=tuple(PARTS["HASH"]), sort=tuple(PARTS["RANGE"])):
    return {
        "IndexName": name,
        "KeySchema": [
            *({"AttributeName": part, "KeyType": "HASH"} for part in partition),
            *({"AttributeName": part, "KeyType": "RANGE"} for part in sort),
        ],
        "Projection": {"ProjectionType": "ALL"},
    }


ALSO = ("tenant:S", "region:S", "year:N", "month:N", "day:S")
DAYS = [(2024, 12, "31"), (2025, 1, "01"), (2025, 1, "15"), (2025, 2, "01"), (2025, 10, "01"), (2026, 1, "01")]


@pytest.fixture
async def composite(dynamo, create):
    """A table whose index has two partition attributes and three sort attributes, with six days of one tenant."""
    table = await create(**definition("p:S", also=ALSO, GlobalSecondaryIndexes=[multi_index()]))
    for number, (year, month, day) in enumerate(reversed(DAYS)):
        item = {
            "p": S(str(number)),
            "tenant": S("t"),
            "region": S("eu"),
            "year": N(year),
            "month": N(month),
            "day": S(day),
        }
        await dynamo.call("PutItem", {"TableName": table, "Item": item})
    await dynamo.call(
        "PutItem",
        {
            "TableName": table,
            "Item": {"p": S("us"), "tenant": S("t"), "region": S("us"), "year": N(1), "month": N(1), "day": S("1")},
        },
    )
    return table


def query(table, condition, values=None, **more):
    names = {f"#{name}": name for name in ("tenant", "region", "year", "month", "day") if f"#{name}" in condition}
    return {
        "TableName": table,
        "IndexName": "composite",
        "KeyConditionExpression": condition,
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": {":t": S("t"), ":r": S("eu"), **(values or {})},
        **more,
    }


PARTITION = "#tenant = :t AND #region = :r"
Y, M, D = N(2025), N(1), S("15")
SELECTED = {
    "the whole partition": ("", {}, slice(0, 6)),
    "one sort attribute": (" AND #year = :y", {":y": Y}, slice(1, 5)),
    "two sort attributes": (" AND #year = :y AND #month = :m", {":y": Y, ":m": M}, slice(1, 3)),
    "all sort attributes": (" AND #year = :y AND #month = :m AND #day = :d", {":y": Y, ":m": M, ":d": D}, slice(2, 3)),
    "a range on the first": (" AND #year > :y", {":y": Y}, slice(5, 6)),
    "a range on the second": (" AND #year = :y AND #month > :m", {":y": Y, ":m": M}, slice(3, 5)),
    "a range on the third": (
        " AND #year = :y AND #month = :m AND #day < :d",
        {":y": Y, ":m": M, ":d": D},
        slice(1, 2),
    ),
    "between on the second": (
        " AND #year = :y AND #month BETWEEN :m AND :n",
        {":y": Y, ":m": M, ":n": N(2)},
        slice(1, 4),
    ),
    "begins_with on the third": (
        " AND #year = :y AND #month = :m AND begins_with(#day, :d)",
        {":y": Y, ":m": M, ":d": S("0")},
        slice(1, 2),
    ),
}


def days(answer):
    return [(int(item["year"]["N"]), int(item["month"]["N"]), item["day"]["S"]) for item in answer["Items"]]


@pytest.mark.parametrize("case", SELECTED)
async def test_sort_attributes_narrow_from_left_to_right(dynamo, composite, case):
    condition, values, expected = SELECTED[case]
    answer = await dynamo.call("Query", query(composite, PARTITION + condition, values))
    assert days(answer) == DAYS[expected]


async def test_backwards(dynamo, composite):
    answer = await dynamo.call("Query", query(composite, PARTITION, ScanIndexForward=False))
    assert days(answer) == DAYS[::-1]


async def test_pages_together_are_the_partition(dynamo, composite):
    request, found = query(composite, PARTITION, Limit=4), []
    answer = await dynamo.call("Query", request)
    assert answer["LastEvaluatedKey"].keys() == {"p", "tenant", "region", "year", "month", "day"}
    found += days(answer)
    answer = await dynamo.call("Query", {**request, "ExclusiveStartKey": answer["LastEvaluatedKey"]})
    assert found + days(answer) == DAYS


async def test_an_item_without_one_of_the_attributes_is_not_in_the_index(dynamo, composite):
    await dynamo.call(
        "PutItem",
        {
            "TableName": composite,
            "Item": {"p": S("partial"), "tenant": S("t"), "region": S("eu"), "year": N(2025), "month": N(1)},
        },
    )
    assert days(await dynamo.call("Query", query(composite, PARTITION))) == DAYS


async def test_an_attribute_of_the_wrong_type_is_refused_at_the_write(dynamo, composite):
    await dynamo.invalid(
        "PutItem",
        {"TableName": composite, "Item": {"p": S("x"), "year": S("2025")}},
        "One or more parameter values were invalid: Type mismatch for Index Key year Expected: N Actual: S "
        "IndexName: composite",
    )


async def test_the_key_is_described_in_order(dynamo, composite):
    described = (await dynamo.call("DescribeTable", {"TableName": composite}))["Table"]
    assert described["GlobalSecondaryIndexes"][0]["KeySchema"] == multi_index()["KeySchema"]


REFUSED = {
    "not every partition attribute": ("#tenant = :t", {}),
    "a range on a partition attribute": ("#tenant = :t AND #region > :r", {}),
    "a sort attribute left out": (PARTITION + " AND #month = :m", {":m": M}),
    "an equality after a range": (PARTITION + " AND #year > :y AND #month = :m", {":y": Y, ":m": M}),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_bad_condition_is_refused(dynamo, composite, case):
    condition, values = REFUSED[case]
    request = query(composite, condition, values)
    request["ExpressionAttributeValues"] = {
        name: value for name, value in request["ExpressionAttributeValues"].items() if name in condition
    }
    with pytest.raises(DynamoError, match=r"ValidationException"):
        await dynamo.call("Query", request)


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        (["HASH"] * 5, "The KeySchema exceeds the maximum allowed number of HASH key attributes"),
        (["HASH", *["RANGE"] * 5], "The KeySchema exceeds the maximum allowed number of RANGE key attributes"),
        (
            ["HASH", "RANGE", "HASH"],
            "All HASH key attributes must precede RANGE key attributes in the KeySchema",
        ),
    ],
    ids=["five partition attributes", "five sort attributes", "mixed"],
)
async def test_a_bad_key_is_refused(dynamo, fresh, roles, message):
    wide = multi_index("wide")
    wide["KeySchema"] = [{"AttributeName": f"k{number}", "KeyType": role} for number, role in enumerate(roles)]
    also = [f"k{number}:S" for number in range(len(roles))]
    table = {"TableName": f"refused.{fresh}", **definition("p:S", also=also, GlobalSecondaryIndexes=[wide])}
    await dynamo.invalid("CreateTable", table, f"Invalid KeySchema: {message}")


async def test_a_table_key_of_several_attributes_is_refused(dynamo, fresh):
    with pytest.raises(DynamoError, match=r"ValidationException"):
        await dynamo.call(
            "CreateTable",
            {
                "TableName": f"refused.{fresh}",
                **definition("p:S", "s:S", also=("t:S",)),
                "KeySchema": [
                    {"AttributeName": "p", "KeyType": "HASH"},
                    {"AttributeName": "s", "KeyType": "RANGE"},
                    {"AttributeName": "t", "KeyType": "RANGE"},
                ],
            },
        )


@pytest.mark.parametrize(
    ("role", "letters", "limit"),
    [("RANGE", 250, 1024), ("HASH", 500, 2048)],
)
async def test_attributes_that_are_too_long_together_are_refused(dynamo, create, role, letters, limit):
    """Each would do as a key by itself; together they are too many bytes."""
    long = ("a", "b", "c")
    parts = {"partition": ("t",), "sort": long} if role == "RANGE" else {"partition": long, "sort": ("t",)}
    also = ("t:S", *(f"{name}:S" for name in long))
    table = await create(**definition("p:S", also=also, GlobalSecondaryIndexes=[multi_index(**parts)]))
    item = {"p": S("x"), "t": S("t"), **{name: S("é" * letters) for name in long}}
    await dynamo.invalid(
        "PutItem",
        {"TableName": table, "Item": item},
        f"Aggregate size for {role} key attributes a, b, c of index composite has exceeded limit {limit} bytes, "
        f"with actual size {3 * 2 * letters} bytes",
    )

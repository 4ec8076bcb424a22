"""The key condition of a Query: the operators on the sort key, and what is refused."""

import pytest

from tests.conformance.wire import TRUE, B, L, N, S

TEXTS = ["A", "a", "a#", "a#1", "a#2", "a$", "aa", "b", "z", "é", "𐀀", "￿"]


@pytest.fixture
async def texts(dynamo, ranged, fresh):
    """A partition with sort keys whose order is the order of their UTF-8 bytes."""
    requests = [{"PutRequest": {"Item": {"p": S(fresh), "s": S(text)}}} for text in TEXTS]
    await dynamo.call("BatchWriteItem", {"RequestItems": {ranged: requests}})
    return fresh


SELECTED = {
    "equal": ("s = :v", ["a#1"], {":v": S("a#1")}),
    "less": ("s < :v", ["A", "a", "a#"], {":v": S("a#1")}),
    "at most": ("s <= :v", ["A", "a", "a#", "a#1"], {":v": S("a#1")}),
    "more": ("s > :v", ["aa", "b", "z", "é", "￿", "𐀀"], {":v": S("a$")}),
    "at least": ("s >= :v", ["z", "é", "￿", "𐀀"], {":v": S("z")}),
    "between": ("s BETWEEN :v AND :w", ["a#", "a#1", "a#2"], {":v": S("a#"), ":w": S("a#~")}),
    "between one and itself": ("s BETWEEN :v AND :v", ["b"], {":v": S("b")}),
    "begins_with": ("begins_with(s, :v)", ["a#", "a#1", "a#2"], {":v": S("a#")}),
    "begins_with the last character of all": ("begins_with(s, :v)", ["𐀀"], {":v": S("𐀀")}),
    "begins_with what is not there": ("begins_with(s, :v)", [], {":v": S("nothing")}),
    "value on the left": (":v > s", ["A"], {":v": S("a")}),
    "in parentheses": ("(s = :v)", ["b"], {":v": S("b")}),
}


@pytest.mark.parametrize("case", SELECTED)
async def test_the_sort_condition_selects(dynamo, ranged, texts, case):
    condition, expected, values = SELECTED[case]
    answer = await dynamo.call(
        "Query",
        {
            "TableName": ranged,
            "KeyConditionExpression": f"p = :p AND {condition}",
            "ExpressionAttributeValues": {":p": S(texts), **values},
        },
    )
    assert [item["s"]["S"] for item in answer["Items"]] == expected


async def test_the_order_of_the_two_conditions_does_not_matter(dynamo, ranged, texts):
    answer = await dynamo.call(
        "Query",
        {
            "TableName": ranged,
            "KeyConditionExpression": "#s = :s and #p = :p",
            "ExpressionAttributeNames": {"#p": "p", "#s": "s"},
            "ExpressionAttributeValues": {":p": S(texts), ":s": S("b")},
        },
    )
    assert answer == {"Items": [{"p": S(texts), "s": S("b")}], "Count": 1, "ScannedCount": 1}


NUMBERS = ["-1e100", "-20", "-3", "-2.5", "-1", "-0.001", "0", "1e-100", "0.5", "1", "2", "10", "99.5", "1e30"]
CANONICAL = [
    "-1" + "0" * 100,
    *NUMBERS[1:7],
    "0." + "0" * 99 + "1",
    *NUMBERS[8:13],
    "1" + "0" * 30,
]


@pytest.fixture
async def numbers(dynamo, numbered, fresh):
    requests = [{"PutRequest": {"Item": {"p": S(fresh), "n": N(text)}}} for text in reversed(NUMBERS)]
    await dynamo.call("BatchWriteItem", {"RequestItems": {numbered: requests}})
    return fresh


async def test_numbers_sort_by_value(dynamo, numbered, numbers):
    answer = await dynamo.call(
        "Query",
        {
            "TableName": numbered,
            "KeyConditionExpression": "p = :p",
            "ExpressionAttributeValues": {":p": S(numbers)},
        },
    )
    assert [item["n"]["N"] for item in answer["Items"]] == CANONICAL


@pytest.mark.parametrize(
    ("condition", "first", "last"),
    [
        ("n < :v", "-1e100", "-1"),
        ("n <= :v", "-1e100", "-0.001"),
        ("n > :v", "0", "1e30"),
        ("n >= :v", "-0.001", "1e30"),
        ("n = :v", "-0.001", "-0.001"),
        ("n BETWEEN :v AND :w", "-0.001", "10"),
    ],
)
async def test_number_ranges(dynamo, numbered, numbers, condition, first, last):
    values = {":p": S(numbers), ":v": N("-1e-3")}
    if ":w" in condition:
        values[":w"] = N("10.00")
    answer = await dynamo.call(
        "Query",
        {
            "TableName": numbered,
            "KeyConditionExpression": f"p = :p AND {condition}",
            "ExpressionAttributeValues": values,
        },
    )
    expected = CANONICAL[NUMBERS.index(first) : NUMBERS.index(last) + 1]
    assert [item["n"]["N"] for item in answer["Items"]] == expected


BINARIES = [
    b"\x00",
    b"\x00\x00",
    b"\x00\xff",
    b"\x01",
    b"\x7f",
    b"\x80",
    b"\xfe\xff",
    b"\xff",
    b"\xff\x00",
    b"\xff\xff",
]


@pytest.fixture
async def binaries(dynamo, binary, fresh):
    requests = [{"PutRequest": {"Item": {"p": S(fresh), "b": B(data)}}} for data in reversed(BINARIES)]
    await dynamo.call("BatchWriteItem", {"RequestItems": {binary: requests}})
    return fresh


@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        ("b >= :v", b"\x00", BINARIES),
        ("b > :v", b"\x7f", BINARIES[5:]),
        ("b < :v", b"\x01", BINARIES[:3]),
        ("begins_with(b, :v)", b"\x00", BINARIES[:3]),
        ("begins_with(b, :v)", b"\xff", BINARIES[7:]),
        ("begins_with(b, :v)", b"\xff\xff", BINARIES[9:]),
    ],
    ids=["all", "more", "less", "begins with zero", "begins with 255", "begins with 255 twice"],
)
async def test_binaries_sort_as_unsigned_bytes(dynamo, binary, binaries, condition, value, expected):
    answer = await dynamo.call(
        "Query",
        {
            "TableName": binary,
            "KeyConditionExpression": f"p = :p AND {condition}",
            "ExpressionAttributeValues": {":p": S(binaries), ":v": B(value)},
        },
    )
    assert [item["b"] for item in answer["Items"]] == [B(data) for data in expected]


P = {":p": S("x")}
REFUSED = {
    "empty": ("", {}, "Invalid KeyConditionExpression: The expression can not be empty;"),
    "syntax": (
        "p = :p AND",
        P,
        'Invalid KeyConditionExpression: Syntax error; token: "<EOF>", near: "AND"',
    ),
    "without the partition key": (
        "s = :s",
        {":s": S("x")},
        "Query condition missed key schema element: p",
    ),
    "on an attribute that is no key": (
        "p = :p AND a = :s",
        {**P, ":s": S("x")},
        "Query condition missed key schema element: s",
    ),
    "only on an attribute that is no key": (
        "a = :s",
        {":s": S("x")},
        "Query condition missed key schema element: p",
    ),
    "a range on the partition key": ("p > :p", P, "Query key condition not supported"),
    "begins_with on the partition key": ("begins_with(p, :p)", P, "Query key condition not supported"),
    "or": (
        "p = :p OR s = :p",
        P,
        "Invalid operator used in KeyConditionExpression: OR",
    ),
    "not": ("NOT p = :p", P, "Invalid operator used in KeyConditionExpression: NOT"),
    "unequal": (
        "p = :p AND s <> :p",
        P,
        "Invalid operator used in KeyConditionExpression: <>",
    ),
    "in": (
        "p = :p AND s IN (:p)",
        P,
        "Invalid operator used in KeyConditionExpression: IN",
    ),
    "contains": (
        "p = :p AND contains(s, :p)",
        P,
        "Invalid operator used in KeyConditionExpression: contains",
    ),
    "attribute_exists": (
        "p = :p AND attribute_exists(s)",
        P,
        "Invalid operator used in KeyConditionExpression: attribute_exists",
    ),
    "size": (
        "p = :p AND size(s) = :n",
        {**P, ":n": N(1)},
        "KeyConditionExpressions cannot contain nested operations",
    ),
    "two conditions on one key": (
        "p = :p AND s > :p AND s < :p",
        P,
        "KeyConditionExpressions must only contain one condition per key",
    ),
    "three keys": (
        "p = :p AND s = :p AND a = :p",
        P,
        "Conditions can be of length 1 or 2 only",
    ),
    "a nested path": (
        "p = :p AND s.a = :p",
        P,
        "KeyConditionExpressions cannot have conditions on nested attributes",
    ),
    "two attributes": (
        "p = :p AND s = a",
        P,
        "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
    ),
    "no attribute": (
        ":p = :q",
        {**P, ":q": S("x")},
        "Invalid condition in KeyConditionExpression: No key attribute specified",
    ),
    "a value of another type": (
        "p = :p AND s = :n",
        {**P, ":n": N(1)},
        "One or more parameter values were invalid: Condition parameter type does not match schema type",
    ),
    "a boolean": (
        "p = :p AND s = :n",
        {**P, ":n": TRUE},
        "One or more parameter values were invalid: Condition parameter type does not match schema type",
    ),
    "a list": (
        "p = :l",
        {":l": L()},
        "One or more parameter values were invalid: Condition parameter type does not match schema type",
    ),
    "bounds in the wrong order": (
        "p = :p AND s BETWEEN :a AND :b",
        {**P, ":a": S("b"), ":b": S("a")},
        "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to "
        "lower bound; lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}",
    ),
    "an undefined value": (
        "p = :p AND s = :s",
        P,
        "Invalid KeyConditionExpression: An expression attribute value used in expression is not defined; "
        "attribute value: :s",
    ),
    "an empty partition key": (
        "p = :e",
        {":e": S("")},
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
        "empty string value. Key: p",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_bad_key_condition_is_refused(dynamo, ranged, case):
    expression, values, message = REFUSED[case]
    request = {"TableName": ranged, "KeyConditionExpression": expression}
    if values:
        request["ExpressionAttributeValues"] = values
    await dynamo.invalid("Query", request, message)


async def test_a_condition_on_a_sort_key_the_table_does_not_have_is_refused(dynamo, plain):
    await dynamo.invalid(
        "Query",
        {
            "TableName": plain,
            "KeyConditionExpression": "p = :p AND s = :p",
            "ExpressionAttributeValues": P,
        },
        "Query key condition not supported",
    )

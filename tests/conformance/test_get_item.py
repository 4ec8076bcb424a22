"""GetItem: one item by its whole key."""

import pytest

from tests.conformance.wire import L, M, N, S

SCHEMA_MISMATCH = "The provided key element does not match the schema"


@pytest.fixture
async def item(dynamo, ranged, fresh):
    """An item with something to project."""
    made = {
        "p": S(fresh),
        "s": S("1"),
        "a": S("x"),
        "n": N(3),
        "list": L(S("zero"), M(k=S("one")), L(S("two"))),
        "map": M(b=M(c=S("deep"), d=N(1)), e=S("flat")),
        "name": S("reserved"),
        "with.dot": S("dotted"),
    }
    await dynamo.call("PutItem", {"TableName": ranged, "Item": made})
    return made


def key(item):
    return {"p": item["p"], "s": item["s"]}


async def test_an_absent_item_is_an_empty_answer(dynamo, ranged, fresh):
    assert await dynamo.call("GetItem", {"TableName": ranged, "Key": {"p": S(fresh), "s": S("1")}}) == {}


async def test_a_consistent_read_gives_the_whole_item(dynamo, ranged, item):
    answer = await dynamo.call("GetItem", {"TableName": ranged, "Key": key(item), "ConsistentRead": True})
    assert answer == {"Item": item}


PROJECTIONS = {
    "one attribute": ("a", {}, {"a": S("x")}),
    "several attributes": ("a, n,p", {}, {"a": S("x"), "n": N(3)}),
    "an absent attribute": ("absent", {}, {}),
    "an absent and a present one": ("absent, a", {}, {"a": S("x")}),
    "a nested attribute": ("#m.b.c", {"#m": "map"}, {"map": M(b=M(c=S("deep")))}),
    "two nested attributes of one map": (
        "#m.b.c, #m.e",
        {"#m": "map"},
        {"map": M(b=M(c=S("deep")), e=S("flat"))},
    ),
    "an element of a list": ("#l[0]", {"#l": "list"}, {"list": L(S("zero"))}),
    "elements in the order of the list": ("#l[2], #l[0]", {"#l": "list"}, {"list": L(S("zero"), L(S("two")))}),
    "an attribute in an element": ("#l[1].k", {"#l": "list"}, {"list": L(M(k=S("one")))}),
    "an element in an element": ("#l[2][0]", {"#l": "list"}, {"list": L(L(S("two")))}),
    "an element past the end": ("#l[9]", {"#l": "list"}, {}),
    "an element of what is no list": ("a[0]", {}, {}),
    "an attribute of what is no map": ("a.b", {}, {}),
    "an absent attribute of a map": ("#m.absent", {"#m": "map"}, {}),
    "a reserved word by placeholder": ("#n", {"#n": "name"}, {"name": S("reserved")}),
    "a dotted name by placeholder": ("#d", {"#d": "with.dot"}, {"with.dot": S("dotted")}),
}


@pytest.mark.parametrize("case", PROJECTIONS)
async def test_a_projection_picks(dynamo, ranged, item, case):
    expression, names, expected = PROJECTIONS[case]
    request = {"TableName": ranged, "Key": key(item), "ProjectionExpression": expression}
    if names:
        request["ExpressionAttributeNames"] = names
    if "p" in expression.split(","):
        expected = {**expected, "p": item["p"]}
    assert await dynamo.call("GetItem", request) == {"Item": expected}


async def test_a_projection_of_an_absent_item_is_an_empty_answer(dynamo, ranged, fresh):
    request = {"TableName": ranged, "Key": {"p": S(fresh), "s": S("1")}, "ProjectionExpression": "a"}
    assert await dynamo.call("GetItem", request) == {}


BAD_PROJECTIONS = {
    "empty": ("", {}, "The expression can not be empty;"),
    "reserved word": (
        "a, name",
        {},
        "Attribute name is a reserved keyword; reserved keyword: name",
    ),
    "undefined name": (
        "#x",
        {},
        "An expression attribute name used in the document path is not defined; attribute name: #x",
    ),
    "overlapping paths": (
        "#m, #m.b",
        {"#m": "map"},
        "Two document paths overlap with each other; must remove or rewrite one of these paths; "
        "path one: [map], path two: [map, b]",
    ),
    "the same path twice": (
        "a, a",
        {},
        "Two document paths overlap with each other; must remove or rewrite one of these paths; "
        "path one: [a], path two: [a]",
    ),
    "conflicting paths": (
        "a[0], a.b",
        {},
        "Two document paths conflict with each other; must remove or rewrite one of these paths; "
        "path one: [a, [0]], path two: [a, b]",
    ),
    "a comma too many": ("a,", {}, 'Syntax error; token: "<EOF>", near: ","'),
    "no comma": ("a b", {}, 'Syntax error; token: "b", near: "a b"'),
    "a value": (":v", {}, 'Syntax error; token: ":v", near: ":v"'),
    "a function": ("size(a)", {}, 'Syntax error; token: "(", near: "size(a"'),
}


@pytest.mark.parametrize("case", BAD_PROJECTIONS)
async def test_a_bad_projection_is_refused(dynamo, ranged, fresh, case):
    expression, names, message = BAD_PROJECTIONS[case]
    request = {"TableName": ranged, "Key": {"p": S(fresh), "s": S("1")}, "ProjectionExpression": expression}
    if names:
        request["ExpressionAttributeNames"] = names
    await dynamo.invalid("GetItem", request, f"Invalid ProjectionExpression: {message}")


BAD_KEYS = {
    "without the sort key": {"p": S("x")},
    "without the partition key": {"s": S("x")},
    "with an attribute too many": {"p": S("x"), "s": S("x"), "t": S("x")},
    "with another name": {"p": S("x"), "t": S("x")},
    "with another type": {"p": N(1), "s": S("x")},
    "empty": {},
}


@pytest.mark.parametrize("case", BAD_KEYS)
async def test_a_key_that_is_not_the_schema_is_refused(dynamo, ranged, case):
    await dynamo.invalid("GetItem", {"TableName": ranged, "Key": BAD_KEYS[case]}, SCHEMA_MISMATCH)


async def test_an_empty_string_in_a_key_is_refused(dynamo, ranged, fresh):
    await dynamo.invalid(
        "GetItem",
        {"TableName": ranged, "Key": {"p": S(fresh), "s": S("")}},
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
        "empty string value. Key: s",
    )


async def test_a_table_that_does_not_exist_is_not_found(dynamo):
    await dynamo.refuses(
        "GetItem",
        {"TableName": "absent", "Key": {"p": S("x")}},
        "ResourceNotFoundException",
        "Requested resource not found",
    )


async def test_names_without_a_projection_are_refused(dynamo, plain):
    await dynamo.invalid(
        "GetItem",
        {"TableName": plain, "Key": {"p": S("x")}, "ExpressionAttributeNames": {"#a": "a"}},
        "ExpressionAttributeNames can only be specified when using expressions",
    )


async def test_unused_names_are_refused(dynamo, plain):
    await dynamo.invalid(
        "GetItem",
        {
            "TableName": plain,
            "Key": {"p": S("x")},
            "ProjectionExpression": "a",
            "ExpressionAttributeNames": {"#a": "a"},
        },
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}",
    )


async def test_empty_names_are_refused(dynamo, plain):
    await dynamo.invalid(
        "GetItem",
        {"TableName": plain, "Key": {"p": S("x")}, "ProjectionExpression": "a", "ExpressionAttributeNames": {}},
        "ExpressionAttributeNames must not be empty",
    )


async def test_a_name_that_does_not_begin_with_a_hash_is_refused(dynamo, plain):
    await dynamo.invalid(
        "GetItem",
        {
            "TableName": plain,
            "Key": {"p": S("x")},
            "ProjectionExpression": "a",
            "ExpressionAttributeNames": {"a": "a"},
        },
        'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"',
    )


@pytest.mark.parametrize("path", ["p.x", "p[0]"])
async def test_looking_inside_a_key_attribute_is_refused(dynamo, ranged, item, path):
    await dynamo.invalid(
        "GetItem",
        {"TableName": ranged, "Key": key(item), "ProjectionExpression": path},
        "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: p",
    )

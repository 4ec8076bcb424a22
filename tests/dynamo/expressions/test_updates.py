"""UpdateExpression: what it refuses, and what it makes of an item."""

import copy
import re

import pytest

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.expressions import Placeholders, refuse_key_updates, update

ITEM = {
    "a": {"N": "5"},
    "b": {"S": "h"},
    "l": {"L": [{"N": "1"}, {"S": "x"}]},
    "m": {"M": {"x": {"N": "7"}, "deep": {"M": {"ss": {"SS": ["p"]}}}}},
    "ss": {"SS": ["a", "b"]},
    "ns": {"NS": ["1"]},
}
VALUES = {
    ":1": {"N": "1"},
    ":half": {"N": "0.5"},
    ":s": {"S": "s"},
    ":l": {"L": [{"S": "y"}]},
    ":a": {"SS": ["a"]},
    ":ab": {"SS": ["b", "a"]},
    ":c": {"SS": ["a", "c"]},
    ":p": {"SS": ["p"]},
    ":ns": {"NS": ["1.0", "3"]},
    ":m": {"M": {}},
    ":b": {"B": "YQ=="},
    ":t": {"BOOL": True},
    ":nul": {"NULL": True},
}
WRONG_TYPE = "An operand in the update expression has an incorrect data type"
NO_ATTRIBUTE = "The provided expression refers to an attribute that does not exist in the item"
INVALID_PATH = "The document path provided in the update expression is invalid for update"


def updated(text, item=ITEM):
    used = {key: value for key, value in VALUES.items() if re.search(re.escape(key) + r"\b", text)}
    found = update(text, Placeholders({"ExpressionAttributeValues": used} if used else {}))
    before = copy.deepcopy(item)
    after = found.apply(item)
    assert item == before
    return after


def refusal(text, item=ITEM):
    with pytest.raises(DynamoError) as caught:
        updated(text, item)
    assert caught.value.code == "ValidationException"
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("SET q = :s", {"q": {"S": "s"}}),
        ("set a = :1", {"a": {"N": "1"}}),
        ("SET q = a + :1", {"q": {"N": "6"}}),
        ("SET q = :1 - :half", {"q": {"N": "0.5"}}),
        ("SET q = (a-:1)", {"q": {"N": "4"}}),
        ("SET q = b", {"q": {"S": "h"}}),
        ("SET b = a, a = b", {"b": {"N": "5"}, "a": {"S": "h"}}),
        ("SET m.x = m.x + :1, a = m.x", {"a": {"N": "7"}, "m": {"M": {**ITEM["m"]["M"], "x": {"N": "8"}}}}),
        ("SET q = if_not_exists(a, :s)", {"q": {"N": "5"}}),
        ("SET q = if_not_exists(q, :s)", {"q": {"S": "s"}}),
        ("SET a = if_not_exists(a, :1) + :1", {"a": {"N": "6"}}),
        ("SET q = if_not_exists(q, if_not_exists(r, :s))", {"q": {"S": "s"}}),
        ("SET l = list_append(l, :l)", {"l": {"L": [{"N": "1"}, {"S": "x"}, {"S": "y"}]}}),
        ("SET l = list_append(:l, l)", {"l": {"L": [{"S": "y"}, {"N": "1"}, {"S": "x"}]}}),
        ("SET q = list_append(if_not_exists(q, :l), :l)", {"q": {"L": [{"S": "y"}, {"S": "y"}]}}),
        ("SET l[0] = :s", {"l": {"L": [{"S": "s"}, {"S": "x"}]}}),
        ("SET l[9] = :s", {"l": {"L": [{"N": "1"}, {"S": "x"}, {"S": "s"}]}}),
        ("SET l[3] = :1, l[2] = :s", {"l": {"L": [{"N": "1"}, {"S": "x"}, {"S": "s"}, {"N": "1"}]}}),
        ("REMOVE a, q", {"a": None}),
        ("REMOVE l[0]", {"l": {"L": [{"S": "x"}]}}),
        ("REMOVE l[0], l[1]", {"l": {"L": []}}),
        ("REMOVE l[9]", {}),
        ("REMOVE l[0] SET l[1] = :1, l[5] = :s, l[4] = :1", {"l": {"L": [{"N": "1"}, {"N": "1"}, {"S": "s"}]}}),
        ("REMOVE m.x", {"m": {"M": {"deep": ITEM["m"]["M"]["deep"]}}}),
        ("REMOVE m.q", {}),
        ("SET m.q = :m", {"m": {"M": {**ITEM["m"]["M"], "q": {"M": {}}}}}),
        ("ADD a :half", {"a": {"N": "5.5"}}),
        ("ADD q :1", {"q": {"N": "1"}}),
        ("ADD q :ab", {"q": {"SS": ["a", "b"]}}),
        ("ADD ss :c", {"ss": {"SS": ["a", "b", "c"]}}),
        ("ADD ns :ns", {"ns": {"NS": ["3", "1"]}}),
        ("ADD l[5] :1", {"l": {"L": [{"N": "1"}, {"S": "x"}, {"N": "1"}]}}),
        ("DELETE ss :a", {"ss": {"SS": ["b"]}}),
        ("DELETE ss :ab", {"ss": None}),
        ("DELETE q :ab", {}),
        ("DELETE m.deep.ss :p", {"m": {"M": {"x": {"N": "7"}, "deep": {"M": {}}}}}),
        (
            "SET a = :s REMOVE b ADD ns :ns DELETE ss :a",
            {"a": {"S": "s"}, "b": None, "ns": {"NS": ["3", "1"]}, "ss": {"SS": ["b"]}},
        ),
    ],
)
def test_what_it_makes_of_an_item(text, changes):
    wanted = {name: value for name, value in {**ITEM, **changes}.items() if value is not None}
    assert updated(text) == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SET q = zz", NO_ATTRIBUTE),
        ("SET q = zz + :1", NO_ATTRIBUTE),
        ("SET q = list_append(zz, :l)", NO_ATTRIBUTE),
        ("SET q = m.zz", NO_ATTRIBUTE),
        ("SET a = if_not_exists(a, zz)", NO_ATTRIBUTE),
        ("SET q = b + :1", WRONG_TYPE),
        ("SET q = :1 - b", WRONG_TYPE),
        ("SET q = if_not_exists(q, :s) + :1", WRONG_TYPE),
        ("SET q = list_append(a, :l)", WRONG_TYPE),
        ("ADD b :1", WRONG_TYPE),
        ("ADD a :ab", WRONG_TYPE),
        ("ADD ss :ns", WRONG_TYPE),
        ("DELETE ns :ab", WRONG_TYPE),
        ("DELETE a :ab", WRONG_TYPE),
        ("SET q.r = :1", INVALID_PATH),
        ("SET q[0] = :1", INVALID_PATH),
        ("SET a.b = :1", INVALID_PATH),
        ("SET l.x = :1", INVALID_PATH),
        ("SET m[0] = :1", INVALID_PATH),
        ("SET l[9].x = :1", INVALID_PATH),
        ("REMOVE q.r", INVALID_PATH),
        ("REMOVE m.q.r", INVALID_PATH),
        ("ADD q.r :1", INVALID_PATH),
        ("DELETE q.r :a", INVALID_PATH),
    ],
)
def test_what_an_item_does_not_allow(text, message):
    assert refusal(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SET q = a + :s", "Incorrect operand type for operator or function; operator or function: +, operand type: S"),
        ("SET q = :l - a", "Incorrect operand type for operator or function; operator or function: -, operand type: L"),
        (
            "SET q = list_append(q, :1)",
            "Incorrect operand type for operator or function; operator or function: list_append, operand type: N",
        ),
        (
            "SET q = if_not_exists(:1, a)",
            "Operator or function requires a document path; operator or function: if_not_exists",
        ),
        (
            "SET q = if_not_exists(a, a)",
            "The first operand must be distinct from the remaining operands for this operator or function; "
            "operator: if_not_exists, first operand: [a]",
        ),
        (
            "SET q = if_not_exists(c)",
            "Incorrect number of operands for operator or function; "
            "operator or function: if_not_exists, number of operands: 1",
        ),
        (
            "ADD a :s",
            "Incorrect operand type for operator or function; "
            "operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND",
        ),
        (
            "DELETE a :1",
            "Incorrect operand type for operator or function; "
            "operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND",
        ),
        (
            "SET a = :1, a = :s",
            "Two document paths overlap with each other; must remove or rewrite one of these paths; "
            "path one: [a], path two: [a]",
        ),
        (
            "SET c[1].a = :1 REMOVE c",
            "Two document paths overlap with each other; must remove or rewrite one of these paths; "
            "path one: [c, [1], a], path two: [c]",
        ),
        (
            "REMOVE a.c SET a[1] = :1",
            "Two document paths conflict with each other; must remove or rewrite one of these paths; "
            "path one: [a, c], path two: [a, [1]]",
        ),
        # Clauses are checked from the last to the first.
        (
            "SET b = list_append(:s, a), c = if_not_exists(a) ADD a.b :s",
            "Incorrect operand type for operator or function; "
            "operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND",
        ),
    ],
)
def test_what_is_refused_before_any_item_is_seen(text, message):
    assert refusal(text) == "Invalid UpdateExpression: " + message


@pytest.mark.parametrize(
    ("name", "long_name"),
    [(":b", "BINARY"), (":t", "BOOLEAN"), (":nul", "NULL"), (":l", "LIST"), (":m", "MAP")],
)
def test_add_and_delete_name_types_in_full(name, long_name):
    for action in ("ADD", "DELETE"):
        assert refusal(f"{action} a {name}").endswith(
            f"operator: {action}, operand type: {long_name}, typeSet: ALLOWED_FOR_{action}_OPERAND"
        )


def test_a_sum_out_of_range_is_refused():
    item = {"a": {"N": "9" + "0" * 125}}
    assert refusal("ADD a :1", item).startswith("Number overflow.")
    assert refusal("SET a = a + a", item).startswith("Number overflow.")


def test_a_document_may_not_grow_deeper_than_32_levels():
    def nested(levels):
        value = {"S": "x"}
        for _ in range(levels):
            value = {"L": [value]}
        return value

    def grow(levels):
        placeholders = Placeholders({"ExpressionAttributeValues": {":v": nested(levels)}})
        return update("SET m.x = :v", placeholders).apply({"m": {"M": {}}})

    assert grow(30)["m"]["M"]["x"] == nested(30)
    with pytest.raises(DynamoError, match="Nesting Levels have exceeded supported limits"):
        grow(31)


def test_touched_gives_only_the_paths_of_the_update():
    found = update("SET a = b, m.x = b REMOVE l[0], q", Placeholders({}))
    assert found.touched(ITEM) == {
        "a": {"N": "5"},
        "m": {"M": {"x": {"N": "7"}}},
        "l": {"L": [{"N": "1"}]},
    }
    assert found.attributes == ("a", "m", "l", "q")
    flat = update("SET a = b REMOVE q", Placeholders({}))
    assert flat.touched(ITEM) == {"a": {"N": "5"}}


def test_what_does_not_change_is_shared():
    after = updated("SET m.x = :1")
    assert after["m"]["M"]["deep"] is ITEM["m"]["M"]["deep"]
    assert after["l"] is ITEM["l"]


def test_key_attributes_may_not_be_updated():
    found = update("SET d[1] = a REMOVE sk", Placeholders({}))
    with pytest.raises(DynamoError) as caught:
        refuse_key_updates(found.attributes, ["pk", "sk"])
    assert caught.value.message == (
        "One or more parameter values were invalid: Cannot update attribute sk. This attribute is part of the key"
    )
    refuse_key_updates(found.attributes, ["pk"])


def test_a_text_serves_different_values():
    for number in ("1", "2"):
        placeholders = Placeholders({"ExpressionAttributeValues": {":n": {"N": number}}})
        assert update("SET q = :n", placeholders).apply({}) == {"q": {"N": number}}

"""ProjectionExpression."""

import pytest

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.expressions import Placeholders, projection

ITEM = {
    "a": {"N": "5"},
    "l": {"L": [{"N": "1"}, {"S": "x"}, {"M": {"k": {"N": "2"}, "j": {"N": "3"}}}, {"L": [{"N": "9"}, {"N": "8"}]}]},
    "m": {"M": {"x": {"N": "7"}, "y": {"L": [{"S": "q"}]}}},
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a", {"a": {"N": "5"}}),
        (" a , q ", {"a": {"N": "5"}}),
        ("q", {}),
        ("m.x", {"m": {"M": {"x": {"N": "7"}}}}),
        ("m.x, m.y", {"m": ITEM["m"]}),
        ("m.q", {}),
        ("m.q, a", {"a": {"N": "5"}}),
        ("m.y[0]", {"m": {"M": {"y": {"L": [{"S": "q"}]}}}}),
        ("m.y[1]", {}),
        ("l[1]", {"l": {"L": [{"S": "x"}]}}),
        ("l[3], l[0]", {"l": {"L": [{"N": "1"}, {"L": [{"N": "9"}, {"N": "8"}]}]}}),
        ("l[3][1], l[2].j", {"l": {"L": [{"M": {"j": {"N": "3"}}}, {"L": [{"N": "8"}]}]}}),
        ("l[9]", {}),
        ("l.x", {}),
        ("m[0]", {}),
        ("a.b", {}),
    ],
)
def test_only_what_was_asked_for(text, found):
    assert projection(text, Placeholders({})).apply(ITEM) == found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a, a", "overlap with each other; {}; path one: [a], path two: [a]"),
        ("a.b, a", "overlap with each other; {}; path one: [a, b], path two: [a]"),
        ("a, a.b", "overlap with each other; {}; path one: [a], path two: [a, b]"),
        ("a.b.c, a.b", "overlap with each other; {}; path one: [a, b, c], path two: [a, b]"),
        ("#a, a", "overlap with each other; {}; path one: [a], path two: [a]"),
        ("a.b, a[1]", "conflict with each other; {}; path one: [a, b], path two: [a, [1]]"),
        ("a[1], a.b", "conflict with each other; {}; path one: [a, [1]], path two: [a, b]"),
    ],
)
def test_paths_that_touch_are_refused(text, problem):
    with pytest.raises(DynamoError) as caught:
        projection(text, Placeholders({"ExpressionAttributeNames": {"#a": "a"}}))
    problem = problem.format("must remove or rewrite one of these paths")
    assert caught.value.message == f"Invalid ProjectionExpression: Two document paths {problem}"


def test_it_tells_which_attributes_it_reads_and_which_it_looks_into():
    found = projection("a, m.x, l[0], l[1]", Placeholders({}))
    assert found.attributes == ("a", "m", "l")
    assert found.nested == {"m", "l"}

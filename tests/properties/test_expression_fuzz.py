"""Whatever text arrives as an expression, the answer is a meaning or the service's refusal, never a crash."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.expressions import Placeholders, condition, key_condition, projection, update

REQUEST = {
    "ExpressionAttributeNames": {"#a": "a", "#m": "m.x", "#l": "l"},
    "ExpressionAttributeValues": {
        ":n": {"N": "5"},
        ":s": {"S": "x"},
        ":l": {"L": [{"N": "1"}]},
        ":m": {"M": {"k": {"SS": ["a", "b"]}}},
        ":ss": {"SS": ["a", "b"]},
        ":t": {"S": "N"},
    },
}
ITEM = {
    "a": {"N": "5"},
    "b": {"B": "YWJj"},
    "l": {"L": [{"N": "1"}, {"M": {"k": {"S": "x"}}}, {"L": []}]},
    "m": {"M": {"x": {"N": "7"}, "y": {"SS": ["a"]}}},
    "m.x": {"BOOL": True},
    "s": {"SS": ["a", "b"]},
}

PIECES = st.sampled_from(
    [
        *("a", "b", "l", "m", "s", "q", "#a", "#m", "#l", "#q", ":n", ":s", ":l", ":m", ":ss", ":t", ":q"),
        *("=", "<>", "<", "<=", ">", ">=", "(", ")", "((", "))", "[", "]", "[0]", "[1]", ".", ",", "+", "-", " "),
        *("AND", "or", "NOT", "BETWEEN", "in", "SET", "REMOVE", "ADD", "DELETE", "0", "00", "99999999999"),
        *("attribute_exists(", "attribute_type(", "begins_with(", "contains(", "size(", "if_not_exists("),
        *("list_append(", "foo(", "name", "\n", "\t", "é", "😀", "\x00", "_", "$", '"', "\ud800"),
    ]
)
MIXED = st.lists(PIECES, max_size=25).map(" ".join) | st.lists(PIECES, max_size=25).map("".join)
ANYTHING = st.text(max_size=60)

OPERANDS = st.sampled_from(
    ["a", "b", "l[0]", "l[1].k", "m.x", "m.y", "#m", "q", "q.r", ":n", ":s", ":ss", ":l", "size(l)", "size(s)", "(a)"]
)
COMPARISONS = st.one_of(
    st.builds("{} {} {}".format, OPERANDS, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), OPERANDS),
    st.builds("{} BETWEEN {} AND {}".format, OPERANDS, OPERANDS, OPERANDS),
    st.builds("{} IN ({}, {})".format, OPERANDS, OPERANDS, OPERANDS),
    st.builds("{}({}, {})".format, st.sampled_from(["contains", "begins_with", "attribute_type"]), OPERANDS, OPERANDS),
    st.builds("attribute_exists({})".format, OPERANDS),
)
CONDITIONS = st.recursive(
    COMPARISONS,
    lambda inner: st.one_of(
        st.builds("{} AND {}".format, inner, inner),
        st.builds("{} OR {}".format, inner, inner),
        st.builds("NOT {}".format, inner),
        st.builds("({})".format, inner),
    ),
    max_leaves=8,
)
ASSIGNED = st.one_of(
    OPERANDS,
    st.builds("{} + {}".format, OPERANDS, OPERANDS),
    st.builds("if_not_exists({}, {})".format, OPERANDS, OPERANDS),
    st.builds("list_append({}, {})".format, OPERANDS, OPERANDS),
)
CLAUSES = st.one_of(
    st.builds("SET {} = {}".format, OPERANDS, ASSIGNED),
    st.builds("SET {} = {}, {} = {}".format, OPERANDS, ASSIGNED, OPERANDS, ASSIGNED),
    st.builds("REMOVE {}, {}".format, OPERANDS, OPERANDS),
    st.builds("ADD {} {}".format, OPERANDS, OPERANDS),
    st.builds("DELETE {} {}".format, OPERANDS, OPERANDS),
)
UPDATES = st.lists(CLAUSES, min_size=1, max_size=3).map(" ".join)


@st.composite
def mutated(draw, texts):
    """A text that meant something, with a few pieces put in or cut out."""
    text = draw(texts)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 3)))
        text = text[:start] + draw(PIECES | st.just("")) + text[stop:]
    return text


def refusal_of(use):
    """The service's refusal of what is tried, if it is refused; anything else that is raised fails the test."""
    try:
        use(Placeholders(REQUEST))
    except DynamoError as error:
        return error
    return None


def read_everything(text):
    """Read the text by every grammar and use what comes of it; say in which ways it was refused."""
    uses = (
        lambda placeholders: condition("ConditionExpression", text, placeholders).matches(ITEM),
        lambda placeholders: condition("FilterExpression", text, placeholders).matches({}),
        lambda placeholders: update(text, placeholders).apply(ITEM),
        lambda placeholders: update(text, placeholders).touched(ITEM),
        lambda placeholders: projection(text, placeholders).apply(ITEM),
        lambda placeholders: key_condition(text, placeholders, ["a"], ["b"]),
    )
    refusals = [refusal for use in uses if (refusal := refusal_of(use)) is not None]
    for refusal in refusals:
        assert refusal.code == "ValidationException"
        assert refusal.message
    return refusals


@settings(max_examples=300)
@given(MIXED | ANYTHING)
def test_any_text_is_read_or_refused(text):
    read_everything(text)


@settings(max_examples=200)
@given(mutated(CONDITIONS) | mutated(UPDATES))
def test_a_mutated_expression_is_read_or_refused(text):
    read_everything(text)


@settings(max_examples=200)
@given(CONDITIONS)
def test_a_condition_means_the_opposite_of_its_negation(text):
    # A condition that is already in parentheses would get a needless pair from NOT (…).
    negation = f"NOT ({text} AND attribute_exists(a))"
    if any(refusal_of(lambda p, each=each: condition("FilterExpression", each, p)) for each in (text, negation)):
        return
    plain = condition("FilterExpression", text, Placeholders(REQUEST)).matches(ITEM)
    negated = condition("FilterExpression", negation, Placeholders(REQUEST)).matches(ITEM)
    # AND binds closer than OR, so it only ties with the last part; the item has an attribute a, so it changes nothing.
    assert negated is not plain


@settings(max_examples=200)
@given(UPDATES)
def test_an_update_leaves_the_given_item_alone(text):
    before = repr(ITEM)
    refusal_of(lambda placeholders: update(text, placeholders).apply(ITEM))
    assert repr(ITEM) == before


DEEP = [
    "(" * 4000,
    "(" * 2000 + "a=:n" + ")" * 2000,
    "NOT " * 1000 + "a=:n",
    "NOT (" * 600 + "a=:n" + ")" * 600,
    "size(" * 800 + "a" + ")" * 800 + "=:n",
    "a=:n AND (" * 350 + "a=:n" + ")" * 350,
    "a=:n OR (b=:n AND (" * 190 + "a=:n" + "))" * 190,
    "SET a = " + "(" * 2000 + "b" + ")" * 2000,
    "SET a = " + "if_not_exists(b," * 240 + ":n" + ")" * 240,
    "SET a = " + "list_append(" * 340,
    "a" + ".a" * 2000,
    "a" + "[0]" * 1300,
    "a[" + "9" * 4000 + "]",
]


@pytest.mark.parametrize("text", DEEP, ids=lambda text: text[:20])
def test_deep_nesting_never_exhausts_the_stack(text):
    limit = sys.getrecursionlimit()
    depth = 0
    frame = sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    # What a deeply nested caller has left: the reading itself must not grow with the text.
    sys.setrecursionlimit(depth + 450)
    try:
        refusals = read_everything(text)
    finally:
        sys.setrecursionlimit(limit)
    assert refusals

"""Whatever text comes, the parser answers with a statement or the service's refusal."""

from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potluck.dynamo import SyncDatabase
from potluck.dynamo.errors import DynamoError
from potluck.dynamo.partiql.keywords import KEYWORDS
from potluck.dynamo.partiql.nodes import OperatorExpression, Order, SelectStatement
from potluck.dynamo.partiql.parser import parse

REFUSALS = (
    "ValidationException",
    "ConditionalCheckFailedException",
    "DuplicateItemException",
    "ResourceNotFoundException",
)
VALUES = ["p", '"s"', "'x'", "1", "-2.5", "?", "`ion`", "true", "NULL", "MISSING"]
SYMBOLS = [
    "{",
    "}",
    "[",
    "]",
    "<<",
    ">>",
    "(",
    ")",
    ",",
    ".",
    ":",
    ";",
    "*",
    "=",
    "<>",
    "<",
    "+",
    "-",
    "||",
    "@",
    "--",
    "/*",
]
WORDS = [
    "SELECT",
    "FROM",
    "tab",
    "WHERE",
    "VALUE",
    "SET",
    "REMOVE",
    "AND",
    "OR",
    "NOT",
    "IN",
    "BETWEEN",
    "IS",
    "ORDER BY",
]
CALLS = ["size(", "set_add(", "begins_with(", "EXISTS(", "RETURNING ALL OLD *"]
PIECES = st.sampled_from([*VALUES, *SYMBOLS, *WORDS, *CALLS])
BEGINNINGS = st.sampled_from(
    [
        "",
        "SELECT * FROM tab WHERE p = 'a' AND",
        "INSERT INTO tab VALUE {'p': 'a', 'x':",
        "UPDATE tab SET n =",
        "DELETE FROM tab",
    ]
)


@contextmanager
def only_refused(*codes):
    """Lets errors of these codes pass."""
    try:
        yield
    except DynamoError as refusal:
        if refusal.code not in codes:
            raise


@pytest.fixture(scope="module")
def store():
    with SyncDatabase.open() as store:
        key = {"AttributeName": "p", "KeyType": "HASH"}
        store.call(
            "CreateTable",
            {
                "TableName": "tab",
                "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": [key],
                "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
            },
        )
        yield store


@given(beginning=BEGINNINGS, pieces=st.lists(PIECES, max_size=12))
def test_any_statement_is_answered_or_refused(store, beginning, pieces):
    request = {"Statement": " ".join([beginning, *pieces]) or "x", "Parameters": [{"S": "a"}] * 20}
    with only_refused(*REFUSALS):
        store.call("ExecuteStatement", request)


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text):
    with only_refused("ValidationException"):
        parse(text)


@pytest.mark.parametrize(
    "deep",
    [
        "SELECT * FROM tab WHERE " + "(" * 1000 + "p = 'a'" + ")" * 1000,
        "SELECT * FROM tab WHERE " + "NOT (" * 1000 + "p = 'a'" + ")" * 1000,
        "INSERT INTO tab VALUE {'p': " + "[" * 3000 + "]" * 3000 + "}",
        "UPDATE tab SET n = 1" + " + 1" * 1500 + " WHERE p = 'a'",
        "UPDATE tab SET n = " + "(" * 40 + "1" + " + 1" * 40 + ")".join(["", *[" + 1" * 20] * 40]) + " WHERE p = 'a'",
        "UPDATE tab SET n = " + "- " * 3000 + "1 WHERE p = 'a'",
        "SELECT * FROM tab WHERE size(" + "size(" * 1000 + "p" + ")" * 1000 + ") = 1",
        "SELECT * FROM tab WHERE p = 'a'" + " OR p = 'a'" * 600,
    ],
)
def test_deep_and_long_statements_are_refused(store, deep):
    with pytest.raises(DynamoError, match="ValidationException"):
        store.call("ExecuteStatement", {"Statement": deep})


def test_spaces_before_what_is_no_token_are_read_once(store):
    with pytest.raises(DynamoError, match="well formed"):
        store.call("ExecuteStatement", {"Statement": "SELECT" + " " * 8_000 + "é"})


def test_each_assignment_may_have_a_sum_of_its_own(store):
    sums = ", ".join(f"n{number} = 1 + 2 - 3" for number in range(40))
    with pytest.raises(DynamoError, match="ConditionalCheckFailed"):
        store.call("ExecuteStatement", {"Statement": f"UPDATE tab SET {sums} WHERE p = 'none'"})


def test_values_nest_as_deeply_as_the_service_takes_them(store):
    value = "[" * 31 + "]" * 31
    store.call("ExecuteStatement", {"Statement": f"INSERT INTO tab VALUE {{'p': 'deep', 'l': {value}}}"})
    with pytest.raises(DynamoError, match="Nesting Levels"):
        store.call("ExecuteStatement", {"Statement": f"INSERT INTO tab VALUE {{'p': 'deeper', 'l': [{value}]}}"})


def test_operators_bind_as_in_sql():
    statement = parse("SELECT * FROM tab WHERE NOT a = 1 AND b = 2 OR c = 3").statement
    assert isinstance(statement, SelectStatement)
    either = statement.where
    assert isinstance(either, OperatorExpression)
    assert either.operator == "OR"
    both, third = either.operands
    assert isinstance(both, OperatorExpression)
    assert [part.operator for part in both.operands if isinstance(part, OperatorExpression)] == ["NOT", "="]
    assert isinstance(third, OperatorExpression)


def test_comments_and_the_case_of_keywords_do_not_matter():
    statement = parse("select p -- which\n from tab /* all\n of it */ where p = 'a' order by p desc;").statement
    assert isinstance(statement, SelectStatement)
    assert statement.columns is not None
    assert [column.parts for column in statement.columns] == [("p",)]
    assert statement.order == (Order("p", descends=True),)


def test_a_keyword_is_a_name_only_in_quotes():
    for word in KEYWORDS:
        statement = parse(f'SELECT "{word.lower()}" FROM tab').statement
        assert isinstance(statement, SelectStatement)
        assert statement.columns is not None
        assert statement.columns[0].parts == (word.lower(),)
        with pytest.raises(DynamoError):
            parse(f"SELECT {word.lower()} FROM tab")

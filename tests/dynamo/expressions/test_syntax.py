"""Texts the grammar refuses, and how the refusal points at the spot."""

import pytest

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.expressions import Placeholders, condition, projection, update
from potluck.dynamo.expressions.reserved_words import RESERVED_WORDS

VALUES = {":a": {"S": "x"}, ":b": {"N": "1"}}


def read(parameter, text):
    placeholders = Placeholders({"ExpressionAttributeValues": VALUES})
    if parameter == "UpdateExpression":
        update(text, placeholders)
    elif parameter == "ProjectionExpression":
        projection(text, placeholders)
    else:
        condition(parameter, text, placeholders)


def refusal(parameter, text):
    with pytest.raises(DynamoError) as caught:
        read(parameter, text)
    assert caught.value.code == "ValidationException"
    start = f"Invalid {parameter}: "
    assert caught.value.message.startswith(start)
    return caught.value.message[len(start) :]


@pytest.mark.parametrize(
    ("text", "token", "near"),
    [
        ("a = ", "<EOF>", "= "),
        ("a = = b", "=", "= = b"),
        ("= a", "=", "= a"),
        (" = a", "=", " = a"),
        ("a", "<EOF>", "a"),
        ("   ", "<EOF>", "   "),
        ("  a  b  c", "b", "a  b  c"),
        ("a = b )", ")", "b )"),
        ("(a = b", "<EOF>", "b"),
        ("a > 4", "4", "> 4"),
        ("a = 12 d", "12", "= 12 d"),
        ("a in b, c", "b", "in b,"),
        ("a in (b,c,)", ")", ",)"),
        ("a in ()", ")", "()"),
        ("a between b", "<EOF>", "b"),
        ("a between b or c", "or", "b or c"),
        ("a > :things.stuff", ".", ":things.stuff"),
        ("ü > a", "ü", "ü >"),
        ("a.b..c = d", ".", "..c"),
        ("a[ = b", "=", "[ = b"),
        ("a[b] = c", "b", "[b]"),
        ("a[1.5] = b", ".", "1.5"),
        ("a[00] = b", "0", "00]"),
        ("a[-1] = b", "-", "[-1"),
        ("size(a).b > a", ".", ").b"),
        ("a == b", "=", "== b"),
        ("a != b", "!", "a !="),
        ('a = "b" c', '"', '= "b'),
        ("a-b = c", "-", "a-b"),
        ("a = :a :b :c", ":b", ":a :b :c"),
        ("attribute_exists()", ")", "()"),
        ("1a = b", "1", "1a"),
        ("_a = b", "_", "_a"),
        ("# = a", "#", "# ="),
        ("#a#b = c", "#b", "#a#b ="),
        ("a = set", "set", "= set"),
        ("AND = b", "AND", "AND ="),
        ("a = b and or c = d", "or", "and or c"),
        ("(a = b) = c", "=", ") = c"),
        ("a = (b = c)", "=", "b = c"),
        ("(a) AND b = c", "AND", ") AND b"),
        ("a = b AND (c)", "<EOF>", ")"),
        ("(a.b).c = d", ".", ").c"),
        ("a = b + c", "+", "b + c"),
        ("a\n=\nb\nc d", "c", "b\nc d"),
        ("nul <> :b b ", "b", ":b b "),
    ],
)
def test_conditions_point_at_the_token_that_does_not_fit(text, token, near):
    assert refusal("FilterExpression", text) == f'Syntax error; token: "{token}", near: "{near}"'


@pytest.mark.parametrize(
    ("text", "token", "near"),
    [
        ("whatever", "whatever", "whatever"),
        ("set", "<EOF>", "set"),
        ("set a = b,", "<EOF>", ","),
        ("set a = b c", "c", "b c"),
        ("add a b", "b", "a b"),
        ("add a (:a)", "(", "a (:a"),
        ("delete a :a :b", ":b", ":a :b"),
        ("remove a b", "b", "a b"),
        ("remove (a)", "(", "remove (a"),
        ("set a = b + c + d", "+", "c + d"),
        ("set a = b + (c - d)", "-", "c - d"),
        ("set a = (b.c).d + e", ".", ").d"),
        ("set a = b * c", "*", "b * c"),
        ("set a[1] = 1", "1", "= 1"),
        ("set :a = b", ":a", "set :a ="),
        ("set a = set", "set", "= set"),
        ("SET a = if_not_exists(a, b + c)", "+", "b + c"),
        ("set (a) = b", "(", "set (a"),
        ("set a = foo.bar(b)", "(", "bar(b"),
        ("set a = -b", "-", "= -b"),
        ("set a = b AND c = d", "AND", "b AND c"),
        ("a = b", "a", "a ="),
    ],
)
def test_updates_point_at_the_token_that_does_not_fit(text, token, near):
    assert refusal("UpdateExpression", text) == f'Syntax error; token: "{token}", near: "{near}"'


@pytest.mark.parametrize(
    ("text", "token", "near"),
    [
        ("a,", "<EOF>", ","),
        ("a b", "b", "a b"),
        ("a,,b", ",", ",,b"),
        ("a[a]", "a", "[a]"),
        ("and", "and", "and"),
        ("(a)", "(", "(a"),
        ("size(a)", "(", "size(a"),
        (":a", ":a", ":a"),
        ("l AND ", "AND", "l AND "),
        ("*", "*", "*"),
    ],
)
def test_projections_point_at_the_token_that_does_not_fit(text, token, near):
    assert refusal("ProjectionExpression", text) == f'Syntax error; token: "{token}", near: "{near}"'


@pytest.mark.parametrize("parameter", ["ConditionExpression", "UpdateExpression", "ProjectionExpression"])
def test_empty_and_oversized_texts(parameter):
    assert refusal(parameter, "") == "The expression can not be empty;"
    message = "Expression size has exceeded the maximum allowed size; expression size: 4097"
    assert refusal(parameter, "a" * 4097) == message


def test_the_limit_counts_bytes_not_characters():
    assert refusal("FilterExpression", "é" * 2049).startswith("Expression size has exceeded")
    assert refusal("FilterExpression", "é" * 2048).startswith("Syntax error")


def test_a_text_of_exactly_4096_bytes_is_read():
    text = "a = :a" + " " * (4096 - 6)
    assert not condition("FilterExpression", text, Placeholders({"ExpressionAttributeValues": VALUES})).matches({})


@pytest.mark.parametrize(
    "text",
    [
        "((a = b))",
        "((a)) = b",
        "a=:a and b > ((views))",
        "size(((a))) = :b",
        "not ((attribute_exists(a)))",
        "(((a = b) and (c = d)))",
        "a in (((b)), (c))",
        "(" * 2000 + "a=:b" + ")" * 2000,
    ],
)
def test_needless_parentheses_in_conditions(text):
    assert refusal("FilterExpression", text) == "The expression has redundant parentheses;"


@pytest.mark.parametrize("text", ["set a = ((b))", "set a = ((b + c))", "set a = f(((b)))"])
def test_needless_parentheses_in_updates(text):
    assert refusal("UpdateExpression", text) == "The expression has redundant parentheses;"


@pytest.mark.parametrize(
    "text",
    [
        "(a = b)",
        "(a) = (b)",
        "((a) = (b))",
        "((a = b) and (c = d))",
        "a in ((b), (c))",
        "size((a)) = b",
        "(size(a)) = b",
    ],
)
def test_parentheses_that_mean_something_are_fine(text):
    condition("FilterExpression", text, Placeholders({}))


def test_every_reserved_word_is_refused_in_any_case_and_place():
    keywords = {"SET", "REMOVE", "ADD", "DELETE", "AND", "OR", "NOT", "BETWEEN", "IN"}
    assert len(RESERVED_WORDS) == 573
    for word in RESERVED_WORDS - keywords:
        for spelling in (word, word.lower(), word.title()):
            message = f"Attribute name is a reserved keyword; reserved keyword: {spelling}"
            assert refusal("ProjectionExpression", f"a.{spelling}") == message


def test_reserved_words_are_fine_behind_a_placeholder():
    placeholders = Placeholders({"ExpressionAttributeNames": {"#n": "name"}})
    assert projection("#n", placeholders).apply({"name": {"S": "x"}}) == {"name": {"S": "x"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("foo(a) = b", "Invalid function name; function: foo"),
        ("attRIbute_exIsts((views), #a)", "Invalid function name; function: attRIbute_exIsts"),
        ("a.views = foo(c)", "Attribute name is a reserved keyword; reserved keyword: views"),
        ("a[99999999999] = b", "List index is not within the allowable range; index: [99999999999]"),
    ],
)
def test_words_are_checked_in_the_order_they_stand(text, message):
    assert refusal("FilterExpression", text) == message


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("attribute_exists((views), (#a)) > b", "attribute_exists"),
        ("attribute_not_exists(things) > b", "attribute_not_exists"),
        ("contains(:things, c) > b", "contains"),
        ("size(contains(a, b)) > a", "contains"),
        ("size(things)", "size"),
        ("not size(a)", "size"),
        ("a = b OR size(c)", "size"),
        ("a between b and attribute_exists(things)", "attribute_exists"),
        ("a in (b, attribute_exists(things))", "attribute_exists"),
        ("(attribute_exists(a)) = b", "attribute_exists"),
    ],
)
def test_functions_out_of_place_in_conditions(text, function):
    message = f"The function is not allowed to be used this way in an expression; function: {function}"
    assert refusal("FilterExpression", text) == message


@pytest.mark.parametrize(
    "text",
    [
        "SET a = list_append(a, b) + c",
        "set q = list_append(list_append(q,:a),q)",
        "set q = if_not_exists(q, list_append(q,:a))",
    ],
)
def test_list_append_out_of_place_in_updates(text):
    message = "The function is not allowed to be used this way in an expression; function: list_append"
    assert refusal("UpdateExpression", text) == message


@pytest.mark.parametrize("section", ["SET a = :a SET b = :b", "REMOVE a REMOVE b", "ADD a :b ADD b :b"])
def test_each_section_once(section):
    name = section.split()[0]
    message = f'The "{name}" section can only be used once in an update expression;'
    assert refusal("UpdateExpression", section) == message


def test_at_most_300_operators():
    message = "The expression contains too many operators; operator count: 301"
    assert refusal("FilterExpression", " OR ".join(["a=:b"] * 151)) == message
    assert refusal("FilterExpression", "NOT " * 300 + "a=:b") == message
    sums = ",".join(f"a{number}=:b+:b" for number in range(301))
    assert refusal("UpdateExpression", "SET " + sums) == message
    placeholders = Placeholders({"ExpressionAttributeValues": VALUES})
    assert condition("FilterExpression", " OR ".join(["a=:b"] * 150), placeholders).matches({"a": {"N": "1"}})
    assert not condition("FilterExpression", "NOT " * 299 + "a=:b", placeholders).matches({"a": {"N": "1"}})


def test_deep_nesting_within_the_limits_works():
    placeholders = Placeholders({"ExpressionAttributeValues": VALUES})
    deep = "NOT (" * 299 + "a=:b" + ")" * 299
    assert not condition("FilterExpression", deep, placeholders).matches({"a": {"N": "1"}})
    mixed = "(a=:b AND (a=:b OR " * 74 + "a=:b" + "))" * 74
    assert condition("FilterExpression", mixed, placeholders).matches({"a": {"N": "1"}})
    defaults = "SET a = " + "if_not_exists(b," * 200 + ":b" + ")" * 200
    assert update(defaults, placeholders).apply({}) == {"a": {"N": "1"}}


def test_paths_have_at_most_32_levels():
    assert refusal("FilterExpression", "a" + ".a" * 32 + " = :b") == (
        "The document path has too many nesting levels; nesting levels: 33"
    )
    assert refusal("ProjectionExpression", "a" + "[1]" * 32) == (
        "The document path has too many nesting levels; nesting levels: 33"
    )
    assert projection("a" + "[1]" * 31, Placeholders({})).apply({}) == {}


def test_in_takes_at_most_100_operands():
    placeholders = Placeholders({"ExpressionAttributeValues": VALUES})
    text = "a IN (" + ",".join([":b"] * 100) + ")"
    assert condition("FilterExpression", text, placeholders).matches({"a": {"N": "1"}})
    assert refusal("FilterExpression", "a IN (" + ",".join([":b"] * 101) + ")") == (
        "The IN operator is provided with too many operands; number of operands: 101"
    )

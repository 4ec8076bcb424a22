"""The condition language, as ConditionExpression: what holds, what does not, and what is refused."""

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.wire import BS, FALSE, NS, NULL, SS, TRUE, B, L, M, N, S

ITEM = {
    "a": S("apple"),
    "n": N(5),
    "bin": B(b"\x01\x02\x03"),
    "t": TRUE,
    "f": FALSE,
    "nil": NULL,
    "strings": SS("x", "yy"),
    "numbers": NS(1, 2, 3),
    "binaries": BS(b"a"),
    "l": L(S("zero"), N(1), M(k=S("v"))),
    "m": M(k=N(1), deep=M(er=S("x"))),
    "nothing": S(""),
}

HOLDS = {
    "equal strings": ("a = :v", {":v": S("apple")}),
    "equal numbers by value": ("n = :v", {":v": N("5.00")}),
    "equal binaries": ("bin = :v", {":v": B(b"\x01\x02\x03")}),
    "equal booleans": ("t = :v AND f = :w", {":v": TRUE, ":w": FALSE}),
    "equal nulls": ("nil = :v", {":v": NULL}),
    "equal sets in another order": ("strings = :v", {":v": SS("yy", "x")}),
    "equal number sets by value": ("numbers = :v", {":v": NS("3.0", 2, 1)}),
    "equal lists": ("l = :v", {":v": L(S("zero"), N("1.0"), M(k=S("v")))}),
    "equal maps": ("m = :v", {":v": M(deep=M(er=S("x")), k=N(1))}),
    "value on the left": (":v = a", {":v": S("apple")}),
    "two attributes": ("m.k < n", {}),
    "unequal": ("a <> :v", {":v": S("pear")}),
    "unequal types": ("a <> :v", {":v": N(5)}),
    "unequal to what is absent": ("absent <> :v", {":v": N(5)}),
    "less strings": ("a < :v", {":v": S("apples")}),
    "less numbers": ("n < :v", {":v": N(10)}),
    "less binaries unsigned": ("bin < :v", {":v": B(b"\xff")}),
    "at most": ("n <= :v", {":v": N(5)}),
    "more": ("n > :v", {":v": N(-10)}),
    "at least": ("n >= :v", {":v": N(5)}),
    "between strings": ("a BETWEEN :v AND :w", {":v": S("a"), ":w": S("b")}),
    "between its own bounds": ("n BETWEEN :v AND :v", {":v": N(5)}),
    "between in lower case": ("n between :v and :w", {":v": N(1), ":w": N(9)}),
    "between attributes": (":v BETWEEN m.k AND n", {":v": N(3)}),
    "in": ("a IN (:v, :w)", {":v": S("pear"), ":w": S("apple")}),
    "in one": ("n IN (:v)", {":v": N(5)}),
    "in of several types": ("n IN (:v, :w)", {":v": S("5"), ":w": N(5)}),
    "attribute_exists": ("attribute_exists(a)", {}),
    "attribute_exists of a nested path": ("attribute_exists(m.deep.er) AND attribute_exists(l[2].k)", {}),
    "attribute_exists of a null": ("attribute_exists(nil)", {}),
    "attribute_not_exists": ("attribute_not_exists(absent)", {}),
    "attribute_not_exists of a path into a string": ("attribute_not_exists(a.b)", {}),
    "attribute_not_exists of an element past the end": ("attribute_not_exists(l[3])", {}),
    "attribute_type S": ("attribute_type(a, :v)", {":v": S("S")}),
    "attribute_type N": ("attribute_type(n, :v)", {":v": S("N")}),
    "attribute_type B": ("attribute_type(bin, :v)", {":v": S("B")}),
    "attribute_type BOOL": ("attribute_type(t, :v)", {":v": S("BOOL")}),
    "attribute_type NULL": ("attribute_type(nil, :v)", {":v": S("NULL")}),
    "attribute_type SS": ("attribute_type(strings, :v)", {":v": S("SS")}),
    "attribute_type NS": ("attribute_type(numbers, :v)", {":v": S("NS")}),
    "attribute_type BS": ("attribute_type(binaries, :v)", {":v": S("BS")}),
    "attribute_type L": ("attribute_type(l, :v)", {":v": S("L")}),
    "attribute_type M": ("attribute_type(m, :v)", {":v": S("M")}),
    "begins_with a string": ("begins_with(a, :v)", {":v": S("app")}),
    "begins_with itself": ("begins_with(a, :v)", {":v": S("apple")}),
    "begins_with nothing": ("begins_with(a, :v)", {":v": S("")}),
    "begins_with a binary": ("begins_with(bin, :v)", {":v": B(b"\x01")}),
    "contains a substring": ("contains(a, :v)", {":v": S("ppl")}),
    "contains bytes": ("contains(bin, :v)", {":v": B(b"\x02\x03")}),
    "contains a string of a set": ("contains(strings, :v)", {":v": S("yy")}),
    "contains a number of a set": ("contains(numbers, :v)", {":v": N("2.0")}),
    "contains a binary of a set": ("contains(binaries, :v)", {":v": B(b"a")}),
    "contains an element of a list": ("contains(l, :v)", {":v": S("zero")}),
    "contains a map of a list": ("contains(l, :v)", {":v": M(k=S("v"))}),
    "contains a path in a value": ("contains(:v, m.deep.er)", {":v": S("xyz")}),
    "size of a string": ("size(a) = :v", {":v": N(5)}),
    "size of an empty string": ("size(nothing) = :v", {":v": N(0)}),
    "size of a binary": ("size(bin) = :v", {":v": N(3)}),
    "size of a set": ("size(strings) = :v", {":v": N(2)}),
    "size of a list": ("size(l) >= :v", {":v": N(3)}),
    "size of a map": ("size(m) BETWEEN :v AND :w", {":v": N(2), ":w": N(2)}),
    "size against an attribute": ("size(a) = n", {}),
    "and": ("a = :v AND n = :w", {":v": S("apple"), ":w": N(5)}),
    "or": ("a = :w OR n = :w", {":w": N(5)}),
    "not": ("NOT a = :v", {":v": S("pear")}),
    "not of what is absent": ("NOT absent = :v", {":v": S("pear")}),
    "not not": ("NOT NOT a = :v", {":v": S("apple")}),
    "and before or": ("a = :no AND a = :no OR n = :w", {":no": S("no"), ":w": N(5)}),
    "not before and": ("NOT a = :no AND n = :w", {":no": S("no"), ":w": N(5)}),
    "parentheses": ("n = :w AND (a = :no OR n = :w)", {":no": S("no"), ":w": N(5)}),
    "keywords in lower case": ("not a = :no and (n = :w or a = :no)", {":no": S("no"), ":w": N(5)}),
    "no spaces": ("n=:w AND(a<>:no)", {":no": S("no"), ":w": N(5)}),
    "an element of a list": ("l[1] = :v", {":v": N(1)}),
    "an entry of a map in a list": ("l[2].k = :v", {":v": S("v")}),
}

FAILS = {
    "equal strings": ("a = :v", {":v": S("pear")}),
    "equal of two types": ("n = :v", {":v": S("5")}),
    "equal to what is absent": ("absent = :v", {":v": S("5")}),
    "two absent attributes": ("absent = lacking", {}),
    "unequal": ("a <> :v", {":v": S("apple")}),
    "unequal sets in another order": ("strings <> :v", {":v": SS("yy", "x")}),
    "less of two types": ("a < :v", {":v": N(5)}),
    "less than what is absent": ("absent < :v", {":v": N(5)}),
    "more than what is absent": ("absent >= :v", {":v": N(-5)}),
    "between": ("n BETWEEN :v AND :w", {":v": N(6), ":w": N(9)}),
    "between absent": ("absent BETWEEN :v AND :w", {":v": N(6), ":w": N(9)}),
    "in": ("a IN (:v, :w)", {":v": S("pear"), ":w": S("plum")}),
    "attribute_exists": ("attribute_exists(absent)", {}),
    "attribute_not_exists": ("attribute_not_exists(a)", {}),
    "attribute_type": ("attribute_type(a, :v)", {":v": S("N")}),
    "attribute_type of what is absent": ("attribute_type(absent, :v)", {":v": S("N")}),
    "begins_with": ("begins_with(a, :v)", {":v": S("pp")}),
    "begins_with of a number": ("begins_with(n, :v)", {":v": S("5")}),
    "contains": ("contains(a, :v)", {":v": S("z")}),
    "contains of two types": ("contains(a, :v)", {":v": N(1)}),
    "contains a part of a set's string": ("contains(strings, :v)", {":v": S("y")}),
    "contains in what is absent": ("contains(absent, :v)", {":v": S("y")}),
    "size of a number": ("size(n) = :v", {":v": N(1)}),
    "size of what is absent": ("size(absent) = :v", {":v": N(0)}),
    "and": ("a = :v AND n = :w", {":v": S("apple"), ":w": N(6)}),
    "or": ("a = :w OR n = :v", {":v": S("apple"), ":w": N(6)}),
    "not": ("NOT a = :v", {":v": S("apple")}),
    "or within parentheses": ("(n = :w OR a = :no) AND a = :no", {":no": S("no"), ":w": N(5)}),
}


@pytest.fixture
def check(dynamo, plain):
    """Puts the item where it is absent, then tries to touch it under a condition."""

    async def checked(key, expression, values, item=ITEM):
        await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(key), **item}})
        request = {"TableName": plain, "Key": {"p": S(key)}, "ConditionExpression": expression}
        if values:
            request["ExpressionAttributeValues"] = values
        return request

    return checked


@pytest.mark.parametrize("case", HOLDS)
async def test_a_condition_holds(dynamo, plain, fresh, check, case):
    assert await dynamo.call("DeleteItem", await check(fresh, *HOLDS[case])) == {}


@pytest.mark.parametrize("case", FAILS)
async def test_a_condition_fails(dynamo, plain, fresh, check, case):
    await dynamo.refuses(
        "DeleteItem",
        await check(fresh, *FAILS[case]),
        "ConditionalCheckFailedException",
        "The conditional request failed",
    )


V = {":v": S("x")}
REFUSED = {
    "empty": ("", {}, "The expression can not be empty;"),
    "only spaces": (" ", {}, 'Syntax error; token: "<EOF>", near: " "'),
    "not a condition": ("a", {}, 'Syntax error; token: "<EOF>", near: "a"'),
    "a value alone": (":v", V, 'Syntax error; token: "<EOF>", near: ":v"'),
    "a missing operand": ("a =", {}, 'Syntax error; token: "<EOF>", near: "="'),
    "a double operator": ("a == :v", V, 'Syntax error; token: "=", near: "== :v"'),
    "an unbalanced parenthesis": ("(a = :v", V, 'Syntax error; token: "<EOF>", near: ":v"'),
    "a strange character": ("a = :v & b = :v", V, 'Syntax error; token: "&", near: ":v & b"'),
    "!=": ("a != :v", V, 'Syntax error; token: "!", near: "a !="'),
    "a literal": ("a = 5", {}, 'Syntax error; token: "5", near: "= 5"'),
    "redundant parentheses": ("((a = :v))", V, "The expression has redundant parentheses;"),
    "a reserved word": (
        "Status = :v",
        V,
        "Attribute name is a reserved keyword; reserved keyword: Status",
    ),
    "an undefined name": (
        "#n = :v",
        V,
        "An expression attribute name used in the document path is not defined; attribute name: #n",
    ),
    "an undefined value": (
        "a = :w",
        {},
        "An expression attribute value used in expression is not defined; attribute value: :w",
    ),
    "an unknown function": ("foo(a)", {}, "Invalid function name; function: foo"),
    "a function of updates": (
        "a = if_not_exists(a, :v)",
        V,
        "The function is not allowed in a condition expression; function: if_not_exists",
    ),
    "a function in upper case": (
        "ATTRIBUTE_EXISTS(a)",
        {},
        "Invalid function name; function: ATTRIBUTE_EXISTS",
    ),
    "size as a condition": (
        "size(a)",
        {},
        "The function is not allowed to be used this way in an expression; function: size",
    ),
    "a condition as operand": (
        "attribute_exists(a) = :v",
        V,
        "The function is not allowed to be used this way in an expression; function: attribute_exists",
    ),
    "attribute_exists with two operands": (
        "attribute_exists(a, b)",
        {},
        "Incorrect number of operands for operator or function; "
        "operator or function: attribute_exists, number of operands: 2",
    ),
    "begins_with with one operand": (
        "begins_with(a)",
        {},
        "Incorrect number of operands for operator or function; "
        "operator or function: begins_with, number of operands: 1",
    ),
    "attribute_exists of a value": (
        "attribute_exists(:v)",
        V,
        "Operator or function requires a document path; operator or function: attribute_exists",
    ),
    "begins_with a number": (
        "begins_with(a, :v)",
        {":v": N(1)},
        "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N",
    ),
    "attribute_type of an unknown type": (
        "attribute_type(a, :v)",
        {":v": S("STRING")},
        "Invalid attribute type name found; type: STRING, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
    ),
    "attribute_type with a number": (
        "attribute_type(a, :v)",
        {":v": N(1)},
        "Incorrect operand type for operator or function; operator or function: attribute_type, operand type: N",
    ),
    "size of a number value": (
        "size(:v) > :v",
        {":v": N(1)},
        "Incorrect operand type for operator or function; operator or function: size, operand type: N",
    ),
    "less than a boolean": (
        "a < :v",
        {":v": TRUE},
        "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL",
    ),
    "less than a map": (
        "a >= :v",
        {":v": M()},
        "Incorrect operand type for operator or function; operator or function: >=, operand type: M",
    ),
    "between bounds of two types": (
        "a BETWEEN :v AND :w",
        {":v": N(1), ":w": S("b")},
        "The BETWEEN operator requires same data type for lower and upper bounds; "
        "lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:b}",
    ),
    "between bounds in the wrong order": (
        "a BETWEEN :v AND :w",
        {":v": N(2), ":w": N(1)},
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
        "lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}",
    ),
    "an attribute with itself": (
        "a = a",
        {},
        "The first operand must be distinct from the remaining operands for this operator or function; "
        "operator: =, first operand: [a]",
    ),
    "an attribute that begins with itself": (
        "begins_with(a, a)",
        {},
        "The first operand must be distinct from the remaining operands for this operator or function; "
        "operator: begins_with, first operand: [a]",
    ),
    "a chain of comparisons": ("a = :v = :v", V, 'Syntax error; token: "=", near: ":v = :v"'),
    "in without parentheses": ("a IN :v", V, 'Syntax error; token: ":v", near: "IN :v"'),
    "in of nothing": ("a IN ()", {}, 'Syntax error; token: ")", near: "()"'),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_bad_condition_is_refused(dynamo, plain, fresh, case):
    expression, values, message = REFUSED[case]
    request = {"TableName": plain, "Key": {"p": S(fresh)}, "ConditionExpression": expression}
    if values:
        request["ExpressionAttributeValues"] = values
    await dynamo.invalid("DeleteItem", request, f"Invalid ConditionExpression: {message}")


async def test_in_takes_a_hundred_operands(dynamo, plain, fresh, check):
    values = {f":v{number}": N(number) for number in range(100)}
    assert await dynamo.call("DeleteItem", await check(fresh, f"n IN ({', '.join(values)})", values)) == {}


async def test_in_refuses_more_than_a_hundred_operands(dynamo, plain, fresh):
    values = {f":v{number}": N(number) for number in range(101)}
    await dynamo.invalid(
        "DeleteItem",
        {
            "TableName": plain,
            "Key": {"p": S(fresh)},
            "ConditionExpression": f"n IN ({', '.join(values)})",
            "ExpressionAttributeValues": values,
        },
        "Invalid ConditionExpression: The IN operator is provided with too many operands; number of operands: 101",
    )


async def test_a_condition_on_an_absent_item_sees_no_attributes(dynamo, plain, fresh):
    request = {
        "TableName": plain,
        "Key": {"p": S(fresh)},
        "ConditionExpression": "attribute_not_exists(p) AND NOT a = :v AND a <> :v",
        "ExpressionAttributeValues": V,
        "ReturnValues": "ALL_OLD",
    }
    assert "Attributes" not in await dynamo.call("DeleteItem", request)


async def test_a_condition_may_use_the_key(dynamo, plain, fresh, check):
    assert await dynamo.call("DeleteItem", await check(fresh, "p = :p", {":p": S(fresh)})) == {}


async def test_an_expression_longer_than_4_kb_is_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "DeleteItem",
        {
            "TableName": plain,
            "Key": {"p": S(fresh)},
            "ConditionExpression": f"attribute_not_exists({'a' * 4096})",
        },
        "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; expression size: 4118",
    )


async def test_more_than_300_operators_are_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "DeleteItem",
        {
            "TableName": plain,
            "Key": {"p": S(fresh)},
            "ConditionExpression": " OR ".join(["a<b"] * 200),
        },
        "Invalid ConditionExpression: The expression contains too many operators; operator count: 301",
    )


async def test_deep_parentheses_are_refused_or_answered_but_never_a_crash(dynamo, fresh, check):
    depth = 150
    expression = "(NOT " * depth + "attribute_exists(absent)" + ")" * depth
    with pytest.raises(DynamoError) as caught:
        await dynamo.call("DeleteItem", await check(fresh, expression, {}))
    assert caught.value.code in ("ValidationException", "ConditionalCheckFailedException")

"""The update language: SET, REMOVE, ADD, DELETE, and what it refuses."""

import pytest

from tests.conformance.wire import BS, NS, SS, B, L, M, N, S

BEFORE = {
    "n": N(5),
    "text": S("x"),
    "l": L(N(0), N(1), N(2)),
    "m": M(a=N(1), b=M(c=S("deep")), l=L(S("inner"))),
    "strings": SS("a", "b"),
    "numbers": NS(1, 2),
    "binaries": BS(b"a", b"b"),
}

V = {":v": S("new")}
# Expression, values, names, and the attributes that are different afterwards (None: gone).
CHANGES = {
    "SET a new attribute": ("SET a = :v", V, {}, {"a": S("new")}),
    "SET over another type": ("SET n = :v", V, {}, {"n": S("new")}),
    "SET in lower case": ("set a = :v", V, {}, {"a": S("new")}),
    "SET several": ("SET a = :v, b = :v", V, {}, {"a": S("new"), "b": S("new")}),
    "SET by placeholder": ("SET #a = :v", V, {"#a": "with space.and dot"}, {"with space.and dot": S("new")}),
    "SET from another attribute": ("SET a = n", {}, {}, {"a": N(5)}),
    "SET swaps two attributes": ("SET n = #t, #t = n", {}, {"#t": "text"}, {"n": S("x"), "text": N(5)}),
    "SET reads the item as it was before": ("SET n = n + :one, a = n", {":one": N(1)}, {}, {"n": N(6), "a": N(5)}),
    "SET adds": ("SET n = n + :v", {":v": N("0.5")}, {}, {"n": N("5.5")}),
    "SET subtracts": ("SET n = n - :v", {":v": N(7)}, {}, {"n": N(-2)}),
    "SET subtracts an attribute from a value": ("SET n = :v - n", {":v": N(7)}, {}, {"n": N(2)}),
    "SET adds two values": ("SET a = :v + :w", {":v": N(7), ":w": N("1e2")}, {}, {"a": N(107)}),
    "SET adds an attribute to itself": ("SET n = n + n", {}, {}, {"n": N(10)}),
    "if_not_exists of what is absent": ("SET a = if_not_exists(a, :v)", V, {}, {"a": S("new")}),
    "if_not_exists of what is present": ("SET n = if_not_exists(n, :v)", V, {}, {}),
    "if_not_exists of another attribute": ("SET a = if_not_exists(n, :v)", V, {}, {"a": N(5)}),
    "if_not_exists counts from zero": (
        "SET c = if_not_exists(c, :zero) + :one",
        {":zero": N(0), ":one": N(1)},
        {},
        {"c": N(1)},
    ),
    "if_not_exists nested": ("SET a = if_not_exists(b, if_not_exists(c, :v))", V, {}, {"a": S("new")}),
    "list_append at the end": ("SET l = list_append(l, :v)", {":v": L(N(3))}, {}, {"l": L(N(0), N(1), N(2), N(3))}),
    "list_append at the front": (
        "SET l = list_append(:v, l)",
        {":v": L(N(-1))},
        {},
        {"l": L(N(-1), N(0), N(1), N(2))},
    ),
    "list_append of a list to itself": (
        "SET l = list_append(l, l)",
        {},
        {},
        {"l": L(N(0), N(1), N(2), N(0), N(1), N(2))},
    ),
    "list_append on what is absent, with if_not_exists": (
        "SET a = list_append(if_not_exists(a, :none), :v)",
        {":none": L(), ":v": L(N(1))},
        {},
        {"a": L(N(1))},
    ),
    "SET an element": ("SET l[1] = :v", V, {}, {"l": L(N(0), S("new"), N(2))}),
    "SET an element past the end appends": ("SET l[9] = :v", V, {}, {"l": L(N(0), N(1), N(2), S("new"))}),
    "SET two elements past the end appends in the order of their places": (
        "SET l[9] = :v, l[7] = :w",
        {":v": N(9), ":w": N(7)},
        {},
        {"l": L(N(0), N(1), N(2), N(7), N(9))},
    ),
    "SET in a map": ("SET m.a = :v", V, {}, {"m": M(a=S("new"), b=M(c=S("deep")), l=L(S("inner")))}),
    "SET a new entry of a map": (
        "SET m.z = :v",
        V,
        {},
        {"m": M(a=N(1), b=M(c=S("deep")), l=L(S("inner")), z=S("new"))},
    ),
    "SET deep in a map": ("SET m.b.c = :v", V, {}, {"m": M(a=N(1), b=M(c=S("new")), l=L(S("inner")))}),
    "SET an element of a list in a map": (
        "SET m.l[0] = :v",
        V,
        {},
        {"m": M(a=N(1), b=M(c=S("deep")), l=L(S("new")))},
    ),
    "SET to a path of the item": ("SET a = m.b.c, b = l[2]", {}, {}, {"a": S("deep"), "b": N(2)}),
    "SET to a map": ("SET a = :v", {":v": M(x=L(N(1)))}, {}, {"a": M(x=L(N(1)))}),
    "REMOVE an attribute": ("REMOVE n", {}, {}, {"n": None}),
    "REMOVE several": ("REMOVE n, #t", {}, {"#t": "text"}, {"n": None, "text": None}),
    "REMOVE what is absent": ("REMOVE absent", {}, {}, {}),
    "REMOVE an element moves the rest up": ("REMOVE l[0]", {}, {}, {"l": L(N(1), N(2))}),
    "REMOVE two elements counts places before": ("REMOVE l[0], l[1]", {}, {}, {"l": L(N(2))}),
    "REMOVE an element past the end": ("REMOVE l[9]", {}, {}, {}),
    "REMOVE in a map": ("REMOVE m.b.c", {}, {}, {"m": M(a=N(1), b={"M": {}}, l=L(S("inner")))}),
    "REMOVE an absent entry of a map": ("REMOVE m.absent", {}, {}, {}),
    "ADD to a number": ("ADD n :v", {":v": N("-1.5")}, {}, {"n": N("3.5")}),
    "ADD makes a number": ("ADD a :v", {":v": N(3)}, {}, {"a": N(3)}),
    "ADD to a string set": ("ADD strings :v", {":v": SS("b", "c")}, {}, {"strings": SS("a", "b", "c")}),
    "ADD to a number set": ("ADD numbers :v", {":v": NS("2.0", 3)}, {}, {"numbers": NS(1, 2, 3)}),
    "ADD to a binary set": ("ADD binaries :v", {":v": BS(b"c")}, {}, {"binaries": BS(b"a", b"b", b"c")}),
    "ADD makes a set": ("ADD a :v", {":v": SS("x")}, {}, {"a": SS("x")}),
    "ADD in a map": ("ADD m.a :v", {":v": N(1)}, {}, {"m": M(a=N(2), b=M(c=S("deep")), l=L(S("inner")))}),
    "ADD several": ("ADD n :v, a :v", {":v": N(1)}, {}, {"n": N(6), "a": N(1)}),
    "DELETE from a string set": ("DELETE strings :v", {":v": SS("a", "z")}, {}, {"strings": SS("b")}),
    "DELETE from a number set by value": ("DELETE numbers :v", {":v": NS("1.0")}, {}, {"numbers": NS(2)}),
    "DELETE from a binary set": ("DELETE binaries :v", {":v": BS(b"a")}, {}, {"binaries": BS(b"b")}),
    "DELETE of all elements removes the attribute": ("DELETE strings :v", {":v": SS("a", "b")}, {}, {"strings": None}),
    "DELETE from what is absent": ("DELETE absent :v", {":v": SS("a")}, {}, {}),
    "all four at once": (
        "SET a = :v REMOVE #t ADD n :n DELETE strings :s",
        {":v": S("new"), ":n": N(1), ":s": SS("a")},
        {"#t": "text"},
        {"a": S("new"), "text": None, "n": N(6), "strings": SS("b")},
    ),
    "clauses in any order": (
        "DELETE strings :s ADD n :n SET a = :v",
        {":v": S("new"), ":n": N(1), ":s": SS("a")},
        {},
        {"a": S("new"), "n": N(6), "strings": SS("b")},
    ),
    "parentheses around a value": ("SET a = (:v)", V, {}, {"a": S("new")}),
    "spaces and line breaks anywhere": ("  SET\n a=:v ,\tb  = :v ", V, {}, {"a": S("new"), "b": S("new")}),
}


def in_order(item):
    """The item with its sets in order, because sets have none."""
    return {
        name: {kind: sorted(part) if kind in ("SS", "NS", "BS") else part for kind, part in value.items()}
        for name, value in item.items()
    }


def request(table, key, expression, values=None, names=None, **more):
    made = {"TableName": table, "Key": {"p": S(key)}, "UpdateExpression": expression, **more}
    if values:
        made["ExpressionAttributeValues"] = values
    if names:
        made["ExpressionAttributeNames"] = names
    return made


@pytest.mark.parametrize("case", CHANGES)
async def test_an_update_changes_exactly_this(dynamo, plain, fresh, case):
    expression, values, names, changed = CHANGES[case]
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), **BEFORE}})
    answer = await dynamo.call("UpdateItem", request(plain, fresh, expression, values, names, ReturnValues="ALL_NEW"))
    expected = {name: value for name, value in {"p": S(fresh), **BEFORE, **changed}.items() if value is not None}
    assert in_order(answer["Attributes"]) == in_order(expected)
    got = await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}, "ConsistentRead": True})
    assert in_order(got["Item"]) == in_order(expected)


WRONG_OPERAND = "An operand in the update expression has an incorrect data type"
NO_ATTRIBUTE = "The provided expression refers to an attribute that does not exist in the item"
BAD_PATH = "The document path provided in the update expression is invalid for update"
# What only the item can tell: refused after it was read.
MISFITS = {
    "adding to a string": ("SET #t = #t + :v", {":v": N(1)}, {"#t": "text"}, WRONG_OPERAND),
    "adding to what is absent": ("SET a = a + :v", {":v": N(1)}, {}, NO_ATTRIBUTE),
    "copying what is absent": ("SET a = b", {}, {}, NO_ATTRIBUTE),
    "appending to what is absent": ("SET a = list_append(a, :v)", {":v": L(N(1))}, {}, NO_ATTRIBUTE),
    "appending to a string": ("SET a = list_append(#t, :v)", {":v": L(N(1))}, {"#t": "text"}, WRONG_OPERAND),
    "a path into a string": ("SET #t.a = :v", V, {"#t": "text"}, BAD_PATH),
    "an element of a map": ("SET m[0] = :v", V, {}, BAD_PATH),
    "an entry of a list": ("SET l.a = :v", V, {}, BAD_PATH),
    "a path into what is absent": ("SET a.b = :v", V, {}, BAD_PATH),
    "an element of what is absent": ("SET a[0] = :v", V, {}, BAD_PATH),
    "a path two levels into a map": ("SET m.x.y = :v", V, {}, BAD_PATH),
    "REMOVE a path into what is absent": ("REMOVE a.b", {}, {}, BAD_PATH),
    "ADD of a number to a string": ("ADD #t :v", {":v": N(1)}, {"#t": "text"}, WRONG_OPERAND),
    "ADD of a set to a number": ("ADD n :v", {":v": SS("a")}, {}, WRONG_OPERAND),
    "ADD of numbers to a string set": ("ADD strings :v", {":v": NS(1)}, {}, WRONG_OPERAND),
    "DELETE from a number": ("DELETE n :v", {":v": SS("a")}, {}, WRONG_OPERAND),
    "DELETE of numbers from a string set": ("DELETE strings :v", {":v": NS(1)}, {}, WRONG_OPERAND),
}


@pytest.mark.parametrize("case", MISFITS)
async def test_what_does_not_fit_the_item_is_refused_and_changes_nothing(dynamo, plain, fresh, case):
    expression, values, names, message = MISFITS[case]
    item = {"p": S(fresh), **BEFORE}
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    await dynamo.invalid("UpdateItem", request(plain, fresh, expression, values, names), message)
    got = await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}, "ConsistentRead": True})
    assert in_order(got["Item"]) == in_order(item)


OVERLAP = "Two document paths overlap with each other; must remove or rewrite one of these paths; "
CONFLICT = "Two document paths conflict with each other; must remove or rewrite one of these paths; "
# What the expression alone tells: refused whatever the item.
REFUSED = {
    "empty": ("", {}, {}, "The expression can not be empty;"),
    "no clause": ("a = :v", V, {}, 'Syntax error; token: "a", near: "a ="'),
    "SET without value": ("SET a", {}, {}, 'Syntax error; token: "<EOF>", near: "a"'),
    "a clause twice": (
        "SET a = :v SET b = :v",
        V,
        {},
        'The "SET" section can only be used once in an update expression;',
    ),
    "a reserved word": (
        "SET name = :v",
        V,
        {},
        "Attribute name is a reserved keyword; reserved keyword: name",
    ),
    "a reserved word in a path": (
        "SET a.Value = :v",
        V,
        {},
        "Attribute name is a reserved keyword; reserved keyword: Value",
    ),
    "an undefined name": (
        "SET #a = :v",
        V,
        {},
        "An expression attribute name used in the document path is not defined; attribute name: #a",
    ),
    "an undefined value": (
        "SET a = :w",
        {},
        {},
        "An expression attribute value used in expression is not defined; attribute value: :w",
    ),
    "the same path twice": ("SET a = :v, a = :v", V, {}, OVERLAP + "path one: [a], path two: [a]"),
    "the same path in two clauses": ("SET a = :v REMOVE a", V, {}, OVERLAP + "path one: [a], path two: [a]"),
    "a path and one inside it": ("SET a = :v, a.b = :v", V, {}, OVERLAP + "path one: [a], path two: [a, b]"),
    "an element and one inside it": (
        "SET a[1] = :v, a[1].b = :v",
        V,
        {},
        OVERLAP + "path one: [a, [1]], path two: [a, [1], b]",
    ),
    "an attribute as list and as map": (
        "SET a[0] = :v, a.b = :v",
        V,
        {},
        CONFLICT + "path one: [a, [0]], path two: [a, b]",
    ),
    "an unknown function": ("SET a = foo(:v)", V, {}, "Invalid function name; function: foo"),
    "a function in upper case": (
        "SET a = IF_NOT_EXISTS(a, :v)",
        V,
        {},
        "Invalid function name; function: IF_NOT_EXISTS",
    ),
    "if_not_exists with one operand": (
        "SET a = if_not_exists(a)",
        {},
        {},
        "Incorrect number of operands for operator or function; "
        "operator or function: if_not_exists, number of operands: 1",
    ),
    "if_not_exists of a value": (
        "SET a = if_not_exists(:v, :v)",
        V,
        {},
        "Operator or function requires a document path; operator or function: if_not_exists",
    ),
    "list_append of a string": (
        "SET a = list_append(a, :v)",
        V,
        {},
        "Incorrect operand type for operator or function; operator or function: list_append, operand type: S",
    ),
    "adding a string": (
        "SET a = n + :v",
        V,
        {},
        "Incorrect operand type for operator or function; operator or function: +, operand type: S",
    ),
    "subtracting a list": (
        "SET a = n - :v",
        {":v": L()},
        {},
        "Incorrect operand type for operator or function; operator or function: -, operand type: L",
    ),
    "ADD of a string": (
        "ADD a :v",
        V,
        {},
        "Incorrect operand type for operator or function; operator: ADD, operand type: STRING, "
        "typeSet: ALLOWED_FOR_ADD_OPERAND",
    ),
    "ADD of a list": (
        "ADD a :v",
        {":v": L(S("x"))},
        {},
        "Incorrect operand type for operator or function; operator: ADD, operand type: LIST, "
        "typeSet: ALLOWED_FOR_ADD_OPERAND",
    ),
    "DELETE of a number": (
        "DELETE a :v",
        {":v": N(1)},
        {},
        "Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, "
        "typeSet: ALLOWED_FOR_DELETE_OPERAND",
    ),
    "DELETE of a map": (
        "DELETE a :v",
        {":v": {"M": {}}},
        {},
        "Incorrect operand type for operator or function; operator: DELETE, operand type: MAP, "
        "typeSet: ALLOWED_FOR_DELETE_OPERAND",
    ),
    "three operands": ("SET a = n + n + n", {}, {}, 'Syntax error; token: "+", near: "n + n"'),
    "multiplication": ("SET a = n * :v", {":v": N(1)}, {}, 'Syntax error; token: "*", near: "n * :v"'),
    "a negative element": ("SET l[-1] = :v", V, {}, 'Syntax error; token: "-", near: "[-1"'),
    "ADD of an attribute": ("ADD a b", {}, {}, 'Syntax error; token: "b", near: "a b"'),
    "a trailing comma": ("SET a = :v,", V, {}, 'Syntax error; token: "<EOF>", near: ","'),
    "redundant parentheses": ("SET a = ((:v))", V, {}, "The expression has redundant parentheses;"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_bad_update_is_refused(dynamo, plain, fresh, case):
    expression, values, names, message = REFUSED[case]
    await dynamo.invalid(
        "UpdateItem",
        request(plain, fresh, expression, values, names),
        f"Invalid UpdateExpression: {message}",
    )
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {}


async def test_an_invalid_value_is_named(dynamo, plain, fresh):
    await dynamo.invalid(
        "UpdateItem",
        request(plain, fresh, "SET a = :v", {":v": SS()}),
        "ExpressionAttributeValues contains invalid value: One or more parameter values were invalid: "
        "An string set  may not be empty for key :v",
    )


async def test_a_value_name_that_does_not_begin_with_a_colon_is_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "UpdateItem",
        request(plain, fresh, "SET a = :v", {"v": S("x")}),
        'ExpressionAttributeValues contains invalid key: Syntax error; key: "v"',
    )


async def test_empty_values_are_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "UpdateItem",
        request(plain, fresh, "REMOVE a", ExpressionAttributeValues={}),
        "ExpressionAttributeValues must not be empty",
    )


async def test_a_number_that_grows_past_38_digits_is_refused(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "n": N("9" * 38)}})
    await dynamo.invalid(
        "UpdateItem",
        request(plain, fresh, "SET n = n + :v", {":v": N("0.1")}),
        # So says the service of a sum that has too many digits, not only of one that is too large.
        "Number overflow. Attempting to store a number with magnitude larger than supported range",
    )


async def test_a_set_may_hold_binaries_of_any_bytes(dynamo, plain, fresh):
    answer = await dynamo.call(
        "UpdateItem",
        request(plain, fresh, "SET a = :v", {":v": B(bytes(range(256)))}, ReturnValues="UPDATED_NEW"),
    )
    assert answer == {"Attributes": {"a": B(bytes(range(256)))}}

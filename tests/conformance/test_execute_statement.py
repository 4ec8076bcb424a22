"""ExecuteStatement: SELECT, INSERT, UPDATE and DELETE."""

import pytest

from tests.conformance.partiql import NO_FULL_KEY, NOT_WELL_FORMED, asked, execute
from tests.conformance.tables import definition
from tests.conformance.wire import FALSE, NS, NULL, SS, TRUE, L, M, N, S


async def fill(dynamo, table, partition, count=3):
    items = [{"p": S(partition), "s": S(str(number)), "n": N(number)} for number in range(1, count + 1)]
    for item in items:
        await dynamo.call("PutItem", {"TableName": table, "Item": item})
    return items


async def get(dynamo, table, **key):
    answer = await dynamo.call("GetItem", {"TableName": table, "Key": key, "ConsistentRead": True})
    return answer.get("Item")


# --- SELECT ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "selected"),
    [
        ("", "123"),
        (" AND s = '2'", "2"),
        (" AND '2' = s", "2"),
        (" AND s > '1'", "23"),
        (" AND s > '1' AND s < '3'", "2"),
        (" AND s >= '2' AND s >= '3'", "3"),
        (" AND s BETWEEN '1' AND '2'", "12"),
        (" AND s NOT BETWEEN '1' AND '2'", "3"),
        (" AND begins_with(s, '3')", "3"),
        (" AND s IN ['1', '3']", "13"),
        (" AND s IN ('1', '3')", "13"),
        (" AND s NOT IN ['1', '3']", "2"),
        (" AND (s = '1' OR n = 3)", "13"),
        (" AND s <> '1'", "23"),
        (" AND s != '1'", "23"),
        (" AND NOT s = '1'", "23"),
        (" AND n > 1", "23"),
        (" AND n = 2.0", "2"),
        (" AND n > 1e0 AND n < +3", "2"),
        (" AND n > -1 AND contains(s, '2')", "2"),
        (" AND size(s) = 1 AND n <= 1", "1"),
        (" AND attribute_type(n, 'N') AND n IN [3]", "3"),
        (" AND contains(s, '2') = true", "2"),
        (" AND contains(s, '2') = false", "13"),
        (" AND n = 1 AND s = '2'", ""),
        (" AND s = '1' AND s = '2'", ""),
    ],
)
async def test_select_takes_what_where_allows(dynamo, ranged, fresh, where, selected):
    await fill(dynamo, ranged, fresh)
    items = await execute(dynamo, f"SELECT s FROM \"{ranged}\" WHERE p = '{fresh}'{where}")
    assert [item["s"]["S"] for item in items] == list(selected)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("x IS MISSING", True),
        ("n IS MISSING", False),
        ("n IS NOT MISSING", True),
        ("nul IS NULL", True),
        ("x IS NULL", False),
        ("n IS NOT NULL", True),
        ("nul = NULL", True),
        ("x <> 1", True),
        ("NOT x = 1", True),
        ("t = true", True),
        ("l = [1, 'x']", True),
        ("l[1] = 'x'", True),
        ("m.k = 'v'", True),
        ("m['k'] = 'v'", True),
        ("m.\"k\" = 'v'", True),
        ("m = {'k': 'v'}", True),
        ("ss = <<'b', 'a'>>", True),
        ("contains(ss, 'a')", True),
        ("contains(ss, 'c')", False),
        ("l IS LIST AND m IS STRUCT AND n IS NUMERIC AND t IS BOOLEAN AND text IS STRING", True),
        ("l IS STRING", False),
        ("text = 'it''s'", True),
        ("1 = 1", True),
        ("size(l) BETWEEN 2 AND 3", True),
    ],
)
async def test_conditions(dynamo, plain, fresh, condition, holds):
    item = {
        "p": S(fresh),
        "n": N(1),
        "nul": NULL,
        "t": TRUE,
        "l": L(N(1), S("x")),
        "m": M(k=S("v")),
        "ss": SS("a", "b"),
        "text": S("it's"),
    }
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    items = await execute(dynamo, f'SELECT p FROM "{plain}" WHERE p = ? AND {condition}', S(fresh))
    assert items == ([{"p": S(fresh)}] if holds else [])


async def test_select_of_several_partitions(dynamo, ranged, fresh):
    for end in "ab":
        await fill(dynamo, ranged, fresh + end, 2)
    for where in (f"p IN ['{fresh}b', '{fresh}a']", f"p = '{fresh}a' OR p = '{fresh}b'"):
        items = await execute(dynamo, f'SELECT p, s FROM "{ranged}" WHERE {where}')
        found = sorted(item["p"]["S"][-1] + item["s"]["S"] for item in items)
        assert found == ["a1", "a2", "b1", "b2"]
    either = f"(p = '{fresh}a' AND s = '1') OR (p = '{fresh}b' AND s = '2')"
    items = await execute(dynamo, f'SELECT p, s FROM "{ranged}" WHERE {either}')
    assert sorted(item["p"]["S"][-1] + item["s"]["S"] for item in items) == ["a1", "b2"]


async def test_order(dynamo, ranged, fresh):
    for end in "ab":
        await fill(dynamo, ranged, fresh + end, 2)
    both = f"p IN ['{fresh}a', '{fresh}b']"
    for order, found in (
        ("ORDER BY p DESC", ["b1", "b2", "a1", "a2"]),
        ("ORDER BY p, s DESC", ["a2", "a1", "b2", "b1"]),
        ("ORDER BY s ASC", ["a1", "a2", "b1", "b2"]),
    ):
        items = await execute(dynamo, f'SELECT p, s FROM "{ranged}" WHERE {both} {order}')
        assert [item["p"]["S"][-1] + item["s"]["S"] for item in items] == found


async def test_select_without_where_takes_the_whole_table(dynamo, create):
    table = await create(**definition("p:S"))
    for name in "ab":
        await dynamo.call("PutItem", {"TableName": table, "Item": {"p": S(name), "n": N(1)}})
    items = await execute(dynamo, f'select * from "{table}";')
    assert sorted(item["p"]["S"] for item in items) == ["a", "b"]
    assert await execute(dynamo, f'SELECT p FROM "{table}" WHERE n > 1') == []


async def test_columns(dynamo, plain, fresh):
    item = {"p": S(fresh), "l": L(N(1), L(N(2))), "m": M(k=S("v"), o=M(z=N(3))), "a.b": S("dot"), "order": N(1)}
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    for columns, shown in (
        ("p, absent", {"p": S(fresh)}),
        ("m.k, m.o", {"k": S("v"), "o": M(z=N(3))}),
        ("m.o.z", {"z": N(3)}),
        ("l[0], l[1][0]", {"l[0]": N(1), "l[1][0]": N(2)}),
        ('"a.b", "order"', {"a.b": S("dot"), "order": N(1)}),
        ("l[7]", {}),
    ):
        assert await execute(dynamo, f"SELECT {columns} FROM \"{plain}\" WHERE p = '{fresh}'") == [shown]


async def test_an_index_is_named_behind_its_table(dynamo, indexed, fresh):
    for number in (1, 2):
        item = {"p": S(fresh), "s": S(str(number)), "g": S(fresh), "h": N(number), "x": S("x"), "z": S("z")}
        await dynamo.call("PutItem", {"TableName": indexed, "Item": item})
    where = f"WHERE g = '{fresh}'"
    found = await execute(dynamo, f'SELECT h FROM "{indexed}"."all" {where} AND h > 1')
    assert found == [{"h": N(2)}]
    found = await execute(dynamo, f'SELECT * FROM "{indexed}"."some" {where} AND s = \'1\'')
    assert found == [{"p": S(fresh), "s": S("1"), "g": S(fresh), "x": S("x")}]
    await dynamo.invalid(
        "ExecuteStatement",
        asked(f'SELECT z FROM "{indexed}"."some" {where}'),
        "One or more parameter values were invalid: Global secondary index some does not project [z]",
    )
    await dynamo.invalid(
        "ExecuteStatement",
        asked(f'SELECT * FROM "{indexed}"."none" {where}'),
        "The table does not have the specified index: none",
    )
    await dynamo.invalid(
        "ExecuteStatement",
        asked(f'SELECT * FROM "{indexed}"."all" {where}', ConsistentRead=True),
        "Consistent reads are not supported on global secondary indexes",
    )


async def test_a_limit_counts_what_is_looked_at_and_a_token_goes_on(dynamo, ranged, fresh):
    for end in "ab":
        await fill(dynamo, ranged, fresh + end)
    request = asked(f"SELECT p, s FROM \"{ranged}\" WHERE p IN ['{fresh}a', '{fresh}b'] AND n > 1", Limit=2)
    found, pages = [], 0
    while True:
        answer = await dynamo.call("ExecuteStatement", request)
        found += [item["p"]["S"][-1] + item["s"]["S"] for item in answer["Items"]]
        pages += 1
        if "NextToken" not in answer:
            break
        request["NextToken"] = answer["NextToken"]
    assert found == ["a2", "a3", "b2", "b3"]
    assert pages == 4


async def test_a_page_of_one_megabyte_goes_on(dynamo, create, fresh):
    ranged = await create(**definition("p:S", "s:S"))
    for number in range(4):
        item = {"p": S(fresh), "s": S(str(number)), "text": S("x" * 350_000)}
        await dynamo.call("PutItem", {"TableName": ranged, "Item": item})
    request = asked(f"SELECT s FROM \"{ranged}\" WHERE p = '{fresh}'")
    answer = await dynamo.call("ExecuteStatement", request)
    assert [item["s"]["S"] for item in answer["Items"]] == ["0", "1", "2"]
    answer = await dynamo.call("ExecuteStatement", {**request, "NextToken": answer["NextToken"]})
    assert [item["s"]["S"] for item in answer["Items"]] == ["3"]


async def test_a_token_fits_only_its_statement(dynamo, ranged, fresh):
    await fill(dynamo, ranged, fresh)
    statement = f"SELECT s FROM \"{ranged}\" WHERE p = '{fresh}'"
    answer = await dynamo.call("ExecuteStatement", asked(statement, Limit=1))
    other = asked(f"{statement} AND n > 1", NextToken=answer["NextToken"])
    await dynamo.invalid("ExecuteStatement", other, "Invalid NextToken")


async def test_the_last_key_is_told_beside_the_token(dynamo, ranged, fresh):
    await fill(dynamo, ranged, fresh)
    answer = await dynamo.call("ExecuteStatement", asked(f"SELECT n FROM \"{ranged}\" WHERE p = '{fresh}'", Limit=2))
    assert answer["LastEvaluatedKey"] == {"p": S(fresh), "s": S("2")}


async def test_a_key_condition_reads_no_more_than_a_query(dynamo, create, fresh):
    ranged = await create(**definition("p:S", "s:S"))
    await fill(dynamo, ranged, fresh, 5)

    async def units(where):
        request = asked(f'SELECT * FROM "{ranged}" WHERE {where}', ReturnConsumedCapacity="TOTAL", ConsistentRead=True)
        answer = await dynamo.call("ExecuteStatement", request)
        return answer["ConsumedCapacity"]["CapacityUnits"]

    large = {"p": S(fresh), "s": S("9"), "text": S("x" * 40_000)}
    await dynamo.call("PutItem", {"TableName": ranged, "Item": large})
    assert await units(f"p = '{fresh}' AND s < '9'") == 1
    assert await units(f"p = '{fresh}' AND s = '3'") == 1
    assert await units(f"p = '{fresh}' AND n < 9") == 10
    assert await units(f"n < 9 AND s BETWEEN '1' AND '4' AND p IN ['{fresh}', 'nobody']") == 1


# --- parameters ------------------------------------------------------------------------------------------------------


async def test_parameters_stand_for_values(dynamo, ranged, fresh):
    await fill(dynamo, ranged, fresh)
    found = await execute(
        dynamo, f'SELECT s FROM "{ranged}" WHERE p = ? AND n IN [?, ?]', S(fresh), N("2.0"), N(3), S("ignored")
    )
    assert [item["s"]["S"] for item in found] == ["2", "3"]


@pytest.mark.parametrize(
    ("where", "parameters", "message"),
    [
        ("p = ?", [], "Number of parameters in request and statement don't match."),
        ("p = ?", [N(1)], "Key attribute's data type should match its data type in table's schema: Key p"),
        (
            "p = ?",
            [S("")],
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
            "empty string value. Key: p",
        ),
        ("n = ?", [{"SS": []}], "One or more parameter values were invalid: An string set  may not be empty"),
    ],
)
async def test_parameters_that_do_not_fit_are_refused(dynamo, plain, where, parameters, message):
    await dynamo.invalid("ExecuteStatement", asked(f'SELECT * FROM "{plain}" WHERE {where}', *parameters), message)


# --- INSERT ----------------------------------------------------------------------------------------------------------


async def test_insert_of_every_kind_of_value(dynamo, plain, fresh):
    value = (
        "{'p': ?, 'text': 'it''s', 'n': -1.5, 'e': 1e3, 't': TRUE, 'f': false, 'nul': null, 'l': [1, ['x'], {}], "
        "'m': {'k': {'z': <<1, 2>>}}, 'ss': <<'a', 'b'>>, 'empty': '', 'given': ?}"
    )
    assert await execute(dynamo, f'INSERT INTO "{plain}" VALUE {value}', S(fresh), L(N(7))) == []
    assert await get(dynamo, plain, p=S(fresh)) == {
        "p": S(fresh),
        "text": S("it's"),
        "n": N("-1.5"),
        "e": N(1000),
        "t": TRUE,
        "f": FALSE,
        "nul": NULL,
        "l": L(N(1), L(S("x")), M()),
        "m": M(k=M(z=NS(2, 1) if dynamo.name != "local" else NS(1, 2))),
        "ss": SS("a", "b"),
        "empty": S(""),
        "given": L(N(7)),
    }


async def test_insert_of_what_is_there_already_is_refused(dynamo, plain, fresh):
    statement = f"INSERT INTO \"{plain}\" VALUE {{'p': '{fresh}', 'n': ?}}"
    await execute(dynamo, statement, N(1))
    code = "DuplicateItem" if dynamo.name == "local" else "DuplicateItemException"
    await dynamo.refuses("ExecuteStatement", asked(statement, N(2)), code, "Duplicate primary key exists in table")
    assert await get(dynamo, plain, p=S(fresh)) == {"p": S(fresh), "n": N(1)}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{'n': 1}", "Key attribute should be present in the item: Key p"),
        ("{'p': 1}", "Key attribute's data type should match its data type in table's schema: Key p"),
        ("{'p': 'x', 'm': MISSING}", "Unsupported data type: MISSING under key root at 1:50:7"),
        ("{'p': 'x', 'm': other}", "Unsupported data type: other under key root at 1:50:5"),
        ("{'p': 'x', 'm': 1 + 1}", "Unsupported data type: + under key root at 1:52:1"),
        ("{'p': 'x', 'm': <<>>}", "Empty bags are not supported at 1:50:2"),
        (
            "{'p': 'x', 'm': <<1, 'a'>>}",
            "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags",
        ),
        ("{'p': 'x', 'm': {'k': ?}}", "Unsupported data type: Parameter under key root.k at 1:56:1"),
        ("{'p': 'x', 'p': 'y'}", "Duplicate keys in tuple. Key: p under root at 1:45:3"),
        ("{p: 'x'}", "Tuple keys must be of type String. Actual type: VariableReference under root at 1:35:1"),
        (
            "'x'",
            "Unsupported format in item expression. Please use struct format {...} to express item values for insert "
            "statement. at 1:34:3",
        ),
    ],
)
async def test_an_insert_that_makes_no_item_is_refused(dynamo, plain, value, message):
    assert plain == "shared.plain"  # the positions depend on its length
    request = asked(f'INSERT INTO "{plain}" VALUE {value}', *([S("x")] * value.count("?")))
    await dynamo.invalid("ExecuteStatement", request, message)


# --- UPDATE ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clauses", "changed"),
    [
        ("SET n = 5", {"n": N(5)}),
        ("SET n = 5, x = ? SET y = 'z' REMOVE l", {"n": N(5), "x": N(9), "y": S("z"), "l": None}),
        ("SET n = n + 1", {"n": N(2)}),
        ("SET n = n + 1 - 3 + n", {"n": N(0)}),
        ("SET x = n", {"x": N(1)}),
        ("SET l = list_append(l, [2])", {"l": L(N(1), N(2))}),
        ("SET l = list_append([0], l)", {"l": L(N(0), N(1))}),
        ("SET x = if_not_exists(x, 7)", {"x": N(7)}),
        ("SET ss = set_add(ss, <<'c'>>)", {"ss": SS("a", "b", "c")}),
        ("SET x = set_add(x, <<'c'>>)", {"x": SS("c")}),
        ("SET ss = set_delete(ss, <<'a'>>)", {"ss": SS("b")}),
        ("SET ss = set_delete(ss, <<'a', 'b'>>)", {"ss": None}),
        ("SET l[0] = 'x', m.k = 'w', m.z = 1", {"l": L(S("x")), "m": M(k=S("w"), z=N(1))}),
        ("REMOVE m.k REMOVE l[0]", {"m": M(), "l": L()}),
        ("SET m = {'a': [true]}", {"m": M(a=L(TRUE))}),
    ],
)
async def test_update(dynamo, plain, fresh, clauses, changed):
    item = {"p": S(fresh), "n": N(1), "l": L(N(1)), "m": M(k=S("v")), "ss": SS("a", "b")}
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    parameters = [N(9)] * clauses.count("?")
    assert await execute(dynamo, f"UPDATE \"{plain}\" {clauses} WHERE p = '{fresh}'", *parameters) == []
    expected = {name: value for name, value in (item | changed).items() if value is not None}
    assert await get(dynamo, plain, p=S(fresh)) == expected


@pytest.mark.parametrize(
    ("returning", "returned"),
    [
        ("ALL OLD", {"n": N(1), "x": N(1)}),
        ("ALL NEW", {"n": N(2), "x": N(1)}),
        ("MODIFIED OLD", {"n": N(1)}),
        ("MODIFIED NEW", {"n": N(2)}),
    ],
)
async def test_returning(dynamo, plain, fresh, returning, returned):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "n": N(1), "x": N(1)}})
    whole = {"p": S(fresh)} if returning.startswith("ALL") else {}
    statement = f"UPDATE \"{plain}\" SET n = n + 1 WHERE p = '{fresh}' RETURNING {returning} *"
    assert await execute(dynamo, statement) == [whole | returned]


async def test_update_and_delete_keep_their_conditions(dynamo, ranged, fresh):
    [item] = await fill(dynamo, ranged, fresh, 1)
    where = f"WHERE p = '{fresh}' AND s = '1'"
    for statement in (f'UPDATE "{ranged}" SET n = 9 {where} AND n = 5', f'DELETE FROM "{ranged}" {where} AND n = 5'):
        request = asked(statement, ReturnValuesOnConditionCheckFailure="ALL_OLD")
        refusal = await dynamo.refuses(
            "ExecuteStatement", request, "ConditionalCheckFailedException", "The conditional request failed"
        )
        assert refusal.item == item
    assert await get(dynamo, ranged, p=S(fresh), s=S("1")) == item
    await execute(dynamo, f'UPDATE "{ranged}" SET n = 9 {where} AND (n = 1 OR n = 2)')
    assert await execute(dynamo, f'DELETE FROM "{ranged}" {where} AND n = 9 RETURNING ALL OLD *') == [
        item | {"n": N(9)}
    ]


async def test_an_update_makes_no_item_and_a_delete_needs_none(dynamo, plain, fresh):
    await dynamo.refuses(
        "ExecuteStatement",
        asked(f"UPDATE \"{plain}\" SET n = 1 WHERE p = '{fresh}'"),
        "ConditionalCheckFailedException",
        "The conditional request failed",
    )
    assert await get(dynamo, plain, p=S(fresh)) is None
    for condition in ("", " AND n = 5"):
        statement = f"DELETE FROM \"{plain}\" WHERE p = '{fresh}'{condition} RETURNING ALL OLD *"
        assert await execute(dynamo, statement) == []


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ("SET n = 1", NO_FULL_KEY),
        ("SET n = 1 WHERE n = 1", NO_FULL_KEY),
        ("SET n = 1 WHERE p = 'a'", NO_FULL_KEY),
        ("SET n = 1 WHERE p = 'a' AND s > '1'", NO_FULL_KEY),
        ("SET n = 1 WHERE p = 'a' AND s IN ['1']", NO_FULL_KEY),
        ("SET n = 1 WHERE p = 'a' AND s = '1' OR n = 1", NO_FULL_KEY),
        ("SET n = 1 WHERE p = 'a' AND NOT s = '1'", NO_FULL_KEY),
        (
            "SET n = 1 WHERE p = 'a' AND s = '1' AND p = 'b'",
            "Multiple conditions on same key p. Only single item Update/Insert/Delete are supported",
        ),
        (
            "SET n = 1 WHERE p = 'a' AND s = 1",
            "Key attribute's data type should match its data type in table's schema: Key s",
        ),
        ("SET n = MISSING WHERE p = 'a' AND s = '1'", "MISSING must be compared using IS operator"),
        ("SET n = n * 2 WHERE p = 'a' AND s = '1'", "Unsupported operator in Update Expression. Operator: *"),
        (
            "SET n = 'a' + 1 WHERE p = 'a' AND s = '1'",
            "Incorrect operand type for operator or function; operator or function: +, operand type: S",
        ),
        (
            "SET n = -n WHERE p = 'a' AND s = '1'",
            "Incorrect number of operands for operator or function; operator or function: -, number of operands: 1",
        ),
        (
            "SET n = size(n) WHERE p = 'a' AND s = '1'",
            "The function is not allowed in an update expression; function: size",
        ),
        ("SET n = nosuch(n) WHERE p = 'a' AND s = '1'", "Unrecognized function: nosuch"),
        (
            "SET n = set_add(m, <<1>>) WHERE p = 'a' AND s = '1'",
            "The first argument to SET_ADD must equal the assignment value",
        ),
        (
            "SET n = 1, n = 2 WHERE p = 'a' AND s = '1'",
            "Two document paths overlap with each other; must remove or rewrite one of these paths; "
            "path one: [n], path two: [n]",
        ),
        (
            "SET n = 1 WHERE p = 'a' AND s = '1' RETURNING ALL NEW p",
            "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause",
        ),
        (
            "SET n = 1 WHERE p = 'a' AND s = '1' RETURNING ALL NEW *, ALL OLD *",
            "Invalid syntax with multiple returning elements in RETURNING clause",
        ),
    ],
)
async def test_updates_that_are_refused(dynamo, ranged, clauses, message):
    await dynamo.invalid("ExecuteStatement", asked(f'UPDATE "{ranged}" {clauses}'), message)


async def test_a_key_is_not_updated(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh)}})
    await dynamo.invalid(
        "ExecuteStatement",
        asked(f"UPDATE \"{plain}\" SET p = 'x' WHERE p = '{fresh}'"),
        "One or more parameter values were invalid: Cannot update attribute p. This attribute is part of the key",
    )


async def test_a_delete_returns_nothing_but_the_old_item(dynamo, plain):
    await dynamo.invalid(
        "ExecuteStatement",
        asked(f"DELETE FROM \"{plain}\" WHERE p = 'a' RETURNING MODIFIED NEW *"),
        "Invalid returning clause: RETURNING MODIFIED NEW *. Only RETURNING ALL OLD * is allowed in DELETE statements.",
    )


async def test_writes_go_to_a_table_and_not_to_an_index(dynamo, indexed):
    for statement in (
        f"UPDATE \"{indexed}\".\"all\" SET x = 1 WHERE p = 'a' AND s = '1'",
        f"DELETE FROM \"{indexed}\".\"all\" WHERE p = 'a' AND s = '1'",
    ):
        await dynamo.invalid("ExecuteStatement", asked(statement), "This operation is not supported on an index")
    await dynamo.invalid(
        "ExecuteStatement",
        asked(f"INSERT INTO \"{indexed}\".\"all\" VALUE {{'p': 'a'}}"),
        "FROM clause may only contain a single table name in data manipulation statements",
    )


# --- statements that are refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT p FROM", NOT_WELL_FORMED),
        ("SELECT * FROM plain WHERE", NOT_WELL_FORMED),
        ("SELECT * FROM plain WHERE p = 'a", NOT_WELL_FORMED),
        ("SELECT * FROM plain WHERE (p = 'a'", NOT_WELL_FORMED),
        ("SELECT * FROM plain WHERE p == 'a'", NOT_WELL_FORMED),
        ("SELECT * FROM plain; SELECT * FROM plain", NOT_WELL_FORMED),
        ("SELECT order FROM plain", NOT_WELL_FORMED),
        ("SELECT * FROM plain JOIN plain", NOT_WELL_FORMED),
        ("UPDATE plain WHERE p = 'a'", NOT_WELL_FORMED),
        ("INSERT INTO plain VALUES {'p': 'a'}", NOT_WELL_FORMED),
        ("DELETE plain WHERE p = 'a'", NOT_WELL_FORMED),
        ("SELECT * FROM plain, plain", "Only select from a single table or index is supported."),
        ("SELECT * FROM plain LIMIT 1", "Unsupported clause: LIMIT at 1:27:1"),
        ("SELECT p FROM plain GROUP BY p", "Unsupported clause: GROUP BY"),
        ("SELECT COUNT(*) FROM plain", "Unexpected path component at 1:8:5"),
        ("SELECT n + 1 FROM plain", "Unexpected path component at 1:10:1"),
        ("SELECT DISTINCT p FROM plain", "Unsupported token in expression: DISTINCT"),
        ("SELECT VALUE p FROM plain", "Select projection doesn't support value or pivot keywords"),
        ("SELECT p AS q FROM plain", "Aliasing is not supported"),
        ("SELECT p FROM plain x", "Aliasing is not supported"),
        ("SELECT p, p FROM plain", "Duplicate identifiers in select clause: p"),
        ("SELECT * FROM 'plain'", "Unexpected from source"),
        ("SELECT * FROM plain.a.b", "A path may contain at most 2 components in the FROM clause"),
        ("SELECT * FROM plain[0]", "Invalid list expression in source."),
        ("DROP TABLE plain", "Unsupported operation: DropTable"),
        ("nonsense", "Unsupported operation: VariableReference"),
        (
            "EXISTS(SELECT * FROM plain WHERE p = 'a')",
            "EXISTS can only be used in ExecuteTransaction write requests.",
        ),
    ],
)
async def test_statements_that_are_refused(dynamo, statement, message):
    await dynamo.invalid("ExecuteStatement", asked(statement), message.format(statement))


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("t", "WHERE clause must contain an expression that resolves to a boolean"),
        ("n = 1 AND TRUE", "The arguments to AND/OR must be Expressions"),
        ("x = MISSING", "MISSING must be compared using IS operator"),
        ("n + 1 = 2", "Unsupported operator in Condition Expression. Operator: +"),
        ("p LIKE 'a%'", "Unsupported operator in Condition Expression. Operator: like"),
        ("nosuch(p)", "Unrecognized function: nosuch"),
        (
            "begins_with(p)",
            "Incorrect number of operands for operator or function; "
            "operator or function: begins_with, number of operands: 1",
        ),
        (
            "n > [1]",
            "Incorrect operand type for operator or function; operator or function: >, operand type: L",
        ),
        (
            "n BETWEEN 2 AND 1",
            "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
            "lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}",
        ),
        (
            "n IN []",
            "IN operator must have a left hand argument of type Variable Reference "
            "and right hand argument of type Seq with at least one member",
        ),
        ("l = [?]", "Unsupported data type: Parameter under key root.0 at 1:41:1"),
        (
            "n IS BAG",
            "Unsupported data type for IS operator: BAG. Supported data types are "
            "[MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST] at 1:38:2",
        ),
        ("p = 'a' ORDER BY n", "Variable reference n in ORDER BY clause must be part of the primary key"),
        (
            "n = 1 ORDER BY p",
            "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.",
        ),
    ],
)
async def test_conditions_that_are_refused(dynamo, plain, where, message):
    request = asked(f'SELECT * FROM "{plain}" WHERE {where}', *([N(1)] * where.count("?")))
    await dynamo.invalid("ExecuteStatement", request, message)


async def test_order_needs_a_condition(dynamo, ranged):
    await dynamo.invalid(
        "ExecuteStatement",
        asked(f'SELECT * FROM "{ranged}" ORDER BY s'),
        "Must have WHERE clause in the statement when using ORDER BY clause.",
    )


async def test_a_table_must_exist(dynamo):
    for statement in (
        "SELECT * FROM nosuch",
        "INSERT INTO nosuch VALUE {'p': 'a'}",
        "UPDATE nosuch SET n = 1 WHERE p = 'a'",
        "DELETE FROM nosuch WHERE p = 'a'",
    ):
        await dynamo.refuses(
            "ExecuteStatement", asked(statement), "ResourceNotFoundException", "Requested resource not found"
        )


async def test_names_may_be_anything_in_quotes(dynamo, plain, fresh):
    item = {"p": S(fresh), "#hash": S("x"), ":colon": S("y"), 'quo"te': S("z")}
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    statement = f'SELECT "#hash", "quo""te" FROM "{plain}" WHERE p = ? AND ":colon" = \'y\''
    assert await execute(dynamo, statement, S(fresh)) == [{"#hash": S("x"), 'quo"te': S("z")}]


async def test_two_attributes_are_compared(dynamo, ranged, fresh):
    await dynamo.call("PutItem", {"TableName": ranged, "Item": {"p": S(fresh), "s": S("1"), "a": N(1), "b": N(1)}})
    await dynamo.call("PutItem", {"TableName": ranged, "Item": {"p": S(fresh), "s": S("2"), "a": N(1), "b": N(2)}})
    assert await execute(dynamo, f'SELECT s FROM "{ranged}" WHERE p = ? AND a = b', S(fresh)) == [{"s": S("1")}]

"""UpdateItem: what it answers, and what it does to keys, indexes and absent items."""

import asyncio

import pytest

from tests.conformance.wire import L, M, N, S


def update(table, key, expression=None, values=None, names=None, **more):
    request = {"TableName": table, "Key": {"p": S(key)}, **more}
    if expression is not None:
        request["UpdateExpression"] = expression
    if values:
        request["ExpressionAttributeValues"] = values
    if names:
        request["ExpressionAttributeNames"] = names
    return request


async def item_of(dynamo, table, key):
    return (await dynamo.call("GetItem", {"TableName": table, "Key": {"p": S(key)}})).get("Item")


async def test_update_without_expression_makes_an_item_of_its_key(dynamo, plain, fresh):
    assert await dynamo.call("UpdateItem", update(plain, fresh)) == {}
    assert await item_of(dynamo, plain, fresh) == {"p": S(fresh)}


async def test_update_without_expression_keeps_an_item(dynamo, plain, fresh):
    item = {"p": S(fresh), "a": S("x")}
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    assert await dynamo.call("UpdateItem", update(plain, fresh, ReturnValues="ALL_NEW")) == {"Attributes": item}


async def test_set_makes_an_item_that_was_absent(dynamo, plain, fresh):
    assert await dynamo.call("UpdateItem", update(plain, fresh, "SET a = :v", {":v": N(1)})) == {}
    assert await item_of(dynamo, plain, fresh) == {"p": S(fresh), "a": N(1)}


@pytest.mark.parametrize("expression", ["REMOVE a.b", "REMOVE a[0]", "REMOVE a.b, c"])
async def test_nothing_is_taken_out_of_what_is_not_there(dynamo, plain, fresh, expression):
    assert await dynamo.call("UpdateItem", update(plain, fresh, expression)) == {}
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {}
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh)}})
    await dynamo.invalid(
        "UpdateItem",
        update(plain, fresh, expression),
        "The document path provided in the update expression is invalid for update",
    )


@pytest.mark.parametrize("expression", ["REMOVE a", "DELETE a :v"])
async def test_an_update_that_only_takes_away_makes_no_item(dynamo, plain, fresh, expression):
    values = {":v": {"SS": ["x"]}} if ":v" in expression else None
    answer = await dynamo.call("UpdateItem", update(plain, fresh, expression, values, ReturnValues="ALL_NEW"))
    assert "Attributes" not in answer
    assert await item_of(dynamo, plain, fresh) is None


async def test_update_leaves_other_attributes(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "a": S("x"), "b": S("y")}})
    await dynamo.call("UpdateItem", update(plain, fresh, "SET a = :v", {":v": S("z")}))
    assert await item_of(dynamo, plain, fresh) == {"p": S(fresh), "a": S("z"), "b": S("y")}


RETURNED = {
    "NONE": {},
    "ALL_OLD": {"Attributes": {"a": S("x"), "b": S("y"), "m": M(i=N(1), j=N(2))}},
    "ALL_NEW": {"Attributes": {"a": S("z"), "b": S("y"), "m": M(i=N(9), j=N(2)), "new": N(0)}},
    "UPDATED_OLD": {"Attributes": {"a": S("x"), "m": M(i=N(1))}},
    "UPDATED_NEW": {"Attributes": {"a": S("z"), "m": M(i=N(9)), "new": N(0)}},
}


@pytest.mark.parametrize("kind", RETURNED)
async def test_return_values(dynamo, plain, fresh, kind):
    old = {"p": S(fresh), **RETURNED["ALL_OLD"]["Attributes"]}
    await dynamo.call("PutItem", {"TableName": plain, "Item": old})
    expected = RETURNED[kind]
    if kind.startswith("ALL"):
        expected = {"Attributes": {"p": S(fresh), **expected["Attributes"]}}
    answer = await dynamo.call(
        "UpdateItem",
        update(
            plain,
            fresh,
            "SET a = :a, m.i = :i, #new = :n",
            {":a": S("z"), ":i": N(9), ":n": N(0)},
            {"#new": "new"},
            ReturnValues=kind,
        ),
    )
    assert answer == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("ALL_OLD", {}), ("UPDATED_OLD", {}), ("UPDATED_NEW", {"Attributes": {"a": N(1)}})],
)
async def test_return_values_of_an_item_that_was_absent(dynamo, plain, fresh, kind, expected):
    answer = await dynamo.call("UpdateItem", update(plain, fresh, "SET a = :v", {":v": N(1)}, ReturnValues=kind))
    assert answer == expected


async def test_all_new_of_an_item_that_was_absent_has_its_key(dynamo, plain, fresh):
    answer = await dynamo.call("UpdateItem", update(plain, fresh, "SET a = :v", {":v": N(1)}, ReturnValues="ALL_NEW"))
    assert answer == {"Attributes": {"p": S(fresh), "a": N(1)}}


async def test_updated_old_of_a_removed_attribute_shows_it(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "a": S("x"), "b": S("y")}})
    answer = await dynamo.call("UpdateItem", update(plain, fresh, "REMOVE a", ReturnValues="UPDATED_OLD"))
    assert answer == {"Attributes": {"a": S("x")}}


async def test_updated_new_of_a_removed_attribute_shows_nothing(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "a": S("x"), "b": S("y")}})
    answer = await dynamo.call("UpdateItem", update(plain, fresh, "REMOVE a", ReturnValues="UPDATED_NEW"))
    assert answer == {}


async def test_updated_new_shows_an_attribute_set_to_the_same_value(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "a": S("x")}})
    answer = await dynamo.call(
        "UpdateItem", update(plain, fresh, "SET a = :v", {":v": S("x")}, ReturnValues="UPDATED_NEW")
    )
    assert answer == {"Attributes": {"a": S("x")}}


async def test_updated_values_of_list_elements_show_only_these(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "l": L(N(0), N(1), N(2), N(3))}})
    answer = await dynamo.call(
        "UpdateItem",
        update(plain, fresh, "SET l[1] = :a, l[3] = :b", {":a": S("a"), ":b": S("b")}, ReturnValues="UPDATED_NEW"),
    )
    assert answer == {"Attributes": {"l": L(S("a"), S("b"))}}


async def test_a_failed_condition_changes_nothing_and_shows_the_item_when_asked(dynamo, plain, fresh):
    item = {"p": S(fresh), "n": N(1)}
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    refusal = await dynamo.refuses(
        "UpdateItem",
        update(
            plain,
            fresh,
            "SET n = n + :one",
            {":one": N(1), ":two": N(2)},
            ConditionExpression="n >= :two",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        ),
        "ConditionalCheckFailedException",
        "The conditional request failed",
    )
    assert refusal.item == item
    assert await item_of(dynamo, plain, fresh) == item


async def test_a_failed_condition_makes_no_item(dynamo, plain, fresh):
    await dynamo.refuses(
        "UpdateItem",
        update(plain, fresh, "SET n = :one", {":one": N(1)}, ConditionExpression="attribute_exists(p)"),
        "ConditionalCheckFailedException",
        "The conditional request failed",
    )
    assert await item_of(dynamo, plain, fresh) is None


@pytest.mark.parametrize("expression", ["SET p = :v", "ADD p :v", "DELETE p :v"])
async def test_a_key_attribute_cannot_be_updated(dynamo, plain, fresh, expression):
    value = {"SET": S("x"), "ADD": N(1), "DELETE": {"SS": ["x"]}}[expression.split()[0]]
    await dynamo.invalid(
        "UpdateItem",
        update(plain, fresh, expression, {":v": value}),
        "One or more parameter values were invalid: Cannot update attribute p. This attribute is part of the key",
    )


async def test_a_key_attribute_cannot_be_removed(dynamo, ranged, fresh):
    await dynamo.invalid(
        "UpdateItem",
        {"TableName": ranged, "Key": {"p": S(fresh), "s": S("1")}, "UpdateExpression": "REMOVE s"},
        "One or more parameter values were invalid: Cannot update attribute s. This attribute is part of the key",
    )


async def test_an_index_key_cannot_be_set_to_the_wrong_type(dynamo, indexed, fresh):
    await dynamo.invalid(
        "UpdateItem",
        {
            "TableName": indexed,
            "Key": {"p": S(fresh), "s": S("1")},
            "UpdateExpression": "SET h = :v",
            "ExpressionAttributeValues": {":v": S("text")},
        },
        "One or more parameter values were invalid: Type mismatch for Index Key h Expected: N Actual: S IndexName: all",
    )


async def test_an_update_moves_an_item_within_an_index(dynamo, indexed, fresh):
    await dynamo.call(
        "PutItem", {"TableName": indexed, "Item": {"p": S(fresh), "s": S("1"), "g": S(fresh + "a"), "h": N(1)}}
    )
    await dynamo.call(
        "UpdateItem",
        {
            "TableName": indexed,
            "Key": {"p": S(fresh), "s": S("1")},
            "UpdateExpression": "SET g = :v",
            "ExpressionAttributeValues": {":v": S(fresh + "b")},
        },
    )
    counts = []
    for value in (fresh + "a", fresh + "b"):
        answer = await dynamo.call(
            "Query",
            {
                "TableName": indexed,
                "IndexName": "all",
                "KeyConditionExpression": "g = :v",
                "ExpressionAttributeValues": {":v": S(value)},
            },
        )
        counts.append(answer["Count"])
    assert counts == [0, 1]


async def test_removing_an_index_key_takes_the_item_out_of_the_index(dynamo, indexed, fresh):
    await dynamo.call("PutItem", {"TableName": indexed, "Item": {"p": S(fresh), "s": S("1"), "g": S(fresh), "h": N(1)}})
    await dynamo.call(
        "UpdateItem",
        {"TableName": indexed, "Key": {"p": S(fresh), "s": S("1")}, "UpdateExpression": "REMOVE h"},
    )
    query = {
        "TableName": indexed,
        "KeyConditionExpression": "g = :v",
        "ExpressionAttributeValues": {":v": S(fresh)},
    }
    assert (await dynamo.call("Query", {**query, "IndexName": "all"}))["Count"] == 0
    assert (await dynamo.call("Query", {**query, "IndexName": "some"}))["Count"] == 1


async def test_a_key_that_is_not_the_schema_is_refused(dynamo, ranged, fresh):
    await dynamo.invalid(
        "UpdateItem",
        {"TableName": ranged, "Key": {"p": S(fresh)}, "UpdateExpression": "REMOVE a"},
        "The provided key element does not match the schema",
    )


async def test_a_table_that_does_not_exist_is_not_found(dynamo, fresh):
    await dynamo.refuses(
        "UpdateItem", update("absent", fresh), "ResourceNotFoundException", "Requested resource not found"
    )


async def test_concurrent_increments_are_all_counted(dynamo, plain, fresh):
    increment = update(plain, fresh, "ADD n :one", {":one": N(1)}, ReturnValues="UPDATED_NEW")
    answers = await asyncio.gather(*(dynamo.call("UpdateItem", increment) for _ in range(20)))
    assert sorted(int(answer["Attributes"]["n"]["N"]) for answer in answers) == list(range(1, 21))


async def test_item_collection_metrics_name_the_partition(dynamo, indexed, fresh):
    answer = await dynamo.call(
        "UpdateItem",
        {
            "TableName": indexed,
            "Key": {"p": S(fresh), "s": S("1")},
            "ReturnItemCollectionMetrics": "SIZE",
        },
    )
    assert answer["ItemCollectionMetrics"]["ItemCollectionKey"] == {"p": S(fresh)}


async def test_an_index_key_computed_to_another_type_is_refused(dynamo, indexed, fresh):
    key = {"p": S(fresh), "s": S("1")}
    await dynamo.call("PutItem", {"TableName": indexed, "Item": {**key, "count": N(1), "g": S("group"), "h": N(1)}})
    await dynamo.invalid(
        "UpdateItem",
        {
            "TableName": indexed,
            "Key": key,
            "UpdateExpression": "SET g = #c",
            "ExpressionAttributeNames": {"#c": "count"},
        },
        "The update expression attempted to update the secondary index key to unsupported type",
    )

"""ListTables: the names of all tables, in order, page by page."""

import pytest

from tests.conformance.tables import definition


@pytest.fixture
async def named(create):
    return [await create(TableName=f"listed.{letter}", **definition("p:S")) for letter in "cab"]


async def test_names_are_in_order(dynamo, named):
    names = (await dynamo.call("ListTables", {}))["TableNames"]
    assert [name for name in names if name.startswith("listed.")] == ["listed.a", "listed.b", "listed.c"]
    assert names == sorted(names)


async def test_a_limit_ends_the_page_and_names_its_last_table(dynamo, named):
    answer = await dynamo.call("ListTables", {"ExclusiveStartTableName": "listed", "Limit": 2})
    assert answer == {"TableNames": ["listed.a", "listed.b"], "LastEvaluatedTableName": "listed.b"}


async def test_the_next_page_begins_after_the_name(dynamo, named):
    answer = await dynamo.call("ListTables", {"ExclusiveStartTableName": "listed.b", "Limit": 1})
    assert answer["TableNames"] == ["listed.c"]


async def test_the_last_page_names_no_last_table(dynamo, named):
    answer = await dynamo.call("ListTables", {"ExclusiveStartTableName": "zzz"})
    assert answer == {"TableNames": []}


async def test_the_start_name_need_not_exist(dynamo, named):
    answer = await dynamo.call("ListTables", {"ExclusiveStartTableName": "listed.aa", "Limit": 1})
    assert answer == {"TableNames": ["listed.b"], "LastEvaluatedTableName": "listed.b"}


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (0, "Member must have value greater than or equal to 1"),
        (101, "Member must have value less than or equal to 100"),
    ],
)
async def test_a_limit_out_of_bounds_is_refused(dynamo, limit, message):
    await dynamo.invalid(
        "ListTables",
        {"Limit": limit},
        f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy constraint: {message}",
    )

"""A Query answers in the order of the values themselves, and its key conditions are comparisons of them."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from potluck.dynamo.database import Database
from tests.properties.wire_values import WIDE_KEY_VALUES, Value, in_key_order, plain

KINDS = ["S", "N", "B"]
SETTINGS = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
SOAK_SETTINGS = settings(SETTINGS, max_examples=3000)


class Sorted:
    """A table and an index sorted by a key of one kind; every example uses a partition of its own."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.loop = asyncio.new_event_loop()
        self.examples = 0
        self.database = self.loop.run_until_complete(Database.open(None))
        self.call(
            "CreateTable",
            TableName="Sorted",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": kind},
                {"AttributeName": "turned", "AttributeType": "S"},
            ],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "turned",
                    "KeySchema": [
                        {"AttributeName": "turned", "KeyType": "HASH"},
                        {"AttributeName": "sk", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ],
        )

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        return self.loop.run_until_complete(self.database.call(operation, request))

    def new_partition(self, values: list[Value]) -> str:
        self.examples += 1
        name = f"example-{self.examples}"
        for value in values:
            item = {"pk": {"S": name}, "sk": value, "turned": {"S": f"turned-{name}"}}
            self.call("PutItem", TableName="Sorted", Item=item)
        return name

    def query(self, partition: str, condition: str = "", values: list[Value] | None = None, **more: Any) -> list[Any]:
        """The sort keys that a Query finds; the index must find the same."""
        found = []
        for hash_name, hash_value, index in (
            ("pk", partition, {}),
            ("turned", f"turned-{partition}", {"IndexName": "turned"}),
        ):
            request: dict[str, Any] = {
                "TableName": "Sorted",
                "KeyConditionExpression": f"{hash_name} = :partition" + (f" AND {condition}" if condition else ""),
                "ExpressionAttributeValues": {
                    ":partition": {"S": hash_value},
                    **{f":{n}": value for n, value in enumerate(values or [])},
                },
                **index,
                **more,
            }
            answer = self.call("Query", **request)
            found.append([plain(item["sk"])[1] for item in answer["Items"]])
        assert found[0] == found[1], "the index answers differently from the table"
        return found[0]

    def close(self) -> None:
        self.loop.run_until_complete(self.database.close())
        self.loop.close()


@pytest.fixture(scope="module", params=KINDS)
def table(request: pytest.FixtureRequest) -> Iterator[Sorted]:
    table = Sorted(request.param)
    yield table
    table.close()


def in_order(values: list[Value]) -> list[Value]:
    distinct = {in_key_order(value): value for value in values}
    return [distinct[each] for each in sorted(distinct)]


def contents(values: list[Value]) -> list[Any]:
    return [plain(value)[1] for value in values]


@st.composite
def values_of(draw: st.DrawFn, kind: str, least: int, most: int) -> list[Value]:
    return draw(st.lists(WIDE_KEY_VALUES[kind], min_size=least, max_size=most))


def check_order(table: Sorted, data: st.DataObject) -> None:
    values = data.draw(values_of(table.kind, 1, 12))
    expected = contents(in_order(values))
    partition = table.new_partition(values)
    assert table.query(partition) == expected
    assert table.query(partition, ScanIndexForward=False) == expected[::-1]


def check_comparisons(table: Sorted, data: st.DataObject) -> None:
    values = data.draw(values_of(table.kind, 1, 12))
    bound = data.draw(st.one_of(st.sampled_from(values), WIDE_KEY_VALUES[table.kind]))
    ordered = in_order(values)
    partition = table.new_partition(values)
    edge = in_key_order(bound)
    for operator, holds in {
        "=": lambda v: v == edge,
        "<": lambda v: v < edge,
        "<=": lambda v: v <= edge,
        ">": lambda v: v > edge,
        ">=": lambda v: v >= edge,
    }.items():
        expected = contents([value for value in ordered if holds(in_key_order(value))])
        assert table.query(partition, f"sk {operator} :0", [bound]) == expected
        assert table.query(partition, f"sk {operator} :0", [bound], ScanIndexForward=False) == expected[::-1]


def check_between(table: Sorted, data: st.DataObject) -> None:
    values = data.draw(values_of(table.kind, 1, 12))
    bounds = data.draw(
        st.lists(st.one_of(st.sampled_from(values), WIDE_KEY_VALUES[table.kind]), min_size=2, max_size=2)
    )
    low, high = sorted(bounds, key=in_key_order)
    partition = table.new_partition(values)
    expected = [value for value in in_order(values) if in_key_order(low) <= in_key_order(value) <= in_key_order(high)]
    assert table.query(partition, "sk BETWEEN :0 AND :1", [low, high]) == contents(expected)


def check_beginnings(table: Sorted, data: st.DataObject) -> None:
    values = data.draw(values_of(table.kind, 1, 12))
    prefix = data.draw(st.one_of(st.sampled_from(values), WIDE_KEY_VALUES[table.kind]))
    partition = table.new_partition(values)
    expected = [value for value in in_order(values) if in_key_order(value).startswith(in_key_order(prefix))]
    assert table.query(partition, "begins_with(sk, :0)", [prefix]) == contents(expected)


CHECKS = {"order": check_order, "comparisons": check_comparisons, "between": check_between}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS.keys())
@SETTINGS
@given(data=st.data())
def test_keys_sort_and_compare_as_their_values(table, check, data):
    check(table, data)


@pytest.mark.parametrize("table", ["S", "B"], indirect=True)
@SETTINGS
@given(data=st.data())
def test_begins_with_is_a_prefix(table, data):
    check_beginnings(table, data)


@pytest.mark.soak
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS.keys())
@SOAK_SETTINGS
@given(data=st.data())
def test_keys_sort_and_compare_as_their_values_for_long(table, check, data):
    check(table, data)

"""Whatever is done in whatever order, the engine answers as a plain dict would, and its stream tells the same story."""

import asyncio
import shutil
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from potluck.dynamo.database import Database
from potluck.dynamo.errors import DynamoError
from tests.properties.conditions import Condition, conditions, maybe_conditions
from tests.properties.model import ORDERS, TABLE_KEYS, Key, Model, key_of, sort_values
from tests.properties.wire_values import (
    KEY_VALUES,
    Item,
    any_values,
    in_key_order,
    plain_item,
    small_numbers,
)

TABLE = "Model"
CANCELLED = "TransactionCanceledException"
CONDITION_FAILED = "ConditionalCheckFailedException"

index_attributes = {
    "g": KEY_VALUES["S"],
    "h": small_numbers.map(lambda number: {"N": number}),
    "f": KEY_VALUES["B"],
    "l": KEY_VALUES["N"],
}
attributes = st.fixed_dictionaries({}, optional={**index_attributes, "x": any_values})
indexes = st.sampled_from(list(ORDERS))
partitions = st.sampled_from([{"S": text} for text in ("a", "a\x00", "é#")])


@st.composite
def updates(draw: st.DrawFn) -> tuple[str, dict[str, Any], Any]:
    """An update's text, its values, and the same change as a function that may return None for a refusal."""
    match draw(st.sampled_from(["set", "set", "default", "add to", "remove", "ADD"])):
        case "set":
            fresh = draw(st.fixed_dictionaries({"x": any_values}, optional=index_attributes))
            text = "SET " + ", ".join(f"{name} = :{name}" for name in fresh)
            return text, {f":{name}": value for name, value in fresh.items()}, lambda item: {**item, **fresh}
        case "default":
            value = draw(any_values)
            return "SET x = if_not_exists(x, :x)", {":x": value}, lambda item: {"x": value, **item}
        case "add to":
            number = draw(small_numbers)
            return "SET h = h + :n", {":n": {"N": number}}, lambda item: added(item, number) if "h" in item else None
        case "remove":
            gone = draw(st.lists(st.sampled_from(["g", "h", "f", "l", "x"]), min_size=1, max_size=3, unique=True))
            return f"REMOVE {', '.join(gone)}", {}, lambda item: {n: v for n, v in item.items() if n not in gone}
        case _:
            number = draw(small_numbers)
            return "ADD h :n", {":n": {"N": number}}, lambda item: added(item, number)


def added(item: Item, number: str) -> Item:
    total = Decimal(item.get("h", {"N": "0"})["N"]) + Decimal(number)
    return {**item, "h": {"N": format(total, "f")}}


def made(old: Item, new: Item | None) -> Item | None:
    """What an update leaves: taking away from an item that is not there makes none."""
    return None if not old and new is not None and new.keys() == TABLE_KEYS else new


class AgainstADict(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp())
        self.database: Database | None = None
        self.model = Model()
        self.kind = "S"

    @initialize(kind=st.sampled_from(["S", "N", "B"]))
    def make_the_table(self, kind: str) -> None:
        self.kind = kind
        self.open()
        kinds = {"pk": "S", "sk": kind, "g": "S", "h": "N", "f": "B", "l": "N"}
        self.call(
            "CreateTable",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": n, "AttributeType": k} for n, k in kinds.items()],
            KeySchema=schema("pk", "sk"),
            GlobalSecondaryIndexes=[
                {"IndexName": "by-group", "KeySchema": schema("g", "h"), "Projection": {"ProjectionType": "ALL"}},
                {"IndexName": "by-flag", "KeySchema": schema("f"), "Projection": {"ProjectionType": "KEYS_ONLY"}},
            ],
            LocalSecondaryIndexes=[
                {
                    "IndexName": "by-rank",
                    "KeySchema": schema("pk", "l"),
                    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]},
                }
            ],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        )

    def open(self) -> None:
        self.database = self.loop.run_until_complete(Database.open(self.folder / "model.db"))

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        if "TransactItems" not in request and "RequestItems" not in request and "Stream" not in operation:
            request["TableName"] = TABLE
        assert self.database is not None
        return self.loop.run_until_complete(self.database.call(operation, request))

    def draw_key(self, data: st.DataObject) -> Item:
        return {"pk": data.draw(partitions), "sk": data.draw(KEY_VALUES[self.kind])}

    # Single writes.

    @rule(data=st.data(), extra=attributes, condition=maybe_conditions)
    def put(self, data: st.DataObject, extra: Item, condition: Condition | None) -> None:
        item = {**self.draw_key(data), **extra}
        self.check_write("PutItem", {"Item": item, "ReturnValues": "ALL_OLD"}, item, condition, item)

    @rule(data=st.data(), condition=maybe_conditions)
    def delete(self, data: st.DataObject, condition: Condition | None) -> None:
        key = self.draw_key(data)
        self.check_write("DeleteItem", {"Key": key, "ReturnValues": "ALL_OLD"}, key, condition, None)

    @rule(data=st.data(), update=updates(), condition=maybe_conditions)
    def update(self, data: st.DataObject, update: tuple[str, dict[str, Any], Any], condition: Condition | None) -> None:
        key = self.draw_key(data)
        text, values, apply = update
        request = {"Key": key, "UpdateExpression": text, "ReturnValues": "ALL_NEW", **given(values)}
        old = self.model.get(key)
        new = apply({**key, **old})
        if new is None and (condition is None or condition.holds(old)):
            if condition is not None:
                condition.written_into(request, "ConditionExpression")
            with pytest.raises(DynamoError) as refusal:
                self.call("UpdateItem", **request)
            assert refusal.value.code == "ValidationException"
            return
        self.check_write("UpdateItem", request, key, condition, made(old, new))

    def check_write(
        self, operation: str, request: dict[str, Any], key: Item, condition: Condition | None, new: Item | None
    ) -> None:
        old = self.model.get(key)
        if condition is not None:
            condition.written_into(request, "ConditionExpression")
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
            if not condition.holds(old):
                with pytest.raises(DynamoError) as refusal:
                    self.call(operation, **request)
                assert refusal.value.code == CONDITION_FAILED
                assert plain_item(refusal.value.item or {}) == plain_item(old)
                return
        answer = self.call(operation, **request)
        shown = new if request["ReturnValues"] == "ALL_NEW" else old
        assert plain_item(answer.get("Attributes", {})) == plain_item(shown or {})
        self.model.write({key_of(key): new})

    # Several items in one request.

    @rule(data=st.data())
    def batch(self, data: st.DataObject) -> None:
        new: dict[Key, Item | None] = {}
        requests = []
        for key in self.draw_distinct_keys(data, 5):
            if data.draw(st.booleans()):
                item = {**key, **data.draw(attributes)}
                new[key_of(key)] = item
                requests.append({"PutRequest": {"Item": item}})
            else:
                new[key_of(key)] = None
                requests.append({"DeleteRequest": {"Key": key}})
        answer = self.call("BatchWriteItem", RequestItems={TABLE: requests})
        assert not answer["UnprocessedItems"]
        # A batch is no transaction: each of its writes is a change of its own.
        for key, item in new.items():
            self.model.write({key: item})

    def draw_distinct_keys(self, data: st.DataObject, most: int) -> list[Item]:
        keys = [self.draw_key(data) for _ in range(data.draw(st.integers(1, most)))]
        return list({key_of(key): key for key in keys}.values())

    @rule(data=st.data())
    def transact(self, data: st.DataObject) -> None:
        actions = []
        new: dict[Key, Item | None] = {}
        reasons = []
        for key in self.draw_distinct_keys(data, 5):
            old = self.model.get(key)
            condition = data.draw(maybe_conditions)
            request: dict[str, Any] = {"TableName": TABLE}
            refused = False
            match data.draw(st.sampled_from(["Put", "Update", "Delete", "ConditionCheck"])):
                case "Put":
                    request["Item"] = new[key_of(key)] = {**key, **data.draw(attributes)}
                    kind = "Put"
                case "Update":
                    text, values, apply = data.draw(updates())
                    request.update({"Key": key, "UpdateExpression": text, **given(values)})
                    changed = apply({**key, **old})
                    refused = changed is None
                    new[key_of(key)] = made(old, changed)
                    kind = "Update"
                case "Delete":
                    request["Key"] = key
                    new[key_of(key)] = None
                    kind = "Delete"
                case _:
                    request["Key"] = key
                    condition = condition or data.draw(conditions)
                    kind = "ConditionCheck"
            if condition is not None:
                condition.written_into(request, "ConditionExpression")
            if condition is not None and not condition.holds(old):
                reasons.append("ConditionalCheckFailed")
            else:
                reasons.append("ValidationError" if refused else "None")
            actions.append({kind: request})
        if set(reasons) == {"None"}:
            self.call("TransactWriteItems", TransactItems=actions)
            self.model.write(new)
            return
        with pytest.raises(DynamoError) as refusal:
            self.call("TransactWriteItems", TransactItems=actions)
        assert refusal.value.code == CANCELLED
        assert [reason["Code"] for reason in refusal.value.reasons or []] == reasons

    # Reads.

    @rule(data=st.data())
    def get_several_ways(self, data: st.DataObject) -> None:
        keys = self.draw_distinct_keys(data, 4)
        expected = {key_of(key): plain_item(self.model.get(key)) for key in keys if self.model.get(key)}
        for key in keys:
            answer = self.call("GetItem", Key=key, ConsistentRead=True)
            assert plain_item(answer.get("Item", {})) == expected.get(key_of(key), {})
        batch = self.call("BatchGetItem", RequestItems={TABLE: {"Keys": keys}})
        assert {key_of(item): plain_item(item) for item in batch["Responses"][TABLE]} == expected
        gets = [{"Get": {"TableName": TABLE, "Key": key}} for key in keys]
        together = self.call("TransactGetItems", TransactItems=gets)["Responses"]
        assert [plain_item(answer.get("Item", {})) for answer in together] == [
            expected.get(key_of(key), {}) for key in keys
        ]

    @rule(data=st.data(), index=indexes, forward=st.booleans(), limit=st.one_of(st.none(), st.integers(1, 4)))
    def query(self, data: st.DataObject, index: str | None, forward: bool, limit: int | None) -> None:
        order = ORDERS[index]
        hash_value = data.draw({"pk": partitions, **index_attributes}[order.hash_name])
        expected = self.model.partition(index, hash_value)
        request: dict[str, Any] = {
            "KeyConditionExpression": f"{order.hash_name} = :hash",
            "ExpressionAttributeValues": {":hash": hash_value},
            "ScanIndexForward": forward,
        }
        if order.range_name and data.draw(st.booleans()):
            bound = data.draw({"sk": KEY_VALUES[self.kind], **index_attributes}[order.range_name])
            operator = data.draw(st.sampled_from(["=", "<", "<=", ">", ">="]))
            request["KeyConditionExpression"] += f" AND {order.range_name} {operator} :bound"
            request["ExpressionAttributeValues"][":bound"] = bound
            expected = [
                item for item in expected if holds(operator, in_key_order(item[order.range_name]), in_key_order(bound))
            ]
        condition = data.draw(st.one_of(st.none(), st.none(), conditions))
        if condition is not None and index is None:
            allowed = condition.text.replace("attribute_exists(pk)", "attribute_exists(x)")
            allowed = allowed.replace("attribute_not_exists(pk)", "attribute_not_exists(x)")
            if allowed == condition.text:
                condition.written_into(request, "FilterExpression")
                expected = [item for item in expected if condition.holds(item)]
        found = self.all_pages("Query", index, limit, request)
        self.check_same_items(found, expected)
        if order.range_name:
            values = sort_values(found, order.range_name)
            assert values == sorted(values, reverse=not forward)

    @rule(index=indexes, segments=st.integers(1, 4), limit=st.one_of(st.none(), st.integers(1, 4)))
    def scan(self, index: str | None, segments: int, limit: int | None) -> None:
        found: list[Item] = []
        for segment in range(segments):
            parallel = {"Segment": segment, "TotalSegments": segments} if segments > 1 else {}
            found += self.all_pages("Scan", index, limit, parallel)
        self.check_same_items(found, self.model.shown(index))

    def all_pages(self, operation: str, index: str | None, limit: int | None, request: dict[str, Any]) -> list[Item]:
        if index is not None:
            request = {**request, "IndexName": index}
        if limit is not None:
            request = {**request, "Limit": limit}
        found: list[Item] = []
        while True:
            answer = self.call(operation, **request)
            assert answer["Count"] == len(answer["Items"])
            assert limit is None or answer["ScannedCount"] <= limit
            found += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return found
            request = {**request, "ExclusiveStartKey": answer["LastEvaluatedKey"]}

    def check_same_items(self, found: list[Item], expected: list[Item]) -> None:
        shown = {key_of(item): plain_item(item) for item in found}
        assert len(shown) == len(found), "an item was returned twice"
        assert shown == {key_of(item): plain_item(item) for item in expected}

    # The file, and the end.

    @precondition(lambda self: self.database is not None)
    @rule()
    def reopen(self) -> None:
        assert self.database is not None
        self.loop.run_until_complete(self.database.close())
        self.open()

    def teardown(self) -> None:
        try:
            if self.database is not None:
                self.check_stream()
                self.loop.run_until_complete(self.database.close())
        finally:
            self.loop.close()
            shutil.rmtree(self.folder)

    def check_stream(self) -> None:
        records = self.stream_records()
        told = [
            (key_of(change["Keys"]), (image(change, "OldImage"), image(change, "NewImage")))
            for change in (record["dynamodb"] for record in records)
        ]
        for change in self.model.changes:
            beginning, told = told[: len(change)], told[len(change) :]
            assert dict(beginning) == change
        assert not told

    def stream_records(self) -> list[dict[str, Any]]:
        arn = self.call("DescribeTable")["Table"]["LatestStreamArn"]
        records: list[dict[str, Any]] = []
        for shard in self.call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]:
            request = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
            assert self.database is not None
            iterator = self.loop.run_until_complete(self.database.call("GetShardIterator", request))["ShardIterator"]
            while iterator:
                answer = self.loop.run_until_complete(self.database.call("GetRecords", {"ShardIterator": iterator}))
                if not answer["Records"]:
                    break
                records += answer["Records"]
                iterator = answer.get("NextShardIterator")
        return records


def schema(hash_name: str, range_name: str | None = None) -> list[dict[str, str]]:
    keys = [{"AttributeName": hash_name, "KeyType": "HASH"}]
    return keys + ([{"AttributeName": range_name, "KeyType": "RANGE"}] if range_name else [])


def given(values: dict[str, Any]) -> dict[str, Any]:
    return {"ExpressionAttributeValues": dict(values)} if values else {}


def image(change: dict[str, Any], name: str) -> dict[str, Any] | None:
    return plain_item(change[name]) if name in change else None


def holds(operator: str, value: Any, bound: Any) -> bool:
    match operator:
        case "=":
            return bool(value == bound)
        case "<":
            return bool(value < bound)
        case "<=":
            return bool(value <= bound)
        case ">":
            return bool(value > bound)
        case _:
            return bool(value >= bound)


ORDINARY = settings(
    max_examples=60,
    stateful_step_count=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
TestAgainstADict = AgainstADict.TestCase
TestAgainstADict.settings = ORDINARY


@pytest.mark.soak
class TestAgainstADictForLong(AgainstADict.TestCase):
    settings = settings(ORDINARY, max_examples=2000, stateful_step_count=50)

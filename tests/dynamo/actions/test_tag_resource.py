"""TagResource, UntagResource and ListTagsOfResource."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from potluck.dynamo.actions.tag_resource import checked_tags
from potluck.dynamo.database import Database
from potluck.dynamo.errors import DynamoError

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/Tagged"
TABLE = {
    "TableName": "Tagged",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
}


@pytest_asyncio.fixture
async def database() -> AsyncIterator[Database]:
    async with await Database.open() as database:
        await database.call("CreateTable", TABLE)
        yield database


def listed(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


async def tags_of(database: Database) -> dict[str, str]:
    answer = await database.call("ListTagsOfResource", {"ResourceArn": ARN})
    return {tag["Key"]: tag["Value"] for tag in answer["Tags"]}


async def tag(database: Database, tags: dict[str, str]) -> None:
    assert await database.call("TagResource", {"ResourceArn": ARN, "Tags": listed(tags)}) == {}


async def untag(database: Database, keys: list[str]) -> None:
    assert await database.call("UntagResource", {"ResourceArn": ARN, "TagKeys": keys}) == {}


async def refusal(database: Database, operation: str, request: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(DynamoError) as refused:
        await database.call(operation, request)
    return refused.value.code, refused.value.message


async def test_tags_are_added_replaced_and_removed(database: Database) -> None:
    assert await tags_of(database) == {}
    await tag(database, {"stage": "test", "empty": "", " ": "9", "законные Ѯ": "a+b=c._:/@-"})
    await tag(database, {"stage": "live"})
    assert await tags_of(database) == {"stage": "live", "empty": "", " ": "9", "законные Ѯ": "a+b=c._:/@-"}
    await untag(database, ["stage", "never there", " "])
    assert await tags_of(database) == {"empty": "", "законные Ѯ": "a+b=c._:/@-"}


async def test_tags_outlast_the_process(tmp_path: Path) -> None:
    async with await Database.open(tmp_path / "tags.db") as database:
        await database.call("CreateTable", TABLE)
        await tag(database, {"stage": "test"})
    async with await Database.open(tmp_path / "tags.db") as database:
        assert await tags_of(database) == {"stage": "test"}


async def test_changes_at_the_same_time_all_count(database: Database) -> None:
    await asyncio.gather(*(tag(database, {f"k{number}": "v"}) for number in range(50)))
    assert len(await tags_of(database)) == 50
    removals = (untag(database, [f"k{number}"]) for number in range(25))
    await asyncio.gather(*removals, *(tag(database, {f"k{number}": "w"}) for number in range(25, 50)))
    assert await tags_of(database) == {f"k{number}": "w" for number in range(25, 50)}


async def test_a_table_has_fifty_tags_at_most(database: Database) -> None:
    await tag(database, {f"k{number}": "v" for number in range(30)})
    await tag(database, {f"k{number}": "v" for number in range(10, 50)})
    request = {"ResourceArn": ARN, "Tags": listed({"k50": "v"})}
    assert (await refusal(database, "TagResource", request))[0] == "ValidationException"
    await tag(database, {"k49": "w"})
    assert len(await tags_of(database)) == 50


KEY, VALUE = "tags.1.member.key", "tags.1.member.value"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("", "v", f"Value '' at '{KEY}'"),
        ("k" * 129, "v", f"at '{KEY}'"),
        ("k", "v" * 257, f"at '{VALUE}'"),
        ("hi!", "v", "hi!"),
        ("k", "d%g", "d%g"),
        ("k", '"v"', '"v"'),
        ("tab\t", "v", "tab"),
        ("aws:k", "v", "aws:"),
        ("AWS:k", "v", "aws:"),
    ],
)
async def test_tags_the_service_would_not_take_are_refused(
    database: Database, key: str, value: str, message: str
) -> None:
    code, told = await refusal(database, "TagResource", {"ResourceArn": ARN, "Tags": listed({key: value})})
    assert code == "ValidationException"
    assert message in told
    assert await tags_of(database) == {}


async def test_the_longest_tags_are_taken(database: Database) -> None:
    tags = {"k" * 128: "v" * 256, "א" * 128: "א" * 256}
    await tag(database, tags)
    assert await tags_of(database) == tags


def test_a_key_comes_once() -> None:
    with pytest.raises(DynamoError):
        checked_tags([{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}])
    assert checked_tags([{"Key": "a", "Value": "1"}, {"Key": "A", "Value": "2"}]) == {"a": "1", "A": "2"}


OPERATIONS = ("TagResource", "UntagResource", "ListTagsOfResource")
GIVEN: dict[str, dict[str, Any]] = {
    "TagResource": {"Tags": [{"Key": "a", "Value": "b"}]},
    "UntagResource": {"TagKeys": ["a"]},
    "ListTagsOfResource": {},
}


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_resource_must_be_named(database: Database, operation: str) -> None:
    assert await refusal(database, operation, GIVEN[operation]) == ("ValidationException", "Invalid TableArn")


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    "arn", ["", "abcd", "a:b:c:d:e:f/g", ARN + "/index/byName", ARN + "/stream/x", ARN[:-6] + "ab"]
)
async def test_only_tables_have_tags(database: Database, operation: str, arn: str) -> None:
    assert await refusal(database, operation, {"ResourceArn": arn} | GIVEN[operation]) == (
        "ValidationException",
        f"Invalid TableArn: Invalid ResourceArn provided as input {arn}",
    )


@pytest.mark.parametrize(("operation", "place"), [("TagResource", "tags"), ("UntagResource", "tagKeys")])
async def test_something_must_be_given(database: Database, operation: str, place: str) -> None:
    assert await refusal(database, operation, {"ResourceArn": "a:b:c:d:e:f/g"}) == (
        "ValidationException",
        f"1 validation error detected: Value null at '{place}' failed to satisfy constraint: Member must not be null",
    )
    name, noun = ("Tags", "Tag") if place == "tags" else ("TagKeys", "Tag Key")
    assert await refusal(database, operation, {"ResourceArn": ARN, name: []}) == (
        "ValidationException",
        f"Atleast one {noun} needs to be provided as Input.",
    )


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("arn", [ARN + "x", ARN.replace("us-east-1", "eu-west-1"), ARN.replace("0000:", "0001:")])
async def test_the_table_must_exist(database: Database, operation: str, arn: str) -> None:
    code, message = await refusal(database, operation, {"ResourceArn": arn} | GIVEN[operation])
    named = "" if operation == "UntagResource" else f": ResourcArn: {arn} not found"
    assert (code, message) == ("ResourceNotFoundException", "Requested resource not found" + named)

"""TagResource: tags given to a table."""

import asyncio
import re

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.tags import GIVEN, NO_TABLES, OTHER_TABLES, listed, tag, tags_of


async def test_tags_are_added_and_replaced(dynamo, tagged):
    await tag(dynamo, tagged, {"stage": "test", "empty": "", " ": "9", "законные Ѯ": "a+b=c._:/@-"})
    await tag(dynamo, tagged, {"stage": "live"})
    assert await tags_of(dynamo, tagged) == {"stage": "live", "empty": "", " ": "9", "законные Ѯ": "a+b=c._:/@-"}


async def test_changes_at_the_same_time_all_count(dynamo, tagged):
    await asyncio.gather(*(tag(dynamo, tagged, {f"k{number}": "v"}) for number in range(50)))
    assert len(await tags_of(dynamo, tagged)) == 50


async def test_a_table_has_fifty_tags_at_most(dynamo, tagged):
    await tag(dynamo, tagged, {f"k{number}": "v" for number in range(30)})
    await tag(dynamo, tagged, {f"k{number}": "v" for number in range(10, 50)})
    with pytest.raises(DynamoError, match="ValidationException"):
        await tag(dynamo, tagged, {"k50": "v"})
    await tag(dynamo, tagged, {"k49": "w"})
    assert len(await tags_of(dynamo, tagged)) == 50


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
async def test_tags_the_service_would_not_take_are_refused(dynamo, tagged, key, value, message):
    with pytest.raises(DynamoError) as refused:
        await tag(dynamo, tagged, {key: value})
    assert refused.value.code == "ValidationException"
    assert message in refused.value.message
    assert await tags_of(dynamo, tagged) == {}


async def test_the_longest_tags_are_taken(dynamo, tagged):
    tags = {"k" * 128: "v" * 256, "א" * 128: "א" * 256}
    await tag(dynamo, tagged, tags)
    assert await tags_of(dynamo, tagged) == tags


async def test_a_key_comes_once(dynamo, tagged):
    twice = listed({"a": "1"}) + listed({"a": "2"})
    with pytest.raises(DynamoError, match="ValidationException"):
        await dynamo.call("TagResource", {"ResourceArn": tagged, "Tags": twice})
    await tag(dynamo, tagged, {"a": "1", "A": "2"})
    assert await tags_of(dynamo, tagged) == {"a": "1", "A": "2"}


async def test_something_must_be_given(dynamo, tagged):
    await dynamo.invalid(
        "TagResource",
        {"ResourceArn": "a:b:c:d:e:f/g"},
        "1 validation error detected: Value null at 'tags' failed to satisfy constraint: Member must not be null",
    )
    request = {"ResourceArn": tagged, "Tags": []}
    await dynamo.invalid("TagResource", request, "Atleast one Tag needs to be provided as Input.")


async def test_a_resource_must_be_named(dynamo):
    await dynamo.invalid("TagResource", GIVEN["TagResource"], "Invalid TableArn")


@pytest.mark.parametrize("arn", NO_TABLES)
async def test_only_tables_have_tags(dynamo, tagged, arn):
    arn = arn.format(tagged)
    message = f"Invalid TableArn: Invalid ResourceArn provided as input {arn}"
    await dynamo.invalid("TagResource", {"ResourceArn": arn} | GIVEN["TagResource"], message)


@pytest.mark.parametrize(("part", "other"), OTHER_TABLES)
async def test_the_table_must_exist(dynamo, tagged, part, other):
    arn = re.sub(part, other, tagged)
    message = f"Requested resource not found: ResourcArn: {arn} not found"
    request = {"ResourceArn": arn} | GIVEN["TagResource"]
    await dynamo.refuses("TagResource", request, "ResourceNotFoundException", message)

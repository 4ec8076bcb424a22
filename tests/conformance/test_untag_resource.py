"""UntagResource: tags taken away from a table."""

import asyncio
import re

import pytest

from tests.conformance.tags import GIVEN, NO_TABLES, OTHER_TABLES, tag, tags_of, untag


async def test_tags_are_removed(dynamo, tagged):
    await tag(dynamo, tagged, {"stage": "live", "empty": "", " ": "9"})
    await untag(dynamo, tagged, ["stage", "never there", " "])
    assert await tags_of(dynamo, tagged) == {"empty": ""}


async def test_changes_at_the_same_time_all_count(dynamo, tagged):
    await tag(dynamo, tagged, {f"k{number}": "v" for number in range(50)})
    removals = (untag(dynamo, tagged, [f"k{number}"]) for number in range(25))
    await asyncio.gather(*removals, *(tag(dynamo, tagged, {f"k{number}": "w"}) for number in range(25, 50)))
    assert await tags_of(dynamo, tagged) == {f"k{number}": "w" for number in range(25, 50)}


async def test_something_must_be_given(dynamo, tagged):
    await dynamo.invalid(
        "UntagResource",
        {"ResourceArn": "a:b:c:d:e:f/g"},
        "1 validation error detected: Value null at 'tagKeys' failed to satisfy constraint: Member must not be null",
    )
    request = {"ResourceArn": tagged, "TagKeys": []}
    await dynamo.invalid("UntagResource", request, "Atleast one Tag Key needs to be provided as Input.")


async def test_a_resource_must_be_named(dynamo):
    await dynamo.invalid("UntagResource", GIVEN["UntagResource"], "Invalid TableArn")


@pytest.mark.parametrize("arn", NO_TABLES)
async def test_only_tables_have_tags(dynamo, tagged, arn):
    arn = arn.format(tagged)
    message = f"Invalid TableArn: Invalid ResourceArn provided as input {arn}"
    await dynamo.invalid("UntagResource", {"ResourceArn": arn} | GIVEN["UntagResource"], message)


@pytest.mark.parametrize(("part", "other"), OTHER_TABLES)
async def test_the_table_must_exist(dynamo, tagged, part, other):
    arn = re.sub(part, other, tagged)
    request = {"ResourceArn": arn} | GIVEN["UntagResource"]
    await dynamo.refuses("UntagResource", request, "ResourceNotFoundException", "Requested resource not found")

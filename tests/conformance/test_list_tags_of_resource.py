"""ListTagsOfResource: the tags of a table."""

import re

import pytest

from tests.conformance.tags import GIVEN, NO_TABLES, OTHER_TABLES, tags_of


async def test_a_new_table_has_no_tags(dynamo, tagged):
    assert await tags_of(dynamo, tagged) == {}


async def test_a_resource_must_be_named(dynamo):
    await dynamo.invalid("ListTagsOfResource", GIVEN["ListTagsOfResource"], "Invalid TableArn")


@pytest.mark.parametrize("arn", NO_TABLES)
async def test_only_tables_have_tags(dynamo, tagged, arn):
    arn = arn.format(tagged)
    message = f"Invalid TableArn: Invalid ResourceArn provided as input {arn}"
    await dynamo.invalid("ListTagsOfResource", {"ResourceArn": arn} | GIVEN["ListTagsOfResource"], message)


@pytest.mark.parametrize(("part", "other"), OTHER_TABLES)
async def test_the_table_must_exist(dynamo, tagged, part, other):
    arn = re.sub(part, other, tagged)
    message = f"Requested resource not found: ResourcArn: {arn} not found"
    request = {"ResourceArn": arn} | GIVEN["ListTagsOfResource"]
    await dynamo.refuses("ListTagsOfResource", request, "ResourceNotFoundException", message)

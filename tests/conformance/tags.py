"""Tags, for the tests of their operations."""

from typing import Any

from tests.conformance.targets import Target

__all__ = ["GIVEN", "NO_TABLES", "OTHER_TABLES", "listed", "tag", "tags_of", "untag"]

# What each operation takes besides the table.
GIVEN: dict[str, dict[str, Any]] = {
    "TagResource": {"Tags": [{"Key": "a", "Value": "b"}]},
    "UntagResource": {"TagKeys": ["a"]},
    "ListTagsOfResource": {},
}
# What is no ARN of a table, with the ARN of one in place of {}.
NO_TABLES = ("", "abcd", "a:b:c:d:e:f/g", "{}/index/byName", "{}/stream/x", "arn:aws:dynamodb:us-east-1:0:table/ab")
# Where the table is not: its name, its region and its account are part of its ARN.
OTHER_TABLES = (("$", "x"), (":us-east-1:", ":eu-west-1:"), (":000000000000:", ":000000000001:"))


def listed(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


async def tags_of(dynamo: Target, arn: str) -> dict[str, str]:
    answer = await dynamo.call("ListTagsOfResource", {"ResourceArn": arn})
    return {tag["Key"]: tag["Value"] for tag in answer["Tags"]}


async def tag(dynamo: Target, arn: str, tags: dict[str, str]) -> None:
    assert await dynamo.call("TagResource", {"ResourceArn": arn, "Tags": listed(tags)}) == {}


async def untag(dynamo: Target, arn: str, keys: list[str]) -> None:
    assert await dynamo.call("UntagResource", {"ResourceArn": arn, "TagKeys": keys}) == {}

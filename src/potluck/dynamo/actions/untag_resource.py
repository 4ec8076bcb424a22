"""UntagResource."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.actions.tag_resource import change_tags

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def untag_resource(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    gone = set(request["TagKeys"])
    await change_tags(
        database,
        request["ResourceArn"],
        lambda tags: {key: value for key, value in tags.items() if key not in gone},
    )
    return {}

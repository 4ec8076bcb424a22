"""UntagResource."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.actions.tag_resource import NOT_FOUND, change_tags, table_arn
from potluck.dynamo.errors import invalid

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def untag_resource(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    arn = table_arn(request, "TagKeys")
    gone = set(request["TagKeys"])
    if not gone:
        invalid("Atleast one Tag Key needs to be provided as Input.")
    await change_tags(
        database,
        arn,
        lambda tags: {key: value for key, value in tags.items() if key not in gone},
        NOT_FOUND,
    )
    return {}

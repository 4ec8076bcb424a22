"""ListTagsOfResource."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.actions.tag_resource import table_arn, tagged

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def list_tags_of_resource(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    arn = table_arn(request)
    database.file.refresh_catalog()
    tags = tagged(database.rows, database.namespace, arn).definition.tags
    return {"Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}

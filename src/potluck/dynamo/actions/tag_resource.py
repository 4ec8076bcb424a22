"""TagResource."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.limits import TAGS
from potluck.dynamo.parameters import table_name_of
from potluck.dynamo.storage.rows import Rows
from potluck.dynamo.tables import Table

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def tag_resource(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    given = {tag["Key"]: tag["Value"] for tag in request["Tags"]}
    await change_tags(database, request["ResourceArn"], lambda tags: tags | given)
    return {}


async def change_tags(database: "Database", arn: str, change: Callable[[dict[str, str]], dict[str, str]]) -> None:
    def work(rows: Rows) -> None:
        table = tagged(rows, arn)
        tags = change(table.definition.tags)
        if len(tags) > TAGS:
            invalid(f"One or more parameter values were invalid: a resource can have at most {TAGS} tags")
        rows.catalog.save(rows.connection, Table(msgspec.structs.replace(table.definition, tags=tags)))

    await database.write(work)


def tagged(rows: Rows, arn: str) -> Table:
    """The table an ARN names."""
    table = rows.catalog.tables.get(table_name_of(arn))
    if table is None or table.arn != arn:
        raise DynamoError("ResourceNotFoundException", f"Requested resource not found: ResourcArn: {arn} not found")
    return table

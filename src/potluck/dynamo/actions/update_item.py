"""UpdateItem."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.actions.put_item import write_one
from potluck.dynamo.writes import UpdateWrite

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def update_item(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    return await write_one(database, request, UpdateWrite(request))

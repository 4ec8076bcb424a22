"""DeleteItem."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.actions.put_item import write_one
from potluck.dynamo.writes import Delete

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def delete_item(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    return await write_one(database, request, Delete(request))

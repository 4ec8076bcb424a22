"""ExecuteStatement."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.actions.put_item import write_one
from potluck.dynamo.errors import invalid
from potluck.dynamo.partiql.nodes import DeleteStatement, ExistsStatement, SelectStatement, UpdateStatement
from potluck.dynamo.partiql.select import select
from potluck.dynamo.partiql.statements import ready

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def execute_statement(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    statement, parameters, _ = asked = ready(request)
    if isinstance(statement, SelectStatement):
        return await select(database, statement, parameters, request)
    if isinstance(statement, ExistsStatement):
        invalid("EXISTS can only be used in ExecuteTransaction write requests.")
    written = {"TableName": asked.table, "ReturnConsumedCapacity": request.get("ReturnConsumedCapacity", "NONE")}
    if isinstance(statement, UpdateStatement | DeleteStatement):
        written["ReturnValues"] = statement.returning
    answer = await write_one(database, written, asked.write())
    attributes = answer.pop("Attributes", None)
    return {"Items": [attributes] if attributes else [], **answer}

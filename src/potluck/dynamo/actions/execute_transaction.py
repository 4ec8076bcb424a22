"""ExecuteTransaction."""

from typing import TYPE_CHECKING, Any, NoReturn

from potluck.dynamo.actions.transact_get_items import transact_get_items
from potluck.dynamo.actions.transact_write_items import TransactionWrite
from potluck.dynamo.cancellations import misfit
from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.partiql.columns import Columns
from potluck.dynamo.partiql.exists import NEEDS_CONDITION
from potluck.dynamo.partiql.nodes import DeleteStatement, SelectStatement, UpdateStatement
from potluck.dynamo.partiql.select import single_key
from potluck.dynamo.partiql.statements import ReadyStatement, ready

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

NO_SINGLE_ITEM = "Select statements within ExecuteTransaction must specify the primary key in the where clause."
NO_RETURNING = "RETURNING clause is not supported in ExecuteTransaction."


async def execute_transaction(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    statements = [ready(asked) for asked in request["TransactStatements"]]
    reads = [statement.is_read for statement in statements]
    if any(reads) and not all(reads):
        invalid("ExecuteTransaction API does not support both read and write operations in the same request.")
    run = _read if all(reads) else _write
    return await run(database, statements, request)


async def _read(database: "Database", statements: list[ReadyStatement], request: dict[str, Any]) -> dict[str, Any]:
    gets: list[dict[str, Any]] = []
    columns: list[Columns | None] = []
    for number, asked in enumerate(statements):
        statement = asked.statement
        assert isinstance(statement, SelectStatement)
        columns.append(None if statement.columns is None else Columns(statement.columns))
        _, key = single_key(database, statement, asked.parameters, _at(number, NO_SINGLE_ITEM))
        gets.append({"Get": {"TableName": asked.table, "Key": key}})
    got = {"TransactItems": gets, "ReturnConsumedCapacity": request.get("ReturnConsumedCapacity", "NONE")}
    answer = await transact_get_items(database, got)
    for response, shown in zip(answer["Responses"], columns, strict=True):
        if shown is not None and "Item" in response:
            response["Item"] = shown.apply(response["Item"])
    return answer


async def _write(database: "Database", statements: list[ReadyStatement], request: dict[str, Any]) -> dict[str, Any]:
    for number, asked in enumerate(statements):
        if isinstance(asked.statement, UpdateStatement | DeleteStatement) and asked.statement.returning != "NONE":
            invalid(_at(number, NO_RETURNING))
    writes = [asked.write() for asked in statements]
    tables = [database.table(asked.table) for asked in statements]
    for number, (write, table) in enumerate(zip(writes, tables, strict=True)):
        try:
            write.bind(table)
        except DynamoError as failure:
            _refuse(failure, number, len(writes))
    if len({(write.table.number, write.key) for write in writes}) != len(writes):
        invalid("Transaction request cannot include multiple operations on one item")
    transaction = TransactionWrite(request, request["TransactStatements"], writes, database.namespace, database.clock())
    answer = await database.write(transaction.run)
    return {"Responses": [], **answer}


def _refuse(failure: DynamoError, number: int, count: int) -> NoReturn:
    if failure.message == NEEDS_CONDITION:
        invalid(_at(number, NEEDS_CONDITION))
    raise misfit(failure, number, count) from failure


def _at(number: int, refusal: str) -> str:
    return f"Validation failed in TransactStatements[{number}]: {refusal}"

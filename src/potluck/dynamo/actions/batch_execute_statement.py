"""BatchExecuteStatement."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.capacity import Consumed, read_units
from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.partiql.columns import Columns
from potluck.dynamo.partiql.nodes import DeleteStatement, ExistsStatement, SelectStatement, UpdateStatement
from potluck.dynamo.partiql.select import single_key
from potluck.dynamo.partiql.statements import ReadyStatement, ready
from potluck.dynamo.storage.rows import Rows, unpack
from potluck.dynamo.tables import Table
from potluck.dynamo.writes import Write

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

CODES = {
    "ValidationException": "ValidationError",
    "ResourceNotFoundException": "ResourceNotFound",
    "ConditionalCheckFailedException": "ConditionalCheckFailed",
    "DuplicateItemException": "DuplicateItem",
}
"""How an error is called in the response to its statement; any other error fails the whole call."""

Response = dict[str, Any]
Prepared = ReadyStatement | DynamoError


async def batch_execute_statement(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    statements = [_prepared(asked) for asked in request["Statements"]]
    reads = [isinstance(statement, ReadyStatement) and statement.is_read for statement in statements]
    writes = [isinstance(statement, ReadyStatement) and not statement.is_read for statement in statements]
    if any(reads) and any(writes):
        invalid("Read and write requests together in the same batch is not supported.")
    batch = _ReadBatch(database, statements) if any(reads) else _WriteBatch(database, statements)
    batch.refuse_duplicates()
    responses = await batch.run()
    answer: dict[str, Any] = {"Responses": responses}
    asked = request.get("ReturnConsumedCapacity", "NONE")
    if asked != "NONE":
        answer["ConsumedCapacity"] = [consumed.report(asked) for consumed in batch.consumed.values()]
    return answer


def _prepared(asked: dict[str, Any]) -> Prepared:
    try:
        statement = ready(asked)
        if isinstance(statement.statement, ExistsStatement):
            invalid("EXISTS can only be used in ExecuteTransaction write requests.")
    except DynamoError as failure:
        return failure
    return statement


def error_response(failure: DynamoError, table: str | None = None) -> Response:
    """The response to a statement that failed; raises the error if it fails the whole call."""
    code = CODES.get(failure.code)
    if code is None:
        raise failure
    error: dict[str, Any] = {"Code": code, "Message": failure.message}
    if failure.item is not None:
        error["Item"] = failure.item
    return {"Error": error} if table is None else {"Error": error, "TableName": table}


class _Batch:
    """The statements of a batch, of which each succeeds or fails by itself."""

    def __init__(self, database: "Database", statements: list[Prepared]) -> None:
        self.database = database
        self.responses: list[Response | None] = [None] * len(statements)
        self.places: list[tuple[int, bytes]] = []
        self.consumed: dict[str, Consumed] = {}
        for number, statement in enumerate(statements):
            try:
                if isinstance(statement, DynamoError):
                    raise statement
                self.prepare(number, statement)
            except DynamoError as failure:
                self.responses[number] = error_response(failure)

    def prepare(self, number: int, asked: ReadyStatement) -> None:
        raise NotImplementedError

    def refuse_duplicates(self) -> None:
        if len(set(self.places)) != len(self.places):
            invalid("Provided list of item keys contains duplicates")

    def consumed_of(self, table: Table) -> Consumed:
        return self.consumed.setdefault(table.name, Consumed(table.name))

    async def run(self) -> list[Response]:
        raise NotImplementedError

    def answered(self) -> list[Response]:
        return [response for response in self.responses if response is not None]


class _ReadBatch(_Batch):
    def __init__(self, database: "Database", statements: list[Prepared]) -> None:
        self.reads: list[tuple[int, Table, bytes, Columns | None, bool]] = []
        super().__init__(database, statements)

    def prepare(self, number: int, asked: ReadyStatement) -> None:
        statement = asked.statement
        assert isinstance(statement, SelectStatement)
        columns = None if statement.columns is None else Columns(statement.columns)
        table, key = single_key(self.database, statement, asked.parameters, "Only single item select is supported")
        place = table.checked_key(key)[1]
        self.places.append((table.number, place))
        self.reads.append((number, table, place, columns, asked.request.get("ConsistentRead", False)))

    async def run(self) -> list[Response]:
        for number, table, place, columns, consistent in self.reads:
            row = self.database.rows.get(table, place)
            self.consumed_of(table).read(read_units(row[0] if row else 0, consistent))
            response: Response = {"TableName": table.name}
            if row is not None:
                item = unpack(row[1])
                response["Item"] = item if columns is None else columns.apply(item)
            self.responses[number] = response
        return self.answered()


class _WriteBatch(_Batch):
    def __init__(self, database: "Database", statements: list[Prepared]) -> None:
        self.writes: list[tuple[int, Write, str]] = []
        super().__init__(database, statements)

    def prepare(self, number: int, asked: ReadyStatement) -> None:
        write = asked.write()
        write.bind(self.database.table(asked.table))
        self.places.append((write.table.number, write.key))
        statement = asked.statement
        returning = statement.returning if isinstance(statement, UpdateStatement | DeleteStatement) else "NONE"
        self.writes.append((number, write, returning))

    async def run(self) -> list[Response]:
        if self.writes:
            now = self.database.clock()
            await self.database.write(lambda rows: self._write(rows, now))
        return self.answered()

    def _write(self, rows: Rows, now: float) -> None:
        for number, write, returning in self.writes:
            table = write.table
            try:
                old, new = write.evaluate(rows)
            except DynamoError as failure:
                self.responses[number] = error_response(failure, table.name)
                continue
            rows.store(table, write.key, old, new, now, touched=write.touched)
            self.consumed_of(table).write(table, old, new)
            response: Response = {"TableName": table.name}
            if returning != "NONE" and (attributes := write.returned(returning, old, new)):
                response["Item"] = attributes
            self.responses[number] = response

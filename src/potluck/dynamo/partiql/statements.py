"""Statements that are ready to run: parsed, with their parameters, and for writes the write that each one is."""

from collections.abc import Callable
from typing import Any, NamedTuple

from potluck.dynamo.partiql.bindings import checked_parameters
from potluck.dynamo.partiql.delete import DeleteStatementWrite
from potluck.dynamo.partiql.exists import ExistsCheck
from potluck.dynamo.partiql.insert import InsertWrite
from potluck.dynamo.partiql.nodes import (
    DeleteStatement,
    ExistsStatement,
    InsertStatement,
    SelectStatement,
    Statement,
    UpdateStatement,
)
from potluck.dynamo.partiql.parser import parse
from potluck.dynamo.partiql.update import UpdateStatementWrite
from potluck.dynamo.values import Value
from potluck.dynamo.writes import Write

WRITES: dict[type[Statement], Callable[[Any, list[Value], dict[str, Any]], Write]] = {
    InsertStatement: InsertWrite,
    UpdateStatement: UpdateStatementWrite,
    DeleteStatement: DeleteStatementWrite,
    ExistsStatement: ExistsCheck,
}


class ReadyStatement(NamedTuple):
    """A statement with its parameters; `request` is the part of the call that is about it."""

    statement: Statement
    parameters: list[Value]
    request: dict[str, Any]

    @property
    def table(self) -> str:
        """The name of the table that it is about."""
        statement = self.statement
        return (
            statement.select.source.table_name
            if isinstance(statement, ExistsStatement)
            else statement.source.table_name
        )

    @property
    def is_read(self) -> bool:
        return isinstance(self.statement, SelectStatement)

    def write(self) -> Write:
        """The write that it is, not bound to its table yet."""
        return WRITES[type(self.statement)](self.statement, self.parameters, self.request)


def ready(request: dict[str, Any]) -> ReadyStatement:
    """The statement of a request, or of one element of a batch or transaction."""
    parsed = parse(request["Statement"])
    return ReadyStatement(parsed.statement, checked_parameters(parsed, request.get("Parameters", ())), request)

"""DELETE: a deletion of one item; none is needed, whatever else its conditions say."""

from typing import Any

from potluck.dynamo.partiql.keyed import WhereWrite
from potluck.dynamo.partiql.nodes import DeleteStatement
from potluck.dynamo.storage.rows import ItemRow, Rows
from potluck.dynamo.values import Value


class DeleteStatementWrite(WhereWrite):
    """The write of a DELETE."""

    def __init__(self, statement: DeleteStatement, parameters: list[Value], request: dict[str, Any]) -> None:
        self.read_where(statement.where, parameters, request)

    def become(self, old: ItemRow | None) -> ItemRow | None:
        return None

    def evaluate(self, rows: Rows) -> tuple[ItemRow | None, ItemRow | None]:
        return super().evaluate(rows) if self.is_there(rows) else (None, None)

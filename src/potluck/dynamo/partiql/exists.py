"""EXISTS: a condition of a transaction on an item that it does not change."""

from typing import Any

from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.partiql.keyed import ExistingItem
from potluck.dynamo.partiql.nodes import ExistsStatement
from potluck.dynamo.storage.rows import ItemRow
from potluck.dynamo.tables import Table
from potluck.dynamo.values import Value
from potluck.dynamo.writes import Check

NEEDS_CONDITION = "EXISTS() must contain a single item read with additional condition"


class ExistsCheck(ExistingItem, Check):
    """The check of an EXISTS."""

    def __init__(self, statement: ExistsStatement, parameters: list[Value], request: dict[str, Any]) -> None:
        self.read_where(statement.select.where, parameters, request)

    def become(self, old: ItemRow | None) -> ItemRow | None:
        return old

    def bind(self, table: Table) -> None:
        try:
            super().bind(table)
        except DynamoError:
            invalid(NEEDS_CONDITION)
        if self.condition is None:
            invalid(NEEDS_CONDITION)

"""INSERT: a put of an item that must not exist yet."""

from typing import Any

from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.partiql.literals import members_of
from potluck.dynamo.partiql.nodes import InsertStatement, TupleLiteral
from potluck.dynamo.storage.rows import ItemRow, Rows
from potluck.dynamo.tables import Table
from potluck.dynamo.values import Value, kind_of
from potluck.dynamo.writes import Put


class InsertWrite(Put):
    """The write of an INSERT."""

    def __init__(self, statement: InsertStatement, parameters: list[Value], request: dict[str, Any]) -> None:
        if not isinstance(statement.item, TupleLiteral):
            invalid(
                "Unsupported format in item expression. Please use struct format {...} to express item values for "
                f"insert statement. at {statement.item.at}"
            )
        super().__init__({}, members_of(statement.item, parameters))

    def bind(self, table: Table) -> None:
        for name in table.key_names:
            if name not in self.item:
                invalid(f"Key attribute should be present in the item: Key {name}")
            if kind_of(self.item[name]) != table.definition.attributes[name]:
                invalid(f"Key attribute's data type should match its data type in table's schema: Key {name}")
        super().bind(table)

    def evaluate(self, rows: Rows) -> tuple[ItemRow | None, ItemRow | None]:
        old, new = super().evaluate(rows)
        if old is not None:
            raise DynamoError("DuplicateItemException", "Duplicate primary key exists in table")
        return None, new

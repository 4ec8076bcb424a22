"""What the writes of UPDATE, DELETE and EXISTS have in common: WHERE names one item, and may have other conditions."""

from typing import Any

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.expressions import Condition
from potluck.dynamo.partiql.conditions import condition_of, conjuncts_of
from potluck.dynamo.partiql.keys import key_of
from potluck.dynamo.partiql.nodes import Expression
from potluck.dynamo.storage.rows import ItemRow, Rows
from potluck.dynamo.tables import Table
from potluck.dynamo.values import Value
from potluck.dynamo.writes import Keyed


class WhereWrite(Keyed):
    """A write whose key is known once its table is."""

    conjuncts: list[Expression]
    parameters: list[Value]

    def read_where(self, where: Expression | None, parameters: list[Value], request: dict[str, Any]) -> None:
        self.conjuncts = conjuncts_of(where)
        self.parameters = parameters
        self.given_key = {}
        self.condition: Condition | None = condition_of(self.conjuncts, parameters)
        self.tells_failed = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"

    def bind(self, table: Table) -> None:
        self.given_key, others = key_of(table, self.conjuncts, self.parameters)
        self.condition = condition_of(others, self.parameters)
        super().bind(table)

    def is_there(self, rows: Rows) -> bool:
        rows.check_current(self.table)
        return rows.get(self.table, self.key) is not None


class ExistingItem(WhereWrite):
    """A write of an item that must exist."""

    def evaluate(self, rows: Rows) -> tuple[ItemRow | None, ItemRow | None]:
        if not self.is_there(rows):
            raise DynamoError("ConditionalCheckFailedException", "The conditional request failed")
        return super().evaluate(rows)

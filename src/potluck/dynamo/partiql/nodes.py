"""The nodes of a parsed statement."""

from typing import NamedTuple

from potluck.dynamo.values import Value


class Position(NamedTuple):
    """Where a token is in the statement's text, and how long it is."""

    line: int
    column: int
    length: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}:{self.length}"


class Literal(NamedTuple):
    """A scalar: a text, a number, true, false or null."""

    value: Value
    at: Position


class Parameter(NamedTuple):
    """A question mark, by its position among the statement's question marks."""

    number: int
    at: Position


class AttributePath(NamedTuple):
    """An attribute, or a part of one: names and list indexes, outermost first."""

    parts: tuple[str | int, ...]
    at: Position


class Missing(NamedTuple):
    """MISSING, the value of an attribute that is not there."""

    at: Position


class Unsupported(NamedTuple):
    """Syntax of PartiQL that DynamoDB does not support, such as an Ion literal; refused where it is used."""

    name: str
    at: Position


class ListLiteral(NamedTuple):
    """A list in brackets; in parentheses, only IN takes it."""

    elements: "tuple[Expression, ...]"
    at: Position


class BagLiteral(NamedTuple):
    """<<…>>, a set."""

    elements: "tuple[Expression, ...]"
    at: Position


class TupleLiteral(NamedTuple):
    """{…}, a map."""

    members: "tuple[tuple[Expression, Expression], ...]"
    at: Position


class FunctionCall(NamedTuple):
    function: str
    operands: "tuple[Expression, ...]"
    at: Position


class OperatorExpression(NamedTuple):
    """An operator with its operands: AND, OR, NOT, a comparison, IN, BETWEEN, IS, or arithmetic."""

    operator: str
    operands: "tuple[Expression, ...]"
    at: Position


Expression = (
    Literal
    | Parameter
    | AttributePath
    | Missing
    | Unsupported
    | ListLiteral
    | BagLiteral
    | TupleLiteral
    | FunctionCall
    | OperatorExpression
)


class FromClause(NamedTuple):
    """The table a statement is about, and the index to read."""

    table_name: str
    index_name: str | None


class Order(NamedTuple):
    """One key of ORDER BY."""

    attribute: str
    descends: bool


class SelectStatement(NamedTuple):
    """SELECT; no columns mean the whole item."""

    columns: tuple[AttributePath, ...] | None
    source: FromClause
    where: Expression | None
    order: tuple[Order, ...]


class InsertStatement(NamedTuple):
    source: FromClause
    item: Expression


class PathAssignment(NamedTuple):
    """SET of one path, or REMOVE, which has no value."""

    path: AttributePath
    value: Expression | None


class UpdateStatement(NamedTuple):
    """UPDATE; `returning` is a value of ReturnValues."""

    source: FromClause
    assignments: tuple[PathAssignment, ...]
    where: Expression | None
    returning: str


class DeleteStatement(NamedTuple):
    source: FromClause
    where: Expression | None
    returning: str


class ExistsStatement(NamedTuple):
    """EXISTS(SELECT …), a condition of a transaction."""

    select: SelectStatement


Statement = SelectStatement | InsertStatement | UpdateStatement | DeleteStatement | ExistsStatement


class ParsedStatement(NamedTuple):
    """A statement, and how many parameters it takes."""

    statement: Statement
    parameters: int

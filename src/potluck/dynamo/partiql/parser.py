"""The grammar of statements."""

from collections.abc import Callable
from functools import lru_cache
from typing import NoReturn

from potluck.dynamo.errors import invalid
from potluck.dynamo.expressions.parser import HIGHEST_INDEX
from potluck.dynamo.partiql.nodes import (
    AttributePath,
    BagLiteral,
    DeleteStatement,
    ExistsStatement,
    Expression,
    FromClause,
    FunctionCall,
    InsertStatement,
    ListLiteral,
    Literal,
    Missing,
    OperatorExpression,
    Order,
    Parameter,
    ParsedStatement,
    PathAssignment,
    Position,
    SelectStatement,
    Statement,
    TupleLiteral,
    Unsupported,
    UpdateStatement,
)
from potluck.dynamo.partiql.tokens import END, ION, NAME, NUMBER, TEXT, Malformed, StatementToken, cut
from potluck.dynamo.values import checked_value

DEEPEST = 48
"""Expressions nested more deeply, and sums of more operators, are refused: values have at most 32 levels."""

COMPARATORS = {"=": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
FUNCTION_KEYWORDS = frozenset(("SIZE", "EXISTS", "COUNT", "SUM", "AVG", "MIN", "MAX", "UPPER", "LOWER", "CHAR_LENGTH"))
CONSTANTS = {"TRUE": {"BOOL": True}, "FALSE": {"BOOL": False}, "NULL": {"NULL": True}}
# What IS compares with: the type that the service names, and how attribute_type writes it.
TYPES = {
    "NULL": "NULL",
    "BOOL": "BOOL",
    "BOOLEAN": "BOOL",
    "BLOB": "B",
    "STRING": "S",
    "NUMERIC": "N",
    "STRUCT": "M",
    "TUPLE": "M",
    "LIST": "L",
}
TYPE_NAMES = "MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST"
OTHER_TYPES = {
    "BAG": "BAG",
    "INT": "INTEGER",
    "INTEGER": "INTEGER",
    "SMALLINT": "SMALLINT",
    "DECIMAL": "DECIMAL",
    "DEC": "DECIMAL",
    "FLOAT": "FLOAT",
    "REAL": "REAL",
    "DOUBLE": "DOUBLE_PRECISION",
    "SYMBOL": "SYMBOL",
    "CLOB": "CLOB",
    "SEXP": "SEXP",
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP",
    "CHAR": "CHARACTER",
    "VARCHAR": "CHARACTER_VARYING",
}
RETURNED = {("ALL", "OLD"): "ALL_OLD", ("ALL", "NEW"): "ALL_NEW"} | {
    ("MODIFIED", "OLD"): "UPDATED_OLD",
    ("MODIFIED", "NEW"): "UPDATED_NEW",
}
NOTHING = "NONE"


@lru_cache(maxsize=1024)
def parse(text: str) -> ParsedStatement:
    """The statement, or the service's error."""
    try:
        parser = _Parser(cut(text))
        statement = parser.statement()
        parser.accept(";")
        parser.expect(END)
    except Malformed:
        invalid(f"Statement wasn't well formed, can't be processed: {text}")
    return ParsedStatement(statement, parser.parameters)


class _Parser:
    """Parses one statement from left to right."""

    def __init__(self, tokens: list[StatementToken]) -> None:
        self.tokens = tokens
        self.position = 0
        self.parameters = 0
        self.depth = 0
        self.operators = 0

    # --- tokens ---

    @property
    def token(self) -> StatementToken:
        return self.tokens[self.position]

    def accept(self, *kinds: str) -> bool:
        """Pass over these tokens if they come next."""
        following = self.tokens[self.position : self.position + len(kinds)]
        if tuple(token.kind for token in following) != kinds:
            return False
        self.position += len(kinds)
        return True

    def expect(self, kind: str) -> StatementToken:
        token = self.token
        if token.kind != kind:
            raise Malformed
        self.position += 1
        return token

    # --- statements ---

    def statement(self) -> Statement:
        if self.accept("SELECT"):
            return self.select()
        if self.accept("INSERT", "INTO"):
            return self.insert()
        if self.accept("UPDATE"):
            return self.update()
        if self.accept("DELETE", "FROM"):
            return self.delete()
        if self.accept("EXISTS", "("):
            self.expect("SELECT")
            select = self.select()
            self.expect(")")
            return ExistsStatement(select)
        return self.unsupported_statement()

    def unsupported_statement(self) -> NoReturn:
        if self.token.kind in ("DROP", "CREATE") and self.tokens[self.position + 1].kind in ("TABLE", "INDEX"):
            verb, noun = self.token.kind.title(), self.tokens[self.position + 1].kind.title()
            invalid(f"Unsupported operation: {verb}{noun}")
        expression = self.expression()
        self.expect(END)
        if isinstance(expression, OperatorExpression | FunctionCall):
            invalid("Unsupported operation in transaction.")
        invalid(f"Unsupported operation: {'VariableReference' if isinstance(expression, AttributePath) else 'Literal'}")

    def select(self) -> SelectStatement:
        if self.token.kind == "DISTINCT":
            invalid("Unsupported token in expression: DISTINCT")
        if self.token.kind in ("VALUE", "PIVOT"):
            invalid("Select projection doesn't support value or pivot keywords")
        columns = None if self.accept("*") else self.columns()
        self.expect("FROM")
        source = self.source()
        if self.token.kind == ",":
            invalid("Only select from a single table or index is supported.")
        where = self.where()
        order = self.order()
        self.refuse_clauses()
        return SelectStatement(columns, source, where, order)

    def columns(self) -> tuple[AttributePath, ...]:
        columns = [self.column()]
        while self.accept(","):
            columns.append(self.column())
        return tuple(columns)

    def column(self) -> AttributePath:
        expression = self.expression()
        if self.accept(".", "*"):
            invalid("Changing item's hierarchy while reading isn't supported")
        self.refuse_alias()
        if not isinstance(expression, AttributePath):
            invalid(f"Unexpected path component at {expression.at}")
        return expression

    def refuse_alias(self) -> None:
        if self.token.kind in ("AS", NAME):
            invalid("Aliasing is not supported")

    def source(self) -> FromClause:
        expression = self.operand()
        if not isinstance(expression, AttributePath):
            invalid("Unexpected from source")
        names = [part for part in expression.parts if isinstance(part, str)]
        if len(names) != len(expression.parts):
            invalid("Invalid list expression in source.")
        if len(names) > 2:
            invalid("A path may contain at most 2 components in the FROM clause")
        self.refuse_alias()
        return FromClause(names[0], names[1] if len(names) > 1 else None)

    def where(self) -> Expression | None:
        return self.expression() if self.accept("WHERE") else None

    def order(self) -> tuple[Order, ...]:
        if not self.accept("ORDER", "BY"):
            return ()
        keys = [self.order_key()]
        while self.accept(","):
            keys.append(self.order_key())
        return tuple(keys)

    def order_key(self) -> Order:
        expression = self.operand()
        if not isinstance(expression, AttributePath) or len(expression.parts) != 1:
            invalid("ORDER BY clause must contain only key attributes")
        descends = self.accept("DESC")
        if not descends:
            self.accept("ASC")
        return Order(str(expression.parts[0]), descends)

    def refuse_clauses(self) -> None:
        if self.accept("GROUP", "BY"):
            invalid("Unsupported clause: GROUP BY")
        if self.accept("HAVING"):
            invalid("Unsupported clause: HAVING")
        if self.accept("LIMIT"):
            invalid(f"Unsupported clause: LIMIT at {self.expression().at}")

    def insert(self) -> InsertStatement:
        source = self.source()
        if source.index_name is not None:
            invalid("FROM clause may only contain a single table name in data manipulation statements")
        if self.token.kind == "{":
            invalid("Unsupported operation: InsertOp")
        self.expect("VALUE")
        item = self.expression()
        if self.token.kind == "RETURNING":
            invalid("RETURNING is not supported in INSERT")
        return InsertStatement(source, item)

    def update(self) -> UpdateStatement:
        source = self.changed_source()
        assignments: list[PathAssignment] = []
        while True:
            if self.accept("SET"):
                assignments.append(self.assignment())
                while self.accept(","):
                    assignments.append(self.assignment())
            elif self.accept("REMOVE"):
                assignments.append(PathAssignment(self.target(), None))
            else:
                break
        if not assignments:
            raise Malformed
        return UpdateStatement(source, tuple(assignments), self.where(), self.returning())

    def changed_source(self) -> FromClause:
        source = self.source()
        if source.index_name is not None:
            invalid("This operation is not supported on an index")
        return source

    def assignment(self) -> PathAssignment:
        path = self.target()
        self.expect("=")
        self.operators = 0
        return PathAssignment(path, self.expression())

    def target(self) -> AttributePath:
        expression = self.operand()
        if not isinstance(expression, AttributePath):
            raise Malformed
        return expression

    def delete(self) -> DeleteStatement:
        source = self.changed_source()
        where = self.where()
        start = self.position
        returning = self.returning()
        if returning not in (NOTHING, "ALL_OLD"):
            clause = " ".join(token.text.upper() for token in self.tokens[start : self.position])
            invalid(f"Invalid returning clause: {clause}. Only RETURNING ALL OLD * is allowed in DELETE statements.")
        return DeleteStatement(source, where, returning)

    def returning(self) -> str:
        """What the statement returns, as a value of ReturnValues."""
        if not self.accept("RETURNING"):
            return NOTHING
        extent, age = self.token.kind, self.tokens[min(self.position + 1, len(self.tokens) - 1)].kind
        if (extent, age) not in RETURNED:
            raise Malformed
        self.position += 2
        if not self.accept("*"):
            invalid("Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause")
        if self.token.kind == ",":
            invalid("Invalid syntax with multiple returning elements in RETURNING clause")
        return RETURNED[extent, age]

    # --- expressions, from the loosest operator to the tightest ---

    def expression(self) -> Expression:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Malformed
        expression = self.joined("OR")
        self.depth -= 1
        return expression

    def joined(self, operator: str) -> Expression:
        first = self.joined("AND") if operator == "OR" else self.negation()
        if self.token.kind != operator:
            return first
        at = self.token.at
        parts = [first]
        while self.accept(operator):
            parts.append(self.joined("AND") if operator == "OR" else self.negation())
        return OperatorExpression(operator, tuple(parts), at)

    def negation(self) -> Expression:
        at = self.token.at
        times = 0
        while self.accept("NOT"):
            times += 1
        expression = self.comparison()
        return OperatorExpression("NOT", (expression,), at) if times % 2 else expression

    def comparison(self) -> Expression:
        left = self.sum()
        kind, at = self.token.kind, self.token.at
        if kind in COMPARATORS:
            self.position += 1
            return OperatorExpression(COMPARATORS[kind], (left, self.sum()), at)
        if self.accept("IS"):
            return self.is_of_type(left, at)
        if kind in ("NOT", "BETWEEN", "IN", "LIKE"):
            negated = self.accept("NOT")
            operation = self.keyword_comparison(left, at)
            return OperatorExpression("NOT", (operation,), at) if negated else operation
        return left

    def keyword_comparison(self, left: Expression, at: Position) -> OperatorExpression:
        if self.accept("BETWEEN"):
            low = self.sum()
            self.expect("AND")
            return OperatorExpression("BETWEEN", (left, low, self.sum()), at)
        if self.accept("IN"):
            if self.accept("("):
                # The only place where a list may be in parentheses, also one of a single element.
                return OperatorExpression("IN", (left, ListLiteral(self.elements(")"), at)), at)
            return OperatorExpression("IN", (left, self.sum()), at)
        self.expect("LIKE")
        return OperatorExpression("like", (left, self.sum()), at)

    def is_of_type(self, left: Expression, at: Position) -> OperatorExpression:
        negated = self.accept("NOT")
        if isinstance(left, Missing):
            invalid("The left hand side argument to IS must be a Variable Reference, Literal, or AttributePath")
        kind = self.token.kind
        if kind in OTHER_TYPES:
            invalid(
                f"Unsupported data type for IS operator: {OTHER_TYPES[kind]}. "
                f"Supported data types are [{TYPE_NAMES}] at {at}"
            )
        if kind != "MISSING" and kind not in TYPES:
            raise Malformed
        type_at = self.token.at
        self.position += 1
        wanted = Missing(type_at) if kind == "MISSING" else Literal({"S": TYPES[kind]}, type_at)
        operation = OperatorExpression("IS", (left, wanted), at)
        return OperatorExpression("NOT", (operation,), at) if negated else operation

    def sum(self) -> Expression:
        return self.chain(("+", "-", "||"), lambda: self.chain(("*", "/", "%"), self.signed))

    def chain(self, operators: tuple[str, ...], operand: Callable[[], Expression]) -> Expression:
        """Operands joined by operators of one rank, from left to right."""
        left = operand()
        while (operator := self.token).kind in operators:
            # Counted over the whole value: a sum inside of a sum makes it deeper too.
            self.operators += 1
            if self.operators > DEEPEST:
                raise Malformed
            self.position += 1
            left = OperatorExpression(operator.kind, (left, operand()), operator.at)
        return left

    def signed(self) -> Expression:
        sign = self.token
        if not self.accept("-") and not self.accept("+"):
            return self.operand()
        self.depth += 1
        if self.depth > DEEPEST:
            raise Malformed
        operand = self.signed()
        self.depth -= 1
        if isinstance(operand, Literal) and "N" in operand.value:
            number: str = operand.value["N"]
            if sign.kind == "-":
                number = number[1:] if number.startswith("-") else f"-{number}"
            return Literal(checked_value({"N": number})[0], sign.at)
        return OperatorExpression(sign.kind, (operand,), sign.at)

    # --- operands ---

    def operand(self) -> Expression:
        token = self.token
        kind = token.kind
        following = self.tokens[min(self.position + 1, len(self.tokens) - 1)].kind
        if following == "(" and (kind is NAME or kind in FUNCTION_KEYWORDS):
            return self.call()
        if kind == "@" and following is NAME:
            self.position += 1
            return self.path()
        if kind is NAME:
            return self.path()
        self.position += 1
        if kind is TEXT:
            return Literal({"S": token.text}, token.at)
        if kind is NUMBER:
            return Literal(checked_value({"N": token.text})[0], token.at)
        if kind in CONSTANTS:
            return Literal(CONSTANTS[kind], token.at)
        if kind == "MISSING":
            return Missing(token.at)
        if kind == "?":
            self.parameters += 1
            return Parameter(self.parameters - 1, token.at)
        if kind is ION:
            return Unsupported("ION", token.at)
        if kind == "[":
            return ListLiteral(self.elements("]"), token.at)
        if kind == "<<":
            return BagLiteral(self.elements(">>"), token.at)
        if kind == "{":
            return TupleLiteral(self.members(), token.at)
        if kind == "(":
            return self.group(token.at)
        raise Malformed

    def group(self, at: Position) -> Expression:
        if self.token.kind == "SELECT":
            invalid(f"Unsupported token in expression: SELECT at {self.token.at}")
        expression = self.expression()
        if self.token.kind == ",":
            self.position += 1
            return Unsupported("Seq", at) if self.elements(")") else expression
        self.expect(")")
        return expression

    def elements(self, end: str) -> tuple[Expression, ...]:
        if self.accept(end):
            return ()
        elements = [self.expression()]
        while self.accept(","):
            elements.append(self.expression())
        self.expect(end)
        return tuple(elements)

    def members(self) -> tuple[tuple[Expression, Expression], ...]:
        if self.accept("}"):
            return ()
        members = [self.member()]
        while self.accept(","):
            members.append(self.member())
        self.expect("}")
        return tuple(members)

    def member(self) -> tuple[Expression, Expression]:
        name = self.expression()
        self.expect(":")
        return name, self.expression()

    def call(self) -> FunctionCall:
        token = self.token
        self.position += 2
        if self.token.kind == "SELECT":
            invalid(f"Unsupported token in expression: SELECT at {self.token.at}")
        # COUNT(*) is a call too, which no clause takes.
        operands = () if self.accept("*", ")") else self.elements(")")
        return FunctionCall(token.text.lower(), operands, token.at)

    def path(self) -> AttributePath:
        token = self.expect(NAME)
        parts: list[str | int] = [token.text]
        while True:
            if self.token.kind == "." and self.tokens[self.position + 1].kind is NAME:
                parts.append(self.tokens[self.position + 1].text)
                self.position += 2
            elif self.accept("["):
                parts.append(self.step())
            else:
                break
        if "" in parts:
            invalid("Path component cannot be an empty string")
        return AttributePath(tuple(parts), token.at)

    def step(self) -> str | int:
        """What is in the brackets of a path: a list index, or a name in quotes."""
        expression = self.expression()
        self.expect("]")
        if not isinstance(expression, Literal) or expression.value.keys() & {"S", "N"} == set():
            invalid(f"Unexpected path component at {expression.at}")
        if "S" in expression.value:
            return str(expression.value["S"])
        number: str = expression.value["N"]
        if not number.isdigit() or int(number) > HIGHEST_INDEX:
            invalid(f"List index is not within the allowable range; index: [{number}] at {expression.at}")
        return int(number)

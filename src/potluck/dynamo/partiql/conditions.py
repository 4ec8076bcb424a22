"""WHERE as a condition on items."""

from collections.abc import Iterable, Sequence

from potluck.dynamo.errors import invalid
from potluck.dynamo.expressions import Condition
from potluck.dynamo.expressions.conditions import condition_of_nodes
from potluck.dynamo.expressions.failures import ExpressionError
from potluck.dynamo.expressions.nodes import Comparison, Function, Junction, Negation, Node, Operand
from potluck.dynamo.expressions.parser import CONDITION_FUNCTIONS, UPDATE_FUNCTIONS, ParsedCondition
from potluck.dynamo.partiql.bindings import Bindings
from potluck.dynamo.partiql.nodes import Expression, FunctionCall, ListLiteral, Literal, Missing, OperatorExpression
from potluck.dynamo.values import Value

COMPARISONS = frozenset(("=", "<>", "<", "<=", ">", ">=", "BETWEEN"))
UPDATE_ONLY = UPDATE_FUNCTIONS | {"set_add", "set_delete"}


def condition_of(conjuncts: Sequence[Expression], parameters: Sequence[Value]) -> Condition | None:
    """The condition that all of these hold; None if there are none."""
    if not conjuncts:
        return None
    reader = _ConditionReader(Bindings(parameters))
    parts = [reader.condition(conjunct) for conjunct in conjuncts]
    root = parts[0] if len(parts) == 1 else Junction("AND", parts)
    return reader.compiled(root)


def is_condition(expression: Expression) -> bool:
    return isinstance(expression, OperatorExpression | FunctionCall)


class _ConditionReader:
    """Turns the nodes of a statement into those of a condition expression."""

    def __init__(self, bindings: Bindings) -> None:
        self.bindings = bindings
        self.finished: list[Operand | Comparison] = []
        self.operators = 0

    def compiled(self, root: Node) -> Condition:
        try:
            return condition_of_nodes(ParsedCondition(root, self.finished, self.operators), self.bindings)
        except ExpressionError as problem:
            invalid(str(problem))

    def condition(self, expression: Expression) -> Node:
        if isinstance(expression, FunctionCall):
            if expression.function == "size":
                invalid("The function is not allowed to be used this way in an expression; function: size")
            return self.call(expression)
        if not isinstance(expression, OperatorExpression):
            invalid("WHERE clause must contain an expression that resolves to a boolean")
        operator, operands = expression.operator, expression.operands
        self.operators += max(1, len(operands) - 1) if operator in ("AND", "OR") else 1
        if operator in ("AND", "OR"):
            if not all(map(is_condition, operands)):
                invalid("The arguments to AND/OR must be Expressions")
            return Junction(operator, [self.condition(operand) for operand in operands])
        if operator == "NOT":
            return Negation(self.condition(operands[0]), 1)
        if operator == "IS":
            return self.typed(*operands)
        if operator == "IN":
            return self.among(*operands)
        if operator not in COMPARISONS:
            invalid(f"Unsupported operator in Condition Expression. Operator: {operator}")
        return self.compared_verdict(expression) or self.comparison(operator, operands)

    def comparison(self, operator: str, operands: Iterable[Expression]) -> Comparison:
        comparison = Comparison(operator, [self.operand(operand) for operand in operands])
        self.finished.append(comparison)
        return comparison

    def compared_verdict(self, comparison: OperatorExpression) -> Node | None:
        """A function that answers true or false, compared with one of these: `contains(tags, 'x') = true`."""
        if comparison.operator not in ("=", "<>") or len(comparison.operands) != 2:
            return None
        left, right = comparison.operands
        if isinstance(left, Literal):
            left, right = right, left
        if not isinstance(left, FunctionCall) or left.function == "size" or not isinstance(right, Literal):
            return None
        if "BOOL" not in right.value:
            return None
        holds = right.value["BOOL"] is (comparison.operator == "=")
        node = self.call(left)
        return node if holds else Negation(node, 1)

    def among(self, left: Expression, right: Expression) -> Comparison:
        if not isinstance(right, ListLiteral) or not right.elements:
            invalid(
                "IN operator must have a left hand argument of type Variable Reference "
                "and right hand argument of type Seq with at least one member"
            )
        return self.comparison("IN", (left, *right.elements))

    def typed(self, left: Expression, kind: Expression) -> Function:
        """IS MISSING, IS NULL or IS of another type."""
        if isinstance(kind, Missing):
            return self.function("attribute_not_exists", [self.operand(left)])
        assert isinstance(kind, Literal)
        wanted = self.bindings.value(kind.value)
        operand = self.operand(left)
        self.finished.append(wanted)
        return self.function("attribute_type", [operand, wanted])

    def operand(self, expression: Expression) -> Operand:
        if isinstance(expression, FunctionCall):
            if expression.function != "size" and expression.function in CONDITION_FUNCTIONS:
                invalid(
                    f"The function is not allowed to be used this way in an expression; function: {expression.function}"
                )
            return self.call(expression)
        if isinstance(expression, OperatorExpression):
            invalid(f"Unsupported operator in Condition Expression. Operator: {expression.operator}")
        operand = self.bindings.operand(expression)
        self.finished.append(operand)
        return operand

    def call(self, call: FunctionCall) -> Function:
        if call.function in UPDATE_ONLY:
            invalid(f"The function is not allowed in a condition expression; function: {call.function}")
        if call.function == "exists":
            invalid("EXISTS can only be used in ExecuteTransaction write requests.")
        if call.function not in CONDITION_FUNCTIONS:
            invalid(f"Unrecognized function: {call.function}")
        self.operators += 1
        return self.function(call.function, [self.operand(operand) for operand in call.operands])

    def function(self, name: str, operands: "list[Operand]") -> Function:
        function = Function(name)
        function.operands = operands
        self.finished.append(function)
        return function


def conjuncts_of(where: Expression | None) -> list[Expression]:
    """The conditions that WHERE joins by AND, from left to right."""
    if where is None:
        return []
    if isinstance(where, OperatorExpression) and where.operator == "AND" and all(map(is_condition, where.operands)):
        return [conjunct for operand in where.operands for conjunct in conjuncts_of(operand)]
    return [where]

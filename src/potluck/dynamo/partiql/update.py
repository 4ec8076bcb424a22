"""UPDATE: an update of one item that must exist."""

from collections.abc import Sequence
from typing import Any

from potluck.dynamo.errors import invalid
from potluck.dynamo.expressions import Update as CompiledUpdate
from potluck.dynamo.expressions.failures import ExpressionError
from potluck.dynamo.expressions.nodes import Arithmetic, Clause, Function, Operand, Reference
from potluck.dynamo.expressions.parser import CONDITION_FUNCTIONS, UPDATE_FUNCTIONS, ParsedUpdate
from potluck.dynamo.expressions.updates import SETS, update_of_nodes
from potluck.dynamo.partiql.bindings import Bindings
from potluck.dynamo.partiql.keyed import ExistingItem
from potluck.dynamo.partiql.nodes import (
    AttributePath,
    BagLiteral,
    Expression,
    FunctionCall,
    OperatorExpression,
    Parameter,
    PathAssignment,
    UpdateStatement,
)
from potluck.dynamo.values import Value, kind_of
from potluck.dynamo.writes import UpdateWrite

SET_FUNCTIONS = {"set_add": "ADD", "set_delete": "DELETE"}


class UpdateStatementWrite(ExistingItem, UpdateWrite):
    """The write of an UPDATE."""

    def __init__(self, statement: UpdateStatement, parameters: list[Value], request: dict[str, Any]) -> None:
        self.update = update_of(statement.assignments, parameters)
        self.read_where(statement.where, parameters, request)


def update_of(assignments: Sequence[PathAssignment], parameters: list[Value]) -> CompiledUpdate:
    """What SET and REMOVE do, as an update expression does it."""
    reader = _UpdateReader(Bindings(parameters))
    clauses = [reader.clause(assignment) for assignment in assignments]
    try:
        return update_of_nodes(ParsedUpdate(clauses), reader.bindings)
    except ExpressionError as problem:
        invalid(str(problem))


class _UpdateReader:
    """Turns the nodes of a statement into those of an update expression."""

    def __init__(self, bindings: Bindings) -> None:
        self.bindings = bindings
        self.operators = 0

    def clause(self, assignment: PathAssignment) -> Clause:
        path, value = assignment
        if value is None:
            return Clause("REMOVE", self.bindings.path(path), None, 0)
        if isinstance(value, FunctionCall) and value.function in SET_FUNCTIONS:
            members = self.members(path, value)
            return Clause(SET_FUNCTIONS[value.function], self.bindings.path(path), members, 1)
        operators = self.operators
        operand = self.operand(value)
        return Clause("SET", self.bindings.path(path), operand, self.operators - operators)

    def members(self, path: AttributePath, call: FunctionCall) -> Reference:
        """The members that set_add and set_delete are about."""
        name = call.function.upper()
        if len(call.operands) != 2:
            invalid(
                "Incorrect number of operands for operator or function; "
                f"operator or function: {name}, number of operands: {len(call.operands)}"
            )
        first, second = call.operands
        if not isinstance(first, AttributePath) or first.parts != path.parts:
            invalid(f"The first argument to {name} must equal the assignment value")
        members = self.bindings.constant(second) if isinstance(second, BagLiteral | Parameter) else None
        if members is None or kind_of(self.bindings.values[members.name]) not in SETS:
            invalid(f"The second argument to {name} must be a value with type SET at {second.at}")
        return members

    def operand(self, expression: Expression) -> "Operand | Arithmetic":
        if isinstance(expression, OperatorExpression):
            return self.arithmetic(expression)
        if isinstance(expression, FunctionCall):
            return self.call(expression)
        return self.bindings.operand(expression)

    def arithmetic(self, operation: OperatorExpression) -> Arithmetic:
        operator, operands = operation.operator, operation.operands
        if operator not in ("+", "-"):
            invalid(f"Unsupported operator in Update Expression. Operator: {operator}")
        if len(operands) != 2:
            invalid(
                "Incorrect number of operands for operator or function; "
                f"operator or function: {operator}, number of operands: {len(operands)}"
            )
        self.operators += 1
        return Arithmetic(operator, self.operand(operands[0]), self.operand(operands[1]))

    def call(self, call: FunctionCall) -> Function:
        if call.function in CONDITION_FUNCTIONS or call.function in SET_FUNCTIONS:
            invalid(f"The function is not allowed in an update expression; function: {call.function}")
        if call.function not in UPDATE_FUNCTIONS:
            invalid(f"Unrecognized function: {call.function}")
        self.operators += 1
        function = Function(call.function)
        for operand in call.operands:
            if isinstance(operand, OperatorExpression):
                invalid(f"Unsupported operator in Update Expression. Operator: {operand.operator}")
            compiled = self.operand(operand)
            assert not isinstance(compiled, Arithmetic)
            function.operands.append(compiled)
        return function

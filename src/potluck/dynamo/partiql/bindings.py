"""A statement's names and values as the placeholders that expressions are compiled with."""

from collections.abc import Sequence

from potluck.dynamo.errors import invalid
from potluck.dynamo.expressions import Placeholders
from potluck.dynamo.expressions.nodes import Path, Reference
from potluck.dynamo.partiql import nodes
from potluck.dynamo.partiql.literals import value_of
from potluck.dynamo.partiql.nodes import Expression, Missing, ParsedStatement
from potluck.dynamo.values import Value, checked_value


def checked_parameters(parsed: ParsedStatement, parameters: Sequence[Value]) -> list[Value]:
    """The statement's parameters with canonical values; those it has no place for are ignored."""
    if len(parameters) < parsed.parameters:
        invalid("Number of parameters in request and statement don't match.")
    return [checked_value(value)[0] for value in parameters]


class Bindings(Placeholders):
    """Names and values of one expression: any attribute name can be used, as each has a placeholder."""

    __slots__ = ("parameters", "statement_names", "statement_values")

    def __init__(self, parameters: Sequence[Value]) -> None:
        super().__init__({})
        self.parameters = parameters
        self.names = self.statement_names = dict[str, str]()
        self.values = self.statement_values = dict[str, Value]()

    def operand(self, expression: Expression) -> Path | Reference:
        return self.path(expression) if isinstance(expression, nodes.AttributePath) else self.constant(expression)

    def path(self, path: nodes.AttributePath) -> Path:
        """The path, with a placeholder for each name."""
        parts: list[str | int] = []
        for part in path.parts:
            if isinstance(part, str):
                placeholder = f"#{len(self.statement_names)}"
                self.statement_names[placeholder] = part
                part = placeholder
            parts.append(part)
        return Path(parts)

    def value(self, value: Value) -> Reference:
        placeholder = f":{len(self.statement_values)}"
        self.statement_values[placeholder] = value
        return Reference(placeholder)

    def constant(self, expression: Expression) -> Reference:
        """A value that the statement contains, or a parameter."""
        if isinstance(expression, Missing):
            invalid("MISSING must be compared using IS operator")
        return self.value(checked_value(value_of(expression, self.parameters))[0])

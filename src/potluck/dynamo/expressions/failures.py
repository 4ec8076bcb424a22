"""Errors in an expression, raised before it is known which parameter of the request it came from."""

from potluck.dynamo.errors import DynamoError


class ExpressionError(Exception):
    """An error in an expression, in the service's words."""


def invalid_expression(parameter: str, problem: ExpressionError) -> DynamoError:
    """The service's error for a parameter that holds a refused expression."""
    return DynamoError("ValidationException", f"Invalid {parameter}: {problem}")

"""The values that a statement contains, in wire form."""

from collections.abc import Sequence

from potluck.dynamo.errors import invalid
from potluck.dynamo.partiql.nodes import (
    AttributePath,
    BagLiteral,
    Expression,
    FunctionCall,
    ListLiteral,
    Literal,
    OperatorExpression,
    Parameter,
    TupleLiteral,
    Unsupported,
)
from potluck.dynamo.values import Item, Value

UNSUPPORTED = "Unsupported data type: "


def value_of(expression: Expression, parameters: Sequence[Value], under: str = "") -> Value:
    """The value; `under` is where it is inside a list or map, in which the service takes no parameters."""
    if isinstance(expression, Literal):
        return expression.value
    if isinstance(expression, Parameter) and not under:
        return parameters[expression.number]
    if isinstance(expression, TupleLiteral):
        return {"M": members_of(expression, parameters, under or "root", nested=True)}
    if isinstance(expression, ListLiteral):
        parts = enumerate(expression.elements)
        return {"L": [value_of(part, parameters, f"{under or 'root'}.{number}") for number, part in parts]}
    if not isinstance(expression, BagLiteral):
        invalid(f"{described(expression)} under key {under or 'root'} at {expression.at}")
    return set_of(expression, parameters)


def members_of(
    literal: TupleLiteral, parameters: Sequence[Value], under: str = "root", *, nested: bool = False
) -> Item:
    """The members of a map; those of an item may be parameters."""
    members: Item = {}
    for name, expression in literal.members:
        if not isinstance(name, Literal) or "S" not in name.value:
            kind = "VariableReference" if isinstance(name, AttributePath) else type(name).__name__
            invalid(f"Tuple keys must be of type String. Actual type: {kind} under {under} at {name.at}")
        key: str = name.value["S"]
        if not key:
            invalid("Path component cannot be an empty string")
        if key in members:
            invalid(f"Duplicate keys in tuple. Key: {key} under {under} at {name.at}")
        if nested:
            members[key] = value_of(expression, parameters, f"{under}.{key}")
        elif isinstance(expression, Parameter):
            members[key] = parameters[expression.number]
        else:
            members[key] = value_of(expression, parameters, "root")
    return members


def set_of(bag: BagLiteral, parameters: Sequence[Value]) -> Value:
    """A bag as a set of texts or of numbers."""
    if not bag.elements:
        invalid(f"Empty bags are not supported at {bag.at}")
    values = [value_of(element, parameters, "root") for element in bag.elements]
    kinds = {kind for value in values for kind in value}
    if kinds != {"S"} and kinds != {"N"}:
        invalid("Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags")
    kind = kinds.pop()
    return {f"{kind}S": [value[kind] for value in values]}


def described(expression: Expression) -> str:
    """Why an expression cannot be a value."""
    if isinstance(expression, Unsupported) and expression.name == "ION":
        return "Ion Literals are not supported: ION"
    if isinstance(expression, Parameter):
        name = "Parameter"
    elif isinstance(expression, AttributePath):
        name = str(expression.parts[0])
    elif isinstance(expression, OperatorExpression):
        name = expression.operator
    elif isinstance(expression, FunctionCall):
        name = expression.function
    elif isinstance(expression, Unsupported):
        name = expression.name
    else:
        name = "MISSING"
    return f"{UNSUPPORTED}{name}"

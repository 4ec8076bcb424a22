"""KeyConditionExpression."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from potluck.dynamo.errors import invalid
from potluck.dynamo.expressions.condition_checks import CheckedCondition
from potluck.dynamo.expressions.failures import ExpressionError, invalid_expression
from potluck.dynamo.expressions.nodes import Comparison, Function, Junction, Negation, Node, Operand, Path, Reference
from potluck.dynamo.expressions.parser import ParsedCondition, parse_condition
from potluck.dynamo.expressions.placeholders import Placeholders
from potluck.dynamo.expressions.templates import ParsedText, ParsedTexts
from potluck.dynamo.values import Value

PARAMETER = "KeyConditionExpression"
NOT_SUPPORTED = "Query key condition not supported"
WRONG_TYPE = "One or more parameter values were invalid: Condition parameter type does not match schema type"

MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
INDEXABLE = frozenset(("=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"))
CLASSIC_KEY_ATTRIBUTES = 2

# For each attribute, an operator and its values.
KeyTests = dict[str, tuple[str, list[Value]]]


class KeyCondition(NamedTuple):
    """A query's condition on a key: all partition attributes, the leading sort attributes, and a range of the next."""

    partition: list[Value]
    sort_equal: list[Value]
    sort: tuple[str, list[Value]] | None


def key_condition(
    text: str,
    placeholders: Placeholders,
    partition_names: Sequence[str],
    sort_names: Sequence[str],
    types: Mapping[str, str] | None = None,
) -> KeyCondition:
    """The key condition in a request on a table or index with these key attributes, or the service's error.

    `types` are the types of the key attributes; with it, values of other types are refused.
    """
    return key_condition_of(key_tests(text, placeholders)(), partition_names, sort_names, types)


def key_tests(text: str, placeholders: Placeholders) -> Callable[[], KeyTests]:
    """A function that returns the tests in a key condition, checked as far as possible without knowing the table.

    The expression as such is checked at once. Whether it is valid for keys is checked when the function is called,
    because the service checks the request's other expressions in between.
    """
    program, values = _key_conditions.bind(PARAMETER, text, placeholders)
    try:
        for check in program.value_checks:
            check(values)
    except ExpressionError as problem:
        raise invalid_expression(PARAMETER, problem) from None

    def tests() -> KeyTests:
        if program.problem is not None:
            invalid(program.problem)
        return {name: (operator, [values[slot] for slot in slots]) for name, operator, slots in program.tests}

    return tests


def key_condition_of(
    tests: KeyTests,
    partition_names: Sequence[str],
    sort_names: Sequence[str],
    types: Mapping[str, str] | None = None,
) -> KeyCondition:
    """The tests in the order of the key's attributes, or the service's error."""
    composite = len(partition_names) > 1 or len(sort_names) > 1
    if not composite:
        if len(tests) > CLASSIC_KEY_ATTRIBUTES:
            invalid("Conditions can be of length 1 or 2 only")
        if len(tests) > 1 and not sort_names:
            invalid(NOT_SUPPORTED)
        if partition_names[0] not in tests:
            invalid(f"Query condition missed key schema element: {partition_names[0]}")
    else:
        _require_composite(tests, partition_names, sort_names)
    unknown = [name for name in tests if name not in partition_names and name not in sort_names]
    if unknown:
        missing = [name for name in sort_names if name not in tests]
        invalid(f"Query condition missed key schema element: {missing[0]}" if missing else NOT_SUPPORTED)
    if any(operator not in INDEXABLE for operator, _ in tests.values()):
        invalid("Attempted conditional constraint is not an indexable operation")
    if types is not None:
        for name in (*partition_names, *sort_names):
            if name in tests and any(types[name] not in value for value in tests[name][1]):
                invalid(WRONG_TYPE)
    if tests[partition_names[0]][0] != "=":
        invalid(NOT_SUPPORTED)
    sort_equal: list[Value] = []
    for name in sort_names:
        if name not in tests:
            break
        operator, values = tests[name]
        if operator != "=":
            return KeyCondition([tests[name][1][0] for name in partition_names], sort_equal, (operator, values))
        sort_equal.append(values[0])
    return KeyCondition([tests[name][1][0] for name in partition_names], sort_equal, None)


def _require_composite(tests: KeyTests, partition_names: Sequence[str], sort_names: Sequence[str]) -> None:
    unequal = [name for name in partition_names if name not in tests or tests[name][0] != "="]
    if unequal:
        invalid(f"HASH key attributes {', '.join(unequal)} must have equality conditions specified in the query")
    tested = [position for position, name in enumerate(sort_names) if name in tests]
    if tested:
        before = sort_names[: tested[-1]]
        unequal = [name for name in before if name not in tests or tests[name][0] != "="]
        if unequal:
            invalid(
                f"RANGE key attributes {', '.join(unequal)} must have equality conditions specified in the query "
                f"because a condition is present on key attribute {sort_names[tested[-1]]}"
            )


class _Program:
    """The tests of a key condition with the slots of their values, or the error message."""

    def __init__(self, checked: CheckedCondition) -> None:
        self.value_checks = checked.value_checks
        self.tests: list[tuple[str, str, list[int]]] = []
        self.problem: str | None = None
        try:
            for node in _conjuncts(checked.root):
                self._add(node, checked)
        except ExpressionError as problem:
            self.problem = str(problem)

    def _add(self, node: Node, checked: CheckedCondition) -> None:
        operator, operands = _operation(node)
        if operator in ("BETWEEN", "begins_with") and not isinstance(operands[0], Path):
            raise ExpressionError(
                f"Invalid condition in {PARAMETER}: "
                f"{operator} operator must have the key attribute as its first operand"
            )
        attribute: Path | None = None
        for operand in operands:
            if isinstance(operand, Function):
                raise ExpressionError("KeyConditionExpressions cannot contain nested operations")
            if isinstance(operand, Path):
                if attribute is not None:
                    raise ExpressionError(
                        f"Invalid condition in {PARAMETER}: Multiple attribute names used in one condition"
                    )
                if len(checked.places[operand]) > 1:
                    raise ExpressionError("KeyConditionExpressions cannot have conditions on nested attributes")
                attribute = operand
        if attribute is None:
            raise ExpressionError(f"Invalid condition in {PARAMETER}: No key attribute specified")
        name = str(checked.places[attribute][0])
        if any(name == other for other, _, _ in self.tests):
            raise ExpressionError("KeyConditionExpressions must only contain one condition per key")
        if operands[0] is not attribute:
            operator = MIRRORED[operator]
        slots = [checked.slots[operand.name] for operand in operands if isinstance(operand, Reference)]
        self.tests.append((name, operator, slots))


def _conjuncts(root: Node) -> list[Node]:
    """The conditions joined by AND, from left to right."""
    conditions: list[Node] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Junction) and node.operator == "AND":
            waiting.extend(reversed(node.parts))
        else:
            conditions.append(node)
    return conditions


def _operation(node: Node) -> tuple[str, list[Operand]]:
    if isinstance(node, Comparison) and node.operator not in ("<>", "IN"):
        return node.operator, node.operands
    if isinstance(node, Function) and node.name == "begins_with":
        return node.name, node.operands
    if isinstance(node, Negation):
        name = "NOT"
    elif isinstance(node, Function):
        name = node.name
    else:
        assert isinstance(node, Junction | Comparison)
        name = node.operator
    raise ExpressionError(f"Invalid operator used in {PARAMETER}: {name}")


def _compiled(template: ParsedText[ParsedCondition, _Program], placeholders: Placeholders) -> _Program:
    return _Program(CheckedCondition(template.parsed, template.values, placeholders))


_key_conditions: ParsedTexts[ParsedCondition, _Program] = ParsedTexts(
    parse_condition, ParsedCondition.leaves, _compiled
)

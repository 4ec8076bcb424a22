"""Checks of a condition's operands, from left to right before any item is read."""

from collections.abc import Callable

from potluck.dynamo import limits
from potluck.dynamo.expressions.comparisons import ordered
from potluck.dynamo.expressions.failures import ExpressionError
from potluck.dynamo.expressions.nodes import Comparison, Function, Operand, Path, Reference
from potluck.dynamo.expressions.parser import ParsedCondition
from potluck.dynamo.expressions.paths import Place, described, resolve
from potluck.dynamo.expressions.placeholders import Placeholders
from potluck.dynamo.values import TYPES, Value, kind_of, value_size

# A check that depends on values, not just on their types, so it runs for every request.
ValueCheck = Callable[[list[Value]], None]

ORDERED_TYPES = frozenset(("S", "N", "B"))
PREFIX_TYPES = frozenset(("S", "B"))
SIZED_TYPES = TYPES - {"N", "BOOL", "NULL"}
OPERAND_COUNTS = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
    "size": 1,
}
IN_OPERANDS = 100
TYPE_NAMES = "{B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
ANY_TYPE = "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"


class CheckedCondition:
    """A parsed condition with valid operands: its resolved paths, and the checks that its values still need."""

    def __init__(self, parsed: ParsedCondition, value_names: tuple[str, ...], placeholders: Placeholders) -> None:
        self.root = parsed.root
        self.slots = {name: slot for slot, name in enumerate(value_names)}
        self.placeholders = placeholders
        self.places: dict[Path, Place] = {}
        self.value_checks: list[ValueCheck] = []
        for node in parsed.finished:
            if isinstance(node, Path):
                self.places[node] = resolve(node, placeholders.names)
            elif isinstance(node, Reference):
                if node.name not in placeholders.values:
                    raise ExpressionError(
                        f"An expression attribute value used in expression is not defined; attribute value: {node.name}"
                    )
            elif isinstance(node, Function):
                self.check_function(node)
            else:
                self.check_comparison(node)
        if parsed.operators > limits.EXPRESSION_OPERATORS:
            raise ExpressionError(
                f"The expression contains too many operators; operator count: {limits.EXPRESSION_OPERATORS + 1}"
            )

    def type_of(self, operand: Operand) -> str | None:
        """The type of an operand, if it is known before any item is read."""
        if isinstance(operand, Reference):
            return kind_of(self.placeholders.values[operand.name])
        return "N" if isinstance(operand, Function) else None

    def require_types(self, name: str, operands: list[Operand], allowed: frozenset[str]) -> None:
        for operand in operands:
            kind = self.type_of(operand)
            if kind is not None and kind not in allowed:
                raise _wrong_type(name, kind)

    def require_distinct(self, name: str, operands: list[Operand]) -> None:
        first = operands[0]
        if isinstance(first, Path):
            for operand in operands[1:]:
                if isinstance(operand, Path) and self.places[operand] == self.places[first]:
                    raise ExpressionError(
                        "The first operand must be distinct from the remaining operands for this operator or function; "
                        f"operator: {name}, first operand: {described(self.places[first])}"
                    )

    def check_function(self, function: Function) -> None:
        name, operands = function.name, function.operands
        if len(operands) != OPERAND_COUNTS[name]:
            raise ExpressionError(
                "Incorrect number of operands for operator or function; "
                f"operator or function: {name}, number of operands: {len(operands)}"
            )
        self.require_distinct(name, operands)
        if name == "begins_with":
            self.require_types(name, operands, PREFIX_TYPES)
        elif name == "size":
            self.require_types(name, operands, SIZED_TYPES)
        elif name == "attribute_type":
            self.check_attribute_type(operands[1])
        elif name != "contains" and not isinstance(operands[0], Path):
            raise ExpressionError(f"Operator or function requires a document path; operator or function: {name}")

    def check_attribute_type(self, operand: Operand) -> None:
        kind = self.type_of(operand)
        if kind != "S" or not isinstance(operand, Reference):
            raise _wrong_type("attribute_type", kind or ANY_TYPE)
        slot = self.slots[operand.name]

        def check(values: list[Value]) -> None:
            if values[slot]["S"] not in TYPES:
                raise ExpressionError(
                    f"Invalid attribute type name found; type: {values[slot]['S']}, valid types: {TYPE_NAMES}"
                )

        self.check_value(check)

    def check_comparison(self, comparison: Comparison) -> None:
        operator, operands = comparison.operator, comparison.operands
        if operator == "IN" and len(operands) > IN_OPERANDS + 1:
            raise ExpressionError(
                f"The IN operator is provided with too many operands; number of operands: {len(operands) - 1}"
            )
        if operator not in ("=", "<>", "IN"):
            self.require_types(operator, operands, ORDERED_TYPES)
        self.require_distinct(operator, operands)
        if operator == "BETWEEN":
            low, high = operands[1:]
            if isinstance(low, Reference) and isinstance(high, Reference):
                self.check_bounds(self.slots[low.name], self.slots[high.name])

    def check_bounds(self, low: int, high: int) -> None:
        exceeds = ordered(">")

        def check(values: list[Value]) -> None:
            lower, upper = values[low], values[high]
            if kind_of(lower) != kind_of(upper):
                problem = "same data type for lower and upper bounds"
            elif exceeds(lower, upper):
                problem = "upper bound to be greater than or equal to lower bound"
            else:
                return
            raise ExpressionError(
                f"The BETWEEN operator requires {problem}; lower bound operand: AttributeValue: {_shown(lower)}, "
                f"upper bound operand: AttributeValue: {_shown(upper)}"
            )

        self.check_value(check)

    def check_value(self, check: ValueCheck) -> None:
        """Check the values now, in the service's order, and again whenever the same program runs with other values."""
        check([self.placeholders.values.get(name, {}) for name in self.slots])
        self.value_checks.append(check)


def _wrong_type(name: str, kind: str) -> ExpressionError:
    return ExpressionError(
        f"Incorrect operand type for operator or function; operator or function: {name}, operand type: {kind}"
    )


def _shown(value: Value) -> str:
    [(kind, content)] = value.items()
    if kind == "B":
        length = value_size(value)
        content = f"java.nio.HeapByteBuffer[pos=0 lim={length} cap={length}]"
    return f"{{{kind}:{content}}}"

"""ConditionExpression and FilterExpression."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from potluck.dynamo.errors import invalid
from potluck.dynamo.expressions.comparisons import begins_with, between, contains, ordered, size_of
from potluck.dynamo.expressions.condition_checks import CheckedCondition, ValueCheck
from potluck.dynamo.expressions.failures import ExpressionError, invalid_expression
from potluck.dynamo.expressions.nodes import Comparison, Function, Junction, Negation, Node, Operand, Path, Reference
from potluck.dynamo.expressions.parser import ParsedCondition, parse_condition
from potluck.dynamo.expressions.paths import Place, reader
from potluck.dynamo.expressions.placeholders import Placeholders
from potluck.dynamo.expressions.templates import ParsedText, ParsedTexts
from potluck.dynamo.values import Item, Value, equal

# Compiled parts of a condition take the item, and the values in the order of their placeholders.
Read = Callable[[Item, list[Value]], Value | None]
Verdict = Callable[[Item, list[Value]], bool]


class Condition:
    """A condition with its placeholders filled in."""

    __slots__ = ("_program", "_values", "_verdict", "nested")

    nested: frozenset[str]
    """The top-level attributes that it looks inside."""

    def __init__(self, program: "ConditionProgram", values: list[Value]) -> None:
        self._program = program
        self.nested = program.nested
        self._verdict = program.verdict
        self._values = values

    def matches(self, item: Item) -> bool:
        """Whether the item meets the condition; {} is a missing item."""
        return self._verdict(item, self._values)

    @property
    def attributes(self) -> frozenset[str]:
        """The top-level attributes that it reads."""
        return self._program.attributes


def condition(parameter: str, text: str, placeholders: Placeholders) -> Condition:
    """The condition in a request's parameter, or the service's error."""
    program, values = _conditions.bind(parameter, text, placeholders)
    if program.value_checks:
        try:
            for check in program.value_checks:
                check(values)
        except ExpressionError as problem:
            raise invalid_expression(parameter, problem) from None
    return Condition(program, values)


def condition_of_nodes(parsed: ParsedCondition, placeholders: Placeholders) -> Condition:
    """A condition that was written in another language; raises ExpressionError if it is refused."""
    template: ParsedText[ParsedCondition, ConditionProgram] = ParsedText(parsed, parsed.leaves())
    return Condition(_compiled(template, placeholders), [placeholders.values[name] for name in template.values])


class _Repeated(NamedTuple):
    """A cached condition with copies of the names and values it was compiled from, as callers may change theirs."""

    names: dict[str, str] | None
    values: dict[str, Value] | None
    condition: Condition


# Many writes repeat the same condition, such as "still a member" or "nothing there yet".
_repeated: dict[str, _Repeated] = {}
MOST_REPEATED = 512
LONGEST_REPEATED = 100


def repeated_condition(text: str, names: dict[str, str] | None, values: dict[str, Value] | None) -> Condition:
    """The condition of a request that has no other expression; cached for its text with the last names and values."""
    known = _repeated.get(text)
    if known is not None and known.names == names and known.values == values:
        return known.condition
    repeatable = values is None or all(map(_is_short, values.values()))
    if repeatable:
        names = names and {**names}
        values = values and {key: {**value} for key, value in values.items()}
    placeholders = Placeholders({"ExpressionAttributeNames": names, "ExpressionAttributeValues": values})
    compiled = condition("ConditionExpression", text, placeholders)
    placeholders.check_all_used()
    if repeatable:
        if len(_repeated) >= MOST_REPEATED:
            _repeated.clear()
        _repeated[text] = _Repeated(names, values, compiled)
    return compiled


def _is_short(value: Any) -> bool:
    """Whether the value is a short text or number: only for those does == mean the same value, as True == 1 shows."""
    if type(value) is not dict or len(value) != 1:
        return False
    content = value.get("S", value.get("N"))
    return type(content) is str and len(content) <= LONGEST_REPEATED


def refuse_key_attributes(attributes: Iterable[str], keys: Iterable[str], parameter: str = "Filter Expression") -> None:
    """Refuse a filter that reads an attribute of the key being queried."""
    for name in keys:
        if name in attributes:
            invalid(f"{parameter} can only contain non-primary key attributes: Primary key attribute: {name}")


def refuse_nested_keys(nested: frozenset[str], keys: Iterable[str], index_keys: Iterable[str] = ()) -> None:
    """Refuse an expression that looks inside a key attribute of the table or of an index."""
    for kind, names in (("Key", keys), ("IndexKey", index_keys)):
        for name in names:
            if name in nested:
                invalid(
                    "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
                    f"{kind}: {name}"
                )


class ConditionProgram:
    """A condition compiled for given names and value types, ready to run."""

    __slots__ = ("attributes", "nested", "value_checks", "verdict")

    def __init__(self, verdict: Verdict, places: Iterable[Place], value_checks: list[ValueCheck]) -> None:
        places = list(places)
        self.verdict = verdict
        self.attributes = frozenset(str(place[0]) for place in places)
        self.nested = frozenset(str(place[0]) for place in places if len(place) > 1)
        self.value_checks = value_checks


def _compiled(template: ParsedText[ParsedCondition, ConditionProgram], placeholders: Placeholders) -> ConditionProgram:
    checked = CheckedCondition(template.parsed, template.values, placeholders)
    return ConditionProgram(
        _ConditionCompiler(checked).verdict(checked.root), checked.places.values(), checked.value_checks
    )


_conditions: ParsedTexts[ParsedCondition, ConditionProgram] = ParsedTexts(
    parse_condition, ParsedCondition.leaves, _compiled
)


class _ConditionCompiler:
    """Compiles a checked condition into a program."""

    def __init__(self, checked: CheckedCondition) -> None:
        self.checked = checked

    def verdict(self, node: Node) -> Verdict:
        if isinstance(node, Junction):
            return _junction(node.operator, [self.verdict(part) for part in self.flattened(node)])
        if isinstance(node, Negation):
            inner = self.verdict(node.part)
            if node.times % 2 == 0:
                return inner
            return lambda item, values: not inner(item, values)
        if isinstance(node, Comparison):
            return self.comparison(node)
        assert isinstance(node, Function)
        return self.function(node)

    def flattened(self, junction: Junction) -> list[Node]:
        """The parts of a junction, with nested junctions of the same kind merged in, so that calls nest less deeply."""
        parts: list[Node] = []
        waiting: list[Node] = [junction]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Junction) and node.operator == junction.operator:
                waiting.extend(reversed(node.parts))
            else:
                parts.append(node)
        return parts

    def operand(self, operand: Operand) -> Read:
        if isinstance(operand, Path):
            return reader(self.checked.places[operand])
        if isinstance(operand, Reference):
            slot = self.checked.slots[operand.name]
            return lambda item, values: values[slot]
        inner = self.operand(operand.operands[0])

        def size(item: Item, values: list[Value]) -> Value | None:
            value = inner(item, values)
            return None if value is None else size_of(value)

        return size

    def comparison(self, comparison: Comparison) -> Verdict:
        operator, operands = comparison.operator, comparison.operands
        first = self.operand(operands[0])
        if operator == "IN":
            return _among(first, [self.operand(operand) for operand in operands[1:]])
        second = self.operand(operands[1])
        if operator == "BETWEEN":
            return _within(first, second, self.operand(operands[2]))
        if operator == "=":
            left, right = operands
            if isinstance(left, Path) and isinstance(right, Reference) and len(self.checked.places[left]) == 1:
                return self.attribute_equals(str(self.checked.places[left][0]), right)
            return _both(first, second, equal)
        if operator == "<>":
            return _differing(first, second)
        return _both(first, second, ordered(operator))

    def attribute_equals(self, name: str, reference: Reference) -> Verdict:
        """The most common condition compares a top-level attribute with a value."""
        slot = self.checked.slots[reference.name]
        if self.checked.type_of(reference) in ("S", "N", "B", "BOOL", "NULL"):
            # Scalars are canonical, so equal values are equal dictionaries.
            return lambda item, values: item.get(name) == values[slot]

        def verdict(item: Item, values: list[Value]) -> bool:
            value = item.get(name)
            return value is not None and equal(value, values[slot])

        return verdict

    def function(self, function: Function) -> Verdict:
        name, operands = function.name, function.operands
        first = self.operand(operands[0])
        if name in ("attribute_exists", "attribute_not_exists"):
            assert isinstance(operands[0], Path)
            return _existence(self.checked.places[operands[0]], first, name == "attribute_exists")
        second = self.operand(operands[1])
        if name == "attribute_type":

            def has_type(item: Item, values: list[Value]) -> bool:
                value, kind = first(item, values), second(item, values)
                return value is not None and kind is not None and kind["S"] in value

            return has_type
        return _both(first, second, begins_with if name == "begins_with" else contains)


def _junction(operator: str, parts: list[Verdict]) -> Verdict:
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        left, right = parts
        if operator == "AND":
            return lambda item, values: left(item, values) and right(item, values)
        return lambda item, values: left(item, values) or right(item, values)
    enough = operator == "OR"

    def verdict(item: Item, values: list[Value]) -> bool:
        for part in parts:
            if part(item, values) is enough:
                return enough
        return not enough

    return verdict


def _existence(place: Place, read: Read, wanted: bool) -> Verdict:
    if len(place) == 1:
        name = place[0]
        if wanted:
            return lambda item, values: name in item
        return lambda item, values: name not in item
    return lambda item, values: (read(item, values) is not None) is wanted


def _both(first: Read, second: Read, test: Callable[[Value, Value], bool]) -> Verdict:
    def verdict(item: Item, values: list[Value]) -> bool:
        left = first(item, values)
        if left is None:
            return False
        right = second(item, values)
        return right is not None and test(left, right)

    return verdict


def _differing(first: Read, second: Read) -> Verdict:
    """<> also holds when there is nothing to compare with."""

    def verdict(item: Item, values: list[Value]) -> bool:
        left, right = first(item, values), second(item, values)
        return left is None or right is None or not equal(left, right)

    return verdict


def _within(value: Read, low: Read, high: Read) -> Verdict:
    def verdict(item: Item, values: list[Value]) -> bool:
        operand, least, most = value(item, values), low(item, values), high(item, values)
        return operand is not None and least is not None and most is not None and between(operand, least, most)

    return verdict


def _among(sought: Read, candidates: list[Read]) -> Verdict:
    def verdict(item: Item, values: list[Value]) -> bool:
        value = sought(item, values)
        if value is None:
            return False
        for candidate in candidates:
            other = candidate(item, values)
            if other is not None and equal(value, other):
                return True
        return False

    return verdict

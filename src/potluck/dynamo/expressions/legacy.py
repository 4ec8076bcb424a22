"""The legacy parameters that predate expressions, turned into the same objects."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from potluck.dynamo.errors import invalid
from potluck.dynamo.expressions.comparisons import begins_with, between, contains, ordered
from potluck.dynamo.expressions.conditions import Condition, ConditionProgram
from potluck.dynamo.expressions.key_conditions import KeyCondition, KeyTests, key_condition_of
from potluck.dynamo.expressions.paths import Place
from potluck.dynamo.expressions.projections import Projection
from potluck.dynamo.expressions.updates import SETS, Compute, Update, UpdateProgram, added, deleted
from potluck.dynamo.values import TYPES, Item, Value, check_attribute_name, checked_value, equal, kind_of

INVALID = "One or more parameter values were invalid: "
TYPE_MISMATCH = "Type mismatch for attribute to update"

SCALARS = frozenset(("S", "N", "B"))
ARGUMENT_COUNTS = {"NULL": 0, "NOT_NULL": 0, "BETWEEN": 2}
ALLOWED_TYPES = {
    "EQ": TYPES,
    "NE": TYPES,
    "LE": SCALARS,
    "LT": SCALARS,
    "GE": SCALARS,
    "GT": SCALARS,
    "CONTAINS": SCALARS | {"BOOL", "NULL"},
    "NOT_CONTAINS": SCALARS | {"BOOL", "NULL"},
    "BEGINS_WITH": frozenset(("S", "B")),
    "IN": SCALARS,
    "BETWEEN": SCALARS,
}
COMPARATORS = {"LE": "<=", "LT": "<", "GE": ">=", "GT": ">"}
KEY_OPERATORS = {"EQ": "=", "BETWEEN": "BETWEEN", "BEGINS_WITH": "begins_with", **COMPARATORS}

Meets = Callable[[Value | None], bool]


def expected(conditions: Mapping[str, Any], operator: str | None = None) -> Condition:
    """The condition that Expected and ConditionalOperator state."""
    tests: dict[str, Meets] = {}
    for name, condition in conditions.items():
        check_attribute_name(name)
        tests[name] = _expectation(name, condition)
    return _joined(tests, conditional_operator(operator, len(tests)))


def filter_conditions(conditions: Mapping[str, Any], operator: str | None = None) -> Condition:
    """The filter that QueryFilter or ScanFilter and ConditionalOperator state."""
    tests: dict[str, Meets] = {}
    for name, condition in conditions.items():
        check_attribute_name(name)
        tests[name] = _test(condition["ComparisonOperator"], _arguments(condition))
    return _joined(tests, conditional_operator(operator, len(tests)))


def conditional_operator(operator: str | None, conditions: int) -> str:
    """AND or OR; refused if there is nothing to join."""
    if operator is not None:
        if conditions == 0:
            invalid("ConditionalOperator cannot be used without Filter or Expected")
        if conditions == 1:
            invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")
    return operator or "AND"


def attribute_updates(updates: Mapping[str, Any]) -> Update:
    """The update that AttributeUpdates states."""
    places: list[Place] = []
    changes: list[tuple[Place, Compute]] = []
    for name, update in updates.items():
        check_attribute_name(name)
        places.append((name,))
        changes.append(((name,), _change(name, update.get("Action") or "PUT", update.get("Value"))))
    values = [update["Value"] for update in updates.values() if update.get("Value") is not None]
    return Update(UpdateProgram(changes, places, []), values)


def key_conditions(
    conditions: Mapping[str, Any],
    partition_names: Sequence[str],
    sort_names: Sequence[str],
    types: Mapping[str, str] | None = None,
) -> KeyCondition:
    """The key condition that KeyConditions states for a table or index with these key attributes."""
    return key_condition_of(legacy_key_tests(conditions), partition_names, sort_names, types)


def legacy_key_tests(conditions: Mapping[str, Any]) -> KeyTests:
    """The tests in KeyConditions, checked as far as possible without knowing the table."""
    if not conditions:
        invalid("Conditions must be at least length 1")
    arguments = {name: _arguments(condition) for name, condition in conditions.items()}
    tests: KeyTests = {}
    for name, condition in conditions.items():
        operator = condition["ComparisonOperator"]
        _test(operator, arguments[name])
        tests[name] = KEY_OPERATORS.get(operator, operator), arguments[name]
    return tests


def attributes_to_get(names: Sequence[str]) -> Projection:
    """The projection that AttributesToGet states; its names are whole attribute names, dots and all."""
    seen: set[str] = set()
    for name in names:
        check_attribute_name(name)
        if name in seen:
            invalid(f"{INVALID}Duplicate value in attribute name: {name}")
        seen.add(name)
    return Projection([(name,) for name in names])


# --- conditions ---


def _joined(tests: dict[str, Meets], operator: str) -> Condition:
    def all_met(item: Item, _: list[Value]) -> bool:
        return all(test(item.get(name)) for name, test in tests.items())

    def one_met(item: Item, _: list[Value]) -> bool:
        return any(test(item.get(name)) for name, test in tests.items())

    return Condition(ConditionProgram(one_met if operator == "OR" else all_met, [(name,) for name in tests], []), [])


def _expectation(name: str, condition: Mapping[str, Any]) -> Meets:
    value, values = condition.get("Value"), condition.get("AttributeValueList")
    operator, exists = condition.get("ComparisonOperator"), condition.get("Exists")
    if value is not None and values is not None:
        invalid(f"{INVALID}Value and AttributeValueList cannot be used together for Attribute: {name}")
    if operator is not None:
        if exists is not None:
            invalid(f"{INVALID}Exists and ComparisonOperator cannot be used together for Attribute: {name}")
        if value is None and values is None and operator not in ("NULL", "NOT_NULL"):
            invalid(
                f"{INVALID}Value or AttributeValueList must be used with ComparisonOperator: {operator} "
                f"for Attribute: {name}"
            )
        return _test(operator, _checked([value] if value is not None else values or []))
    if values is not None:
        invalid(f"{INVALID}AttributeValueList can only be used with a ComparisonOperator for Attribute: {name}")
    if exists is False:
        if value is not None:
            invalid(f"{INVALID}Value cannot be used when Exists is false for Attribute: {name}")
        return _test("NULL", [])
    if value is None:
        stated = "null" if exists is None else "true"
        invalid(f"{INVALID}Value must be provided when Exists is {stated} for Attribute: {name}")
    return _test("EQ", _checked([value]))


def _arguments(condition: Mapping[str, Any]) -> list[Value]:
    return _checked(condition.get("AttributeValueList") or [])


def _checked(values: Iterable[Value]) -> list[Value]:
    return [checked_value(value)[0] for value in values]


def _test(operator: str, arguments: list[Value]) -> Meets:
    """The test for a comparison operator, after its arguments are checked."""
    # IN takes any number of arguments except none.
    wanted = max(len(arguments), 1) if operator == "IN" else ARGUMENT_COUNTS.get(operator, 1)
    if len(arguments) != wanted:
        invalid(f"{INVALID}Invalid number of argument(s) for the {operator} ComparisonOperator")
    if len({kind_of(argument) for argument in arguments}) > 1:
        invalid(f"{INVALID}AttributeValues inside AttributeValueList must be of same type")
    for argument in arguments:
        if kind_of(argument) not in ALLOWED_TYPES[operator]:
            invalid(f"{INVALID}ComparisonOperator {operator} is not valid for {kind_of(argument)} AttributeValue type")
    if operator == "BETWEEN" and ordered(">")(*arguments):
        invalid("The BETWEEN condition was provided a range where the lower bound is greater than the upper bound")
    return _meets(operator, arguments)


def _meets(operator: str, arguments: list[Value]) -> Meets:
    if operator == "NULL":
        return lambda value: value is None
    if operator == "NOT_NULL":
        return lambda value: value is not None
    if operator == "IN":
        return lambda value: value is not None and any(equal(value, argument) for argument in arguments)
    if operator == "BETWEEN":
        low, high = arguments
        return lambda value: value is not None and between(value, low, high)
    [argument] = arguments
    if operator == "NE":
        return lambda value: value is None or not equal(value, argument)
    if operator == "NOT_CONTAINS":
        return lambda value: value is not None and not contains(value, argument)
    tests = {"EQ": equal, "CONTAINS": contains, "BEGINS_WITH": begins_with}
    test = tests[operator] if operator in tests else ordered(COMPARATORS[operator])
    return lambda value: value is not None and test(value, argument)


# --- updates ---

ACTIONS = ("ADD", "DELETE", "PUT")


def _change(name: str, action: str, operand: Value | None) -> Compute:
    if action not in ACTIONS:
        invalid(
            f"1 validation error detected: Value '{action}' at 'attributeUpdates.{name}.member.action' failed to "
            "satisfy constraint: Member must satisfy enum value set: [ADD, DELETE, PUT]"
        )
    if operand is None:
        if action != "DELETE":
            invalid(f"{INVALID}Only DELETE action is allowed when no attribute value is specified")
        return lambda item, _: None
    value, _ = checked_value(operand)
    kind = kind_of(value)
    if action == "DELETE":
        if kind not in SETS:
            invalid(f"{INVALID}DELETE action with value is not supported for the type {kind}")
        return lambda item, _: deleted(item.get(name), value, TYPE_MISMATCH)
    if action == "ADD":
        if kind not in SETS and kind not in ("N", "L"):
            invalid(f"{INVALID}ADD action is not supported for the type {kind}")
        if kind == "L":
            return lambda item, _: _extended(item.get(name), value)
        return lambda item, _: added(item.get(name), value, TYPE_MISMATCH)
    return lambda item, _: value


def _extended(old: Value | None, value: Value) -> Value:
    """Legacy ADD, which also appends one list to another; in expressions that takes list_append."""
    if old is None:
        return value
    if "L" not in old:
        invalid(TYPE_MISMATCH)
    return {"L": old["L"] + value["L"]}

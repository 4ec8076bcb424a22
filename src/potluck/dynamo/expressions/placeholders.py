"""ExpressionAttributeNames and ExpressionAttributeValues of one request."""

import re
from collections.abc import Mapping
from typing import Any

from potluck.dynamo import limits
from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.numbers import known_numbers
from potluck.dynamo.values import Value, checked_value, utf8_length

_name_syntax = re.compile(r"#[A-Za-z0-9_]+")
_value_syntax = re.compile(r":[A-Za-z0-9_]+")

# Placeholders repeat from request to request, so those found well-formed are cached.
_REMEMBERED_PLACEHOLDERS = 4096
_well_formed: set[str] = set()

_NO_NAMES: Mapping[str, str] = {}
_NO_VALUES: Mapping[str, Value] = {}


class Placeholders:
    """The # and : placeholders of one request, and which of them were used."""

    __slots__ = ("names", "used_names", "used_values", "values")

    def __init__(self, request: Mapping[str, Any]) -> None:
        names = request.get("ExpressionAttributeNames")
        values = request.get("ExpressionAttributeValues")
        self.names: Mapping[str, str] = _NO_NAMES if names is None else _checked_names(names)
        self.values: Mapping[str, Value] = _NO_VALUES if values is None else _checked_values(values)
        self.used_names: set[str] = set()
        self.used_values: set[str] = set()

    def check_all_used(self) -> None:
        """Refuse the request if it defines a placeholder that no expression uses."""
        if len(self.used_names) != len(self.names):
            unused = ", ".join(name for name in self.names if name not in self.used_names)
            invalid(f"Value provided in ExpressionAttributeNames unused in expressions: keys: {{{unused}}}")
        if len(self.used_values) != len(self.values):
            unused = ", ".join(name for name in self.values if name not in self.used_values)
            invalid(f"Value provided in ExpressionAttributeValues unused in expressions: keys: {{{unused}}}")


def _checked_names(names: Mapping[str, Any]) -> Mapping[str, str]:
    if not names:
        invalid("ExpressionAttributeNames must not be empty")
    for key, name in names.items():
        if key not in _well_formed:
            _check_placeholder("ExpressionAttributeNames", key, _name_syntax)
        elif key[0] != "#":
            invalid(f'ExpressionAttributeNames contains invalid key: Syntax error; key: "{key}"')
        if type(name) is not str:
            raise DynamoError("SerializationException", "Expected a string in ExpressionAttributeNames")
        if not name:
            invalid(f"ExpressionAttributeNames contains invalid value: Empty attribute name for key {key}")
        if len(name) > limits.ATTRIBUTE_NAME_BYTES // 4 and utf8_length(name) > limits.ATTRIBUTE_NAME_BYTES:
            invalid(
                "ExpressionAttributeNames contains invalid value: "
                f"Attribute name is too large, must be less than 65536 bytes for key {key}"
            )
    return names


def _checked_values(values: Mapping[str, Any]) -> Mapping[str, Value]:
    if not values:
        invalid("ExpressionAttributeValues must not be empty")
    for key in values:
        if key not in _well_formed:
            _check_placeholder("ExpressionAttributeValues", key, _value_syntax)
        elif key[0] != ":":
            invalid(f'ExpressionAttributeValues contains invalid key: Syntax error; key: "{key}"')
    changed: dict[str, Value] | None = None
    for key, value in values.items():
        try:
            # Skip the full check for plain text and cached canonical numbers, which are valid as they are.
            if len(value) == 1:
                text = value.get("S")
                if type(text) is str and text.isascii():
                    continue
                number = value.get("N")
                if type(number) is str and number in known_numbers and known_numbers[number][0] == number:
                    continue
            checked, _ = checked_value(value)
        except (AttributeError, TypeError):
            raise DynamoError("SerializationException", "Unexpected value type in payload") from None
        except DynamoError as error:
            if error.code != "ValidationException":
                raise
            invalid(f"ExpressionAttributeValues contains invalid value: {error.message} for key {key}")
        if checked is not value:
            if changed is None:
                changed = dict(values)
            changed[key] = checked
    return values if changed is None else changed


def _check_placeholder(parameter: str, key: str, syntax: re.Pattern[str]) -> None:
    if not syntax.fullmatch(key):
        invalid(f'{parameter} contains invalid key: Syntax error; key: "{key}"')
    if len(_well_formed) >= _REMEMBERED_PLACEHOLDERS:
        _well_formed.clear()
    if len(key) <= 64:
        _well_formed.add(key)


def refuse_mixed_parameters(request: Mapping[str, Any], expressions: tuple[str, ...], legacy: tuple[str, ...]) -> None:
    """Refuse a request that mixes expressions with legacy parameters, or has placeholders without expressions.

    `expressions` and `legacy` are the operation's parameters of each kind, in the order the service names them.
    """
    present = [name for name in expressions if request.get(name) is not None]
    if present:
        mixed = [name for name in legacy if request.get(name) is not None]
        # KeyConditions may be combined with any expression except KeyConditionExpression.
        if "KeyConditions" in mixed and "KeyConditionExpression" not in present:
            mixed.remove("KeyConditions")
        if mixed:
            invalid(
                "Can not use both expression and non-expression parameters in the same request: "
                f"Non-expression parameters: {{{', '.join(mixed)}}} Expression parameters: {{{', '.join(present)}}}"
            )
    elif request.get("ExpressionAttributeNames") is not None:
        invalid("ExpressionAttributeNames can only be specified when using expressions")
    if request.get("ExpressionAttributeValues") is not None:
        with_values = [name for name in expressions if name != "ProjectionExpression"]
        if with_values and not any(name in present for name in with_values):
            verb = "are" if len(with_values) > 1 else "is"
            invalid(
                "ExpressionAttributeValues can only be specified when using expressions: "
                f"{' and '.join(with_values)} {verb} null"
            )

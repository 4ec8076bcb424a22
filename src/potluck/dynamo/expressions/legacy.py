"""The legacy parameters (placeholder until the real module is written over this one)."""

from typing import Any

from potluck.dynamo.errors import invalid
from potluck.dynamo.expressions.conditions import Condition
from potluck.dynamo.expressions.key_conditions import KeyTests
from potluck.dynamo.expressions.projections import Projection
from potluck.dynamo.expressions.updates import Update


def expected(request: dict[str, Any]) -> Condition:
    invalid("legacy parameters are not written yet")


def filter_condition(request: dict[str, Any], parameter: str) -> Condition:
    invalid("legacy parameters are not written yet")


def attribute_updates(request: dict[str, Any]) -> Update:
    invalid("legacy parameters are not written yet")


def attributes_to_get(request: dict[str, Any]) -> Projection:
    invalid("legacy parameters are not written yet")


def key_conditions(request: dict[str, Any]) -> KeyTests:
    invalid("legacy parameters are not written yet")

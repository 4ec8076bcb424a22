"""The expression language: conditions, filters, updates, projections and key conditions."""

from potluck.dynamo.expressions.conditions import (
    Condition,
    condition,
    refuse_key_attributes,
    refuse_nested_keys,
    repeated_condition,
)
from potluck.dynamo.expressions.key_conditions import (
    KeyCondition,
    KeyTests,
    key_condition,
    key_condition_of,
    key_tests,
)
from potluck.dynamo.expressions.legacy import (
    attribute_updates,
    attributes_to_get,
    expected,
    filter_conditions,
    key_conditions,
    legacy_key_tests,
)
from potluck.dynamo.expressions.placeholders import Placeholders, refuse_mixed_parameters
from potluck.dynamo.expressions.projections import Projection, projection
from potluck.dynamo.expressions.updates import Update, refuse_key_updates, update

__all__ = [
    "Condition",
    "KeyCondition",
    "KeyTests",
    "Placeholders",
    "Projection",
    "Update",
    "attribute_updates",
    "attributes_to_get",
    "condition",
    "expected",
    "filter_conditions",
    "key_condition",
    "key_condition_of",
    "key_conditions",
    "key_tests",
    "legacy_key_tests",
    "projection",
    "refuse_key_attributes",
    "refuse_key_updates",
    "refuse_mixed_parameters",
    "refuse_nested_keys",
    "repeated_condition",
    "update",
]

"""Which parts of an item a read returns, in either dialect."""

from typing import Any

from potluck.dynamo.expressions import (
    Placeholders,
    Projection,
    legacy,
    projection,
    refuse_mixed_parameters,
    refuse_nested_keys,
)
from potluck.dynamo.tables import Table


def projection_of(request: dict[str, Any]) -> Projection | None:
    """The projection of a read that has no other expression; None for the whole item."""
    refuse_mixed_parameters(request, ("ProjectionExpression",), ("AttributesToGet",))
    if "ProjectionExpression" not in request:
        return legacy.attributes_to_get(request["AttributesToGet"]) if "AttributesToGet" in request else None
    placeholders = Placeholders(request)
    parsed = projection(request["ProjectionExpression"], placeholders)
    placeholders.check_all_used()
    return parsed


def check_projection(projected: Projection | None, table: Table) -> None:
    """Refuse a projection that looks inside a key attribute."""
    if projected is not None and projected.nested:
        refuse_nested_keys(projected.nested, table.key_names, table.index_key_names)

"""What of an item a read answers, in either dialect."""

from typing import Any

from potluck.dynamo.expressions import Placeholders, Projection, legacy, projection, refuse_mixed_parameters

__all__ = ["projection_of"]


def projection_of(request: dict[str, Any]) -> Projection | None:
    """The projection of a read that has no other expression; None where the whole item is asked for."""
    if "ProjectionExpression" not in request:
        if "AttributesToGet" not in request and "ExpressionAttributeNames" not in request:
            return None
        refuse_mixed_parameters(request, ("ProjectionExpression",), ("AttributesToGet",))
        return legacy.attributes_to_get(request["AttributesToGet"]) if "AttributesToGet" in request else None
    refuse_mixed_parameters(request, ("ProjectionExpression",), ("AttributesToGet",))
    placeholders = Placeholders(request)
    found = projection(request["ProjectionExpression"], placeholders)
    placeholders.check_all_used()
    return found

"""The former names of `potluck.field_types` and `potluck.web.schema.compiling`, until nobody imports them."""

from decimal import Decimal

from msgspec import Meta

from potluck import field_types
from potluck.field_types import Check as Holds
from potluck.field_types import Message as Says
from potluck.web.schema.compiling import schema_of as shape_of

__all__ = ["Amount", "Holds", "Says", "shape_of"]


def Amount(*, ge: Decimal | int | None = None, le: Decimal | int | None = None, places: int | None = None) -> Meta:
    """The bounds of a Decimal, which Meta cannot state, and how many digits it may have behind the point."""
    return field_types.Amount(ge, le, places=places)

"""Suggestions for the list's text box, from the inventory and past purchases; and finding things by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, TypeVar
from uuid import UUID

from msgspec import Struct

from potluck.table import fold
from potluck.web import _

if TYPE_CHECKING:
    from potluck.apps.shopping.inventory import InventoryItemView
    from potluck.apps.shopping.shopping_list import ShoppingItemView

MOST_SUGGESTIONS = 200
# For a list that has no past yet.
STAPLES = (_("Milk"), _("Bread"), _("Eggs"), _("Butter"), _("Cheese"), _("Apples"), _("Potatoes"), _("Toilet paper"))


class HasName(Protocol):
    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=HasName)


class Suggestion(Struct, rename="camel", frozen=True, kw_only=True):
    """An item that one tap adds to the list."""

    name: str
    item_id: UUID | None = None
    store_id: UUID | None = None
    unit: str | None = None
    low: bool = False


def suggestions(inventory: Iterable[InventoryItemView], listed: Iterable[ShoppingItemView]) -> list[Suggestion]:
    """What is running low, then recent purchases, then the rest of the inventory; each name once. If these are few,
    staples follow.

    Pending items are included, since they may be bought at any moment: the caller leaves them out.
    """
    at_home = [_of(item) for item in inventory if item.status == "active"]
    by_name = {fold(suggestion.name): suggestion for suggestion in at_home}
    low = [suggestion for suggestion in at_home if suggestion.low]
    purchased = [item for item in listed if item.status == "purchased"]
    lately = [
        by_name.get(fold(item.name), Suggestion(name=item.name, store_id=item.store_id, unit=item.unit))
        for item in sorted(purchased, key=lambda item: item.updated_at, reverse=True)
    ]
    offered: dict[str, Suggestion] = {}
    for suggestion in (*low, *lately, *by_name.values()):
        offered.setdefault(fold(suggestion.name), suggestion)
    for staple in STAPLES:
        if len(offered) < len(STAPLES):
            offered.setdefault(fold(staple), Suggestion(name=str(staple)))
    return list(offered.values())[:MOST_SUGGESTIONS]


def called(name: str, things: Iterable[N]) -> N | None:
    """The first of these things with this name, ignoring case and accents."""
    folded = fold(name)
    return next((thing for thing in things if fold(thing.name) == folded), None)


def _of(item: InventoryItemView) -> Suggestion:
    return Suggestion(
        name=item.name, item_id=item.item_id, store_id=item.preferred_store_id, unit=item.unit, low=item.low
    )

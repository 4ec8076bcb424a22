"""Suggestions for the list's text box, from the inventory and past purchases; and the lookup of things by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, TypeVar
from uuid import UUID

from msgspec import Struct

from potluck.table import fold

if TYPE_CHECKING:
    from potluck.apps.shopping.inventory import InventoryItemView
    from potluck.apps.shopping.shopping_list import ShoppingItemView

MOST_SUGGESTIONS = 200


class Named(Protocol):
    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=Named)


class Suggestion(Struct, rename="camel", frozen=True, kw_only=True):
    """Something that one tap adds to the list."""

    name: str
    item_id: UUID | None = None
    store_id: UUID | None = None
    unit: str | None = None
    low: bool = False


def suggestions(inventory: Iterable[InventoryItemView], listed: Iterable[ShoppingItemView]) -> list[Suggestion]:
    """What runs low, then recent purchases, then the rest of the inventory; each name once.

    Items on the list are included, since they may be bought at any moment: the caller leaves them out.
    """
    at_home = [each for each in inventory if each.status == "active"]
    bought = sorted(
        (each for each in listed if each.status == "purchased"), key=lambda each: each.updated_at, reverse=True
    )
    kept = {fold(each.name): _of(each) for each in at_home}
    low = [_of(each) for each in at_home if each.low]
    lately = [
        kept.get(fold(each.name), Suggestion(name=each.name, store_id=each.store_id, unit=each.unit)) for each in bought
    ]
    found: dict[str, Suggestion] = {}
    for each in (*low, *lately, *kept.values()):
        found.setdefault(fold(each.name), each)
    return list(found.values())[:MOST_SUGGESTIONS]


def called(name: str, things: Iterable[N]) -> N | None:
    """The first of these things with this name, ignoring case and accents."""
    wanted = fold(name)
    return next((each for each in things if fold(each.name) == wanted), None)


def _of(item: InventoryItemView) -> Suggestion:
    return Suggestion(
        name=item.name, item_id=item.item_id, store_id=item.preferred_store_id, unit=item.unit, low=item.low
    )

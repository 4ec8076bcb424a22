"""What people probably mean: things at home or bought before that a box can offer, and what is on the list already."""

from collections.abc import Iterable
from uuid import UUID

from msgspec import Struct

from potluck.apps.shopping.views import InventoryItemShown, ShoppingItemShown
from potluck.table.keys.folding import fold

__all__ = ["MOST_SUGGESTIONS", "Suggestion", "on_the_list", "suggestions", "thing_called"]

MOST_SUGGESTIONS = 200


class Suggestion(Struct, rename="camel", frozen=True, kw_only=True):
    """One touch, and it is on the list."""

    name: str
    item_id: UUID | None = None
    store_id: UUID | None = None
    unit: str | None = None
    low: bool = False


def suggestions(inventory: Iterable[InventoryItemShown], listed: Iterable[ShoppingItemShown]) -> list[Suggestion]:
    """What runs low, then what was bought lately, then whatever else is kept at home; each once.

    What is on the list is among them: it may be bought in a moment, and whoever offers them looks.
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


def thing_called(inventory: Iterable[InventoryItemShown], name: str) -> InventoryItemShown | None:
    """The inventory item that somebody who types this name means."""
    wanted = fold(name)
    return next((each for each in inventory if each.status == "active" and fold(each.name) == wanted), None)


def on_the_list(listed: Iterable[ShoppingItemShown], name: str) -> ShoppingItemShown | None:
    """What is pending under this name, whatever its case and accents."""
    wanted = fold(name)
    return next((each for each in listed if each.status == "pending" and fold(each.name) == wanted), None)


def _of(item: InventoryItemShown) -> Suggestion:
    return Suggestion(
        name=item.name, item_id=item.item_id, store_id=item.preferred_store_id, unit=item.unit, low=item.low
    )

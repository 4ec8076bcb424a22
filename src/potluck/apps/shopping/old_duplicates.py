"""The same thing twice on a list: a guard row refuses the second one, in the transaction that would add it."""

from potluck.apps.shopping.entities import PendingGuard, ShoppingListItem
from potluck.apps.shopping.errors import DuplicateItem
from potluck.apps.shopping.names import names_on_list
from potluck.apps.shopping.views import shopping_item_shown
from potluck.store import Store as Rows
from potluck.table import WriteRefused, the, update, upsert
from potluck.table.operations import Operation

__all__ = ["MOST_DUPLICATES", "entering_guard", "leaving_guard", "refuse_duplicate"]

# How often one inventory item can be on the list and not bought, with everybody's consent.
MOST_DUPLICATES = 1000
# Of those, the one that was there first is told to whoever wants to add another; so many are looked at.
LOOKED_AT = 20

pending_ids = the(PendingGuard.shopping_item_ids)


def entering_guard(item: ShoppingListItem, allow_duplicate: bool) -> Operation:
    """One more that is pending; refused, unless that is allowed, while there is another."""
    assert item.item_id is not None
    when = None if allow_duplicate else pending_ids == frozenset()
    guard = PendingGuard.by_item(item.family_id, item.item_id)
    return upsert(guard, pending_ids.include(item.shopping_item_id), when=when)


def leaving_guard(item: ShoppingListItem) -> Operation:
    """One fewer that is pending."""
    assert item.item_id is not None
    return update(PendingGuard.by_item(item.family_id, item.item_id), pending_ids.exclude(item.shopping_item_id))


async def refuse_duplicate(rows: Rows, refusal: WriteRefused) -> None:
    """DuplicateItem with what is on the list; nothing if it is not there any more."""
    guard = refusal.current
    if not isinstance(guard, PendingGuard):
        return
    ids = sorted(guard.shopping_item_ids)[:LOOKED_AT]
    found = await rows.get_many([ShoppingListItem.by_id(guard.family_id, each) for each in ids])
    pending = [each for each in found if each is not None and each.status == "pending"]
    if pending:
        first = min(pending, key=lambda each: (each.created_at, each.shopping_item_id))
        raise DuplicateItem(shopping_item_shown(first, await names_on_list(rows, [first]))) from refusal

"""Duplicates on a list: a guard row makes the transaction that would add one fail."""

from potluck.apps.shopping.entities import PendingGuard, ShoppingListItem
from potluck.store import Store
from potluck.table import Operation, WriteRefused, the, update, upsert
from potluck.web import Outcome, ProblemError, or_raise

# The pending entries that one inventory item can have when duplicates are allowed.
MOST_DUPLICATES = 1000
# The error shows the oldest of the pending entries; this many are read to find it.
READ_FOR_ERROR = 20

pending_ids = the(PendingGuard.shopping_item_ids)


class DuplicateItem(
    ProblemError,
    slug="duplicate-item",
    status=409,
    title="Already on the list",
    remedy="Edit the existing item, or send the request again with allowDuplicate: true.",
):
    """This item is already on the list and not bought yet. The answer has it as “existing”. Nothing was added."""

    def __init__(self, existing: ShoppingListItem) -> None:
        super().__init__("This is already on the list", existing=existing)


def enter_guard(store: Store, item: ShoppingListItem, allow_duplicate: bool) -> Outcome:
    """`entering_guard` for a rule: if refused, it raises DuplicateItem with the pending entry."""

    async def duplicate(refusal: WriteRefused) -> ProblemError | None:
        guard = refusal.current
        if not isinstance(guard, PendingGuard):
            return None
        ids = sorted(guard.shopping_item_ids)[:READ_FOR_ERROR]
        items = await store.get_many([ShoppingListItem.by_id(guard.family_id, item_id) for item_id in ids])
        pending = [item for item in items if item is not None and item.status == "pending"]
        if not pending:
            return None
        return DuplicateItem(min(pending, key=lambda item: (item.created_at, item.shopping_item_id)))

    return or_raise(entering_guard(item, allow_duplicate), duplicate)


def entering_guard(item: ShoppingListItem, allow_duplicate: bool = False) -> Operation:
    """Add a pending entry to its guard; refused if there is another, unless duplicates are allowed."""
    assert item.item_id is not None
    when = None if allow_duplicate else pending_ids == frozenset()
    guard = PendingGuard.by_item(item.family_id, item.item_id)
    return upsert(guard, pending_ids.include(item.shopping_item_id), when=when)


def leaving_guard(item: ShoppingListItem) -> Operation:
    """Remove an entry that is no longer pending from its guard."""
    assert item.item_id is not None
    return update(PendingGuard.by_item(item.family_id, item.item_id), pending_ids.exclude(item.shopping_item_id))

"""Duplicates on a list: a guard row refuses the second one in the transaction that would add it."""

from potluck.apps.shopping.entities import PendingGuard, ShoppingListItem
from potluck.store import Store
from potluck.table import Operation, WriteRefused, the, update, upsert
from potluck.web import Outcome, ProblemError, or_raise

# How many pending entries one inventory item can have when duplicates are allowed.
MOST_DUPLICATES = 1000
# The refusal shows the oldest of the pending entries; this many are read to find it.
LOOKED_AT = 20

pending_ids = the(PendingGuard.shopping_item_ids)


class DuplicateItem(
    ProblemError,
    slug="duplicate-item",
    status=409,
    title="It is on the list already",
    remedy="Change that one, or send the request again with allowDuplicate: true.",
):
    """Somebody in the family has put the same thing on the list, and it is not bought yet. The answer has it as
    “existing”. Nothing was added."""

    def __init__(self, existing: ShoppingListItem) -> None:
        super().__init__("This is on the list already", existing=existing)


def enter_guard(rows: Store, item: ShoppingListItem, allow_duplicate: bool) -> Outcome:
    """`entering_guard` for a rule: raises DuplicateItem, with the pending entry that is there, if it is refused."""

    async def duplicate(refusal: WriteRefused) -> ProblemError | None:
        guard = refusal.current
        if not isinstance(guard, PendingGuard):
            return None
        ids = sorted(guard.shopping_item_ids)[:LOOKED_AT]
        found = await rows.get_many([ShoppingListItem.by_id(guard.family_id, each) for each in ids])
        pending = [each for each in found if each is not None and each.status == "pending"]
        if not pending:
            return None
        return DuplicateItem(min(pending, key=lambda each: (each.created_at, each.shopping_item_id)))

    return or_raise(entering_guard(item, allow_duplicate), duplicate)


def entering_guard(item: ShoppingListItem, allow_duplicate: bool = False) -> Operation:
    """Adds a pending entry to its guard; refused if there is another, unless duplicates are allowed."""
    assert item.item_id is not None
    when = None if allow_duplicate else pending_ids == frozenset()
    guard = PendingGuard.by_item(item.family_id, item.item_id)
    return upsert(guard, pending_ids.include(item.shopping_item_id), when=when)


def leaving_guard(item: ShoppingListItem) -> Operation:
    """Takes an entry that is no longer pending out of its guard."""
    assert item.item_id is not None
    return update(PendingGuard.by_item(item.family_id, item.item_id), pending_ids.exclude(item.shopping_item_id))

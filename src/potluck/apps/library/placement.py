"""Adding, moving and removing items: the writes that keep counts, member rows and copied names consistent.

Counts change in the transaction that adds, moves or deletes an item. Names are copied on the condition that they are
current: a concurrent rename causes a retry, and a later rename finds the item.
"""

from dataclasses import dataclass
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.library.entities import (
    Collection,
    CollectionMember,
    Event,
    Item,
    Library,
    Loan,
    Relocation,
)
from potluck.apps.library.fields import FIRST_ORDER, LAST_ORDER
from potluck.people import TooMany
from potluck.store import Store
from potluck.table import Condition, Operation, delete, put, the, update
from potluck.validation import FieldError, ValidationError
from potluck.web import Outcome, _, or_retry

Ops = list[Operation | Outcome]

# A transaction takes 100 actions: two for each event, and up to 16 for the item, its counts and the access checks.
EVENTS_AT_ONCE = 40
# The size up to which search was measured.
MOST_ITEMS = 100_000
NO_COLLECTION = _("Only items in a collection have a number in it.")


@dataclass(frozen=True, slots=True)
class Spot:
    """An item's place in a library: standalone, or at a number in a collection."""

    library: Library
    collection: Collection | None = None
    order: int | None = None

    def put_there(self, item: Item, version: int) -> Item:
        """The item with this place, and with the names of its library and collection."""
        return replace(
            item,
            library_id=self.library.library_id,
            library_name=self.library.library_name,
            owner_name=self.library.owner_name,
            collection_id=None if self.collection is None else self.collection.collection_id,
            collection_name=None if self.collection is None else self.collection.name,
            order=self.order,
            version=version,
        )


async def spot_in(store: Store, library: Library, collection_id: UUID | None, order: int | None) -> Spot:
    """The requested place in a library; in a collection, after the last item unless a number is given."""
    if collection_id is None:
        if order is not None:
            raise ValidationError(FieldError("order", NO_COLLECTION))
        return Spot(library)
    collection = await store.get(Collection.one(library.owner_id, library.library_id, collection_id))
    if collection is None:
        raise ValidationError(FieldError("collectionId", _("This shelf doesn’t have that collection.")))
    return Spot(library, collection, order or await _next_order(store, collection))


async def _next_order(store: Store, collection: Collection) -> int:
    members = CollectionMember.of_collection(collection.owner_id, collection.library_id, collection.collection_id)
    last = await store.first(members.reversed())
    return FIRST_ORDER if last is None else min(last.order + 1, LAST_ORDER)


def member_of(item: Item) -> CollectionMember | None:
    """The row by which the item's collection finds it; None for a standalone item."""
    if item.collection_id is None or item.order is None:
        return None
    return CollectionMember(
        owner_id=item.owner_id,
        library_id=item.library_id,
        collection_id=item.collection_id,
        order=item.order,
        item_id=item.item_id,
    )


def must_have_room(library: Library, items: int) -> None:
    """TooMany if the library would exceed its limit. Concurrent requests may exceed it by a few."""
    if library.total_items + items > MOST_ITEMS:
        raise TooMany("items in a library", MOST_ITEMS)


def names_still(library: Library) -> Condition:
    """The condition that the copied names of a library are still current."""
    return the(Library.library_name).still(library.library_name) & the(Library.owner_name).still(library.owner_name)


def counting_in_library(library: Library, items: int) -> Outcome:
    """Add to a library's count; if items are added, on the condition that it still has the copied names."""
    ref = Library.one(library.owner_id, library.library_id)
    names = names_still(library) if items > 0 else None
    return or_retry(update(ref, the(Library.total_items).add(items), when=names))


def counting_in_collection(collection: Collection, items: int) -> Outcome:
    """Add to a collection's count; if items are added, on the condition that it still has the copied name."""
    ref = Collection.one(collection.owner_id, collection.library_id, collection.collection_id)
    named = the(Collection.name).still(collection.name) if items > 0 else None
    return or_retry(update(ref, the(Collection.item_count).add(items), when=named))


def joining_collection(item: Item, collection: Collection | None) -> Ops:
    """The additional writes when an item joins a collection."""
    member = member_of(item)
    return [] if collection is None or member is None else [put(member), counting_in_collection(collection, 1)]


async def leaving_collection(store: Store, item: Item) -> Ops:
    """The additional writes when an item leaves its collection, which may have been deleted."""
    member = member_of(item)
    if member is None:
        return []
    collection = await store.get(Collection.one(item.owner_id, item.library_id, member.collection_id))
    return [delete(member), *([] if collection is None else [counting_in_collection(collection, -1)])]


async def moving_history(store: Store, item: Item, to: UUID) -> Ops:
    """The writes that move an item's history to another library: at once, or by the consumer if it is long."""
    loan = await store.get(Loan.one(item.owner_id, item.library_id, item.item_id))
    lent: Ops = [] if loan is None else [delete(loan), put(replace(loan, library_id=to))]
    part = await store.page(Event.of_item(item.owner_id, item.library_id, item.item_id), EVENTS_AT_ONCE + 1)
    # Every event increments the version, so at a version this high, part of the history may not have arrived yet.
    if len(part.items) > EVENTS_AT_ONCE or item.version > EVENTS_AT_ONCE:
        left = Relocation(owner_id=item.owner_id, library_id=item.library_id, item_id=item.item_id, moved_to=to)
        # If the item returns to a library that still has part of its history, that part stays there.
        return [*lent, put(left), delete(Relocation.one(item.owner_id, to, item.item_id))]
    moved = [write for event in part.items for write in (delete(event), put(replace(event, library_id=to)))]
    return [*lent, *moved]

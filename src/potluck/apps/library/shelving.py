"""What is written when an item comes to a place, moves to another, or goes: the rows beside it that must agree with it.

Counts are added to in the transaction that adds, moves or deletes, and names are copied under the condition that they
are still so: a rename that comes between is read again, one that comes later finds the item.
"""

from dataclasses import dataclass
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.library.access import OwnLibrary
from potluck.apps.library.entities import (
    Book,
    Collection,
    CollectionMember,
    Event,
    Library,
    Loan,
    Relocation,
    Video,
)
from potluck.apps.library.fields import FIRST_ORDER, LAST_ORDER
from potluck.people.errors import InvalidFields, TooMany, WrongField
from potluck.store import Store
from potluck.table import Condition, WriteRefused, delete, put, the, update
from potluck.table.operations import Operation
from potluck.web.errors import Conflict, NotFound, ProblemError
from potluck.web.writes import Outcome, Refused, or_retry

__all__ = [
    "Item",
    "Spot",
    "arriving",
    "as_seen",
    "collecting",
    "counting",
    "history_along",
    "leaving",
    "member_of",
    "must_take",
    "names_still",
    "spot_in",
]

Item = Book | Video
Ops = list[Operation | Outcome]

# A transaction takes 100 actions. An event is two of them, and up to 16 are for the item, its counts and its caller.
EVENTS_AT_ONCE = 40
# What search was measured on.
MOST_ITEMS = 100_000


@dataclass(frozen=True, slots=True)
class Spot:
    """Where in a library an item stands: for itself, or in a collection at some place."""

    library: Library
    collection: Collection | None = None
    order: int | None = None

    def put_there(self, item: Item, version: int) -> Item:
        """The item as it is there."""
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


async def spot_in(rows: Store, library: Library, collection_id: UUID | None, order: int | None) -> Spot:
    """The place in a library that somebody asks for; in a collection, behind the last unless they say where."""
    if collection_id is None:
        if order is not None:
            raise InvalidFields(WrongField("order", "Only what is in a collection has an order"))
        return Spot(library)
    collection = await rows.get(Collection.one(library.owner_id, library.library_id, collection_id))
    if collection is None:
        raise InvalidFields(WrongField("collectionId", "There is no such collection in this library"))
    return Spot(library, collection, order or await _next_order(rows, collection))


async def _next_order(rows: Store, collection: Collection) -> int:
    members = CollectionMember.of_collection(collection.owner_id, collection.library_id, collection.collection_id)
    last = await rows.first(members.reversed())
    return FIRST_ORDER if last is None else min(last.order + 1, LAST_ORDER)


def member_of(item: Item) -> CollectionMember | None:
    """The row by which a collection finds this item."""
    if item.collection_id is None or item.order is None:
        return None
    return CollectionMember(
        owner_id=item.owner_id,
        library_id=item.library_id,
        collection_id=item.collection_id,
        order=item.order,
        item_id=item.item_id,
    )


def must_take(library: Library, items: int) -> None:
    """TooMany, if a library would have more than it can take; those who add at once may pass it by a few."""
    if library.total_items + items > MOST_ITEMS:
        raise TooMany("items in a library", MOST_ITEMS)


def names_still(library: Library) -> Condition:
    """That a library has the names that were read, and copied."""
    return the(Library.library_name).still(library.library_name) & the(Library.owner_name).still(library.owner_name)


def counting(library: Library, items: int) -> Outcome:
    """So many more in a library, which still has the names that were copied."""
    ref = Library.one(library.owner_id, library.library_id)
    names = names_still(library) if items > 0 else None
    return or_retry(update(ref, the(Library.total_items).add(items), when=names))


def collecting(collection: Collection, items: int) -> Outcome:
    """So many more in a collection, which still has the name that was copied."""
    ref = Collection.one(collection.owner_id, collection.library_id, collection.collection_id)
    named = the(Collection.name).still(collection.name) if items > 0 else None
    return or_retry(update(ref, the(Collection.item_count).add(items), when=named))


def arriving(item: Item, collection: Collection | None) -> Ops:
    """What else is written when an item comes into a collection."""
    member = member_of(item)
    return [] if collection is None or member is None else [put(member), collecting(collection, 1)]


async def leaving(rows: Store, item: Item) -> Ops:
    """What else is written when an item leaves its collection, which may be gone already."""
    member = member_of(item)
    if member is None:
        return []
    left = await rows.get(Collection.one(item.owner_id, item.library_id, member.collection_id))
    return [delete(member), *([] if left is None else [collecting(left, -1)])]


async def history_along(rows: Store, item: Item, to: UUID) -> Ops:
    """What takes an item's history to another library: at once, or if it is long, by the consumer."""
    loan = await rows.get(Loan.one(item.owner_id, item.library_id, item.item_id))
    lent: Ops = [] if loan is None else [delete(loan), put(replace(loan, library_id=to))]
    part = await rows.page(Event.of_item(item.owner_id, item.library_id, item.item_id), EVENTS_AT_ONCE + 1)
    # Every event raises the version, so one that is so high may have a history that is still on its way to here.
    if len(part.items) > EVENTS_AT_ONCE or item.version > EVENTS_AT_ONCE:
        left = Relocation(owner_id=item.owner_id, library_id=item.library_id, item_id=item.item_id, moved_to=to)
        # If it comes back to where a part of its history still is, that stays.
        return [*lent, put(left), delete(Relocation.one(item.owner_id, to, item.item_id))]
    moved = [write for each in part.items for write in (delete(each), put(replace(each, library_id=to)))]
    return [*lent, *moved]


def as_seen(at: OwnLibrary, item: Item) -> Refused:
    """What it means that a write of the item is refused: somebody changed it, or only a name has followed."""

    async def refused(refusal: WriteRefused) -> ProblemError | None:
        if refusal.current is None:
            return NotFound()
        changed = getattr(refusal.current, "version", None) != item.version
        return Conflict(current=refusal.current) if changed and at.seen is not None else None

    return refused

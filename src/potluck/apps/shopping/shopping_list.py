"""The shopping list: reading it, adding to it, editing items and checking them off."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from potluck.apps.shopping.access import InFamily
from potluck.apps.shopping.conflicts import IdTaken
from potluck.apps.shopping.duplicates import (
    MOST_DUPLICATES,
    DuplicateItem,
    enter_guard,
    entering_guard,
    leaving_guard,
)
from potluck.apps.shopping.entities import InventoryItem, PendingGuard, ShoppingListItem, Store
from potluck.apps.shopping.families import FAMILY, TAG, frame_of
from potluck.apps.shopping.fields import (
    MOST_LISTED,
    ItemId,
    ItemStatus,
    Lines,
    Name,
    Notes,
    ShoppingItemId,
    StoreChoice,
    StoreId,
    ToBuy,
    Unit,
)
from potluck.apps.shopping.line_parser import ShoppingLine, line_errors, read_lines
from potluck.apps.shopping.names import ListNames
from potluck.apps.shopping.ordering import by_name, by_store, groups_of
from potluck.apps.shopping.suggestions import called
from potluck.people import TooMany
from potluck.table import Query, WriteRefused, absent, check, delete, present, put, the
from potluck.validation import FieldError
from potluck.web import (
    UNSET,
    Actions,
    Edit,
    Input,
    NotFound,
    Outcome,
    ProblemError,
    Step,
    Unset,
    Versioned,
    View,
    Writes,
    computed,
    or_raise,
    or_retry,
)

PURCHASED_ITEMS_STAY = timedelta(days=7)
UNASSIGNED = "unassigned"
FORMER_MEMBER = "Former member"
# A transaction takes 100 actions. In addition to the lines, there are the caller's row and three to store an idempotent
# response; a linked line also updates the guard of its inventory item, and checks that the item and its store exist.
ROOM_FOR_LINES = 96
ACTIONS_OF_A_LINK = 3


class ShoppingItemView(View[ShoppingListItem]):
    shopping_item_id: UUID
    family_id: UUID
    name: str
    status: ItemStatus
    quantity: int | None
    unit: str | None
    notes: str | None
    version: int
    ttl: int | None
    added_by: UUID
    updated_by: UUID | None
    created_at: datetime
    updated_at: datetime
    restocked_at: datetime | None

    @computed
    def entity_type(item: ShoppingListItem, names: ListNames) -> Literal["ShoppingListItem"]:
        return "ShoppingListItem"

    @computed
    def item_id(item: ShoppingListItem, names: ListNames) -> UUID | None:
        return None if item.item_id in names.gone_items else item.item_id

    @computed
    def store_id(item: ShoppingListItem, names: ListNames) -> UUID | None:
        return item.store_id if item.store_id in names.stores else None

    @computed
    def store_name(item: ShoppingListItem, names: ListNames) -> str | None:
        return None if item.store_id is None else names.stores.get(item.store_id)

    @computed
    def added_by_name(item: ShoppingListItem, names: ListNames) -> str:
        return names.members.get(item.added_by, FORMER_MEMBER)

    @computed
    def updated_by_name(item: ShoppingListItem, names: ListNames) -> str:
        return names.members.get(item.updated_by or item.added_by, FORMER_MEMBER)


# --- inputs ----------------------------------------------------------------------------------------------------------


class NewShoppingItem(Input):
    """Something to buy. The name, store and unit default to those of the inventory item."""

    shopping_item_id: ShoppingItemId | Unset = UNSET
    item_id: ItemId | None = None
    name: Name | Unset | None = UNSET
    store_id: StoreId | Unset | None = UNSET
    quantity: ToBuy | None = None
    unit: Unit | Unset | None = UNSET
    notes: Notes | None = None
    allow_duplicate: bool = False

    @staticmethod
    def check(new: "NewShoppingItem") -> Iterator[FieldError]:
        if new.item_id is None and not isinstance(new.name, str):
            yield FieldError("name", "")


class PastedLines(Input):
    lines: Lines
    """One thing per line, optionally with an amount in front: "2 milk"."""

    @staticmethod
    def check(pasted: "PastedLines") -> Iterator[FieldError]:
        return (FieldError("lines", message) for message in line_errors(read_lines(pasted.lines)))


class TypedItem(Input):
    """A typed or suggested thing; only the store can be chosen."""

    lines: Lines = ""
    item_id: ItemId | None = None
    store_id: StoreId | None = None
    shopping_item_id: ShoppingItemId | Unset = UNSET
    """Chosen by the form, so that submitting it twice adds one item."""
    allow_duplicate: bool = False

    @staticmethod
    def check(typed: "TypedItem") -> Iterator[FieldError]:
        lines = read_lines(typed.lines)
        if typed.item_id is None or lines:
            for message in line_errors(lines):
                yield FieldError("lines" if lines else "name", message)


class ShoppingItemChange(Edit[ShoppingListItem]):
    name: Name | Unset = UNSET
    store_id: StoreId | Unset | None = UNSET
    quantity: ToBuy | Unset | None = UNSET
    unit: Unit | Unset | None = UNSET
    notes: Notes | Unset | None = UNSET


class StatusChange(Versioned):
    status: ItemStatus
    allow_duplicate: bool = False


class ListFilter(Input):
    store_id: StoreChoice | Unset = UNSET
    """The id of a store, or `unassigned`."""
    status: ItemStatus | Unset = UNSET


shopping_list = Actions(
    InFamily,
    ShoppingListItem.by_id,
    ShoppingItemView,
    api="/families/{family_id}/shopping-list",
    page=f"{FAMILY}/list",
    tag=TAG,
    frame=frame_of("list"),
)


# --- reading ----------------------------------------------------------------------------------------------------------


@shopping_list.list(order=by_store, also=groups_of, live=lambda at: ShoppingListItem.all_of_family(at.family_id))
async def items_on_list(at: InFamily, wanted: ListFilter) -> Query[ShoppingListItem]:
    """List the items of the shopping list: by store name with unassigned ones last, pending first, newest first.
    `groups` counts the whole list, regardless of the requested page."""
    family_id, status = at.family_id, wanted.status
    if wanted.store_id is UNSET:
        if status is UNSET:
            return ShoppingListItem.all_of_family(family_id)
        return ShoppingListItem.by_status(family_id, status)
    store_id = None if wanted.store_id == UNASSIGNED else UUID(wanted.store_id)
    if store_id is not None and await at.store.get(Store.by_id(family_id, store_id)) is None:
        raise NotFound
    if status is UNSET:
        return ShoppingListItem.by_store(family_id, store_id)
    return ShoppingListItem.by_store_and_status(family_id, store_id, status)


@shopping_list.read()
async def shopping_item(at: InFamily, item: ShoppingListItem) -> ShoppingListItem:
    """Get an item of the list, with the names of its store and of the person who added it."""
    return item


# --- adding -----------------------------------------------------------------------------------------------------------


async def already_there(refusal: WriteRefused) -> ProblemError | None:
    return IdTaken(refusal.current)


@shopping_list.create(DuplicateItem, IdTaken, TooMany)
async def add_to_list(at: InFamily, new: NewShoppingItem) -> Writes[ShoppingListItem]:
    """Add an item to the list. If a pending item has the same inventory item, the answer is 409 with the pending one as
    `existing`, unless `allowDuplicate` is true."""
    item, (own, *writes) = await _adding(at, new)
    return Writes(item, or_raise(own.operation, already_there), *writes)


async def _adding(at: InFamily, new: NewShoppingItem) -> tuple[ShoppingListItem, list[Outcome]]:
    """The new item and the writes that add it, its own first. If its id is in use, the rule runs again."""
    await _must_fit(at, 1)
    linked = None if new.item_id is None else await _linked(at, new.item_id, new.allow_duplicate)
    now = at.now
    item = ShoppingListItem(
        shopping_item_id=at.new_id() if new.shopping_item_id is UNSET else new.shopping_item_id,
        family_id=at.family_id,
        item_id=new.item_id,
        name=new.name if isinstance(new.name, str) or linked is None else linked.name,  # type: ignore[arg-type]
        store_id=await _usual_store(at, linked) if new.store_id is UNSET else new.store_id,
        quantity=new.quantity,
        unit=(None if linked is None else linked.unit) if new.unit is UNSET else new.unit,
        notes=new.notes,
        added_by=at.principal.user_id,
        created_at=now,
        updated_at=now,
    )
    writes = [or_retry(put(item, when=absent))]
    if item.item_id is not None:
        writes.append(enter_guard(at.store, item, new.allow_duplicate))
        writes.append(or_retry(check(InventoryItem.by_id(at.family_id, item.item_id), when=present)))
    if item.store_id is not None:
        exists = check(Store.by_id(at.family_id, item.store_id), when=present)
        writes.append(or_retry(exists) if new.store_id is UNSET else or_raise(exists, NotFound))
    return item, writes


async def _must_fit(at: InFamily, more: int) -> None:
    await at.must_fit(ShoppingListItem.all_of_family(at.family_id), MOST_LISTED, "items on the list", more)


async def _linked(at: InFamily, item_id: UUID, allow_duplicate: bool) -> InventoryItem:
    linked, guard = await at.store.get_together(
        InventoryItem.by_id(at.family_id, item_id), PendingGuard.by_item(at.family_id, item_id)
    )
    if linked is None:
        raise NotFound
    if allow_duplicate and guard is not None and len(guard.shopping_item_ids) >= MOST_DUPLICATES:
        raise TooMany("of the same item on the list", MOST_DUPLICATES)
    return linked


async def _usual_store(at: InFamily, linked: InventoryItem | None) -> UUID | None:
    """The store where the item is usually bought, if it still exists."""
    if linked is None or linked.preferred_store_id is None:
        return None
    store = await at.store.get(Store.by_id(at.family_id, linked.preferred_store_id))
    return None if store is None else store.store_id


# --- adding typed lines -----------------------------------------------------------------------------------------------


@shopping_list.action("POST", "/bulk", TooMany, status=201)
async def add_lines(at: InFamily, pasted: PastedLines) -> Writes[list[ShoppingListItem]]:
    """Add several typed or pasted lines to the list, all or none. A line is linked to the inventory item with its name,
    unless that is on the list already."""
    lines = read_lines(pasted.lines)
    await _must_fit(at, len(lines))
    linked = await _links_by_line(at, lines)
    items: list[ShoppingListItem] = []
    writes: list[Outcome] = []
    for line in lines:
        thing = linked.get(line)
        store_id = await _usual_store(at, thing)
        item = ShoppingListItem(
            shopping_item_id=at.new_id(),
            family_id=at.family_id,
            item_id=None if thing is None else thing.item_id,
            name=line.name if thing is None else thing.name,
            store_id=store_id,
            quantity=line.quantity,
            unit=line.unit or (None if thing is None else thing.unit),
            added_by=at.principal.user_id,
            created_at=at.now,
            updated_at=at.now,
        )
        items.append(item)
        writes.append(or_retry(put(item, when=absent)))
        if item.item_id is not None:
            writes.append(or_retry(entering_guard(item)))
            writes.append(or_retry(check(InventoryItem.by_id(at.family_id, item.item_id), when=present)))
    stores = {item.store_id for item in items if item.store_id is not None}
    checks = (or_retry(check(Store.by_id(at.family_id, store_id), when=present)) for store_id in stores)
    return Writes(items, *writes, *checks)


async def add_typed(at: InFamily, typed: TypedItem) -> Writes[ShoppingListItem]:
    """Add a typed thing to the list, linked to the inventory item with that name. If there is none, it duplicates a
    pending item with that name, unless duplicates are allowed."""
    if typed.shopping_item_id is not UNSET:
        existing = await at.store.get(ShoppingListItem.by_id(at.family_id, typed.shopping_item_id))
        if existing is not None:
            return Writes(existing)
    lines = read_lines(typed.lines)
    line = lines[0] if lines else None
    item_id = typed.item_id
    if item_id is None and line is not None:
        match = called(line.name, await _at_home(at))
        item_id = None if match is None else match.item_id
        if match is None and not typed.allow_duplicate:
            pending = await at.store.all(ShoppingListItem.by_status(at.family_id, "pending"))
            duplicate = called(line.name, pending)
            if duplicate is not None:
                raise DuplicateItem(duplicate)
    new = NewShoppingItem(
        shopping_item_id=typed.shopping_item_id,
        item_id=item_id,
        name=UNSET if item_id is not None or line is None else line.name,
        store_id=UNSET if typed.store_id is None else typed.store_id,
        quantity=None if line is None else line.quantity,
        unit=UNSET if line is None or line.unit is None else line.unit,
        allow_duplicate=typed.allow_duplicate,
    )
    item, writes = await _adding(at, new)
    return Writes(item, *writes)


async def add_low_stock(at: InFamily) -> Writes[None]:
    """Add everything that is running low to the list, each item in its own transaction."""
    for thing in await at.store.all(InventoryItem.low(at.family_id, "active")):
        # The item is on the list already, or was deleted meanwhile.
        with suppress(DuplicateItem, NotFound):
            async for _ in at.store.attempts("adding low stock"):
                _, writes = await _adding(at, NewShoppingItem(item_id=thing.item_id))
                if await at.commit(Step(*writes)):
                    break
    return Writes(None)


async def _at_home(at: InFamily) -> Sequence[InventoryItem]:
    """The inventory items that a typed name can refer to."""
    return sorted(await at.store.all(InventoryItem.by_status(at.family_id, "active")), key=by_name)


async def _links_by_line(at: InFamily, lines: Sequence[ShoppingLine]) -> dict[ShoppingLine, InventoryItem]:
    """The inventory items to link lines to: each once, if it is not on the list, as many as fit into a transaction."""
    at_home = await _at_home(at)
    named = {line: thing for line in lines if (thing := called(line.name, at_home)) is not None}
    once = {thing.item_id: (line, thing) for line, thing in reversed(named.items())}
    guards = await at.store.get_many([PendingGuard.by_item(at.family_id, item_id) for item_id in once])
    listed = {guard.item_id for guard in guards if guard is not None and guard.shopping_item_ids}
    fitting = (ROOM_FOR_LINES - len(lines)) // ACTIONS_OF_A_LINK
    return dict([pair for item_id, pair in reversed(once.items()) if item_id not in listed][:fitting])


# --- editing ----------------------------------------------------------------------------------------------------------


@shopping_list.change()
async def change_shopping_item(
    at: InFamily, item: ShoppingListItem, change: ShoppingItemChange
) -> Writes[ShoppingListItem]:
    """Edit an item of the list."""
    others: list[Outcome] = []
    if isinstance(change.store_id, UUID) and change.store_id != item.store_id:
        others.append(or_raise(check(Store.by_id(at.family_id, change.store_id), when=present), NotFound))
    return at.apply(item, change, *others)


@shopping_list.action("PATCH", "/status", DuplicateItem)
async def check_off(at: InFamily, item: ShoppingListItem, wanted: StatusChange) -> Writes[ShoppingListItem]:
    """Check an item off, or put it back on the list. Purchased items are deleted after seven days."""
    if item.status == wanted.status:
        return Writes(item)
    purchased = wanted.status == "purchased"
    changes = [
        the(ShoppingListItem.status).becomes(wanted.status),
        the(ShoppingListItem.ttl).becomes(int((at.now + PURCHASED_ITEMS_STAY).timestamp()) if purchased else None),
    ]
    guarded = await _is_guarded(at, item)
    if not guarded and item.item_id is not None:
        changes.append(the(ShoppingListItem.item_id).becomes(None))
    after, write = at.edit(item, *changes)
    if not guarded:
        return Writes(after, write)
    if purchased:
        return Writes(after, write, or_retry(leaving_guard(after)))
    assert after.item_id is not None
    exists = check(InventoryItem.by_id(at.family_id, after.item_id), when=present)
    return Writes(after, write, enter_guard(at.store, after, wanted.allow_duplicate), or_retry(exists))


@shopping_list.delete()
async def delete_shopping_item(at: InFamily, item: ShoppingListItem) -> Writes[None]:
    """Remove an item from the list."""
    guarded = item.status == "pending" and await _is_guarded(at, item)
    return Writes(None, delete(item, when=present), *([or_retry(leaving_guard(item))] if guarded else []))


async def _is_guarded(at: InFamily, item: ShoppingListItem) -> bool:
    """Whether the inventory item that it is linked to still exists: its guard is deleted with it."""
    if item.item_id is None:
        return False
    return await at.store.get(PendingGuard.by_item(at.family_id, item.item_id)) is not None

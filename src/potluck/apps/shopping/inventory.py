"""The inventory: what a family keeps at home, how much and where, and what is running low."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.shopping.access import InFamily
from potluck.apps.shopping.cascade import deleting
from potluck.apps.shopping.conflicts import IdTaken, NameTaken, name_taken, put_new
from potluck.apps.shopping.entities import InventoryItem, StorageLocation, Store
from potluck.apps.shopping.families import FAMILY, TAG, frame_of
from potluck.apps.shopping.fields import (
    MOST,
    MOST_AT_HOME,
    AlternateStores,
    InventoryStatus,
    ItemId,
    LocationId,
    Name,
    Quantity,
    Step,
    StoreId,
    Threshold,
    Unit,
)
from potluck.apps.shopping.names import ItemNames
from potluck.apps.shopping.ordering import by_name
from potluck.people import TooMany
from potluck.table import Operation, Query, Ref, check, present, the
from potluck.validation import FieldError, ValidationError
from potluck.web import (
    UNSET,
    Actions,
    Edit,
    Input,
    New,
    NotFound,
    Outcome,
    Unset,
    View,
    Writes,
    computed,
    or_raise,
)


class InventoryItemView(View[InventoryItem]):
    item_id: UUID
    family_id: UUID
    name: str
    quantity: int
    threshold: int
    unit: str | None
    status: InventoryStatus
    created_by: UUID
    version: int
    created_at: datetime
    updated_at: datetime

    @computed
    def low(item: InventoryItem) -> bool:
        """Whether its quantity is at or below the threshold."""
        return item.quantity <= item.threshold

    @computed
    def location_id(item: InventoryItem, names: ItemNames) -> UUID | None:
        return item.location_id if item.location_id in names.locations else None

    @computed
    def location_name(item: InventoryItem, names: ItemNames) -> str | None:
        return None if item.location_id is None else names.locations.get(item.location_id)

    @computed
    def preferred_store_id(item: InventoryItem, names: ItemNames) -> UUID | None:
        return item.preferred_store_id if item.preferred_store_id in names.stores else None

    @computed
    def preferred_store_name(item: InventoryItem, names: ItemNames) -> str | None:
        return None if item.preferred_store_id is None else names.stores.get(item.preferred_store_id)

    @computed
    def alternate_store_ids(item: InventoryItem, names: ItemNames) -> tuple[UUID, ...]:
        return tuple(store_id for store_id in item.alternate_store_ids if store_id in names.stores)


class NewInventoryItem(New[InventoryItem]):
    name: Name
    item_id: ItemId | Unset = UNSET
    quantity: Quantity = 0
    threshold: Threshold = 0
    unit: Unit | None = None
    location_id: LocationId | None = None
    preferred_store_id: StoreId | None = None
    alternate_store_ids: AlternateStores = ()


class InventoryItemChange(Edit[InventoryItem]):
    name: Name | Unset = UNSET
    quantity: Quantity | Unset = UNSET
    threshold: Threshold | Unset = UNSET
    unit: Unit | Unset | None = UNSET
    location_id: LocationId | Unset | None = UNSET
    preferred_store_id: StoreId | Unset | None = UNSET
    alternate_store_ids: AlternateStores | Unset = UNSET
    status: InventoryStatus | Unset = UNSET


class Adjustment(Input):
    by: Step


class InventoryFilter(Input):
    low_stock: bool = False
    """Only active items that are running low."""
    status: InventoryStatus | Unset = UNSET


inventory = Actions(
    InFamily,
    InventoryItem.by_id,
    InventoryItemView,
    api="/families/{family_id}/inventory",
    page=f"{FAMILY}/inventory",
    tag=TAG,
    frame=frame_of("inventory"),
)


@inventory.list(order=by_name, live=lambda at: InventoryItem.all_of_family(at.family_id))
async def inventory_items(at: InFamily, wanted: InventoryFilter) -> Query[InventoryItem]:
    """List the inventory, by name."""
    if wanted.low_stock:
        return InventoryItem.low(at.family_id, "active")
    if wanted.status is UNSET:
        return InventoryItem.all_of_family(at.family_id)
    return InventoryItem.by_status(at.family_id, wanted.status)


@inventory.read()
async def inventory_item(at: InFamily, item: InventoryItem) -> InventoryItem:
    """Get an inventory item."""
    return item


@inventory.create(IdTaken, NameTaken, TooMany)
async def add_inventory_item(at: InFamily, new: NewInventoryItem) -> Writes[InventoryItem]:
    """Add an inventory item. Its name is unique regardless of case: “pasta” is the same as “Pasta”."""
    await at.must_fit(InventoryItem.all_of_family(at.family_id), MOST_AT_HOME, "items in the inventory")
    item = at.make(
        new,
        family_id=at.family_id,
        item_id=new.item_id or at.new_id(),
        alternate_store_ids=_distinct(new.alternate_store_ids),
        created_by=at.principal.user_id,
    )
    return Writes(item, *put_new(item, "item", new.item_id), *_links_of(item))


@inventory.change(NameTaken)
async def change_inventory_item(
    at: InFamily, item: InventoryItem, change: InventoryItemChange
) -> Writes[InventoryItem]:
    """Edit an inventory item."""
    if change.alternate_store_ids is not UNSET:
        change = replace(change, alternate_store_ids=_distinct(change.alternate_store_ids))
    after = at.apply(item, change).answer
    return at.apply(item, change, *_links_of(after, item), refused=name_taken)


@inventory.action("POST", "/adjust", serialized=True)
async def adjust(at: InFamily, item: InventoryItem, step: Adjustment) -> Writes[InventoryItem]:
    """Adjust the stock of an inventory item, down to zero. No concurrent step is lost."""
    after, write = stepped(at, item, step.by, field="by")
    return Writes(item) if after.quantity == item.quantity else Writes(after, write)


@inventory.delete()
async def delete_inventory_item(at: InFamily, item: InventoryItem) -> Writes[None]:
    """Delete an inventory item. Items on the list that are linked to it become free text, with its name and store."""
    return Writes(None, *await deleting(at, item))


def stepped(at: InFamily, item: InventoryItem, by: int, *, field: str) -> tuple[InventoryItem, Operation]:
    """The item with `by` more, but at least zero, and the write; ValidationError on `field` if that is too many."""
    quantity = max(0, item.quantity + by)
    if quantity > MOST:
        raise ValidationError(FieldError(field, f"There can be at most {MOST:,} of an item"))
    return at.edit(item, the(InventoryItem.quantity).becomes(quantity))


def _distinct(store_ids: Sequence[UUID]) -> tuple[UUID, ...]:
    return tuple(dict.fromkeys(store_ids))


def _links_of(item: InventoryItem, before: InventoryItem | None = None) -> list[Outcome]:
    """Checks, for the item's own transaction, that every store and location it newly links to exists."""
    stores, locations = _stores_of(item), {item.location_id}
    if before is not None:
        stores, locations = stores - _stores_of(before), locations - {before.location_id}
    refs: list[Ref[Store] | Ref[StorageLocation]] = []
    refs += [Store.by_id(item.family_id, store_id) for store_id in stores if store_id is not None]
    refs += [StorageLocation.by_id(item.family_id, location_id) for location_id in locations if location_id is not None]
    return [or_raise(check(ref, when=present), NotFound) for ref in refs]


def _stores_of(item: InventoryItem) -> set[UUID | None]:
    return {item.preferred_store_id, *item.alternate_store_ids}

"""The JSON door of what a family has at home, where it keeps it, and where it buys it."""

from typing import Annotated, Any

from litestar import Request, Response, delete, get, patch, post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from msgspec import UNSET

from potluck.apps.shopping.answering import gone, listed, one, told
from potluck.apps.shopping.bodies import (
    Adjustment,
    FamilyId,
    InventoryChange,
    InventoryStatusText,
    ItemId,
    LocationChange,
    LocationId,
    NewInventoryItem,
    NewLocation,
    NewStore,
    StoreChange,
    StoreId,
)
from potluck.apps.shopping.entities import InventoryItem, StorageLocation, Store
from potluck.apps.shopping.family_routes import FAMILY, TAGS
from potluck.apps.shopping.live_routes import live_routes
from potluck.apps.shopping.ordering import by_name
from potluck.apps.shopping.problems import NAME_TAKEN
from potluck.apps.shopping.service import Shopping
from potluck.apps.shopping.views import InventoryItemShown, LocationShown, StoreShown, location_shown, store_shown
from potluck.people.authentication import Principal
from potluck.web.cursors import Listed, Part
from potluck.web.errors import ALREADY_EXISTS, FORBIDDEN
from potluck.web.live import Live
from potluck.web.once import Once
from potluck.web.versions import expected, seen

__all__ = ["ROUTES"]

AnyRequest = Request[Any, Any, Any]

INVENTORY = f"{FAMILY}/inventory"
ITEM = f"{INVENTORY}/{{item_id:str}}"
STORES = f"{FAMILY}/stores"
STORE = f"{STORES}/{{store_id:str}}"
LOCATIONS = f"{FAMILY}/locations"
LOCATION = f"{LOCATIONS}/{{location_id:str}}"

# --- the inventory ---------------------------------------------------------------------------------------------------


@post(INVENTORY, tags=TAGS, opt={"problems": [ALREADY_EXISTS]})
async def add_inventory_item(
    family_id: FromPath[FamilyId], data: JSONBody[NewInventoryItem], caller: Principal, shopping: Shopping, once: Once
) -> Response[InventoryItemShown]:
    """Add something to the inventory."""
    return await once(
        lambda alongside: shopping.inventory.add(
            caller,
            family_id,
            data.name,
            quantity=data.quantity,
            threshold=data.threshold,
            unit=data.unit,
            location_id=data.location_id,
            preferred_store_id=data.preferred_store_id,
            alternate_store_ids=data.alternate_store_ids,
            item_id=data.item_id or None,
            alongside=alongside,
        ),
        lambda item: told(item, made=item.item_id),
        may=shopping.sees(caller, family_id),
    )


@get(INVENTORY, tags=TAGS)
async def inventory(
    family_id: FromPath[FamilyId],
    caller: Principal,
    shopping: Shopping,
    part: Part,
    live: Live,
    low_stock: Annotated[bool, QueryParameter(name="lowStock", description="Only what is running low.")] = False,
    status: FromQuery[InventoryStatusText | None] = None,
) -> Listed[InventoryItemShown]:
    """What the family has at home, by name; of lowStock, what is active and running low."""
    read_by = InventoryItem.low(family_id, "active") if low_stock or status else None
    position = await live.position(InventoryItem.all_of_family(family_id), read_by=read_by)
    found = await shopping.inventory.all(caller, family_id, low_stock=low_stock, status=status or UNSET)
    return listed(found, by_name, part, position)


@get(ITEM, tags=TAGS)
async def inventory_item(
    family_id: FromPath[FamilyId], item_id: FromPath[ItemId], caller: Principal, shopping: Shopping, request: AnyRequest
) -> Response[InventoryItemShown | None]:
    """One thing of the inventory."""
    return one(request, await shopping.inventory.one(caller, family_id, item_id))


@patch(ITEM, tags=TAGS)
async def change_inventory_item(
    family_id: FromPath[FamilyId],
    item_id: FromPath[ItemId],
    data: JSONBody[InventoryChange],
    caller: Principal,
    shopping: Shopping,
    once: Once,
    request: AnyRequest,
) -> Response[InventoryItemShown]:
    """Change a thing of the inventory."""
    version = seen(request, data.version)
    return await once(
        lambda alongside: shopping.inventory.edit(
            caller,
            family_id,
            item_id,
            version,
            name=data.name,
            quantity=data.quantity,
            threshold=data.threshold,
            unit=data.unit,
            location_id=data.location_id,
            preferred_store_id=data.preferred_store_id,
            alternate_store_ids=data.alternate_store_ids,
            status=data.status,
            alongside=alongside,
        ),
        told,
        may=shopping.sees(caller, family_id),
    )


@delete(ITEM, tags=TAGS, opt={"if_match": True})
async def delete_inventory_item(
    family_id: FromPath[FamilyId],
    item_id: FromPath[ItemId],
    caller: Principal,
    shopping: Shopping,
    once: Once,
    request: AnyRequest,
) -> Response[None]:
    """Delete a thing from the inventory. What is on the list for it becomes free text, with its name and store."""
    version = expected(request)
    return await once(lambda alongside: shopping.inventory.delete(caller, family_id, item_id, version, alongside), gone)


@post(f"{ITEM}/adjust", tags=TAGS, status_code=200)
async def adjust(
    family_id: FromPath[FamilyId],
    item_id: FromPath[ItemId],
    data: JSONBody[Adjustment],
    caller: Principal,
    shopping: Shopping,
    once: Once,
) -> Response[InventoryItemShown]:
    """So many more at home, or fewer. It stops at zero, and no step of anyone else is lost."""
    return await once(
        lambda alongside: shopping.inventory.adjust(caller, family_id, item_id, data.by, alongside),
        told,
        may=shopping.sees(caller, family_id),
    )


# --- stores ----------------------------------------------------------------------------------------------------------


@post(STORES, tags=TAGS, opt={"problems": [FORBIDDEN, NAME_TAKEN, ALREADY_EXISTS]})
async def add_store(
    family_id: FromPath[FamilyId], data: JSONBody[NewStore], caller: Principal, shopping: Shopping, once: Once
) -> Response[StoreShown]:
    """Add a store. Admins may; no two have the same name."""
    return await once(
        lambda alongside: shopping.stores.add(
            caller,
            family_id,
            data.name,
            address=data.address,
            store_id=data.store_id or None,
            alongside=alongside,
        ),
        lambda store: told(store, made=store.store_id),
        may=shopping.sees(caller, family_id),
    )


@get(STORES, tags=TAGS)
async def stores(
    family_id: FromPath[FamilyId], caller: Principal, shopping: Shopping, part: Part, live: Live
) -> Listed[StoreShown]:
    """The family's stores, by name."""
    position = await live.position(Store.all_of_family(family_id))
    return listed(await shopping.stores.all(caller, family_id), by_name, part, position)


@get(STORE, tags=TAGS)
async def store(
    family_id: FromPath[FamilyId],
    store_id: FromPath[StoreId],
    caller: Principal,
    shopping: Shopping,
    request: AnyRequest,
) -> Response[StoreShown | None]:
    """One store."""
    return one(request, await shopping.stores.one(caller, family_id, store_id))


@patch(STORE, tags=TAGS, opt={"problems": [FORBIDDEN, NAME_TAKEN]})
async def change_store(
    family_id: FromPath[FamilyId],
    store_id: FromPath[StoreId],
    data: JSONBody[StoreChange],
    caller: Principal,
    shopping: Shopping,
    once: Once,
    request: AnyRequest,
) -> Response[StoreShown]:
    """Change a store. Admins may."""
    version = seen(request, data.version)
    return await once(
        lambda alongside: shopping.stores.edit(
            caller, family_id, store_id, version, name=data.name, address=data.address, alongside=alongside
        ),
        told,
        may=shopping.sees(caller, family_id),
    )


@delete(STORE, tags=TAGS, opt={"if_match": True, "problems": [FORBIDDEN]})
async def delete_store(
    family_id: FromPath[FamilyId],
    store_id: FromPath[StoreId],
    caller: Principal,
    shopping: Shopping,
    once: Once,
    request: AnyRequest,
) -> Response[None]:
    """Delete a store. What was to be bought there is unassigned. Admins may."""
    version = expected(request)
    return await once(lambda alongside: shopping.stores.delete(caller, family_id, store_id, version, alongside), gone)


# --- storage locations -----------------------------------------------------------------------------------------------


@post(LOCATIONS, tags=TAGS, opt={"problems": [FORBIDDEN, NAME_TAKEN, ALREADY_EXISTS]})
async def add_location(
    family_id: FromPath[FamilyId], data: JSONBody[NewLocation], caller: Principal, shopping: Shopping, once: Once
) -> Response[LocationShown]:
    """Add a storage location. Admins may; no two have the same name."""
    return await once(
        lambda alongside: shopping.locations.add(
            caller,
            family_id,
            data.name,
            description=data.description,
            location_id=data.location_id or None,
            alongside=alongside,
        ),
        lambda location: told(location, made=location.location_id),
        may=shopping.sees(caller, family_id),
    )


@get(LOCATIONS, tags=TAGS)
async def locations(
    family_id: FromPath[FamilyId], caller: Principal, shopping: Shopping, part: Part, live: Live
) -> Listed[LocationShown]:
    """Where the family keeps things, by name."""
    position = await live.position(StorageLocation.all_of_family(family_id))
    return listed(await shopping.locations.all(caller, family_id), by_name, part, position)


@get(LOCATION, tags=TAGS)
async def location(
    family_id: FromPath[FamilyId],
    location_id: FromPath[LocationId],
    caller: Principal,
    shopping: Shopping,
    request: AnyRequest,
) -> Response[LocationShown | None]:
    """One storage location."""
    return one(request, await shopping.locations.one(caller, family_id, location_id))


@patch(LOCATION, tags=TAGS, opt={"problems": [FORBIDDEN, NAME_TAKEN]})
async def change_location(
    family_id: FromPath[FamilyId],
    location_id: FromPath[LocationId],
    data: JSONBody[LocationChange],
    caller: Principal,
    shopping: Shopping,
    once: Once,
    request: AnyRequest,
) -> Response[LocationShown]:
    """Change a storage location. Admins may."""
    version = seen(request, data.version)
    return await once(
        lambda alongside: shopping.locations.edit(
            caller, family_id, location_id, version, name=data.name, description=data.description, alongside=alongside
        ),
        told,
        may=shopping.sees(caller, family_id),
    )


@delete(LOCATION, tags=TAGS, opt={"if_match": True, "problems": [FORBIDDEN]})
async def delete_location(
    family_id: FromPath[FamilyId],
    location_id: FromPath[LocationId],
    caller: Principal,
    shopping: Shopping,
    once: Once,
    request: AnyRequest,
) -> Response[None]:
    """Delete a storage location. What is kept there is kept nowhere in particular. Admins may."""
    version = expected(request)
    return await once(
        lambda alongside: shopping.locations.delete(caller, family_id, location_id, version, alongside), gone
    )


ROUTES = [
    add_inventory_item,
    inventory,
    inventory_item,
    change_inventory_item,
    delete_inventory_item,
    adjust,
    add_store,
    stores,
    store,
    change_store,
    delete_store,
    add_location,
    locations,
    location,
    change_location,
    delete_location,
    *live_routes(
        INVENTORY,
        "Inventory",
        "the inventory",
        InventoryItem.all_of_family,
        lambda shopping: shopping.inventory.shown,
    ),
    *live_routes(STORES, "Stores", "the stores", Store.all_of_family, lambda shopping: store_shown),
    *live_routes(
        LOCATIONS, "Locations", "the storage locations", StorageLocation.all_of_family, lambda shopping: location_shown
    ),
]

"""Stores: where a family buys things. Their names are unique."""

from collections import Counter
from datetime import datetime
from typing import Any
from uuid import UUID

from potluck.apps.shopping.access import FamilyAdmin, InFamily
from potluck.apps.shopping.cascade import deleting, links_to
from potluck.apps.shopping.conflicts import IdTaken, NameTaken, name_taken, put_new
from potluck.apps.shopping.entities import InventoryItem, ShoppingListItem, Store
from potluck.apps.shopping.families import FAMILY, TAG, frame_of
from potluck.apps.shopping.fields import MOST_STORES, Address, Name, StoreId
from potluck.apps.shopping.locations import LocationView, NewLocation, add_location, all_locations, locations
from potluck.apps.shopping.ordering import by_name
from potluck.people import TooMany
from potluck.table import Query
from potluck.web import UNSET, Actions, Edit, New, PageForm, Show, Unset, View, Writes, _

STORES = f"{FAMILY}/stores"


class StoreView(View[Store]):
    store_id: UUID
    family_id: UUID
    name: str
    address: str | None
    version: int
    created_at: datetime
    updated_at: datetime


class NewStore(New[Store]):
    name: Name
    store_id: StoreId | Unset = UNSET
    address: Address | None = None


class StoreChange(Edit[Store]):
    name: Name | Unset = UNSET
    address: Address | Unset | None = UNSET


stores = Actions(
    InFamily, Store.by_id, StoreView, api="/families/{family_id}/stores", page=STORES, tag=TAG, frame=frame_of("stores")
)


@stores.list(order=by_name, live=True)
def all_stores(at: InFamily) -> Query[Store]:
    """List the stores, by name."""
    return Store.all_of_family(at.family_id)


@stores.read()
async def one_store(at: InFamily, store: Store) -> Store:
    """Get a store."""
    return store


@stores.page("", "shopping/stores.html")
async def stores_page(at: InFamily, show: Show) -> dict[str, Any]:
    """The stores and storage locations, with the number of items to buy or kept there."""
    listed = await at.store.all(ShoppingListItem.by_status(at.family_id, "pending"))
    at_home = await at.store.all(InventoryItem.by_status(at.family_id, "active"))
    return {
        "stores": sorted(await at.show(StoreView, await at.store.all(all_stores(at))), key=by_name),
        "locations": sorted(await at.show(LocationView, await at.store.all(all_locations(at))), key=by_name),
        "to_buy": Counter(item.store_id for item in listed),
        "kept_at": Counter(item.location_id for item in at_home),
        "store_form": show.form(NewStore),
        "location_form": show.form(NewLocation),
    }


@stores.page("", "shopping/place.html")
async def store_page(at: InFamily, store: Store, show: Show) -> dict[str, Any]:
    """A store, and the form to edit it."""
    form = show.form(StoreChange, store)
    return {
        "kind": "store",
        "place": store,
        "place_id": store.store_id,
        "linked": len(await links_to(at.store, at.family_id, "store", store.store_id)),
        "form": form,
        "conflict": form.conflict(show.clash, {"name": _("Name"), "address": _("Address")}),
    }


GONE = _("Store deleted. Its items stay, without a store.")
TO_ADD = PageForm(then=STORES, flash=_("Store added."), on=stores_page)
TO_CHANGE = PageForm(path="", then=STORES, flash=_("Store saved."), on=store_page)
TO_DELETE = PageForm(path="/delete", then=STORES, flash=GONE)


@stores.create(NameTaken, IdTaken, TooMany, form=TO_ADD)
async def add_store(at: FamilyAdmin, new: NewStore) -> Writes[Store]:
    """Add a store with a unique name. Admins only."""
    await at.must_fit(Store.all_of_family(at.family_id), MOST_STORES, "stores in a family")
    store = at.make(new, family_id=at.family_id, store_id=new.store_id or at.new_id())
    return Writes(store, *put_new(store, "store", new.store_id))


@stores.change(NameTaken, form=TO_CHANGE)
async def change_store(at: FamilyAdmin, store: Store, change: StoreChange) -> Writes[Store]:
    """Edit a store. Admins only."""
    return at.apply(store, change, refused=name_taken)


@stores.delete(form=TO_DELETE)
async def delete_store(at: FamilyAdmin, store: Store) -> Writes[None]:
    """Delete a store. Items to buy there become unassigned. Admins only."""
    return Writes(None, *await deleting(at, store))


# The form for a new location is on the stores page.
locations.form("", then=STORES, flash=_("Location added."), on=stores_page)(add_location)

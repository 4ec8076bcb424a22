"""Storage locations: where a family keeps things at home. Their names are unique."""

from datetime import datetime
from typing import Any
from uuid import UUID

from potluck.apps.shopping.access import FamilyAdmin, InFamily
from potluck.apps.shopping.cascade import deleting, links_to
from potluck.apps.shopping.conflicts import IdTaken, NameTaken, name_taken, put_new
from potluck.apps.shopping.entities import StorageLocation
from potluck.apps.shopping.families import FAMILY, TAG, frame_of
from potluck.apps.shopping.fields import MOST_LOCATIONS, Description, LocationId, LocationName
from potluck.apps.shopping.ordering import by_name
from potluck.people import TooMany
from potluck.table import Query
from potluck.web import UNSET, Actions, Edit, New, PageForm, Show, Unset, View, Writes, _

STORES = f"{FAMILY}/stores"


class LocationView(View[StorageLocation]):
    location_id: UUID
    family_id: UUID
    name: str
    description: str | None
    version: int
    created_at: datetime
    updated_at: datetime


class NewLocation(New[StorageLocation]):
    name: LocationName
    location_id: LocationId | Unset = UNSET
    description: Description | None = None


class LocationChange(Edit[StorageLocation]):
    name: LocationName | Unset = UNSET
    description: Description | Unset | None = UNSET


locations = Actions(
    InFamily, StorageLocation.by_id, LocationView, api="/families/{family_id}/locations", page=f"{FAMILY}/locations",
    tag=TAG, frame=frame_of("stores"),
)  # fmt: skip


@locations.list(order=by_name, live=True)
def all_locations(at: InFamily) -> Query[StorageLocation]:
    """List the storage locations, by name."""
    return StorageLocation.all_of_family(at.family_id)


@locations.read()
async def one_location(at: InFamily, location: StorageLocation) -> StorageLocation:
    """Get a storage location."""
    return location


@locations.page("", "shopping/place.html")
async def location_page(at: InFamily, location: StorageLocation, show: Show) -> dict[str, Any]:
    """A storage location, and the form to edit it."""
    form = show.form(LocationChange, location)
    return {
        "kind": "location",
        "place": location,
        "place_id": location.location_id,
        "linked": len(await links_to(at.store, at.family_id, "location", location.location_id)),
        "form": form,
        "conflict": form.conflict(show.clash, {"name": _("Name"), "description": _("Description")}),
    }


GONE = _("Location deleted. Its items stay, without a location.")
TO_CHANGE = PageForm(path="", then=STORES, flash=_("Location saved."), on=location_page)
TO_DELETE = PageForm(path="/delete", then=STORES, flash=GONE)


@locations.create(NameTaken, IdTaken, TooMany)
async def add_location(at: FamilyAdmin, new: NewLocation) -> Writes[StorageLocation]:
    """Add a storage location with a unique name. Admins only."""
    await at.must_fit(StorageLocation.all_of_family(at.family_id), MOST_LOCATIONS, "locations in a family")
    location = at.make(new, family_id=at.family_id, location_id=new.location_id or at.new_id())
    return Writes(location, *put_new(location, "location", new.location_id))


@locations.change(NameTaken, form=TO_CHANGE)
async def change_location(
    at: FamilyAdmin, location: StorageLocation, change: LocationChange
) -> Writes[StorageLocation]:
    """Edit a storage location. Admins only."""
    return at.apply(location, change, refused=name_taken)


@locations.delete(form=TO_DELETE)
async def delete_location(at: FamilyAdmin, location: StorageLocation) -> Writes[None]:
    """Delete a storage location. Inventory items kept there are left without a location. Admins only."""
    return Writes(None, *await deleting(at, location))

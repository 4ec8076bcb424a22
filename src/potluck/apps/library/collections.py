"""Collections: items of a library that are listed together, in their own order."""

from typing import Any
from uuid import UUID

from potluck.apps.library.access import InLibrary, OwnLibrary, Viewer
from potluck.apps.library.entities import Collection, CollectionMember, Library
from potluck.apps.library.fields import CollectionDescription, CollectionId, CollectionName
from potluck.apps.library.libraries import TAG
from potluck.apps.library.page_frame import LIBRARY, frame_of
from potluck.people import TooMany
from potluck.store import Store
from potluck.table import Query, absent, collate, delete, put
from potluck.web import (
    UNSET,
    Actions,
    AlreadyThere,
    Edit,
    New,
    Unset,
    View,
    Writes,
    _,
    computed,
    or_raise,
)

# All of them are listed on one page.
MOST_COLLECTIONS = 5_000


class CollectionThere(AlreadyThere, field="name", detail=_("This shelf already has a collection with this name.")):
    """The name is in use."""


class CollectionView(View[Collection]):
    """A collection. Only its owner sees the version."""

    collection_id: UUID
    name: str
    description: str | None
    item_count: int

    @computed
    def version(collection: Collection, viewer: Viewer) -> int | Unset:
        return collection.version if viewer.owns(collection) else UNSET


class NewCollection(New[Collection]):
    name: CollectionName
    description: CollectionDescription | None = None
    collection_id: CollectionId | Unset = UNSET
    """Chosen by a device that was offline."""


class CollectionChange(Edit[Collection]):
    name: CollectionName | Unset = UNSET
    description: CollectionDescription | Unset | None = UNSET


collections = Actions(
    InLibrary, Collection.one, CollectionView, api="/libraries/{library_id}/collections",
    page=f"{LIBRARY}/collections", tag=TAG, frame=frame_of("shelves"),
)  # fmt: skip


def by_name(collection: Any) -> tuple[str, str]:
    return collate(collection.name), str(collection.collection_id)


async def collections_by_name(store: Store, library: Library) -> list[Collection]:
    """The collections of a library, sorted by name."""
    return sorted(await store.all(Collection.in_library(library.owner_id, library.library_id)), key=by_name)


@collections.list(order=by_name, live=True)
def all_collections(at: InLibrary) -> Query[Collection]:
    """List the collections of a library, by name."""
    return Collection.in_library(at.owner_id, at.library_id)


@collections.create(CollectionThere, TooMany)
async def add_collection(at: OwnLibrary, new: NewCollection) -> Writes[Collection]:
    """Create a collection. Its name is unique in the library, regardless of case and accents. Owner only."""
    await at.must_fit(Collection.in_library(at.owner_id, at.library_id), MOST_COLLECTIONS, "collections in a library")
    if new.collection_id is not UNSET:
        members = CollectionMember.of_collection(at.owner_id, at.library_id, new.collection_id)
        if await at.store.first(members) is not None:
            # A collection with this id was just deleted, and its remaining items would become this one's.
            raise CollectionThere
    collection = at.make(
        new, owner_id=at.owner_id, library_id=at.library_id, collection_id=new.collection_id or at.new_id()
    )
    return Writes(collection, or_raise(put(collection, when=absent), CollectionThere))


@collections.read()
async def one_collection(at: InLibrary, collection: Collection) -> Collection:
    """Get a collection."""
    return collection


@collections.change(CollectionThere)
async def change_collection(at: OwnLibrary, collection: Collection, change: CollectionChange) -> Writes[Collection]:
    """Rename a collection or edit its description. Its items get the new name. Owner only."""
    return at.apply(collection, change)


@collections.delete()
async def delete_collection(at: OwnLibrary, collection: Collection) -> Writes[None]:
    """Delete a collection. Its items stay in the library. Owner only."""
    return Writes(None, delete(collection))

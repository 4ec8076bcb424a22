"""Collections: items of a library that are listed together, in an order of their own."""

from typing import Any
from uuid import UUID

from potluck.apps.library.access import InLibrary, OwnLibrary, Viewer
from potluck.apps.library.entities import Collection, CollectionMember
from potluck.apps.library.fields import CollectionDescription, CollectionId, CollectionName
from potluck.apps.library.libraries import TAG
from potluck.apps.library.page_frame import LIBRARY, frame_of
from potluck.people import TooMany, new_id
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
    computed,
    or_raise,
)

# They are all listed on one page.
MOST_COLLECTIONS = 5_000


class CollectionThere(AlreadyThere, field="name", detail="This library has a collection of that name already"):
    """The name is in use."""


class CollectionView(View[Collection]):
    """A collection; its version only its owner sees."""

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


@collections.list(order=by_name, live=True)
def all_collections(at: InLibrary) -> Query[Collection]:
    """The collections of a library, by name."""
    return Collection.in_library(at.owner_id, at.library_id)


@collections.create(CollectionThere, TooMany)
async def add_collection(at: OwnLibrary, new: NewCollection) -> Writes[Collection]:
    """Make a collection. Its name is the library's only one, whatever its case and accents. Only the owner may."""
    await at.must_fit(Collection.in_library(at.owner_id, at.library_id), MOST_COLLECTIONS, "collections in a library")
    if new.collection_id is not UNSET:
        members = CollectionMember.of_collection(at.owner_id, at.library_id, new.collection_id)
        if await at.store.first(members) is not None:
            # A collection with this id was just deleted, and its remaining items would become this one's.
            raise CollectionThere
    collection = at.make(
        new, owner_id=at.owner_id, library_id=at.library_id, collection_id=new.collection_id or new_id()
    )
    return Writes(collection, or_raise(put(collection, when=absent), CollectionThere))


@collections.read()
async def one_collection(at: InLibrary, collection: Collection) -> Collection:
    """A collection."""
    return collection


@collections.change(CollectionThere)
async def change_collection(at: OwnLibrary, collection: Collection, change: CollectionChange) -> Writes[Collection]:
    """Give a collection another name or description. Only the owner may; its items follow the name."""
    return at.apply(collection, change)


@collections.delete()
async def delete_collection(at: OwnLibrary, collection: Collection) -> Writes[None]:
    """Delete a collection. Its items stay and stand for themselves. Only the owner may."""
    return Writes(None, delete(collection))

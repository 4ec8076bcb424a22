"""The page of a collection, and the page that groups several items into one."""

from typing import Annotated, Any
from uuid import UUID

from potluck.apps.library.access import InLibrary, OwnLibrary
from potluck.apps.library.collections import (
    CollectionChange,
    CollectionView,
    NewCollection,
    change_collection,
    collections,
    collections_by_name,
    delete_collection,
)
from potluck.apps.library.entities import Book, Collection, CollectionMember, Library, LibraryItem, Video
from potluck.apps.library.fields import CollectionId, ItemId
from potluck.apps.library.items import LibraryItemEdit, change_item
from potluck.apps.library.libraries import TAG, LibraryView, libraries
from potluck.apps.library.ordering import order_collection
from potluck.apps.library.page_frame import LIBRARY, frame_of
from potluck.apps.library.pages.rows import ShelfRowView, shelf_rows
from potluck.table import Query, absent, check, fold, present, put, the
from potluck.validation import FieldError, Length, ValidationError
from potluck.web import Actions, Input, Line, NotFound, Show, Step, Writes, _, or_retry

COLLECTION = f"{LIBRARY}/collections/{{collection_id}}"
MOST_GROUPED = 100
SHOWN_TO_GROUP = 1000


class InCollection(InLibrary):
    """A caller with access to the library, for one of its collections."""

    collection_id: CollectionId


volumes: Actions[Collection | Book | Video] = Actions(
    InCollection, None, ShelfRowView, page=COLLECTION, tag=TAG, frame=frame_of("shelves")
)


@volumes.list(live=True, row="library/volume.html", row_events="/volumes/events")
def volumes_of(at: InCollection) -> Query[Collection | Book | Video]:
    """A collection and its items, whatever name they have for it."""
    return _volumes(at, at.collection_id)


def _volumes(at: InLibrary, collection_id: UUID) -> Query[Collection | Book | Video]:
    return shelf_rows(at).where(the(Collection.collection_id) == collection_id)


@collections.page("", "library/collection.html")
async def collection_page(at: InLibrary, collection: Collection, show: Show) -> dict[str, Any]:
    # The live position is taken before anything is read, so that no change is missed.
    position = await at.position(_volumes(at, collection.collection_id))
    members = await at.store.all(
        CollectionMember.of_collection(at.owner_id, collection.library_id, collection.collection_id)
    )
    items = await at.store.get_many([LibraryItem.one(at.owner_id, at.library_id, member.item_id) for member in members])
    (library,) = await at.show(LibraryView, [at.library])
    (view,) = await at.show(CollectionView, [collection])
    clash = show.clash if isinstance(show.clash, CollectionView) else None
    form = show.form(CollectionChange, collection)
    return {
        "library": library,
        "collection": view,
        "rows": await at.show(ShelfRowView, [collection, *(item for item in items if item is not None)]),
        "position": position,
        "form": form,
        "conflict": form.conflict(clash, {"name": _("Name"), "description": _("Description")}),
    }


collections.form("/rename", then=COLLECTION, flash=_("Changes saved."), on=collection_page)(change_collection)
collections.form("/delete", then=LIBRARY, flash=_("Collection deleted. Its items are still on the shelf."))(
    delete_collection
)
collections.form("/order", then=COLLECTION, flash=_("Order saved."), on=collection_page)(order_collection)


# --- grouping items --------------------------------------------------------------------------------------------------


class GroupForm(Input):
    name: Line = ""
    """The name of an existing collection, or of a new one."""
    item_ids: Annotated[list[ItemId], Length(1, MOST_GROUPED, _("Choose 1 to 100 items."))]


@libraries.page("/group", "library/group.html")
async def group_page(at: OwnLibrary, library: Library, show: Show) -> dict[str, Any]:
    part = await at.store.page(LibraryItem.in_library(at.owner_id, at.library_id), SHOWN_TO_GROUP)
    (view,) = await at.show(LibraryView, [library])
    return {
        "library": view,
        "items": await at.show(ShelfRowView, [item for item in part.items if item.collection_id is None]),
        "more": part.next is not None,
        "collections": [collection.name for collection in await collections_by_name(at.store, library)],
        "form": show.form(GroupForm),
    }


@libraries.form(
    "/group",
    then=lambda at, collection_id: f"/library/{at.library_id}/collections/{collection_id}",
    flash=_("Items grouped."),
    on=group_page,
)
async def group(at: OwnLibrary, library: Library, sent: GroupForm) -> Writes[UUID]:
    """Add several items to a collection, in the order in which they are listed."""
    collection_id = await collection_named(at, library, sent.name, "name")
    for item_id in sent.item_ids:
        async for _attempt in at.store.attempts("grouping"):
            item = await at.store.get(LibraryItem.one(at.owner_id, at.library_id, item_id))
            if item is None or item.collection_id == collection_id:
                break
            moved = await change_item(at, item, LibraryItemEdit(collection_id=collection_id))
            # Of a rule about one item: here, an item that changed meanwhile is read again.
            if await at.commit(Step(*(moved.outcomes.get(id(write)) or or_retry(write) for write in moved.operations))):
                break
    return Writes(collection_id)


async def collection_named(at: OwnLibrary, library: Library, name: str, field: str = "collection") -> UUID:
    """The id of the collection with this name in the caller's library, which is created if it does not exist."""
    try:
        new = NewCollection.decode({"name": name})
    except ValidationError as wrong:
        raise ValidationError(*(FieldError(field, error.message) for error in wrong.errors)) from wrong
    async for _attempt in at.store.attempts("making a collection"):
        for existing in await at.store.all(Collection.in_library(library.owner_id, library.library_id)):
            if fold(existing.name) == fold(new.name):
                return existing.collection_id
        collection = at.make(new, owner_id=library.owner_id, library_id=library.library_id, collection_id=at.new_id())
        elsewhere = [] if library.library_id == at.library_id else [or_retry(check(_ref(library), when=present))]
        if elsewhere and await at.store.get(_ref(library)) is None:
            raise NotFound
        if await at.commit(Step(or_retry(put(collection, when=absent)), *elsewhere)):
            return collection.collection_id
    raise AssertionError("attempts end by raising")


def _ref(library: Library) -> Any:
    return Library.one(library.owner_id, library.library_id)

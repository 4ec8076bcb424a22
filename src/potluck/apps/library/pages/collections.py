"""The page of a collection, and the page that groups several items into one."""

from typing import Annotated, Any
from uuid import UUID

from potluck.apps.library.access import InLibrary, OwnLibrary
from potluck.apps.library.collections import (
    CollectionChange,
    CollectionView,
    NewCollection,
    by_name,
    change_collection,
    collections,
    delete_collection,
)
from potluck.apps.library.entities import Book, Collection, CollectionMember, Library, LibraryItem, Video
from potluck.apps.library.fields import CollectionId, ItemId
from potluck.apps.library.items import LibraryItemEdit, change_item
from potluck.apps.library.libraries import TAG, LibraryView, libraries
from potluck.apps.library.ordering import order_collection
from potluck.apps.library.page_frame import LIBRARY, frame_of
from potluck.apps.library.pages.rows import ShelfRowView, shelf_rows
from potluck.people import new_id
from potluck.store import attempts
from potluck.table import Query, absent, check, fold, present, put, the
from potluck.validation import FieldError, Length, ValidationError, decode_tree
from potluck.web import Actions, Input, Line, NotFound, Show, Step, Writes, or_retry

COLLECTION = f"{LIBRARY}/collections/{{collection_id}}"
MOST_GROUPED = 100
SHOWN_TO_GROUP = 1000


class InCollection(InLibrary):
    """Anyone with access to the library, for one of its collections."""

    collection_id: CollectionId


volumes: Actions[Collection | Book | Video] = Actions(
    InCollection, None, ShelfRowView, page=COLLECTION, tag=TAG, frame=frame_of("shelves")
)


@volumes.list(live=True, row="library/volume.html", row_events="/volumes/events")
def volumes_of(at: InCollection) -> Query[Collection | Book | Video]:
    """A collection and what is in it, whatever name its items carry for it."""
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
    found = await at.store.get_many([LibraryItem.one(at.owner_id, at.library_id, each.item_id) for each in members])
    (library,) = await at.show(LibraryView, [at.library])
    (view,) = await at.show(CollectionView, [collection])
    clash = show.clash if isinstance(show.clash, CollectionView) else None
    form = show.form(CollectionChange, collection)
    return {
        "library": library,
        "collection": view,
        "rows": await at.show(ShelfRowView, [collection, *(each for each in found if each is not None)]),
        "position": position,
        "form": form,
        "conflict": form.conflict(clash, {"name": "Name", "description": "Note"}),
    }


APART = "The collection is gone. Its items stay on the shelf."

collections.form("/rename", then=COLLECTION, flash="Saved.", on=collection_page)(change_collection)
collections.form("/delete", then=LIBRARY, flash=APART)(delete_collection)
collections.form("/order", then=COLLECTION, flash="The order is saved.", on=collection_page)(order_collection)


# --- several become one -----------------------------------------------------------------------------------------------


class GroupForm(Input):
    name: Line = ""
    """One that is there, or a new one."""
    item_ids: Annotated[list[ItemId], Length(1, MOST_GROUPED, "Tick what belongs together, up to 100 at once")]


@libraries.page("/group", "library/group.html")
async def group_page(at: OwnLibrary, library: Library, show: Show) -> dict[str, Any]:
    part = await at.store.page(LibraryItem.in_library(at.owner_id, at.library_id), SHOWN_TO_GROUP)
    (view,) = await at.show(LibraryView, [library])
    named = sorted(await at.store.all(Collection.in_library(at.owner_id, at.library_id)), key=by_name)
    return {
        "library": view,
        "items": await at.show(ShelfRowView, [each for each in part.items if each.collection_id is None]),
        "more": part.next is not None,
        "collections": [each.name for each in named],
        "form": show.form(GroupForm),
    }


@libraries.form(
    "/group",
    then=lambda at, made: f"/library/{at.library_id}/collections/{made}",
    flash="They are one collection now.",
    on=group_page,
)
async def group(at: OwnLibrary, library: Library, sent: GroupForm) -> Writes[UUID]:
    """Put several items into a collection, in the order in which they are named."""
    collection_id = await collection_named(at, library, sent.name, "name")
    for item_id in sent.item_ids:
        async for _ in attempts("grouping", at.store.patience):
            item = await at.store.get(LibraryItem.one(at.owner_id, at.library_id, item_id))
            if item is None or item.collection_id == collection_id:
                break
            moved = await change_item(at, item, LibraryItemEdit(collection_id=collection_id))
            if await at.commit(Step(*(moved.outcomes.get(id(each), each) for each in moved.operations))):
                break
    return Writes(collection_id)


async def collection_named(at: OwnLibrary, library: Library, name: str, field: str = "collection") -> UUID:
    """The id of the collection of this name in the caller's library; it is created if there is none."""
    try:
        new = decode_tree(NewCollection, {"name": name})
    except ValidationError as wrong:
        raise ValidationError(*(FieldError(field, each.message) for each in wrong.errors)) from wrong
    async for _ in attempts("making a collection", at.store.patience):
        there = await at.store.all(Collection.in_library(library.owner_id, library.library_id))
        found = {fold(each.name): each.collection_id for each in there}.get(fold(new.name))
        if found is not None:
            return found
        made = at.make(new, owner_id=library.owner_id, library_id=library.library_id, collection_id=new_id())
        elsewhere = [] if library.library_id == at.library_id else [or_retry(check(_ref(library), when=present))]
        if elsewhere and await at.store.get(_ref(library)) is None:
            raise NotFound
        if await at.commit(Step(or_retry(put(made, when=absent)), *elsewhere)):
            return made.collection_id
    raise AssertionError("attempts end by raising")


def _ref(library: Library) -> Any:
    return Library.one(library.owner_id, library.library_id)

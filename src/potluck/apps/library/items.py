"""Books and videos. The owner adds, edits, moves and deletes them; people a library is shared with can view them."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from msgspec import field

from potluck.apps.library.access import InLibrary, OwnLibrary
from potluck.apps.library.awaited_titles import awaiting, is_awaited, no_longer_awaiting, title_to_come
from potluck.apps.library.entities import Book, Cover, Event, Item, Library, LibraryItem, Loan, Video
from potluck.apps.library.fields import (
    TOP_OF_CAST,
    CollectionId,
    Duration,
    IsbnText,
    ItemId,
    LibraryId,
    ManyCast,
    Note,
    Order,
    People,
    PictureAddress,
    Summary,
    Title,
    TmdbId,
    Year,
)
from potluck.apps.library.isbn import isbn_13
from potluck.apps.library.item_views import LibraryItemView
from potluck.apps.library.libraries import TAG, Forced, StillLent
from potluck.apps.library.page_frame import LIBRARY, frame_of
from potluck.apps.library.placement import (
    Spot,
    counting_in_library,
    joining_collection,
    leaving_collection,
    member_of,
    moving_history,
    must_have_room,
    spot_in,
)
from potluck.apps.library.shelf import ShelfEntry, shelf_page
from potluck.people import TooMany
from potluck.table import Operation, Query, absent, delete, present, put, the
from potluck.validation import FieldError, ValidationError
from potluck.web import (
    UNSET,
    Actions,
    AlreadyThere,
    Input,
    Outcome,
    OwnPages,
    Unset,
    Versioned,
    Writes,
    _,
    or_raise,
)

# --- inputs ------------------------------------------------------------------------------------------------------


class NewLibraryItem(Input):
    """What a new book and a new video both have."""

    title: Title | Unset
    summary: Summary | None = None
    note: Note | None = None
    """Only the owner sees it."""
    picture_url: PictureAddress | None = None
    """The address of its cover, which is fetched once and stored here."""
    collection_id: CollectionId | None = None
    order: Order | None = None
    """Its number in the collection; by default, after the last item."""
    item_id: ItemId | Unset = UNSET
    """Chosen by a device that was offline."""


class NewBook(NewLibraryItem):
    title: Title | Unset = UNSET
    """Without it, the title is looked up by the ISBN, now or later."""
    authors: People = field(default_factory=list)
    isbn: IsbnText | None = None


class NewVideo(NewLibraryItem):
    title: Title
    directors: People = field(default_factory=list)
    cast: ManyCast = field(default_factory=list)
    """The first five names are stored."""
    release_year: Year | None = None
    duration: Duration | None = None
    tmdb_id: TmdbId | None = None


class LibraryItemEdit(Versioned):
    title: Title | Unset = UNSET
    summary: Summary | Unset | None = UNSET
    note: Note | Unset | None = UNSET
    picture_url: PictureAddress | Unset | None = UNSET
    authors: People | Unset = UNSET
    isbn: IsbnText | Unset | None = UNSET
    directors: People | Unset = UNSET
    cast: ManyCast | Unset = UNSET
    release_year: Year | Unset | None = UNSET
    duration: Duration | Unset | None = UNSET
    tmdb_id: TmdbId | Unset | None = UNSET
    library_id: LibraryId | Unset = UNSET
    """Another library of the owner, to move the item there with its history."""
    collection_id: CollectionId | Unset | None = UNSET
    order: Order | Unset = UNSET


class ShelfFilter(Input):
    grouped: bool = False
    """List collections with their items nested. No collection is split between two pages."""


PLACE = ("library_id", "collection_id", "order")


# --- the rules --------------------------------------------------------------------------------------------------------

items = Actions(
    InLibrary, LibraryItem.one, LibraryItemView, api="/libraries/{library_id}/items", page=f"{LIBRARY}/items", tag=TAG,
    frame=frame_of("shelves"),
)  # fmt: skip
books = Actions(OwnLibrary, None, LibraryItemView, api="/libraries/{library_id}/books", tag=TAG)
videos = Actions(OwnLibrary, None, LibraryItemView, api="/libraries/{library_id}/videos", tag=TAG)


@items.list(shows=ShelfEntry, live=lambda at: LibraryItem.in_library(at.owner_id, at.library_id))
def all_items(at: InLibrary, shown: ShelfFilter) -> Query[Book | Video] | OwnPages[ShelfEntry]:
    """List the items of a library, alphabetically; those of a collection are together, in its order."""
    if shown.grouped:
        return OwnPages(lambda limit, after: shelf_page(at, limit, after))
    return LibraryItem.in_library(at.owner_id, at.library_id)


@items.read()
async def one_item(at: InLibrary, item: Book | Video) -> Book | Video:
    """Get a book or a video."""
    return item


def new_item(new: NewLibraryItem, spot: Spot, new_id: Callable[[], UUID]) -> Item:
    """The new book or video as it will be stored."""
    left_out = {"collection_id", "order", "item_id"}
    values = {name: value for name in new.__struct_fields__ if name not in left_out for value in [getattr(new, name)]}
    kind: type[Any] = Book if isinstance(new, NewBook) else Video
    if new.title is UNSET:
        values |= {"title": title_to_come(isbn_13(values["isbn"])), "title_awaited": True}
    item: Item = kind(
        **{name: _stored(name, value) for name, value in values.items()},
        owner_id=spot.library.owner_id,
        library_id=spot.library.library_id,
        item_id=new.item_id or new_id(),
        library_name=spot.library.library_name,
        owner_name=spot.library.owner_name,
    )
    return spot.put_there(item, version=1)


async def _added(at: OwnLibrary, new: NewLibraryItem) -> Writes[Item]:
    if isinstance(new, NewBook) and new.title is UNSET and new.isbn is None:
        raise ValidationError(FieldError("title", _("Enter a title or an ISBN.")))
    must_have_room(at.library, 1)
    history = None if new.item_id is UNSET else Event.of_item(at.owner_id, at.library_id, new.item_id)
    if history is not None and await at.store.first(history) is not None:
        # An item with this id was just deleted, and the rest of its history would become that of the new item.
        raise AlreadyThere
    spot = await spot_in(at.store, at.library, new.collection_id, new.order)
    item = new_item(new, spot, at.new_id)
    there = or_raise(put(item, when=absent), AlreadyThere)
    return Writes(
        item,
        there,
        counting_in_library(spot.library, 1),
        *joining_collection(item, spot.collection),
        *awaiting(item, at.core.clock()),
    )


@books.create(AlreadyThere, TooMany)
async def add_book(at: OwnLibrary, new: NewBook) -> Writes[Book | Video]:
    """Add a book. Without a title, it needs an ISBN, by which the title is looked up later. Owner only."""
    return await _added(at, new)


@videos.create(AlreadyThere, TooMany)
async def add_video(at: OwnLibrary, new: NewVideo) -> Writes[Book | Video]:
    """Add a video. Owner only."""
    return await _added(at, new)


@items.change(AlreadyThere, TooMany)
async def change_item(at: OwnLibrary, item: Book | Video, change: LibraryItemEdit) -> Writes[Book | Video]:
    """Edit a book or a video, or move it to another library or collection. Owner only."""
    changed = _new_values(item, change)
    if "picture_url" in changed:
        changed["cover_hash"] = None
    if is_awaited(item):
        changed |= _still_awaited(changed)
    spot = await _wanted_spot(at, item, change)
    if spot is not None and spot.library.library_id != item.library_id:
        return await _moved(at, item, changed, spot)
    others: list[Operation | Outcome] = []
    if "title" in changed:
        others += awaiting(_with(item, changed), at.core.clock()) or no_longer_awaiting(item)
    if spot is not None:
        there = spot.put_there(item, item.version)
        before, after_it = member_of(item), member_of(there)
        if there.collection_id != item.collection_id:
            others += [*await leaving_collection(at.store, item), *joining_collection(there, spot.collection)]
            changed |= {"collection_id": there.collection_id, "collection_name": there.collection_name}
        elif before != after_it and before is not None and after_it is not None:
            others += [delete(before), put(after_it)]
        if there.order != item.order:
            changed["order"] = there.order
    if not changed:
        return Writes(item)
    if "picture_url" in changed:
        others.append(delete(Cover.one(at.owner_id, item.item_id)))
    after, write = at.edit(item, *(the(getattr(type(item), name)).becomes(value) for name, value in changed.items()))
    return Writes(after, write, *others)


async def _moved(at: OwnLibrary, item: Item, changed: dict[str, Any], spot: Spot) -> Writes[Item]:
    """Move the item to another library with its history, and update both libraries' counts."""
    must_have_room(spot.library, 1)
    after = spot.put_there(_with(item, changed), item.version + 1)
    return Writes(
        after,
        delete(item, when=present),
        or_raise(put(after, when=absent), AlreadyThere),
        counting_in_library(at.library, -1),
        counting_in_library(spot.library, 1),
        *await leaving_collection(at.store, item),
        *joining_collection(after, spot.collection),
        *await moving_history(at.store, item, spot.library.library_id),
        *no_longer_awaiting(item),
        *awaiting(after, at.core.clock()),
    )


@items.delete("", StillLent)
async def delete_item(at: OwnLibrary, item: Book | Video, forced: Forced) -> Writes[None]:
    """Delete a book or a video with its history. A lent item needs `?force=true`. Owner only."""
    if item.lent_to is not None and forced.force != "true":
        raise StillLent(f"{item.lent_to} has it", lentTo=item.lent_to)
    return Writes(
        None,
        delete(item, when=present),
        counting_in_library(at.library, -1),
        *await leaving_collection(at.store, item),
        delete(Loan.one(at.owner_id, item.library_id, item.item_id)),
        delete(Cover.one(at.owner_id, item.item_id)),
        *no_longer_awaiting(item),
    )


# --- from inputs to stored values ------------------------------------------------------------------------------------


def _stored(name: str, value: Any) -> Any:
    """The value to store for an input."""
    if name == "isbn" and value is not None:
        return isbn_13(value)
    return value[:TOP_OF_CAST] if name == "cast" else value


def _with(item: Item, changed: dict[str, Any]) -> Item:
    kind: type[Any] = type(item)
    changed_item: Item = kind(**{name: changed.get(name, getattr(item, name)) for name in item.__struct_fields__})
    return changed_item


def _new_values(item: Item, change: LibraryItemEdit) -> dict[str, Any]:
    """The fields of the item that change; ValidationError for those that its type does not have."""
    sent = {
        name: getattr(change, name)
        for name in change.__struct_fields__
        if name not in ("version", *PLACE) and getattr(change, name) is not UNSET
    }
    wrong = list(_not_of_kind(item, sent))
    if wrong:
        raise ValidationError(*wrong)
    stored = {name: _stored(name, value) for name, value in sent.items()}
    return {name: value for name, value in stored.items() if value != getattr(item, name)}


def _still_awaited(changed: dict[str, Any]) -> dict[str, Any]:
    """The further changes to a book that waits for its title: a title ends the wait, another ISBN is looked up."""
    if "title" in changed:
        return {"title_awaited": False}
    if "isbn" not in changed:
        return {}
    if changed["isbn"] is None:
        raise ValidationError(
            FieldError("isbn", _("The title is looked up by the ISBN. Enter a title before you remove it."))
        )
    return {"title": title_to_come(changed["isbn"])}


def _not_of_kind(item: Item, sent: dict[str, Any]) -> Iterator[FieldError]:
    kind = type(item).__name__.lower()
    for name in sent:
        if name not in item.__struct_fields__:
            yield FieldError.of(name, f"A {kind} does not have this field")


async def _wanted_spot(at: OwnLibrary, item: Item, change: LibraryItemEdit) -> Spot | None:
    """The requested place, if any. In another library, the item is standalone unless a collection is named."""
    if all(getattr(change, name) is UNSET for name in PLACE):
        return None
    library, collection_id, order = at.library, item.collection_id, item.order
    if change.library_id is not UNSET and change.library_id != item.library_id:
        target = await at.store.get(Library.one(at.owner_id, change.library_id))
        if target is None:
            raise ValidationError(FieldError("libraryId", _("Choose one of your own shelves.")))
        library, collection_id, order = target, None, None
    if change.collection_id is not UNSET and change.collection_id != collection_id:
        collection_id, order = change.collection_id, None
    if change.order is not UNSET:
        order = change.order
    return await spot_in(at.store, library, collection_id, order)

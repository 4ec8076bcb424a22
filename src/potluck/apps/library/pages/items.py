"""The pages of one book or video: details, lending with one tap, history, editing, moving and deleting."""

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from potluck.apps.library.access import InLibrary, OwnLibrary
from potluck.apps.library.awaited_titles import is_awaited
from potluck.apps.library.collections import collections_by_name
from potluck.apps.library.covers import NoCover, fetch_cover
from potluck.apps.library.entities import Book, Event, Library, Loan, Share, Video
from potluck.apps.library.home_card import how_long
from potluck.apps.library.item_views import LibraryItemView
from potluck.apps.library.items import LibraryItemEdit, change_item, delete_item, items
from potluck.apps.library.lending import AlreadyLent, Lend, NotLent, give_back, lend, lent_items, loans_of
from potluck.apps.library.libraries import Forced, LibraryView, StillLent
from potluck.apps.library.page_frame import HOME, ITEM, LENT, LIBRARY
from potluck.apps.library.pages.collections import collection_named
from potluck.apps.library.pages.item_forms import ItemForm, sent_of, typed_of, under_form_fields
from potluck.apps.library.pages.rows import ShelfRowView, shelf_rows
from potluck.apps.library.title_search import NoTitleYet, look_up_title
from potluck.table import fold
from potluck.validation import FieldError, ValidationError
from potluck.web import Flash, Line, Show, Versioned, Writes, _, initials

HISTORY_SHOWN = 60
PEOPLE_SHOWN = 8


class PersonButton(NamedTuple):
    """A person to lend to, with how many of the owner's items they have."""

    name: str
    initials: str
    has: int


class Past(NamedTuple):
    """An event in an item's history, for its page."""

    is_return: bool
    borrower: str
    at: datetime
    after: str
    """For a return, how long the item was lent."""


@items.page("", "library/item.html")
async def item_page(at: InLibrary, item: Book | Video, show: Show) -> dict[str, Any]:
    position = await at.position(shelf_rows(at))
    shown: dict[str, Any] = {**await _one(at, item), "position": position}
    if not at.owns:
        return shown
    events = (await at.store.page(Event.of_item(at.owner_id, at.library_id, item.item_id), HISTORY_SHOWN)).items
    loan = await at.store.get(Loan.one(at.owner_id, at.library_id, item.item_id))
    refusal = show.refusal
    return shown | {
        "loan": loan,
        "out_for": how_long(loan.lent_at, at.now) if loan is not None and (at.now - loan.lent_at).days else "",
        "overdue": loan is not None and loan.due is not None and loan.due < at.now.date(),
        "people": await known_people(at),
        "history": _past(events),
        "form": show.form(Lend),
        "today": at.now.date().isoformat(),
        "quicker": refusal.members["lentTo"] if isinstance(refusal, AlreadyLent) else "",
        "is_back": isinstance(refusal, NotLent),
        "no_cover": isinstance(refusal, NoCover),
        "no_title": refusal.detail if isinstance(refusal, NoTitleYet) else "",
    }


async def _one(at: InLibrary, item: Book | Video) -> dict[str, Any]:
    (row,) = await at.show(ShelfRowView, [item])
    (view,) = await at.show(LibraryItemView, [item])
    (library,) = await at.show(LibraryView, [at.library])
    return {"item": view, "row": row, "library": library, "address": row.address}


async def known_people(at: InLibrary) -> list[PersonButton]:
    """The likely borrowers: people who have items, those with the most first, then those the library is shared with.

    Names that fold alike are one person, under the spelling of their longest loan.
    """
    loans = sorted(await loans_of(at.store, at.principal.user_id), key=lambda loan: loan.lent_at)
    borrowers = [str(item.lent_to) for _, item in await lent_items(at.store, loans)]
    has = Counter(map(fold, borrowers))
    looking = sorted(share.name for share in await at.store.all(Share.of_library(at.owner_id, at.library_id)))
    spelling = {fold(name): name for name in reversed([*borrowers, *looking])}
    keys = [*(key for key, _ in has.most_common(PEOPLE_SHOWN)), *(key for key in map(fold, looking) if key not in has)]
    return [
        PersonButton(spelling[key][:50], initials(spelling[key]), has[key])
        for key in list(dict.fromkeys(keys))[:PEOPLE_SHOWN]
    ]


def _past(events: Any) -> list[Past]:
    """The history, newest first; for returns, with how long the item was lent."""
    past: list[Past] = []
    for number, event in enumerate(events):
        before = events[number + 1] if number + 1 < len(events) else None
        back = event.type == "RETURNED"
        after = how_long(before.updated_at, event.updated_at) if back and before is not None else ""
        past.append(Past(back, event.event, event.updated_at, after))
    return past


def _lent(at: OwnLibrary, item: Book | Video) -> Flash:
    text = _("%(title)s lent to %(name)s.", title=item.title, name=item.lent_to)
    return Flash(text, _("Undo"), f"{_address(item)}/return", {})


def _returned(again: str) -> Callable[[OwnLibrary, Book | Video], Awaitable[str | Flash]]:
    """Says who returned the item. Undo lends it to them again, from the page where the return was recorded."""

    async def flash(at: OwnLibrary, item: Book | Video) -> str | Flash:
        last = await at.store.first(Event.of_item(at.owner_id, at.library_id, item.item_id))
        if last is None:
            return ""
        text = _("%(title)s returned by %(name)s.", title=item.title, name=last.event)
        return Flash(text, _("Undo"), _address(item) + again, {"to": last.event})

    return flash


def _address(item: Book | Video) -> str:
    return f"{HOME}/{item.library_id}/items/{item.item_id}"


items.form("/lend", then=ITEM, flash=_lent, on=item_page)(lend)
# After a return, people stay on the page where they recorded it.
items.form("/return", then=ITEM, flash=_returned("/lend"), on=item_page)(give_back)
items.form("/back", then=LENT, flash=_returned("/lend-again"), on=item_page)(give_back)
items.form("/back-on-list", then=LIBRARY, flash=_("{title} returned."), on=item_page)(give_back)
items.form("/lend-again", then=LENT, on=item_page)(lend)


# --- editing ------------------------------------------------------------------------------------------------------


BOTH = {"title": _("Title"), "summary": _("Summary"), "note": _("Note"), "pictureUrl": _("Cover address")}
LABELS = {
    "book": {**BOTH, "people": _("Authors"), "isbn": _("ISBN")},
    "video": {
        **BOTH,
        "people": _("Directors"),
        "cast": _("Cast"),
        "releaseYear": _("Year"),
        "duration": _("Minutes"),
    },
}


@items.page("/edit", "library/edit.html")
async def edit_page(at: OwnLibrary, item: Book | Video, show: Show) -> dict[str, Any]:
    shown = await _one(at, item)
    form = show.form(ItemForm, typed_of(shown["item"]))
    theirs = None if show.clash is None else typed_of(show.clash)
    return shown | {
        "form": form,
        "conflict": form.conflict(show.clash, LABELS[shown["item"].kind], theirs),
        "no_cover": isinstance(show.refusal, NoCover),
    }


@items.form("/edit", then=ITEM, flash=_("Changes saved."), on=edit_page)
async def edit(at: OwnLibrary, item: Book | Video, typed: ItemForm) -> Writes[Book | Video]:
    try:
        sent = sent_of(typed, "book" if isinstance(item, Book) else "video")
        if is_awaited(item) and not typed.title.strip():
            del sent["title"]
        change = LibraryItemEdit.decode(sent)
        return await change_item(at, item, change)
    except ValidationError as wrong:
        raise under_form_fields(wrong) from wrong


def _titled(at: OwnLibrary, item: Book | Video) -> str:
    return "" if is_awaited(item) else _("Title found: %(title)s", title=item.title)


items.form("/look-up", then=ITEM, flash=_titled, on=item_page)(look_up_title)
items.form("/cover", then=ITEM, flash=_("Cover fetched."), on=edit_page)(fetch_cover)


# --- moving --------------------------------------------------------------------------------------------------------


class MoveForm(Versioned):
    where: Line = ""
    """The id of a library, or of a library and one of its collections with a slash in between."""
    collection: Line = ""
    """The name of a collection in that library, existing or new."""
    order: Line = ""


class MoveTarget(NamedTuple):
    """A library that an item can be moved to, with its collections."""

    library_id: UUID
    name: str
    collections: list[tuple[str, str]]

    @property
    def no_collection(self) -> str:
        return _("%(shelf)s, no collection", shelf=self.name)

    @property
    def choices(self) -> list[tuple[str, str]]:
        """The values and labels for the form."""
        nested = [(value, f"{self.name}, {name}") for value, name in self.collections]
        return [(str(self.library_id), self.no_collection), *nested]


@items.page("/move", "library/move.html")
async def move_page(at: OwnLibrary, item: Book | Video, show: Show) -> dict[str, Any]:
    shown = await _one(at, item)
    places = []
    for library in await at.store.all(Library.of_owner(at.owner_id)):
        collections = await collections_by_name(at.store, library)
        values = [(f"{library.library_id}/{collection.collection_id}", collection.name) for collection in collections]
        places.append(MoveTarget(library.library_id, library.library_name, values))
    here = f"{item.library_id}/{item.collection_id}" if item.collection_id is not None else str(item.library_id)
    order = "" if item.order is None else str(item.order)
    form = show.form(MoveForm, {"where": here, "order": order})
    names = {value: name for place in places for value, name in place.choices}
    # The item was read after the refusal, so this is where the other move has put it.
    theirs = {"where": here, "collection": "", "order": order}
    labels = {
        "where": _("Shelf and collection"),
        "collection": _("New collection"),
        "order": _("Number in the collection"),
    }
    return shown | {
        "places": places,
        "form": form,
        "conflict": form.conflict(show.clash, labels, theirs, {"where": names.get}),
    }


def _where_it_is(at: OwnLibrary, item: Book | Video) -> str:
    """The item's page in its new library."""
    return _address(item)


async def _moved(at: OwnLibrary, item: Book | Video) -> str:
    (view,) = await at.show(LibraryItemView, [item])
    return _("Moved to %(place)s.", place=view.collection_name or view.library_name)


@items.form("/move", then=_where_it_is, flash=_moved, on=move_page)
async def move(at: OwnLibrary, item: Book | Video, form: MoveForm) -> Writes[Book | Video]:
    library_id, _slash, collection_id = form.where.partition("/")
    sent: dict[str, Any] = {"libraryId": library_id or str(item.library_id), "collectionId": collection_id or None}
    try:
        change = LibraryItemEdit.decode(sent)
        if form.collection.strip():
            library = at.library
            if change.library_id != at.library_id:
                target = await at.store.get(Library.one(at.owner_id, change.library_id))  # type: ignore[arg-type]
                if target is None:
                    raise ValidationError(FieldError("where", _("Choose one of your own shelves.")))
                library = target
            sent["collectionId"] = str(await collection_named(at, library, form.collection))
        order = form.order.strip()
        if order and sent["collectionId"] is not None and not _same_number_elsewhere(item, sent, order):
            sent["order"] = int(order) if order.isdecimal() and len(order) < 5 else order
        return await change_item(at, item, LibraryItemEdit.decode(sent))
    except ValidationError as wrong:
        raise under_form_fields(wrong) from wrong


def _same_number_elsewhere(item: Book | Video, sent: dict[str, Any], order: str) -> bool:
    """Whether the number was just left in the form, and belongs to the collection that the item leaves."""
    return str(item.collection_id) != sent["collectionId"] and str(item.order) == order


# --- deleting ------------------------------------------------------------------------------------------------------


@items.page("/delete", "library/delete.html")
async def delete_page(at: OwnLibrary, item: Book | Video, show: Show) -> dict[str, Any]:
    loan = await at.store.get(Loan.one(at.owner_id, at.library_id, item.item_id))
    lent_meanwhile = isinstance(show.refusal, StillLent)
    return {**await _one(at, item), "loan": loan, "lent_meanwhile": lent_meanwhile}


@items.form("/delete", then=LIBRARY, flash=_("Item deleted."), on=delete_page, frees_room=True)
async def delete_by_page(at: OwnLibrary, item: Book | Video, sure: Forced) -> Writes[None]:
    return await delete_item(at, item, sure)

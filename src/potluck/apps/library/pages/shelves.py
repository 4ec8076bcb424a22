"""The page of all libraries, the shelf of a library in three looks, and its settings."""

import asyncio
from typing import Annotated, Any

from msgspec.structs import replace

from potluck.apps.library.access import InLibrary, OwnLibrary
from potluck.apps.library.awaited_titles import awaiting
from potluck.apps.library.entities import Book, Library, Loan, Share, ShelfRow, Video
from potluck.apps.library.fields import LONGEST_TITLE, owner_of
from potluck.apps.library.isbn import BadIsbn, is_meant_as_isbn, isbn_13
from potluck.apps.library.item_views import LibraryItemView
from potluck.apps.library.items import NewBook, new_item
from potluck.apps.library.lending import lent_items
from potluck.apps.library.libraries import (
    TAG,
    Forced,
    LibraryChange,
    LibraryView,
    NewLibrary,
    StillLent,
    by_name,
    change_library,
    create_library,
    delete_library,
    libraries,
    libraries_of,
)
from potluck.apps.library.page_frame import HOME, LIBRARY, frame_of
from potluck.apps.library.pages.adding import book_by_isbn
from potluck.apps.library.pages.rows import LOOKS, ShelfRowView, shelf_rows
from potluck.apps.library.placement import Spot, counting_in_library, must_have_room
from potluck.apps.library.shares import leave_library
from potluck.table import absent, put
from potluck.validation import FieldError, Text, ValidationError
from potluck.web import Actions, Flash, Input, SealedCookie, Show, SignedIn, Writes, _, formats, ngettext, or_retry

# The items on one page of a shelf.
ON_ONE_SHELF = 300
# The items on the board of a library, and the libraries that get a board.
ON_ONE_BOARD, BOARDS = 16, 24
# The people named on a shelf that is shared with more of them.
NAMED = 3
ISOLATE, END_OF_ISOLATE = "\u2068", "\u2069"
FIRST_NAME = _("Bookshelf")
LOOK = SealedCookie("potluck-library-look", path=HOME)


class FirstBook(Input):
    book: Annotated[str, Text(1, LONGEST_TITLE, _("Enter a title or an ISBN."))]


async def own_libraries(at: SignedIn) -> tuple[list[LibraryView], list[LibraryView]]:
    """The caller's own libraries, and those shared with them, both by name."""
    rows = await libraries_of(at.store, at.principal.user_id)
    views = sorted(await at.show(LibraryView, rows), key=by_name)
    return [view for view in views if view.owned], [view for view in views if not view.owned]


@libraries.page("", "library/libraries.html", offline=True)
async def libraries_page(at: SignedIn, show: Show) -> dict[str, Any]:
    rows = await libraries_of(at.store, at.principal.user_id)
    views = sorted(await at.show(LibraryView, rows), key=by_name)
    owners = {library.library_id: library.owner_id for library in rows}

    async def board(library: LibraryView) -> list[ShelfRowView]:
        query = ShelfRow.of_library(owners[library.library_id], library.library_id)
        return await at.show(ShelfRowView, (await at.store.page(query, ON_ONE_BOARD)).items)

    boards = await asyncio.gather(*map(board, views[:BOARDS]))
    return {
        "own": [view for view in views if view.owned],
        "shared": [view for view in views if not view.owned],
        "boards": {library.library_id: rows for library, rows in zip(views, boards, strict=False)},
        "form": show.form(NewLibrary),
        "first": show.form(FirstBook),
        # The script of a shelf redirects here when it is no longer shared.
        "over": "over" in show.query,
    }


libraries.form("", then=LIBRARY, on=libraries_page)(create_library)


# --- the first book ---------------------------------------------------------------------------------------------------

first_books: Actions[Book | Video] = Actions(
    SignedIn, None, LibraryItemView, page=HOME, tag=TAG, frame=frame_of("shelves")
)


async def _first_added(at: SignedIn, book: Book | Video) -> Flash:
    (row,) = await at.show(ShelfRowView, [book])
    text = _("%(title)s added to %(shelf)s.", title=row.name, shelf=book.library_name)
    return Flash(text, _("View"), row.address)


@first_books.form("/first", then=LIBRARY, flash=_first_added, on=libraries_page)
async def add_first_book(at: SignedIn, sent: FirstBook) -> Writes[Book | Video]:
    """Add a book to a library of the caller, which is created if they have none."""
    try:
        isbn = isbn_13(sent.book) if is_meant_as_isbn(sent.book) else None
        new = NewBook.decode({"title": sent.book}) if isbn is None else await book_by_isbn(at, isbn)
    except BadIsbn as wrong:
        raise ValidationError(FieldError("book", wrong.reason)) from wrong
    except ValidationError as wrong:
        raise ValidationError(*(FieldError("book", error.message) for error in wrong.errors)) from wrong
    account = await at.own_account()
    owner_id = owner_of(account.user_id)
    own = sorted(await at.store.all(Library.of_owner(owner_id)), key=by_name)
    if own:
        # Added meanwhile, in another window.
        must_have_room(own[0], 1)
        library, counted = own[0], counting_in_library(own[0], 1)
    else:
        named = NewLibrary(library_name=str(FIRST_NAME))
        made = at.make(named, owner_id=owner_id, owner_name=account.name, library_id=at.new_id())
        library = replace(made, total_items=1)
        counted = or_retry(put(library, when=absent))
    book = new_item(new, Spot(library), at.new_id)
    return Writes(book, counted, or_retry(put(book, when=absent)), *awaiting(book, at.core.clock()))


# --- one shelf --------------------------------------------------------------------------------------------------------


@libraries.page("", "library/shelf.html", offline=True)
async def shelf_page(at: InLibrary, library: Library, show: Show) -> dict[str, Any]:
    names = [name for name, *_ in LOOKS]
    choice = show.query.get("look", "")
    if choice in names:
        show.set(LOOK, choice)
    look = next((name for name in (choice, LOOK.value(at.visitor)) if name in names), names[0])
    sealed_for = f"{at.principal.user_id} {at.library_id} shelf"
    after = at.core.cursors.unseal_or_start(show.query.get("after", ""), sealed_for)
    # The live position is taken before the shelf is read, so that no change is missed.
    query = shelf_rows(at)
    position = await at.position(query)
    part = await at.store.page(query, ON_ONE_SHELF, after)
    rows = await at.show(ShelfRowView, part.items)
    (view,) = await at.show(LibraryView, [library])
    return {
        "library": view,
        "rows": rows,
        "look": look,
        "looks": LOOKS,
        "position": position,
        "first": rows[0].place if rows and after is not None else "",
        "last": rows[-1].place if rows and part.next is not None else "",
        "later": after is not None,
        "more": "" if part.next is None else at.core.cursors.seal(part.next, sealed_for),
        "others": [view for views in await own_libraries(at) for view in views],
        "lent": await at.store.count(Loan.in_library(at.owner_id, at.library_id)) if at.owns else 0,
        "shared_with": _shared_with(await _guests(at)) if at.owns else "",
        # The script of a collection redirects here when it was deleted.
        "apart": "apart" in show.query,
    }


async def _guests(at: InLibrary) -> list[str]:
    """The names of the people the library is shared with."""
    return sorted(share.name for share in await at.store.all(Share.of_library(at.owner_id, at.library_id)))


def _shared_with(names: list[str]) -> str:
    """Who the shelf is shared with: the first names, and how many more."""
    if not names:
        return _("Not shared")
    # Isolated, so that a name written from right to left does not turn the others around.
    names = [f"{ISOLATE}{name}{END_OF_ISOLATE}" for name in names]
    more = len(names) - NAMED
    if more <= 0:
        return _("Shared with %(names)s", names=formats.list_text(names))
    return ngettext(
        "Shared with %(names)s and %(num)s more",
        "Shared with %(names)s and %(num)s more",
        more,
        names=", ".join(names[:NAMED]),
    )


# --- the library as a whole -------------------------------------------------------------------------------------------


@libraries.page("/settings", "library/settings.html")
async def library_page(at: OwnLibrary, library: Library, show: Show) -> dict[str, Any]:
    (view,) = await at.show(LibraryView, [library])
    form = show.form(LibraryChange, view)
    return {
        "library": view,
        "form": form,
        "conflict": form.conflict(show.clash, {"libraryName": _("Name"), "description": _("Description")}),
        "still_lent": show.refusal if isinstance(show.refusal, StillLent) else None,
        "out": await _out(at),
    }


async def _out(at: OwnLibrary) -> list[tuple[str, str]]:
    """The titles lent from the library, each with its borrower."""
    loans = await at.store.all(Loan.in_library(at.owner_id, at.library_id))
    return [(item.title, str(item.lent_to)) for _, item in await lent_items(at.store, loans)]


libraries.form("/settings", then=LIBRARY, flash=_("Changes saved."), on=library_page)(change_library)


@libraries.form("/delete", then=HOME, flash=_("Shelf deleted."), on=library_page, frees_room=True)
async def delete_by_page(at: OwnLibrary, library: Library, sure: Forced) -> Writes[None]:
    return await delete_library(at, library, sure)


libraries.form("/leave", then=HOME, flash=_("You left the shelf."), frees_room=True)(leave_library)

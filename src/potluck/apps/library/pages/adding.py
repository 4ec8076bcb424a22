"""The page that adds items: by ISBN, by camera, several at once, or manually."""

from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from potluck.apps.library.access import OwnLibrary
from potluck.apps.library.collections import collections_by_name
from potluck.apps.library.drawn_books import face, spine
from potluck.apps.library.entities import Book, LibraryItem, Video
from potluck.apps.library.fields import LARGEST_FILE, LONGEST_TITLE, IsbnText
from potluck.apps.library.isbn import BadIsbn, is_meant_as_isbn, isbn_13
from potluck.apps.library.item_views import LibraryItemView
from potluck.apps.library.items import NewBook, NewVideo, add_book, add_video
from potluck.apps.library.libraries import LibraryView
from potluck.apps.library.lookup import LookupResult, looking_up
from potluck.apps.library.page_frame import HOME, LIBRARY, frame_of
from potluck.apps.library.pages.collections import collection_named
from potluck.apps.library.pages.item_forms import NewItemForm, sent_of, under_form_fields
from potluck.apps.library.pages.rows import ShelfRowView
from potluck.apps.library.title_search import as_new_book
from potluck.validation import ValidationError
from potluck.web import Actions, Call, Endpoints, Flash, Input, Show, SignedIn, Writes, _

ADD = f"{LIBRARY}/add"
# The browser itself reads the barcode. The camera's picture does not leave the device.
WITH_CAMERA = {"permissions-policy": "camera=(self), geolocation=(), microphone=()"}
LONGEST_DRAWN = 200

adding: Actions[Book | Video] = Actions(OwnLibrary, None, LibraryItemView, page=ADD, frame=frame_of("shelves"))
drawings = Endpoints()


class FoundForm(Input):
    isbn: IsbnText


@adding.page("", "library/add.html", headers=WITH_CAMERA)
async def add_page(at: OwnLibrary, show: Show) -> dict[str, Any] | Response:
    (library,) = await at.show(LibraryView, [at.library])
    query = show.query
    filled = show.form(NewItemForm, {"kind": "video" if query.get("kind") == "video" else "book"})
    result: LookupResult | None = None
    isbn = query.get("isbn", "").strip()
    wrong, have, thirteen = "", None, ""
    if isbn and not query.get("hand"):
        try:
            thirteen = isbn_13(isbn)
        except BadIsbn as error:
            if not is_meant_as_isbn(isbn) and any(map(str.isalpha, isbn)):
                # A title, which is entered in the form below.
                typed = urlencode({"hand": "yes", "title": isbn})
                return show.redirect(f"{ADD.format(library_id=at.library_id)}?{typed}#by-hand")
            wrong = error.reason
        else:
            result = await looking_up(at).book(thirteen)
            have = await _with_isbn(at, thirteen)
    films: LookupResult | None = None
    title = query.get("title", "").strip()[:LONGEST_TITLE]
    if title and query.get("kind") == "video":
        films = await looking_up(at).video(title)
        filled = show.form(NewItemForm, _film(films, title, query.get("pick", "")))
    elif query.get("hand"):
        filled = show.form(NewItemForm, {"kind": "book", "isbn": isbn, "title": title})
    return {
        "library": library,
        "isbn": isbn,
        "thirteen": thirteen,
        "isbn_wrong": wrong or show.form(FoundForm).errors["isbn"],
        "result": result,
        "have": have,
        "largest": LARGEST_FILE,
        "films": films,
        "form": filled,
        "face": face,
        "spine": spine,
        "collections": [collection.name for collection in await collections_by_name(at.store, at.library)],
        "by_hand": bool(query.get("hand") or films is not None or filled.all_errors),
    }


async def _with_isbn(at: OwnLibrary, isbn: str) -> ShelfRowView | None:
    """The book in the library that has this ISBN."""
    async for item in at.store.each(LibraryItem.in_library(at.owner_id, at.library_id)):
        if isinstance(item, Book) and item.isbn == isbn:
            return (await at.show(ShelfRowView, [item]))[0]
    return None


async def _added(at: OwnLibrary, item: Book | Video) -> Flash:
    (row,) = await at.show(ShelfRowView, [item])
    text = _("%(title)s added to %(shelf)s.", title=row.name, shelf=at.library.library_name)
    return Flash(text, _("View"), row.address)


def _film(films: LookupResult, title: str, pick: str) -> dict[str, Any]:
    """Form values for the film that was picked from the matches."""
    if not pick.isdecimal() or not 0 < int(pick) <= len(films.matches):
        return {"kind": "video", "title": title}
    film = films.matches[int(pick) - 1]
    values = {
        "people": ", ".join(film.directors),
        "cast": ", ".join(film.cast),
        "releaseYear": film.release_year,
        "duration": film.duration,
        "summary": film.summary,
        "pictureUrl": film.picture_url,
        "tmdbId": film.tmdb_id,
    }
    return {"kind": "video", "title": film.title, **{name: str(value or "") for name, value in values.items()}}


@adding.form("/isbn", then=ADD, flash=_added, on=add_page)
async def put_found(at: OwnLibrary, sent: FoundForm) -> Writes[Book | Video]:
    """Add the book with this ISBN. Without a match, its title is looked up again later."""
    return await add_book(at, await book_by_isbn(at, isbn_13(sent.isbn)))


async def book_by_isbn(at: SignedIn, isbn: str) -> NewBook:
    """The book with this ISBN, as far as it can be looked up now."""
    result = await looking_up(at).book(isbn)
    if result.outcome == "found":
        with suppress(ValidationError):
            return as_new_book(isbn, result.matches[0])
    return NewBook(isbn=isbn)


@adding.form("/hand", then=ADD, flash=_added, on=add_page)
async def put_by_hand(at: OwnLibrary, typed: NewItemForm) -> Writes[Book | Video]:
    """Add an item that was entered manually, and create its collection if necessary."""
    kind = "video" if typed.kind == "video" else "book"
    sent = sent_of(typed, kind)
    number = typed.order.strip()
    if kind == "book" and not typed.title.strip() and typed.isbn.strip():
        # Its title will be looked up.
        del sent["title"]
    try:
        if kind == "video" and typed.tmdb_id.isdecimal():
            sent["tmdbId"] = int(typed.tmdb_id)
        # Validate the item before a collection is created for it.
        (NewBook if kind == "book" else NewVideo).decode(sent)
        if typed.collection.strip():
            sent["collectionId"] = str(await collection_named(at, at.library, typed.collection))
            sent["order"] = int(number) if number.isdecimal() and len(number) < 5 else number or None
        if kind == "book":
            return await add_book(at, NewBook.decode(sent))
        return await add_video(at, NewVideo.decode(sent))
    except ValidationError as wrong:
        raise under_form_fields(wrong) from wrong


@drawings.get(f"{HOME}/spine", public=True)
async def drawn_spine(call: Call) -> Response:
    """The spine of a book, drawn while its title is typed."""
    title, by = (call.query.get(name, "").strip()[:LONGEST_DRAWN] for name in ("title", "by"))
    kind = "video" if call.query.get("kind") == "video" else "book"
    return Response(spine(title or str(_("Title")), by, kind), media_type="text/html")

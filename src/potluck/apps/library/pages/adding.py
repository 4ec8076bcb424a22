"""The page that adds items: by ISBN, by camera, many at once, or by hand."""

from contextlib import suppress
from typing import Any

from starlette.responses import Response

from potluck.apps.library.access import OwnLibrary
from potluck.apps.library.collections import by_name
from potluck.apps.library.drawn_books import face, spine
from potluck.apps.library.entities import Book, Collection, LibraryItem, Video
from potluck.apps.library.fields import LARGEST_FILE, LONGEST_TITLE, IsbnText
from potluck.apps.library.isbn import BadIsbn, isbn_13
from potluck.apps.library.item_views import LibraryItemView
from potluck.apps.library.items import NewBook, NewVideo, add_book, add_video
from potluck.apps.library.libraries import LibraryView
from potluck.apps.library.lookup import LookupResult, looking_up
from potluck.apps.library.page_frame import HOME, LIBRARY, frame_of
from potluck.apps.library.pages.collections import collection_named
from potluck.apps.library.pages.item_forms import HandForm, beside_fields, sent_of
from potluck.apps.library.pages.rows import ShelfRowView
from potluck.apps.library.title_search import as_new_book
from potluck.validation import ValidationError, decode_tree
from potluck.web import Actions, Call, Endpoints, Flash, Input, Show, Writes

ADD = f"{LIBRARY}/add"
# The browser itself reads the barcode; the camera's picture does not leave it.
WITH_CAMERA = {"permissions-policy": "camera=(self), geolocation=(), microphone=()"}
LONGEST_DRAWN = 200

adding: Actions[Book | Video] = Actions(OwnLibrary, None, LibraryItemView, page=ADD, frame=frame_of("shelves"))
drawings = Endpoints()


class FoundForm(Input):
    isbn: IsbnText


@adding.page("", "library/add.html", headers=WITH_CAMERA)
async def add_page(at: OwnLibrary, show: Show) -> dict[str, Any]:
    (library,) = await at.show(LibraryView, [at.library])
    asked = show.query
    filled = show.form(HandForm, {"kind": "video" if asked.get("kind") == "video" else "book"})
    found: LookupResult | None = None
    isbn = asked.get("isbn", "").strip()
    wrong, have, thirteen = "", None, ""
    if isbn and not asked.get("hand"):
        try:
            thirteen = isbn_13(isbn)
        except BadIsbn as bad:
            wrong = str(bad)
        else:
            found = await looking_up(at).book(thirteen)
            have = await _with_isbn(at, thirteen)
    films: LookupResult | None = None
    title = asked.get("title", "").strip()[:LONGEST_TITLE]
    if title and asked.get("kind") == "video":
        films = await looking_up(at).video(title)
        filled = show.form(HandForm, _film(films, title, asked.get("pick", "")))
    elif asked.get("hand"):
        filled = show.form(HandForm, {"kind": "book", "isbn": isbn, "title": title})
    named = sorted(await at.store.all(Collection.in_library(at.owner_id, at.library_id)), key=by_name)
    return {
        "library": library,
        "isbn": isbn,
        "thirteen": thirteen,
        "isbn_wrong": wrong or show.form(FoundForm).errors["isbn"],
        "found": found,
        "have": have,
        "largest": LARGEST_FILE,
        "films": films,
        "form": filled,
        "face": face,
        "spine": spine,
        "collections": [each.name for each in named],
        "by_hand": bool(asked.get("hand") or films is not None or filled.all_errors),
    }


async def _with_isbn(at: OwnLibrary, isbn: str) -> ShelfRowView | None:
    """The book in the library that has this ISBN."""
    async for item in at.store.each(LibraryItem.in_library(at.owner_id, at.library_id)):
        if isinstance(item, Book) and item.isbn == isbn:
            return (await at.show(ShelfRowView, [item]))[0]
    return None


async def _added(at: OwnLibrary, item: Book | Video) -> Flash:
    (row,) = await at.show(ShelfRowView, [item])
    return Flash(f"{row.name} is on {at.library.library_name}.", "Look", row.address)


def _film(films: LookupResult, title: str, pick: str) -> dict[str, Any]:
    """Form values for the film that was picked from the matches."""
    if not pick.isdecimal() or not 0 < int(pick) <= len(films.matches):
        return {"kind": "video", "title": title}
    film = films.matches[int(pick) - 1]
    said = {
        "people": ", ".join(film.directors),
        "cast": ", ".join(film.cast),
        "releaseYear": film.release_year,
        "duration": film.duration,
        "summary": film.summary,
        "pictureUrl": film.picture_url,
        "tmdbId": film.tmdb_id,
    }
    return {"kind": "video", "title": film.title, **{name: str(value or "") for name, value in said.items()}}


@adding.form("/isbn", then=ADD, flash=_added, on=add_page)
async def put_found(at: OwnLibrary, wanted: FoundForm) -> Writes[Book | Video]:
    """Put on the shelf what is known of an ISBN; if that is nothing, its title is still to come."""
    isbn = isbn_13(wanted.isbn)
    looked = await looking_up(at).book(isbn)
    new = NewBook(isbn=isbn)
    if looked.outcome == "found":
        with suppress(ValidationError):
            new = as_new_book(isbn, looked.matches[0])
    return await add_book(at, new)


@adding.form("/hand", then=ADD, flash=_added, on=add_page)
async def put_by_hand(at: OwnLibrary, typed: HandForm) -> Writes[Book | Video]:
    """Put on the shelf what was typed; a collection that is not there yet is made."""
    kind = "video" if typed.kind == "video" else "book"
    sent = sent_of(typed, kind)
    number = typed.order.strip()
    if kind == "book" and not typed.title.strip() and typed.isbn.strip():
        # Its title is still to come.
        del sent["title"]
    try:
        if kind == "video" and typed.tmdb_id.isdecimal():
            sent["tmdbId"] = int(typed.tmdb_id)
        # Validate the item before a collection is created for it.
        decode_tree(NewBook if kind == "book" else NewVideo, sent)
        if typed.collection.strip():
            sent["collectionId"] = str(await collection_named(at, at.library, typed.collection))
            sent["order"] = int(number) if number.isdecimal() and len(number) < 5 else number or None
        if kind == "book":
            return await add_book(at, decode_tree(NewBook, sent))
        return await add_video(at, decode_tree(NewVideo, sent))
    except ValidationError as wrong:
        raise beside_fields(wrong) from wrong


@drawings.get(f"{HOME}/spine", public=True)
async def drawn_spine(call: Call) -> Response:
    """The spine of a book, drawn while its title is being typed."""
    title, by = (call.query.get(each, "").strip()[:LONGEST_DRAWN] for each in ("title", "by"))
    kind = "video" if call.query.get("kind") == "video" else "book"
    return Response(spine(title or "A title", by, kind), media_type="text/html")

"""Import: first a preview, then the same file again with `apply`. Idempotent: items that are already in the library are
not added again. Each row that cannot be imported is reported with its reason."""

import asyncio
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from msgspec import UNSET, Struct
from msgspec.structs import replace

from potluck.apps.library.access import OwnLibrary
from potluck.apps.library.entities import Book, Collection, CollectionMember, Library, LibraryItem
from potluck.apps.library.fields import FIRST_ORDER, LAST_ORDER, FileText
from potluck.apps.library.import_files import MOST_ROWS, FileFormat, Row, UnreadableFile, format_of, rows_of
from potluck.apps.library.items import NewBook, NewItem, new_item
from potluck.apps.library.libraries import TAG
from potluck.apps.library.lookup import Known, Looked, Lookup
from potluck.apps.library.page_frame import LIBRARY, frame_of
from potluck.apps.library.placement import (
    Item,
    Spot,
    counting_in_collection,
    counting_in_library,
    member_of,
    must_have_room,
)
from potluck.apps.library.search import words_of
from potluck.field_types import Message
from potluck.people.errors import InvalidFields, WrongField
from potluck.people.secrets import new_id
from potluck.retries import attempts
from potluck.store import Store
from potluck.table import absent, put
from potluck.table.keys.folding import fold
from potluck.table.operations import Operation
from potluck.web.actions import Actions
from potluck.web.errors import TOO_MANY, NotFound
from potluck.web.inputs import Input, Unset
from potluck.web.rate_limits import RateLimit
from potluck.web.schema.decoding import decode_tree
from potluck.web.writes import Outcome, Writes, or_retry

__all__ = ["LARGEST_IMPORT", "ROWS", "ImportFile", "Imported", "LeftOut", "as_new_book", "import_file", "imports"]

LARGEST_IMPORT = 10_000_000
# A transaction takes 100 actions: up to four for an item in a new collection, and some for the caller.
ITEMS_AT_ONCE = 22
MOST_LOOKED_UP = 300
LOOKED_UP_AT_ONCE = 4
LOOKED_UP_FOR = timedelta(seconds=60)
SHOWN_FIRST = 20


class ImportFile(Input):
    text: FileText
    """The file itself."""
    format: Annotated[FileFormat, Message("format must be csv, goodreads or isbns")] | Unset = UNSET
    """Left out, it is told by the first line."""
    apply: bool = False
    """Without it, nothing is written."""


class LeftOut(Struct, rename="camel", frozen=True, kw_only=True):
    row: int
    what: str
    reason: str


class Planned(Struct, rename="camel", frozen=True, kw_only=True):
    row: int
    title: str
    by: list[str]
    collection: str | None
    order: int | None
    item_id: UUID | None
    """Which it is, once it was added."""


class Imported(Struct, rename="camel", frozen=True, kw_only=True):
    """What an import adds, or would add."""

    applied: bool
    new: int
    already_there: int
    left_out: list[LeftOut]
    first: list[Planned]
    """Some of what is new."""


@dataclass(slots=True)
class _Shelf:
    """The library's content: what identifies its items, and the next free place in each collection."""

    library: Library
    collections: dict[str, Collection]
    next_order: dict[UUID, int]
    to_be_made: set[UUID] = field(default_factory=set)
    """The collections that do not exist yet."""
    isbns: set[str] = field(default_factory=set)
    titles: set[tuple[object, ...]] = field(default_factory=set)
    titles_without_isbn: set[tuple[object, ...]] = field(default_factory=set)

    def knows(self, item: Item) -> bool:
        """Whether the item is there: the same ISBN or, if either has none, the same title by the same people."""
        isbn = item.isbn if isinstance(item, Book) else None
        if isbn is None:
            return _title_of(item) in self.titles
        return isbn in self.isbns or _title_of(item) in self.titles_without_isbn

    def add(self, item: Item) -> None:
        isbn = item.isbn if isinstance(item, Book) else None
        self.titles.add(_title_of(item))
        if isbn is None:
            self.titles_without_isbn.add(_title_of(item))
        else:
            self.isbns.add(isbn)


def _title_of(item: Item) -> tuple[object, ...]:
    by = item.authors[:1] if isinstance(item, Book) else item.directors[:1]
    return type(item), *words_of(item.title), "by", *words_of(" ".join(by))


imports: Actions[Any] = Actions(
    OwnLibrary, api="/libraries/{library_id}/import", page=f"{LIBRARY}/import", tag=TAG, frame=frame_of("shelves")
)


def rows_in(sent: ImportFile) -> int:
    """The weight of an import: about how many rows it may add or look up."""
    return min(sent.text.count("\n") + 1, MOST_ROWS)


# Enough to preview and then add the largest file, and half as much again.
ROWS = RateLimit("imported rows", 5_000, weight=rows_in)


@imports.action("POST", "", TOO_MANY, largest_body=LARGEST_IMPORT, rate_limit=ROWS)
async def import_file(at: OwnLibrary, sent: ImportFile) -> Writes[Imported]:
    """Add what is in a file: our own CSV, a Goodreads export or a list of ISBNs. Without `apply` only say what would
    happen. Only the owner may."""
    try:
        # In a thread, because thousands of rows would block the event loop.
        rows = await asyncio.to_thread(lambda: list(rows_of(sent.text, sent.format or format_of(sent.text))))
    except UnreadableFile as bad:
        raise InvalidFields(WrongField("text", str(bad))) from bad
    rows = await _looked_up(at.context.lookup, rows)
    added: list[tuple[Row, Item]] = []
    async for _ in attempts("importing", at.rows.patience):
        shelf = await _read(at.rows, at.owner_id, at.library_id)
        # What an earlier attempt added is on the shelf by now, and not new any more.
        new = list(_new_items(shelf, rows))
        if not sent.apply:
            return Writes(_said(rows, new, applied=False))
        must_have_room(shelf.library, len(new))
        done = True
        for batch in _batches(new, ITEMS_AT_ONCE):
            done = await at.write(*_adding(shelf, [item for _, item in batch]))
            if not done:
                break
            added += batch
        if done:
            return Writes(_said(rows, added, applied=True))
    raise AssertionError("attempts end by raising")


async def _looked_up(lookup: Lookup, rows: list[Row]) -> list[Row]:
    """All rows, those with only an ISBN completed by looking it up."""
    wanted = list(dict.fromkeys(row.isbn for row in rows if row.isbn is not None))
    looked = await _asked(lookup, wanted[:MOST_LOOKED_UP])
    reasons = {
        "no-match": "Nobody knows this ISBN; add it by hand",
        "unreachable": "It cannot be looked up now; try again later, or add it by hand",
        "no-service": "No service to look it up is set up; add it by hand",
    }
    taken = []
    for row in rows:
        if row.isbn is not None:
            found = looked.get(row.isbn)
            if found is None:
                row = row._replace(reason=f"Only {MOST_LOOKED_UP} are looked up at once; send the rest again")
            elif found.outcome != "found":
                row = row._replace(reason=reasons[found.outcome])
            else:
                row = _as_known(row, found.matches[0])
        taken.append(row)
    return taken


async def _asked(lookup: Lookup, isbns: list[str]) -> dict[str, Looked]:
    """The lookup of each ISBN; the rest count as unreachable once no provider answers, or the time is up."""
    looked: dict[str, Looked] = {}
    until = time.monotonic() + LOOKED_UP_FOR.total_seconds()
    for start in range(0, len(isbns), LOOKED_UP_AT_ONCE):
        some = isbns[start : start + LOOKED_UP_AT_ONCE]
        found = await asyncio.gather(*map(lookup.book, some))
        looked |= zip(some, found, strict=True)
        if all(each.outcome == "unreachable" for each in found) or time.monotonic() > until:
            rest = Looked(outcome="unreachable", matches=[])
            return dict.fromkeys(isbns, rest) | looked
    return looked


def as_new_book(isbn: str, book: Known) -> NewBook:
    """A provider's record as a new book, validated like anything people type; InvalidFields if it is not valid."""
    said = {"title": book.title, "authors": book.authors, "summary": book.summary, "isbn": isbn}
    return decode_tree(NewBook, {**said, "pictureUrl": book.picture_url})


def _as_known(row: Row, book: Known) -> Row:
    """The row completed with a provider's record."""
    assert row.isbn is not None
    try:
        return row._replace(new=as_new_book(row.isbn, book))
    except InvalidFields as wrong:
        return row._replace(reason=wrong.errors[0].message)


async def _read(rows: Store, owner_id: str, library_id: UUID) -> _Shelf:
    """The library's content, read consistently, so that what was just added is not added again."""
    library = await rows.get(Library.one(owner_id, library_id))
    if library is None:
        raise NotFound
    there = await rows.all(Collection.in_library(owner_id, library_id))
    shelf = _Shelf(library, {fold(each.name): each for each in there}, {})
    async for item in rows.each(LibraryItem.stored_in(owner_id, library_id)):
        shelf.add(item)
        if item.collection_id is not None and item.order is not None:
            last = shelf.next_order.get(item.collection_id, FIRST_ORDER)
            shelf.next_order[item.collection_id] = max(last, min(item.order + 1, LAST_ORDER))
    return shelf


def _new_items(shelf: _Shelf, rows: Iterable[Row]) -> Iterator[tuple[Row, Item]]:
    """The items that are not there yet, each with its place; missing collections are prepared as well."""
    for row in rows:
        if row.new is None or row.reason is not None:
            continue
        item = new_item(row.new, _spot(shelf, row.collection, row.new))
        if not shelf.knows(item):
            shelf.add(item)
            if item.collection_id is not None and item.order is not None:
                last = shelf.next_order.get(item.collection_id, FIRST_ORDER)
                shelf.next_order[item.collection_id] = max(last, min(item.order + 1, LAST_ORDER))
            yield row, item


def _spot(shelf: _Shelf, name: str | None, new: NewItem) -> Spot:
    if name is None:
        return Spot(shelf.library)
    collection = shelf.collections.get(fold(name))
    if collection is None:
        collection = Collection(
            owner_id=shelf.library.owner_id, library_id=shelf.library.library_id, collection_id=new_id(), name=name
        )
        shelf.collections[fold(name)] = collection
        shelf.to_be_made.add(collection.collection_id)
    order = new.order or shelf.next_order.get(collection.collection_id, FIRST_ORDER)
    return Spot(shelf.library, collection, order)


def _adding(shelf: _Shelf, items: list[Item]) -> list[Operation | Outcome]:
    """The writes of one transaction: items, member rows and counts; a new collection comes with its first items."""
    writes: list[Operation | Outcome] = [counting_in_library(shelf.library, len(items))]
    inside: dict[UUID, int] = {}
    for item in items:
        writes.append(or_retry(put(item, when=absent)))
        member: CollectionMember | None = member_of(item)
        if member is not None:
            writes.append(put(member))
            inside[member.collection_id] = inside.get(member.collection_id, 0) + 1
    for collection in shelf.collections.values():
        count = inside.get(collection.collection_id)
        if count is not None and collection.collection_id in shelf.to_be_made:
            shelf.to_be_made.remove(collection.collection_id)
            writes.append(or_retry(put(replace(collection, item_count=count), when=absent)))
        elif count is not None:
            writes.append(counting_in_collection(collection, count))
    return writes


def _batches(new: list[tuple[Row, Item]], size: int) -> Iterator[list[tuple[Row, Item]]]:
    for start in range(0, len(new), size):
        yield new[start : start + size]


def _said(rows: list[Row], new: list[tuple[Row, Item]], *, applied: bool) -> Imported:
    left_out = [
        LeftOut(row=each.number, what=each.what, reason=each.reason) for each in rows if each.reason is not None
    ]
    return Imported(
        applied=applied,
        new=len(new),
        already_there=len(rows) - len(left_out) - len(new),
        left_out=left_out,
        first=[
            Planned(
                row=row.number,
                title=item.title,
                by=item.authors if isinstance(item, Book) else item.directors,
                collection=item.collection_name,
                order=item.order,
                item_id=item.item_id if applied else None,
            )
            for row, item in new[:SHOWN_FIRST]
        ],
    )

"""Importing files: first a preview, then the same file again with `apply`.

It is idempotent: items that are in the library already are not added again. Each row that cannot be imported is
reported with its reason.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from msgspec import UNSET, Struct
from msgspec.structs import replace

from potluck.apps.library.access import OwnLibrary
from potluck.apps.library.awaited_titles import awaiting, is_awaited
from potluck.apps.library.entities import Collection, CollectionMember, Item, Library, LibraryItem
from potluck.apps.library.fields import FIRST_ORDER, LAST_ORDER, FileText
from potluck.apps.library.import_columns import MOST_COLUMNS, ColumnRead, Field, columns_of
from potluck.apps.library.import_files import (
    MOST_ROWS,
    FileFormat,
    Row,
    UnreadableFile,
    format_of,
    must_have_lines,
    rows_of,
)
from potluck.apps.library.import_matching import Matching
from potluck.apps.library.item_views import people_of
from potluck.apps.library.items import NewBook, NewLibraryItem, new_item
from potluck.apps.library.libraries import TAG
from potluck.apps.library.lookup import KnownWork, Lookup, LookupResult
from potluck.apps.library.page_frame import LIBRARY, frame_of
from potluck.apps.library.placement import (
    Spot,
    counting_in_collection,
    counting_in_library,
    member_of,
    must_have_room,
)
from potluck.apps.library.title_search import as_new_book
from potluck.people import TooMany
from potluck.store import Store
from potluck.table import Operation, absent, fold, put
from potluck.validation import FieldError, Length, Message, ValidationError
from potluck.web import Actions, Input, NotFound, Outcome, RateLimit, Step, Unset, Writes, _, or_retry

LARGEST_IMPORT = 10_000_000
# A transaction takes 100 actions: up to four for an item in a new collection, one to look its title up, and a few for
# the access checks.
ITEMS_AT_ONCE = 22
ACTIONS_AT_ONCE = 88
MOST_LOOKED_UP = 300
LOOKED_UP_AT_ONCE = 4
LOOKED_UP_FOR = timedelta(seconds=60)
SHOWN_FIRST = 20

Columns = Annotated[
    list[Annotated[Field, Message(_("Choose one of the fields of a book or a video for each column, or skip."))]],
    Length(0, MOST_COLUMNS, _("Use a table with at most %(number)s columns.", number=MOST_COLUMNS)),
]


class ImportFile(Input):
    text: FileText
    """The file itself."""
    format: Annotated[FileFormat, Message("format must be csv, goodreads, isbns or titles")] | Unset = UNSET
    """Without it, the format is detected by the first lines."""
    columns: Columns | Unset = UNSET
    """The fields of a table's columns, in order, if its header does not name them."""
    to_read: bool = False
    """Also add books that are only on the to-read shelf of Goodreads."""
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
    awaited: bool
    """Whether its title still has to be looked up."""
    item_id: UUID | None
    """The id of the item; null in a preview."""


class LibraryImported(Struct, rename="camel", frozen=True, kw_only=True):
    """What an import adds, or would add."""

    applied: bool
    format: FileFormat
    columns: list[ColumnRead]
    """The columns of a table, each with its field."""
    new: int
    awaited: int
    """How many of the new items still have no title, because it could not be looked up."""
    already_there: int
    left_out: list[LeftOut]
    adjusted: list[LeftOut]
    """Rows that are added, but only in part."""
    first: list[Planned]
    """The first new items."""


@dataclass(slots=True)
class _Shelf:
    """The library's collections, and the next free number in each."""

    library: Library
    collections: dict[str, Collection]
    next_order: dict[UUID, int]
    to_be_made: set[UUID] = field(default_factory=set)
    """The collections that do not exist yet."""

    def follow(self, item: Item) -> None:
        """Number the next item of its collection after this one."""
        if item.collection_id is not None and item.order is not None:
            last = self.next_order.get(item.collection_id, FIRST_ORDER)
            self.next_order[item.collection_id] = max(last, min(item.order + 1, LAST_ORDER))


@dataclass(slots=True)
class _File:
    format: FileFormat
    rows: list[Row]
    columns: list[ColumnRead]


imports: Actions[Any] = Actions(
    OwnLibrary, api="/libraries/{library_id}/import", page=f"{LIBRARY}/import", tag=TAG, frame=frame_of("shelves")
)


def rows_in(sent: ImportFile) -> int:
    """The weight of an import for the rate limit: about how many rows it may add or look up."""
    return min(sent.text.count("\n") + 1, MOST_ROWS)


# Enough to preview and then add the largest file, and half as much again.
ROWS = RateLimit("imported rows", 5_000, weight=rows_in)


@imports.action("POST", "", TooMany, largest_body=LARGEST_IMPORT, rate_limit=ROWS)
async def import_file(at: OwnLibrary, sent: ImportFile) -> Writes[LibraryImported]:
    """Import a table, a Goodreads export, or a list of ISBNs or titles. Without `apply` the answer is a preview, and
    nothing is written. A book with only an ISBN is added, and its title is looked up later. Owner only."""
    try:
        # In a thread, like everything that is done for each row: thousands of rows would block the event loop.
        file = await asyncio.to_thread(_parsed, sent)
    except UnreadableFile as error:
        raise ValidationError(FieldError("text", error.reason)) from error
    rows = file.rows = await _completed(at.context.lookup, file.rows)
    added: list[tuple[Row, Item]] = []
    async for _attempt in at.store.attempts("importing"):
        matching = await asyncio.to_thread(Matching, rows)
        shelf = await _read(at.store, at.owner_id, at.library_id, matching)
        # Items that an earlier attempt added are no longer new.
        new = await asyncio.to_thread(_new_items, shelf, matching, at.new_id)
        if not sent.apply:
            return Writes(_report(file, new, applied=False))
        must_have_room(shelf.library, len(new))
        done = True
        for batch in _batches(new):
            done = await at.commit(Step(*_adding(shelf, [item for _, item in batch], at.core.clock())))
            if not done:
                break
            added += batch
        if done:
            return Writes(_report(file, added, applied=True))
    raise AssertionError("attempts end by raising")


def _parsed(sent: ImportFile) -> _File:
    must_have_lines(sent.text)
    format: FileFormat = sent.format or format_of(sent.text)
    fields = None if sent.columns is UNSET else sent.columns
    rows = list(rows_of(sent.text, format, fields, to_read=sent.to_read))
    return _File(format, rows, columns_of(sent.text, fields) if format == "csv" else [])


async def _completed(lookup: Lookup, rows: list[Row]) -> list[Row]:
    """All rows, those with only an ISBN completed by a lookup. If that fails, their titles are looked up later."""
    isbns = list(dict.fromkeys(row.isbn for row in rows if row.isbn is not None))
    results = await _look_up(lookup, isbns[:MOST_LOOKED_UP])
    return [
        _as_known(row, result.matches[0])
        if row.isbn is not None and (result := results.get(row.isbn)) is not None and result.outcome == "found"
        else row
        for row in rows
    ]


async def _look_up(lookup: Lookup, isbns: list[str]) -> dict[str, LookupResult]:
    """The result for each ISBN. Once no provider answers, or the time is up, the rest count as unreachable."""
    results: dict[str, LookupResult] = {}
    until = time.monotonic() + LOOKED_UP_FOR.total_seconds()
    for start in range(0, len(isbns), LOOKED_UP_AT_ONCE):
        batch = isbns[start : start + LOOKED_UP_AT_ONCE]
        answers = await asyncio.gather(*map(lookup.book, batch))
        results |= zip(batch, answers, strict=True)
        if all(answer.outcome == "unreachable" for answer in answers) or time.monotonic() > until:
            rest = LookupResult(outcome="unreachable", matches=[])
            return dict.fromkeys(isbns, rest) | results
    return results


def _as_known(row: Row, book: KnownWork) -> Row:
    """The row completed with a provider's record; values from the file stay."""
    assert row.isbn is not None
    try:
        known = as_new_book(row.isbn, book)
    except ValidationError:
        return row
    assert isinstance(row.new, NewBook)
    blank = [name for name in ("title", "authors", "summary", "picture_url") if not getattr(row.new, name)]
    return row._replace(new=replace(row.new, **{name: getattr(known, name) for name in blank}))


async def _read(store: Store, owner_id: str, library_id: UUID, matching: Matching) -> _Shelf:
    """The library's content, read consistently, so that nothing is added twice."""
    library = await store.get(Library.one(owner_id, library_id))
    if library is None:
        raise NotFound
    collections = await store.all(Collection.in_library(owner_id, library_id))
    shelf = _Shelf(library, {fold(collection.name): collection for collection in collections}, {})
    async for item in store.each(LibraryItem.stored_in(owner_id, library_id)):
        matching.add(item)
        shelf.follow(item)
    return shelf


def _new_items(shelf: _Shelf, matching: Matching, new_id: Callable[[], UUID]) -> list[tuple[Row, Item]]:
    """The new items, each in its place; missing collections are prepared as well."""
    new = []
    for row in matching.new_rows():
        assert row.new is not None
        item = new_item(row.new, _spot(shelf, row.collection, row.new, new_id), new_id)
        shelf.follow(item)
        new.append((row, item))
    return new


def _spot(shelf: _Shelf, name: str | None, new: NewLibraryItem, new_id: Callable[[], UUID]) -> Spot:
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


def _adding(shelf: _Shelf, items: list[Item], now: datetime) -> list[Operation | Outcome]:
    """The writes of one transaction: items, member rows and counts. A new collection is put with its first items."""
    writes: list[Operation | Outcome] = [counting_in_library(shelf.library, len(items))]
    inside: dict[UUID, int] = {}
    for item in items:
        writes += [or_retry(put(item, when=absent)), *awaiting(item, now)]
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


def _batches(new: list[tuple[Row, Item]]) -> Iterator[list[tuple[Row, Item]]]:
    """The new items in batches for one transaction each."""
    batch: list[tuple[Row, Item]] = []
    actions = 0
    for row, item in new:
        own = 1 + (3 if item.collection_id is not None else 0) + is_awaited(item)
        if len(batch) == ITEMS_AT_ONCE or actions + own > ACTIONS_AT_ONCE:
            yield batch
            batch, actions = [], 0
        batch.append((row, item))
        actions += own
    if batch:
        yield batch


def _report(file: _File, new: list[tuple[Row, Item]], *, applied: bool) -> LibraryImported:
    left_out = [
        LeftOut(row=row.number, what=row.what, reason=row.reason) for row in file.rows if row.reason is not None
    ]
    return LibraryImported(
        applied=applied,
        format=file.format,
        columns=file.columns,
        new=len(new),
        awaited=sum(is_awaited(item) for _, item in new),
        already_there=len(file.rows) - len(left_out) - len(new),
        left_out=left_out,
        adjusted=[LeftOut(row=row.number, what=row.what, reason=row.remark) for row, _ in new if row.remark],
        first=[
            Planned(
                row=row.number,
                title=item.title,
                by=people_of(item),
                collection=item.collection_name,
                order=item.order,
                awaited=is_awaited(item),
                item_id=item.item_id if applied else None,
            )
            for row, item in new[:SHOWN_FIRST]
        ],
    )

"""Searching the caller's own libraries and those shared with them. Every search checks access again.

The index in memory is a cache of a library's rows. A process builds it when it first searches the library, and updates
it from the table's stream, like live lists. Results are read from the store before they are shown.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from potluck.apps.library.entities import Book, Collection, LibraryItem, Video
from potluck.apps.library.fields import BAD_SEARCH, SearchText
from potluck.apps.library.isbn import BadIsbn, isbn_13
from potluck.apps.library.item_views import LibraryItemView
from potluck.apps.library.libraries import TAG, libraries_of
from potluck.apps.library.page_frame import SEARCH, frame_of
from potluck.apps.library.search import SearchEntry, SearchIndex, best
from potluck.validation import FieldError
from potluck.web import UNSET, Actions, Core, Input, OwnPages, SignedIn, Unset

# About 600 bytes each. Beyond this, the least recently searched library is evicted.
MOST_ENTRIES = 1_000_000
INDEXED_AT_ONCE = 200
CHANGES_AT_ONCE = 1000
FEWEST_CHANGES, MOST_CHANGES = 2_000, 10_000


class SearchQuery(Input):
    q: SearchText | Unset = UNSET
    """The search text, which is required."""

    @property
    def text(self) -> str:
        assert self.q is not UNSET
        return self.q

    @staticmethod
    def check(sent: "SearchQuery") -> Iterator[FieldError]:
        if sent.q is UNSET:
            yield FieldError("q", BAD_SEARCH)


class ItemHit(NamedTuple):
    """The address of a result."""

    owner_id: str
    library_id: UUID
    id: UUID


class Indexes:
    """A process's LRU cache of the indexes of libraries."""

    def __init__(self, core: Core, most_entries: int = MOST_ENTRIES) -> None:
        self._core = core
        self._most_entries = most_entries
        self._indexes: OrderedDict[tuple[str, UUID], _LibraryIndex] = OrderedDict()

    async def of(self, owner_id: str, library_id: UUID) -> SearchIndex:
        """The index of a library, including everything written before this call."""
        key = owner_id, library_id
        cached = self._indexes.setdefault(key, _LibraryIndex(self._core, owner_id, library_id))
        self._indexes.move_to_end(key)
        index = await cached.up_to_date()
        while len(self._indexes) > 1 and sum(map(len, self._indexes.values())) > self._most_entries:
            self._indexes.popitem(last=False)
        return index


class _LibraryIndex:
    """One library's index, and the stream position up to which it is current."""

    def __init__(self, core: Core, owner_id: str, library_id: UUID) -> None:
        self._store, self._live = core.store, core.live
        self._of = (LibraryItem.stored_in(owner_id, library_id), Collection.in_library(owner_id, library_id))
        self._index = SearchIndex()
        self._position: str | None = None
        self._turn = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._index)

    async def up_to_date(self) -> SearchIndex:
        async with self._turn:
            if self._position is None:
                await self._build()
            while True:
                page = await self._live.changes(
                    self._position,
                    of=self._of,
                    see=entry_of,
                    limit=CHANGES_AT_ONCE,
                    # The log has everyone's changes. Beyond this many, reading the library again is faster.
                    most_read=min(max(FEWEST_CHANGES, len(self._index)), MOST_CHANGES),
                )
                if page.reset:
                    # The last search was too long ago for the log, or too many changes ago.
                    await self._build()
                    continue
                for change in page.changes:
                    if change.event == "deleted":
                        self._index.remove(change.item.id)
                    else:
                        self._index.put(change.item)
                self._position = page.position
                if not page.more:
                    return self._index

    async def _build(self) -> None:
        # The position is read before the rows: changes made in between are applied twice, which does no harm.
        self._position = None
        position = await self._live.position(*self._of)
        index = SearchIndex()
        for query in self._of:
            async for row in self._store.each(query):
                index.put(entry_of(row))
                if len(index) % INDEXED_AT_ONCE == 0:
                    # Yield to the event loop.
                    await asyncio.sleep(0)
        self._index, self._position = index, position


def entry_of(row: Any) -> SearchEntry:
    """The index entry of an item or a collection. An item's entry refers to that of its collection for the name."""
    match row:
        case Book():
            people = tuple(row.authors)
            return SearchEntry(
                row.item_id, row.title, people, row.collection_id, order=row.order, isbn=_thirteen(row.isbn)
            )
        case Video():
            return SearchEntry(row.item_id, row.title, (*row.directors, *row.cast), row.collection_id, order=row.order)
        case Collection():
            return SearchEntry(row.collection_id, row.name, is_collection=True)
    raise TypeError(row)


def _thirteen(isbn: str | None) -> str | None:
    """The ISBN with thirteen digits; stored ones may have ten."""
    if isbn is None:
        return None
    try:
        return isbn_13(isbn)
    except BadIsbn:
        return isbn


searching: Actions[Book | Video] = Actions(
    SignedIn, None, LibraryItemView, api="/library-search", page=SEARCH, tag=TAG, frame=frame_of("search")
)


@searching.list(shows=LibraryItemView)
def search(at: SignedIn, query: SearchQuery) -> OwnPages[LibraryItemView]:
    """Search your libraries and those shared with you: the best matches first, at most 1,000. It searches
    titles, people, collections, numbers in a collection and ISBNs, and tolerates differences in accents, case and the
    order of words, missing words, and one or two typos."""

    async def page(
        limit: int, after: Mapping[str, Any] | None
    ) -> tuple[list[LibraryItemView], Mapping[str, Any] | None]:
        results = await hits(at, query.text)
        start = 0 if after is None else _start_after(results, after)
        end = start + limit
        following = {"id": results[end - 1].id.bytes, "start": end} if end < len(results) else None
        return await at.show(LibraryItemView, await items_at(at, results[start:end])), following

    return OwnPages(page)


async def hits(at: SignedIn, query: str) -> list[ItemHit]:
    """All results in the libraries that the caller may view now, the closest first."""
    # Reading the clock prevents caching: the answer does not depend on the store's rows alone.
    _ = at.now
    indexes: Indexes = at.context.indexes
    places = await libraries_of(at.store, at.principal.user_id)
    searched = [await indexes.of(place.owner_id, place.library_id) for place in places]
    place_of = dict(zip(map(id, searched), places, strict=True))
    return [
        ItemHit(place_of[id(result.where)].owner_id, place_of[id(result.where)].library_id, result.id)
        for result in best(searched, query)
    ]


async def items_at(at: SignedIn, hits: Sequence[ItemHit]) -> list[Book | Video]:
    """The current items, without deleted ones."""
    refs = [LibraryItem.one(*hit) for hit in hits]
    return [item for item in await at.store.get_many(refs) if item is not None]


def _start_after(results: Sequence[ItemHit], after: Mapping[str, Any]) -> int:
    """Where a page begins: after the last item of the previous page, even if others were added or deleted since."""
    last = UUID(bytes=after["id"])
    return next((place for place, result in enumerate(results, 1) if result.id == last), int(after["start"]))

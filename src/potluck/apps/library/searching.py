"""Searching the caller's own libraries and those shared with them: access is checked anew with each search.

The rows of a library are the source of its index; the index in memory is a cache of them, built when a process first
searches the library, and kept up to date from the table's stream, as live lists are. Results are read from the store
before they are shown.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from potluck.apps.library.entities import Book, Collection, LibraryItem, Video
from potluck.apps.library.fields import NOTHING_SOUGHT, SearchText
from potluck.apps.library.isbn import BadIsbn, isbn_13
from potluck.apps.library.item_views import LibraryItemView
from potluck.apps.library.libraries import TAG, libraries_of
from potluck.apps.library.page_frame import SEARCH, frame_of
from potluck.apps.library.search import SearchEntry, SearchIndex, best
from potluck.store import Store
from potluck.validation import FieldError
from potluck.web import UNSET, Actions, Input, Live, OwnPages, SignedIn, Unset

# Some 600 bytes each; beyond this, the least recently searched library is evicted.
MOST_ENTRIES = 1_000_000
INDEXED_AT_ONCE = 200
CHANGES_AT_ONCE = 1000
FEWEST_CHANGES, MOST_CHANGES = 2_000, 10_000


class SearchQuery(Input):
    q: SearchText | Unset = UNSET
    """What to look for; it cannot be left out."""

    @property
    def text(self) -> str:
        assert self.q is not UNSET
        return self.q

    @staticmethod
    def check(sent: "SearchQuery") -> Iterator[FieldError]:
        if sent.q is UNSET:
            yield FieldError("q", NOTHING_SOUGHT)


class ItemHit(NamedTuple):
    """Where an item was found."""

    owner_id: str
    library_id: UUID
    id: UUID


class Indexes:
    """A process's LRU cache of the indexes of libraries."""

    def __init__(self, store: Store, live: Live, most_entries: int = MOST_ENTRIES) -> None:
        self._rows = store
        self._live = live
        self._most_entries = most_entries
        self._kept: OrderedDict[tuple[str, UUID], _LibraryIndex] = OrderedDict()

    async def of(self, owner_id: str, library_id: UUID) -> SearchIndex:
        """The index of a library, including everything written before this call."""
        key = owner_id, library_id
        found = self._kept.setdefault(key, _LibraryIndex(self._rows, self._live, owner_id, library_id))
        self._kept.move_to_end(key)
        index = await found.up_to_date()
        while len(self._kept) > 1 and sum(map(len, self._kept.values())) > self._most_entries:
            self._kept.popitem(last=False)
        return index


class _LibraryIndex:
    """One library's index, and the stream position up to which it is current."""

    def __init__(self, store: Store, live: Live, owner_id: str, library_id: UUID) -> None:
        self._rows = store
        self._live = live
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
                found = await self._live.changes(
                    self._position,
                    of=self._of,
                    see=entry_of,
                    limit=CHANGES_AT_ONCE,
                    # The log is everybody's; beyond this, the library itself is read sooner.
                    most_read=min(max(FEWEST_CHANGES, len(self._index)), MOST_CHANGES),
                )
                if found.reset:
                    # The last search is longer ago than the log reaches back, or than is worth reading.
                    await self._build()
                    continue
                for each in found.changes:
                    if each.event == "deleted":
                        self._index.remove(each.item.id)
                    else:
                        self._index.put(each.item)
                self._position = found.position
                if not found.more:
                    return self._index

    async def _build(self) -> None:
        # The position is taken before the rows are read: changes made meanwhile are applied twice, which does no harm.
        self._position = None
        position = await self._live.position(*self._of)
        index = SearchIndex()
        for query in self._of:
            async for row in self._rows.each(query):
                index.put(entry_of(row))
                if len(index) % INDEXED_AT_ONCE == 0:
                    # Yield to the event loop.
                    await asyncio.sleep(0)
        self._index, self._position = index, position


def entry_of(row: Any) -> SearchEntry:
    """The index entry of an item or a collection; an item's entry refers to its collection's for the name."""
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
    """The ISBN as queries are compared with it; rows may have ten digits."""
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
def search(at: SignedIn, wanted: SearchQuery) -> OwnPages[LibraryItemView]:
    """Books and videos of the caller's own libraries and of those shared with them, the closest first, 1,000 at most.
    Titles, people, collections, numbers in a collection and ISBNs are looked at; accents, case, the order of words,
    words left out and a typo or two do not matter."""

    async def page(
        limit: int, after: Mapping[str, Any] | None
    ) -> tuple[list[LibraryItemView], Mapping[str, Any] | None]:
        found = await hits(at, wanted.text)
        start = 0 if after is None else _start_after(found, after)
        end = start + limit
        following = {"id": found[end - 1].id.bytes, "start": end} if end < len(found) else None
        return await at.show(LibraryItemView, await items_at(at, found[start:end])), following

    return OwnPages(page)


async def hits(at: SignedIn, query: str) -> list[ItemHit]:
    """Everything that a search finds in the libraries that the caller may see now, the closest first."""
    # Reading the clock prevents caching: the answer depends on more than the store's rows.
    _ = at.now
    indexes: Indexes = at.context.indexes
    places = await libraries_of(at.store, at.principal.user_id)
    searched = [await indexes.of(place.owner_id, place.library_id) for place in places]
    place_of = dict(zip(map(id, searched), places, strict=True))
    return [
        ItemHit(place_of[id(each.where)].owner_id, place_of[id(each.where)].library_id, each.id)
        for each in best(searched, query)
    ]


async def items_at(at: SignedIn, found: Sequence[ItemHit]) -> list[Book | Video]:
    """The items as they are stored now, without those that are gone."""
    refs = [LibraryItem.one(*each) for each in found]
    return [each for each in await at.store.get_many(refs) if each is not None]


def _start_after(found: Sequence[ItemHit], after: Mapping[str, Any]) -> int:
    """Where a page begins: after the last item of the page before, also if others were added or deleted meanwhile."""
    last = UUID(bytes=after["id"])
    return next((place for place, each in enumerate(found, 1) if each.id == last), int(after["start"]))

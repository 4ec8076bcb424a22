"""A library's shelf as one list: standalone items, and collections with their items nested in order. A page never
splits a collection."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from potluck.apps.library.access import InLibrary
from potluck.apps.library.collections import CollectionView
from potluck.apps.library.entities import Book, Collection, ShelfRow, Video, media_library
from potluck.apps.library.item_views import LibraryItemView
from potluck.table import plan_of

ROWS_AT_ONCE = 100


class ShelfEntry(Struct, rename="camel", frozen=True, kw_only=True):
    """A collection with its items in their order, or a single item that is in none."""

    collection: CollectionView | None
    items: list[LibraryItemView]


Row = Collection | Book | Video


async def shelf_page(
    at: InLibrary, limit: int, after: Mapping[str, Any] | None
) -> tuple[Sequence[ShelfEntry], Mapping[str, Any] | None]:
    """Up to `limit` collections and standalone items, and where the next page begins.

    While a rename of a collection has not reached all of its items, those still filed under the old name are listed as
    standalone.
    """
    query = ShelfRow.of_library(at.owner_id, at.library_id)
    taken: list[list[Row]] = []
    read_to = after
    while True:
        part = await at.store.page(query, ROWS_AT_ONCE, read_to)
        for row in part.items:
            if taken and _belongs(row, taken[-1][0]):
                taken[-1].append(row)
            elif len(taken) < limit:
                taken.append([row])
            else:
                return await _shown(at, taken), _key_of(taken[-1][-1])
        if part.next is None:
            return await _shown(at, taken), None
        read_to = part.next


def _belongs(row: Row, first: Row) -> bool:
    return isinstance(first, Collection) and getattr(row, "collection_id", None) == first.collection_id


def _key_of(row: Row) -> dict[str, Any]:
    """The cursor after a row: its keys in the table and in the index."""
    encoded = plan_of(row).coding.encode(row)
    return {name: encoded[name] for name in media_library.index_key_names("GSI1")}


async def _shown(at: InLibrary, taken: Sequence[Sequence[Row]]) -> list[ShelfEntry]:
    items = iter(
        await at.show(LibraryItemView, [row for rows in taken for row in rows if not isinstance(row, Collection)])
    )
    heads = [rows[0] for rows in taken if isinstance(rows[0], Collection)]
    collections = iter(await at.show(CollectionView, heads))
    return [
        ShelfEntry(collection=next(collections), items=[next(items) for _ in rows[1:]])
        if isinstance(rows[0], Collection)
        else ShelfEntry(collection=None, items=[next(items)])
        for rows in taken
    ]

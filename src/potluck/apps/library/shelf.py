"""A library's shelf as one list: standalone items, and collections with their items nested in order.

A page never splits a collection.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from potluck.apps.library.access import InLibrary, Viewer
from potluck.apps.library.collections import CollectionView
from potluck.apps.library.entities import Book, Collection, ShelfRow, Video
from potluck.apps.library.item_views import LibraryItemView

ROWS_AT_ONCE = 100


class ShelfEntry(Struct, rename="camel", frozen=True, kw_only=True):
    """A collection with its items in order, or a standalone item."""

    collection: CollectionView | None
    items: list[LibraryItemView]


Row = Collection | Book | Video


async def shelf_page(
    at: InLibrary, limit: int, after: Mapping[str, Any] | None
) -> tuple[Sequence[ShelfEntry], Mapping[str, Any] | None]:
    """Up to `limit` collections and standalone items, and where the next page begins.

    Until the new name of a collection has reached all of its items, those with the old name are listed as standalone.
    """
    query = ShelfRow.of_library(at.owner_id, at.library_id)
    groups: list[list[Row]] = []
    read_to = after
    while True:
        part = await at.store.page(query, ROWS_AT_ONCE, read_to)
        for row in part.items:
            if groups and _belongs(row, groups[-1][0]):
                groups[-1].append(row)
            elif len(groups) < limit:
                groups.append([row])
            else:
                return _entries(at, groups), query.cursor(groups[-1][-1])
        if part.next is None:
            return _entries(at, groups), None
        read_to = part.next


def _belongs(row: Row, first: Row) -> bool:
    return isinstance(first, Collection) and getattr(row, "collection_id", None) == first.collection_id


def _entries(at: InLibrary, groups: Sequence[Sequence[Row]]) -> list[ShelfEntry]:
    viewer = Viewer(at.caller_id)
    return [
        ShelfEntry(
            collection=CollectionView.show(rows[0], viewer) if isinstance(rows[0], Collection) else None,
            items=[LibraryItemView.show(row, viewer) for row in rows if not isinstance(row, Collection)],
        )
        for rows in groups
    ]

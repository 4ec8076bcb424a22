"""Finds the rows of a file that are in the library already. An item matches one row, so that two copies stay two.

A row is first matched with an item that has the same title, people, ISBN and collection. The remaining rows are matched
by ISBN, or by title and people if the row or the item has no ISBN; and always by collection, if the file has one.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from unicodedata import normalize

from potluck.apps.library.entities import Book, Item
from potluck.apps.library.import_files import Row
from potluck.apps.library.isbn import isbn_13
from potluck.apps.library.item_views import people_of
from potluck.apps.library.items import NewBook
from potluck.table import fold
from potluck.web import UNSET

ANY = object()
Key = tuple[Any, ...]


class Matching:
    """The rows of a file, to be matched with items that are added one by one."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = [row for row in rows if row.new is not None and row.reason is None]
        self._isbns = {_row_isbn(row) for row in self._rows} - {None}
        self._titles = {_row_title(row) for row in self._rows}
        self._items = 0
        self._by_key: dict[Key, list[int]] = {}

    def add(self, item: Item) -> None:
        """An item of the library."""
        isbn = item.isbn if isinstance(item, Book) else None
        kind, title = isinstance(item, Book), _spelled(item.title)
        # A library may be a hundred times larger than the file.
        if isbn not in self._isbns and (kind, title) not in self._titles:
            return
        people = _people(people_of(item))
        collection = None if item.collection_name is None else fold(item.collection_name)
        keys: list[Key] = [("same", kind, title, people, isbn, collection)]
        for place in (collection, ANY):
            if isbn is not None:
                keys.append(("isbn", isbn, place))
            for makers in (people, ANY):
                keys.append(("title", kind, title, makers, place))
                if isbn is None:
                    keys.append(("title without isbn", kind, title, makers, place))
        for key in keys:
            self._by_key.setdefault(key, []).append(self._items)
        self._items += 1

    def new_rows(self) -> list[Row]:
        """The rows that match no item."""
        used: set[int] = set()
        left = [row for row in self._rows if not self._take(_same(row), used)]
        return [row for row in left if not self._take(_alike(row), used)]

    def _take(self, keys: Iterable[Key], used: set[int]) -> bool:
        for key in keys:
            matches = self._by_key.get(key, [])
            while matches:
                item = matches.pop()
                if item not in used:
                    used.add(item)
                    return True
        return False


def _same(row: Row) -> Iterable[Key]:
    if row.isbn is None and row.states_people and row.states_collection:
        yield "same", *_row_title(row), _row_people(row), _row_isbn(row), _row_collection(row)


def _alike(row: Row) -> Iterable[Key]:
    isbn, place = _row_isbn(row), _row_collection(row)
    if isbn is not None:
        yield "isbn", isbn, place
    if row.isbn is None:
        people = _row_people(row) if row.states_people else ANY
        yield "title" if isbn is None else "title without isbn", *_row_title(row), people, place


def _row_title(row: Row) -> Key:
    title: Any = getattr(row.new, "title", UNSET)
    return isinstance(row.new, NewBook), "" if title is UNSET else _spelled(title)


def _row_people(row: Row) -> Key:
    new: Any = row.new
    return _people(new.authors if isinstance(new, NewBook) else new.directors)


def _row_isbn(row: Row) -> str | None:
    isbn = row.new.isbn if isinstance(row.new, NewBook) else None
    return None if isbn is None else isbn_13(isbn)


def _row_collection(row: Row) -> Any:
    if row.collection is not None:
        return fold(row.collection)
    return None if row.states_collection else ANY


def _spelled(text: str) -> str:
    return normalize("NFC", normalize("NFC", " ".join(text.split())).casefold())


def _people(names: Sequence[str]) -> Key:
    return tuple(map(_spelled, names))

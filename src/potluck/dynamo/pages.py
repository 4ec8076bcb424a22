"""One page of a query or scan: which rows it reads, where it stops, and what it returns of them."""

from typing import Any, Protocol

from potluck.dynamo.capacity import Consumed, read_units
from potluck.dynamo.limits import PAGE_BYTES
from potluck.dynamo.storage.rows import Rows, unpack, unpack_all
from potluck.dynamo.tables import Index, Table
from potluck.dynamo.values import Item, item_size

INLINE_ROWS = 256
INLINE_BYTES = 128 * 1024
"""A page that needs more than this is finished on another thread."""


class RowSource(Protocol):
    @property
    def rows(self) -> Rows: ...
    async def read_aside(self, work: Any, *arguments: Any) -> Any: ...


class ItemFilter(Protocol):
    def matches(self, item: Item) -> bool: ...


class ItemProjection(Protocol):
    def apply(self, item: Item) -> Item: ...


class ItemPage:
    """A page being read: rows from `low` up to but not including `high`, until the limit, a megabyte or the end."""

    def __init__(
        self,
        table: Table,
        index: Index | None,
        low: bytes,
        high: bytes | None,
        *,
        backwards: bool = False,
        limit: int | None = None,
        filter: ItemFilter | None = None,
        projection: ItemProjection | None = None,
        counts_only: bool = False,
        fetches_whole: bool = False,
        packed: bool = False,
    ) -> None:
        self.table = table
        self.index = index
        self.low = low
        self.high = high
        self.backwards = backwards
        self.limit = limit
        self.filter = filter
        self.projection = projection
        self.counts_only = counts_only
        self.fetches_whole = fetches_whole  # a local index was asked for more than it projects
        # Rows stay packed only if they are returned unchanged.
        shows_all = index is None or index.shows_all
        self.packed = packed and shows_all and projection is None and not counts_only
        self.items: list[Any] = []
        self.count = 0
        self.scanned = 0
        self.size = 0
        self.fetched_units = 0
        self.last: Item | None = None
        self._newest: Item | None = None

    def place(self, key: Item) -> bytes:
        """The row key, in the table or index being read, of the item with this key."""
        place = self.table.row_key(key)
        return place if self.index is None else (self.index.place(key) or b"") + place

    def start_after(self, key: Item) -> None:
        """Continue after the item with this key."""
        place = self.place(key)
        if self.backwards:
            self.high = place if self.high is None else min(self.high, place)
        else:
            self.low = max(self.low, place + b"\x00")

    async def read(self, database: RowSource) -> None:
        """Fill the page: the first rows inline, the rest of a long page off the event loop."""
        if not self._advance(database.rows, INLINE_ROWS, INLINE_BYTES):
            await database.read_aside(lambda: self._finish(database))

    def _finish(self, database: RowSource) -> None:
        while not self._advance(database.rows, 16 * INLINE_ROWS, PAGE_BYTES):
            pass

    def _advance(self, rows: Rows, most_rows: int, most_bytes: int) -> bool:
        """Read some more rows; True when the page is complete."""
        if self._newest is not None:
            self.start_after(self._newest)
        wanted = most_rows if self.limit is None else min(most_rows, self.limit - self.scanned)
        taken = self.size
        pause = min(PAGE_BYTES, taken + most_bytes)
        blobs: list[bytes] = []
        cursor = rows.between(self.table, self.index, self.low, self.high, self.backwards, wanted)
        for row_size, blob in cursor:
            blobs.append(blob)
            taken += row_size
            if taken >= pause:
                cursor.close()
                break
        exhausted = taken < pause and len(blobs) < wanted
        self._take(blobs, taken)
        if exhausted:
            return True
        # The item that crosses a megabyte is the page's last, as in the service.
        if taken >= PAGE_BYTES or self.scanned == self.limit:
            self.last = self._key(self._newest) if self._newest is not None else None
            return True
        return False

    def _take(self, blobs: list[bytes], size: int) -> None:
        self.size = size
        self.scanned += len(blobs)
        if not blobs:
            return
        index, wanted = self.index, self.filter
        if self.counts_only and wanted is None:
            self.count += len(blobs)
            self._newest = unpack_all(blobs[-1:])[0]
            return
        if self.packed and wanted is None:
            self.count += len(blobs)
            self._newest = unpack(blobs[-1])
            self.items += blobs
            return
        items = unpack_all(blobs)
        self._newest = items[-1]
        if self.packed and wanted is not None:
            matching = [blob for blob, item in zip(blobs, items, strict=True) if wanted.matches(item)]
            self.count += len(matching)
            self.items += matching
            return
        if index is not None and not index.shows_all:
            if self.fetches_whole:
                self.fetched_units += sum(int(read_units(item_size(item), True)) for item in items)
            else:
                items = [index.show(item) for item in items]
        if wanted is not None:
            items = [item for item in items if wanted.matches(item)]
        self.count += len(items)
        if self.counts_only:
            return
        if self.projection is not None:
            project = self.projection.apply
            items = [project(item) for item in items]
        self.items += items

    def _key(self, item: Item) -> Item:
        key = self.table.key_of(item)
        if self.index is not None:
            key.update((name, item[name]) for name in self.index.key_names)
        return key

    def answer(self, request: dict[str, Any], consistent: bool) -> dict[str, Any]:
        """The page as the response of Query and Scan."""
        answer: dict[str, Any] = {"Count": self.count, "ScannedCount": self.scanned}
        if not self.counts_only:
            answer["Items"] = self.items
        if self.last is not None:
            answer["LastEvaluatedKey"] = self.last
        asked = request.get("ReturnConsumedCapacity", "NONE")
        if asked != "NONE":
            consumed = Consumed(self.table.name)
            consumed.read(read_units(self.size, consistent), self.index)
            if self.fetched_units:
                consumed.read(self.fetched_units * (1.0 if consistent else 0.5))
            answer["ConsumedCapacity"] = consumed.report(asked)
        return answer

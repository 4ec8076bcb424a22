"""Items as rows: one per item, one per index it is in, one per expiry, and one per change in the log."""

from collections import defaultdict
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import apsw
import msgspec

from potluck.dynamo.storage.catalog import Catalog
from potluck.dynamo.tables import Index, Table
from potluck.dynamo.values import Item, equal, item_size

INSERTED, MODIFIED, REMOVED, EXPIRED = range(4)

LATEST_EXPIRY = 1 << 62

pack: Callable[[Any], bytes] = msgspec.msgpack.Encoder().encode
unpack: Callable[[bytes], Any] = msgspec.msgpack.Decoder().decode


def unpack_all(blobs: list[bytes]) -> list[Item]:
    """Decode many items at once, as one msgpack array."""
    items: list[Item] = unpack(b"\xdd" + len(blobs).to_bytes(4, "big") + b"".join(blobs))
    return items


class StaleTable(Exception):
    """The table's definition changed after the call was prepared; the call is prepared again."""


class ItemRow:
    """An item as it is stored; its attributes and its places in the indexes are computed on first use."""

    __slots__ = ("_item", "_places", "blob", "size")

    def __init__(
        self, size: int, blob: bytes, item: Item | None = None, places: list[bytes | None] | None = None
    ) -> None:
        self.size = size
        self.blob = blob
        self._item = item
        self._places = places

    @property
    def item(self) -> Item:
        if self._item is None:
            self._item = unpack(self.blob)
        return self._item

    def places(self, table: Table) -> list[bytes | None]:
        """The item's place in each index of its table; None for an index it is not in."""
        if self._places is None:
            item = self.item
            self._places = [index.place(item) for index in table.indexes]
        return self._places

    def stay_with(self, old: "ItemRow", table: Table) -> list[bytes | None]:
        """Take over the old item's places, when no index key has changed."""
        self._places = old.places(table)
        return self._places


LoggedRow = tuple[int, float, int, bytes | None, bytes | None, bytes | None]
"""A change in the log: its sequence, time and kind, the key if there is no image, the new image and the old one."""


class Stored(NamedTuple):
    """One item's change, and its row in the log; None if it was not logged."""

    table: Table
    old: ItemRow | None
    new: ItemRow | None
    logged: LoggedRow | None


class Rows:
    """One connection's view of the rows; what it writes is part of the current transaction."""

    def __init__(self, connection: apsw.Connection, catalog: Catalog) -> None:
        self.connection = connection
        self.catalog = catalog
        self.execute: Callable[..., Any] = connection.execute
        self.counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        self.stored: list[Stored] = []
        """What the current transaction has changed."""

    def get(self, table: Table, key: bytes) -> tuple[int, bytes] | None:
        """The size and content of the item at a key."""
        try:
            row: tuple[int, bytes] | None = self.execute(table.select, (key,)).get
        except apsw.SQLError as error:
            raise StaleTable from error  # dropped by another process
        return row

    def check_current(self, table: Table) -> None:
        """Raise StaleTable if the table has changed since the call was prepared."""
        if self.catalog.tables.get(table.key) is not table:
            raise StaleTable

    def between(
        self, table: Table, index: Index | None, low: bytes, high: bytes | None, backwards: bool, limit: int
    ) -> apsw.Cursor:
        """The sizes and contents of the items from `low` up to but not including `high`, in order."""
        order = "DESC" if backwards else "ASC"
        if index is None:
            past = "" if high is None else "AND key < ?3"
            statement = f"SELECT size, item FROM {table.rows} WHERE key >= ?1 {past} ORDER BY key {order} LIMIT ?2"
        else:
            past = "" if high is None else "AND i.key < ?3"
            size = "t.size" if index.shows_all else "i.size"
            statement = (
                f"SELECT {size}, t.item FROM {index.rows} i CROSS JOIN {table.rows} t ON t.key = substr(i.key, i.base)"
                f" WHERE i.key >= ?1 {past} ORDER BY i.key {order} LIMIT ?2"
            )
        try:
            cursor: apsw.Cursor = self.execute(statement, (low, limit) if high is None else (low, limit, high))
        except apsw.SQLError as error:
            raise StaleTable from error
        return cursor

    def store(
        self,
        table: Table,
        key: bytes,
        old: ItemRow | None,
        new: ItemRow | None,
        now: float,
        *,
        touched: Collection[str] | None = None,
        expired: bool = False,
    ) -> None:
        """Put `new` where `old` was, in the table, its indexes, its expiries and its log.

        `touched` names the only attributes in which the two may differ, if that is known.
        """
        if new is None:
            if old is None:
                return
            self.execute(f"DELETE FROM {table.rows} WHERE key=?", (key,))
            self.count(table.rows, -1, -old.size)
        elif old is None:
            self.execute(f"INSERT INTO {table.rows} VALUES (?, ?, ?)", (key, new.size, new.blob))
            self.count(table.rows, 1, new.size)
        elif old.blob == new.blob:
            return
        else:
            self.execute(f"UPDATE {table.rows} SET size=?, item=? WHERE key=?", (new.size, new.blob, key))
            self.count(table.rows, 0, new.size - old.size)
        if table.indexes:
            self.move(table, key, old, new, touched)
        if table.ttl is not None:
            self.expire(table, key, old, new)
        logged = None
        if table.log is not None and not (old and new and same(old.item, new.item)):
            logged = self.log(table, old, new, now, expired)
        self.stored.append(Stored(table, old, new, logged))

    def move(
        self,
        table: Table,
        key: bytes,
        old: ItemRow | None,
        new: ItemRow | None,
        touched: Collection[str] | None,
    ) -> None:
        """Move an item's rows in the indexes from where they were to where they belong."""
        if old and new and touched is not None and table.index_key_names.isdisjoint(touched):
            after = before = new.stay_with(old, table)
        else:
            nowhere: list[bytes | None] = [None] * len(table.indexes)
            before = old.places(table) if old else nowhere
            after = new.places(table) if new else nowhere
        for at, index in enumerate(table.indexes):
            leaving, arriving = before[at], after[at]
            gone = shown_size(index, old) if old and leaving is not None else 0
            size = shown_size(index, new) if new and arriving is not None else 0
            if leaving == arriving and not index.is_filling:
                if size != gone:
                    self.count(index.rows, 0, size - gone)
                    if not index.shows_all:
                        self.execute(f"UPDATE {index.rows} SET size=? WHERE key=?", (size, (leaving or b"") + key))
                continue
            if leaving is not None:
                removed = self.execute(f"DELETE FROM {index.rows} WHERE key=? RETURNING 1", (leaving + key,)).get
                if removed:  # else the backfill had not reached it yet
                    self.count(index.rows, -1, -gone)
            if arriving is not None:
                self.execute(f"INSERT INTO {index.rows} VALUES (?, ?, ?)", (arriving + key, len(arriving) + 1, size))
                self.count(index.rows, 1, size)

    def expire(self, table: Table, key: bytes, old: ItemRow | None, new: ItemRow | None) -> None:
        before = expiry(table, old.item) if old else None
        after = expiry(table, new.item) if new else None
        if before != after:
            if before is not None:
                self.execute(f"DELETE FROM {table.expiries} WHERE at=? AND key=?", (before, key))
            if after is not None:
                self.execute(f"INSERT INTO {table.expiries} VALUES (?, ?)", (after, key))

    def log(self, table: Table, old: ItemRow | None, new: ItemRow | None, now: float, expired: bool) -> LoggedRow:
        kind = INSERTED if old is None else MODIFIED if new else EXPIRED if expired else REMOVED
        after = new.blob if new and table.logs_new else None
        before = old.blob if old and table.logs_old else None
        key = None
        known = new or old
        if known is not None and after is None and before is None:
            key = pack(table.key_of(known.item))  # otherwise the image has it
        self.execute(
            f"INSERT INTO {table.log}(at, kind, key, new, old) VALUES (?, ?, ?, ?, ?)", (now, kind, key, after, before)
        )
        return self.connection.last_insert_rowid(), now, kind, key, after, before

    def count(self, of: str, items: int, size: int) -> None:
        counted = self.counts[of]
        counted[0] += items
        counted[1] += size

    def save_counts(self) -> None:
        """Write this transaction's changes to the item and byte counts, once per table and index."""
        for of, (items, size) in self.counts.items():
            if items or size:
                self.execute("UPDATE counts SET items = items + ?, bytes = bytes + ? WHERE of=?", (items, size, of))
        self.counts.clear()

    def counted(self, of: str) -> tuple[int, int]:
        """How many items a table or index holds, and their total size."""
        row: tuple[int, int] | None = self.execute("SELECT items, bytes FROM counts WHERE of=?", (of,)).get
        return row or (0, 0)


def shown_size(index: Index, row: ItemRow) -> int:
    return row.size if index.shows_all else item_size(index.show(row.item))


def same(old: Item, new: Item) -> bool:
    return old.keys() == new.keys() and all(equal(value, new[name]) for name, value in old.items())


def expiry(table: Table, item: Item) -> int | None:
    """The second at which an item expires by its TTL attribute; None if it does not."""
    value = item.get(table.ttl or "")
    number = value.get("N") if value else None
    if number is None:
        return None
    second = int(number.partition(".")[0]) if "E" not in number.upper() else int(float(number))
    return second if 0 < second < LATEST_EXPIRY else None

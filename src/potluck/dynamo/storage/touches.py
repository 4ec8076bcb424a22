"""When each partition was last written to, by any process, so that callers know whether a cached read is current.

This process announces what a commit touches before making it, and the announcement takes effect once the header of the
WAL index shows the commit. Any other change of the header is another process's commit, and what that touched is read
from the change logs. When in doubt, a place counts as written: a table whose log lacks either image, a log with a gap
after the last known change, a changed definition.
"""

import logging
from collections.abc import Iterable
from typing import Any, NamedTuple

import apsw

from potluck.dynamo.errors import NotPlain
from potluck.dynamo.storage.catalog import Catalog
from potluck.dynamo.storage.commits import EVERYWHERE, Commits, Place
from potluck.dynamo.storage.rows import Rows, Stored, unpack
from potluck.dynamo.storage.wal_index import WalIndex, commits_between
from potluck.dynamo.tables import Table
from potluck.dynamo.values import Item

logger = logging.getLogger(__name__)

MOST_PLACES = 50_000
# With more new records than this from other processes, all of the table counts as written.
MOST_RECORDS = 500
NOTHING_KNOWN = b""


class Coming(NamedTuple):
    """What the commit in progress touches, and the last sequence it adds to each log."""

    places: set[Place]
    sequences: dict[str, int]


class Touches(Commits):
    """Counts the commits that the WAL index shows, and records at which count each place was last touched."""

    def __init__(self, index: WalIndex, catalog: Catalog) -> None:
        super().__init__()
        self._index: WalIndex | None = index
        self._catalog = catalog
        self._catalog_version = -1
        self._known = NOTHING_KNOWN, 0
        """The last header accounted for, and the count that goes with it.

        One attribute, set last: a reader without the lock must never see a count whose touches are not recorded yet.
        """
        self._coming: Coming | None = None
        self._sequences: dict[str, int] = {}
        """For each log, the last change accounted for."""
        self._touched: dict[Place, int] = {}
        self._tables: dict[str, int] = {}
        """For each table, the count at which it was last written to in unknown places."""
        self._floor = 0
        """Nothing is known about writes before this count."""

    # --- readers ------------------------------------------------------------------------------------------------

    def count(self, reader: Rows | None = None) -> int:
        index = self._index
        if index is None:
            raise NotPlain
        known, count = self._known
        if index.first() == known:
            return count
        if reader is None:
            raise NotPlain
        with self._lock:
            header = index.header()
            if header is None:
                raise NotPlain  # a commit is being published right now
            if header != self._known[0]:
                self._account_for(header, reader)
            return self._count

    def untouched(self, places: Iterable[Place], since: int) -> bool:
        if since < self._floor:
            return False
        touched, tables = self._touched, self._tables
        for place in places:
            if touched.get(place, 0) > since or tables.get(place[0], 0) > since:
                return False
        # Another thread may have raised the floor meanwhile.
        return since >= self._floor

    # --- the writer ---------------------------------------------------------------------------------------------

    def begin(self, rows: Rows) -> None:
        if self._index is None or self._index.first() == self._known[0]:
            return
        with self._lock:
            header = self._index.header()
            if header is None:
                # No other process can be writing the header now, so its format is unknown.
                self._known = NOTHING_KNOWN, self._count
            elif header != self._known[0]:
                self._account_for(header, rows)

    def coming(self, stored: list[Stored]) -> None:
        if self._index is None:
            return
        places: set[Place] = {EVERYWHERE}
        sequences: dict[str, int] = {}
        for change in stored:
            for row in (change.old, change.new):
                if row is not None:
                    places.update(places_of(change.table, row.item))
            if change.logged is not None and change.table.log is not None:
                sequences[change.table.log] = change.logged[0]
        with self._lock:
            self._coming = Coming(places, sequences)

    def ended(self, *, committed: bool) -> None:
        if self._index is None:
            return
        with self._lock:
            coming, self._coming = self._coming, None
            header = self._index.header()
            if not committed:
                coming = None
            elif coming is None:
                return  # a reader saw it first
            known, _ = self._known
            if coming is not None and header is not None and known and commits_between(known, header) <= 1:
                if header != known:
                    self._apply(coming)
                    self._known = header, self._count
                elif len(coming.places) > 1:
                    logger.error("the index of the write-ahead log does not show commits; no answer is cached")
                    self._index = None
            else:
                # Others have committed already, or the outcome is unknown: the next look reads the logs.
                self._known = NOTHING_KNOWN, self._count

    def doubt(self) -> None:
        with self._lock:
            self._coming = None
            self._known = NOTHING_KNOWN, self._count
            self._sequences.clear()

    # --- accounting, with the lock held -------------------------------------------------------------------------

    def _account_for(self, header: bytes, rows: Rows) -> None:
        # Used or not, the announcement must not be mistaken for a later commit.
        coming, self._coming = self._coming, None
        known, _ = self._known
        if coming is not None and known and commits_between(known, header) == 1:
            # The writer's own commit, seen before the writer could report it.
            self._apply(coming)
        else:
            self._read_logs(rows)
        self._known = header, self._count

    def _apply(self, coming: Coming) -> None:
        self._count += 1
        self._sequences.update(coming.sequences)
        self._touch(coming.places)
        self._check_definitions()

    def _read_logs(self, rows: Rows) -> None:
        self._count += 1
        self._catalog.refresh(rows.connection)
        self._check_definitions()
        self._touch({EVERYWHERE})
        for table in list(self._catalog.tables.values()):
            self._read_log(table, rows)

    def _read_log(self, table: Table, rows: Rows) -> None:
        known = None if table.log is None else self._sequences.get(table.log)
        if table.log is None or not (table.logs_old and table.logs_new):
            self._tables[table.key] = self._count
            return
        try:
            if known is not None:
                records: list[Any] = rows.execute(
                    f"SELECT sequence, new, old FROM {table.log} WHERE sequence > ? ORDER BY sequence LIMIT ?",
                    (known, MOST_RECORDS + 1),
                ).fetchall()
                if not records:
                    return
                if records[0][0] == known + 1 and len(records) <= MOST_RECORDS:
                    for _, new, old in records:
                        for image in (new, old):
                            if image is not None:
                                self._touch(places_of(table, unpack(image)))
                    self._sequences[table.log] = records[-1][0]
                    return
            self._tables[table.key] = self._count
            self._sequences[table.log] = rows.execute(f"SELECT max(sequence) FROM {table.log}").get or 0
        except apsw.SQLError:
            # Another process dropped it; the catalog will show that shortly.
            self._tables[table.key] = self._count
            self._sequences.pop(table.log, None)

    def _touch(self, places: Iterable[Place]) -> None:
        for place in places:
            self._touched[place] = self._count
        if len(self._touched) > MOST_PLACES:
            self._floor = self._count
            self._touched = {}

    def _check_definitions(self) -> None:
        version = self._catalog.version
        if version != self._catalog_version:
            self._catalog_version = version
            self._floor = self._count


def places_of(table: Table, item: Item) -> list[Place]:
    """The table, the item's partition in it, and its partition in each index."""
    places: list[Place] = [(table.key, None, None)]
    for index, attribute in table.partition_attributes:
        value = item.get(attribute)
        text = None if value is None else value.get("S")
        if text is not None:
            places.append((table.key, index, text))
    return places

"""The embedded engine: the DynamoDB API, in process, on a single file."""

import asyncio
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import apsw

from potluck.acceleration import BY_ENVIRONMENT, Accelerations
from potluck.dynamo import streams, ttl
from potluck.dynamo.actions import ACTIONS, Action
from potluck.dynamo.actions.query import packed_query
from potluck.dynamo.actions.transact_write_items import transact_write_items
from potluck.dynamo.backfill import backfill
from potluck.dynamo.errors import CLOSED, DynamoError, NotPlain, StoreDamaged
from potluck.dynamo.namespaces import DEFAULT, Namespace
from potluck.dynamo.parameters import check, check_whole, unknown_operation
from potluck.dynamo.storage.backup import Progress
from potluck.dynamo.storage.commits import Place
from potluck.dynamo.storage.damage import DAMAGE
from potluck.dynamo.storage.file import StoreFile
from potluck.dynamo.storage.rows import Rows, StaleTable, Stored, unpack_all
from potluck.dynamo.storage.writer import HandOver, Work
from potluck.dynamo.views import NamespaceView, Tables
from potluck.metrics import STORE_BYTES, THREADS_QUEUE, WAL_BYTES, WRITER_QUEUE
from potluck.states import WORK_FAILING, Trouble

logger = logging.getLogger(__name__)

T = TypeVar("T")

LONG_READS = 4
"""How many long reads can run off the event loop at once."""

SWITCH_SECONDS = 0.0001
"""At Python's default, a busy event loop starves the writer thread; this fixes that and costs the loop about 1%."""

FIRST_READING = frozenset(("ValidationException", "SerializationException", "ResourceNotFoundException"))
"""Errors that the service may preempt with another one about the same request, found while reading its values."""

HOUSEKEEPING_SECONDS = 1.0
TRIM_SECONDS = 60.0


Receive = Callable[[tuple[str, list[dict[str, Any]]] | None], None]


class CommitListener(NamedTuple):
    """A callback for the commits to a table, and the event loop to call it on."""

    loop: asyncio.AbstractEventLoop
    receive: Receive


class Database(Tables):
    """Tables in one file. Open it with `await Database.open(path)` and use it from any event loop of this process."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        clock: Callable[[], float],
        vfs: str | None,
        reserve: bool,
        accelerations: Accelerations,
    ) -> None:
        self._prepare(clock)
        self._long_reads = ThreadPoolExecutor(LONG_READS, thread_name_prefix="potluck-read")
        self.file = StoreFile(path, self._note_commit, vfs, reserve=reserve, wal_index=accelerations.wal_index)
        self._has_namespaces = self.file.catalog.has_namespaces(self.rows.connection)

    def _prepare(self, clock: Callable[[], float]) -> None:
        """Everything but the rows."""
        self.clock = clock
        self.namespace = DEFAULT
        self.prefix = DEFAULT.key("")
        self._versions: dict[str, int] = {}
        self._others = 0
        self._waiting: dict[str, set[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]]] = {}
        self._following: dict[str, list[CommitListener]] = {}
        self._waiting_lock = threading.Lock()
        self._seen: WeakKeyDictionary[asyncio.Task[Any], dict[str, int]] = WeakKeyDictionary()
        self._closed = False
        self._housekeeping: asyncio.Task[None] | None = None
        self._filling: dict[str, asyncio.Task[None]] = {}

    @classmethod
    async def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        clock: Callable[[], float] = time.time,
        vfs: str | None = None,
        reserve: bool = False,
        accelerations: Accelerations = BY_ENVIRONMENT,
    ) -> "Database":
        """Open a store's file, creating it if need be; without a path, a temporary store that is deleted on close.

        With `reserve`, some space is set aside while the disk is filling up, and released when it is full.
        """
        if sys.getswitchinterval() > SWITCH_SECONDS:
            sys.setswitchinterval(SWITCH_SECONDS)
        database = cls(path, clock, vfs, reserve, accelerations)
        database._housekeeping = asyncio.create_task(database._keep_house())
        database.fill_indexes()
        return database

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one operation as the service would, or raise its DynamoError."""
        return await self.answer(ACTIONS.get(operation), operation, request)

    async def transact(self, request: dict[str, Any]) -> dict[str, Any]:
        """TransactWriteItems with a request built by trusted code in this process: its shape is not validated."""
        return await self.answer(transact_write_items, "TransactWriteItems", request, checked=True)

    def row(self, table: str, key: dict[str, Any]) -> bytes | None:
        """The packed item that a consistent GetItem would return now; NotPlain if only the full call can answer."""
        known = None if self._closed else self.file.catalog.tables.get(table)
        place = None if known is None else known.plain_place(key)
        if known is None or place is None:
            raise NotPlain
        try:
            row: bytes | None = self.file.reader.execute(known.select_item, (place,)).get
        except apsw.SQLError:
            raise NotPlain from None  # dropped by another process
        except DAMAGE as error:
            raise self.file.damage.noticed(error) from error
        return row

    def rows_of(self, table: str, keys: list[dict[str, Any]]) -> dict[int, bytes]:
        """What `row` would return for these keys, in one read, by position in the list; missing items are left out."""
        known = None if self._closed else self.file.catalog.tables.get(table)
        if known is None:
            raise NotPlain
        places = [known.plain_place(key) for key in keys]
        if None in places:
            raise NotPlain
        marks = ", ".join("?" * len(places))
        try:
            items = dict(self.file.reader.execute(f"SELECT key, item FROM {known.rows} WHERE key IN ({marks})", places))
        except apsw.SQLError:
            raise NotPlain from None  # dropped by another process
        except DAMAGE as error:
            raise self.file.damage.noticed(error) from error
        return {at: items[place] for at, place in enumerate(places) if place in items}

    def state(self) -> int:
        """A number that stays the same only while nothing is written to the file; NotPlain if it is unknown."""
        if self._closed:
            raise NotPlain
        commits = self.file.commits
        try:
            return commits.count()
        except NotPlain:
            try:
                return commits.count(self.file.reader)
            except DAMAGE as error:
                raise self.file.damage.noticed(error) from error

    def untouched(self, places: Iterable[Place], since: int) -> bool:
        """Whether nothing was written to these places between that state and the latest one returned."""
        return self.file.commits.untouched(places, since)

    async def query_rows(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a Query, leaving Items packed if they need no projection."""
        return await self.answer(packed_query, "Query", request)

    def unpack(self, rows: list[bytes]) -> list[dict[str, Any]]:
        """The items of packed rows."""
        try:
            return unpack_all(rows)
        except DAMAGE as error:
            raise self.file.damage.noticed(error) from error

    def within(self, namespace: Namespace) -> "Database | NamespaceView":
        """The store for callers of this account and region; in a file without namespaces, all share all tables."""
        return NamespaceView(self, namespace) if self._has_namespaces else self

    async def answer(
        self,
        action: Action | None,
        operation: str,
        request: dict[str, Any],
        *,
        view: "NamespaceView | None" = None,
        checked: bool = False,
    ) -> dict[str, Any]:
        """Answer an operation on the tables of a view, or of the default namespace."""
        if action is None:
            raise unknown_operation(operation)
        if self._closed:
            raise DynamoError(CLOSED, "The store is closed")
        if not checked:
            request = check(operation, request)
        while True:
            try:
                return await action(view or self, request)
            except StaleTable:
                self.file.refresh_catalog()
            except (DynamoError, TypeError, AttributeError) as error:
                if isinstance(error, DynamoError) and error.code not in FIRST_READING:
                    raise
                # The service reads every attribute value before it checks anything else; this engine does so only after
                # an error. If its lenient reading changes the request, the changed one is tried again.
                whole = check_whole(operation, request)
                if whole == request:
                    raise
                request = whole
            except DAMAGE as error:
                raise self.file.damage.noticed(error) from error

    @property
    def rows(self) -> Rows:
        """The stored rows, to read from on the calling thread."""
        return self.file.reader

    async def write(self, work: Work) -> Any:
        """Have the writer do the work; it is durable when this returns."""
        return await self.file.writer.submit(work)

    async def read_aside(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do a long read on another thread, without blocking the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._long_reads, work, *arguments)

    def fill_indexes(self) -> None:
        """Fill every index that is being created, in the background, also those that a dead process left unfinished."""
        for name, table in self.file.catalog.tables.items():
            if name not in self._filling and any(index.is_filling for index in table.indexes):
                self._filling[name] = asyncio.create_task(self._fill(name))

    async def _fill(self, name: str) -> None:
        try:
            await backfill(self, name)
        finally:
            del self._filling[name]

    # --- changes -----------------------------------------------------------------------------------------------------

    async def changed(self, table: str, timeout: float) -> bool:
        """True once the table has changed since this task last read its stream or last called; False on timeout.

        A commit by another process counts as a change to every table.
        """
        loop = asyncio.get_running_loop()
        self.file.writer.watch()
        deadline = loop.time() + timeout
        try:
            while True:
                waiter = (loop, loop.create_future())
                with self._waiting_lock:
                    self._waiting.setdefault(table, set()).add(waiter)
                try:
                    if self.note_seen(table):
                        return True
                    # Not `wait_for`: up to Python 3.11 it loses a cancellation that arrives together with the result.
                    done, _ = await asyncio.wait((waiter[1],), timeout=deadline - loop.time())
                    if not done:
                        return self.note_seen(table)
                finally:
                    with self._waiting_lock:
                        self._waiting[table].discard(waiter)
        finally:
            self.file.writer.unwatch()

    def note_seen(self, table: str) -> bool:
        """Record that this task has seen the table up to now; True if there was anything new."""
        task = asyncio.current_task()
        if task is None:
            return False
        seen = self._seen.setdefault(task, {})
        version = self._versions.get(table, 0) + self._others
        before = seen.get(table, version)
        seen[table] = version
        return version != before

    def follow(self, table: str, receive: Receive) -> Callable[[], None]:
        """Pass every commit to the table to `receive` on this event loop, before the writer gets its answer.

        `receive` gets the shard and its new records, or None when the records must be read from the log because
        another process wrote or the definition changed. Call what this returns to stop.
        """
        follower = CommitListener(asyncio.get_running_loop(), receive)
        self.file.writer.watch()
        with self._waiting_lock:
            self._following[table] = [*self._following.get(table, ()), follower]

        def unfollow() -> None:
            with self._waiting_lock:
                self._following[table] = [other for other in self._following[table] if other is not follower]
            self.file.writer.unwatch()

        return unfollow

    def near_end(self, table: str, changes: int) -> str | None:
        """The sequence number after which the table's log has this many records; None if it has no more at all.

        A log cannot be read backwards, and a day of it is long.
        """
        definition = self.file.catalog.tables.get(table)
        stream = None if definition is None else streams.stream_of(definition)
        sequence = None if stream is None else streams.last_but(self.rows, stream, changes, self.clock())
        return None if sequence is None else streams.sequence_number(sequence)

    def _note_commit(self, stored: list[Stored] | None) -> list[HandOver]:
        """Called on the writer's thread after each commit; None means a commit by another process."""
        tables: dict[str, list[Stored]] = {}
        if stored is None:
            self._others += 1
        else:
            for change in stored:
                tables.setdefault(change.table.key, []).append(change)
            for name in tables:
                self._versions[name] = self._versions.get(name, 0) + 1
        handed: list[HandOver] = []
        woken: list[HandOver] = []
        with self._waiting_lock:
            for name in {*self._waiting, *self._following} if stored is None else tables:
                for follower in self._following.get(name, ()):
                    handed.append((follower.loop, partial(hand_over, follower, tables.get(name))))
                for loop, future in self._waiting.get(name, ()):
                    woken.append((loop, partial(wake, future)))
        return handed + woken

    # --- upkeep ------------------------------------------------------------------------------------------------------

    async def _keep_house(self) -> None:
        trimmed = time.monotonic()
        # As on a full disk: expiry resumes when there is room again.
        failing = Trouble(WORK_FAILING, logger, "housekeeping failed", level=logging.ERROR)
        while True:
            await asyncio.sleep(HOUSEKEEPING_SECONDS)
            try:
                self.file.reserve.keep()
                self.file.damage.look()
                self.file.refresh_catalog()
                self.fill_indexes()
                await ttl.sweep(self)
                if time.monotonic() - trimmed > TRIM_SECONDS:
                    await streams.trim(self)
                    trimmed = time.monotonic()
            except DAMAGE as error:
                self.file.damage.noticed(error)
            except StoreDamaged:
                pass  # the writer has noticed it
            except Exception as error:
                failing.met(error)
            else:
                failing.over()

    async def sweep(self) -> int:
        """Delete expired items, and return how many there were."""
        return await ttl.sweep(self)

    def is_damaged(self) -> bool:
        """Whether damage to the file was noticed, by this process or any other."""
        return self.file.damage.known

    def is_short_of_space(self) -> bool:
        """Whether the disk was full and the reserved space is in use."""
        return self.file.reserve.is_spent

    def owed_bytes(self) -> int:
        """The disk space that the file will take for writes that are only in its log."""
        connection = self.rows.connection
        pages, size = (int(connection.execute(f"PRAGMA {name}").get) for name in ("page_count", "page_size"))
        return max(0, pages * size - os.stat(self.file.path).st_size)

    def used_bytes(self) -> int:
        """The size of all rows, indexes and change logs; space freed by deletions is reused and does not count."""
        connection = self.rows.connection
        pages, free, size = (
            int(connection.execute(f"PRAGMA {name}").get) for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    def measure(self) -> None:
        """Set the metrics of the store."""
        WRITER_QUEUE.set(self.file.writer.waiting)
        THREADS_QUEUE.set(self._long_reads._work_queue.qsize(), "long reads")
        STORE_BYTES.set(self.used_bytes())
        with suppress(OSError):
            WAL_BYTES.set(os.stat(f"{self.file.path}-wal").st_size)

    async def backup(
        self,
        path: str | os.PathLike[str],
        *,
        files: Mapping[str, bytes] | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Write a consistent copy of the store, and `files`, to a new file while the store is in use."""
        await asyncio.to_thread(self.file.backup, Path(path), files or {}, progress)

    async def close(self) -> None:
        """Finish pending writes and close the file."""
        if self._closed:
            return
        self._closed = True
        ongoing = [*self._filling.values(), *([self._housekeeping] if self._housekeeping else [])]
        for task in ongoing:
            task.cancel()
        await asyncio.gather(*ongoing, return_exceptions=True)
        await asyncio.to_thread(self._long_reads.shutdown)
        await asyncio.to_thread(self.file.close)

    async def __aenter__(self) -> "Database":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def hand_over(follower: CommitListener, stored: list[Stored] | None) -> None:
    """Pass a commit's changes to a table to a follower; None means a commit by another process."""
    if stored is None:
        follower.receive(None)
        return
    last = stored[-1].table
    stream = streams.stream_of(last)
    records = []
    for table, old, new, logged in stored:
        if logged is None:
            continue
        if stream is None or table is not last:
            follower.receive(None)
            return
        sizes = (old.size if old and logged[5] else 0) + (new.size if new and logged[4] else 0)
        records.append(streams.record(stream, logged, sizes))
    if stream is not None and records:
        follower.receive((stream.shard, records))

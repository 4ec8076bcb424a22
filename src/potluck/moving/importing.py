"""Imports exported tables into an empty store. An import that was interrupted continues where it was.

A mark in the store names the export, and for each table a row says how far it has come. Rows after that are written
again, which changes nothing, because no one else writes: the suite does not start while there is a mark, and a lease
lets only one process import.

Tables that are missing are created without their stream and their expiry, which are added at the end. So nothing is
deleted before it was compared, and consumers are not shown every row as a change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from potluck.dynamo.limits import BATCH_WRITE_REQUESTS
from potluck.engines import DynamoError
from potluck.moving.export_files import ExportDamaged, TableExport
from potluck.moving.moved_tables import MovedTables
from potluck.moving.pace import Pace
from potluck.moving.row_sums import RowSum, TableSum, canonical_json
from potluck.moving.unfinished_imports import LEASE, UnfinishedImport
from potluck.store import Store
from potluck.store.scanning import whole_table
from potluck.store.sending import Patience
from potluck.store.store import all_done
from potluck.store.table_creation import create_bare_table
from potluck.streams import Lease
from potluck.streams.leases import Deposed
from potluck.streams.moved_rows import moved_mark
from potluck.table.tables import Request

# A table that was just created accepts few writes at first, and then more and more.
PATIENCE = Patience(attempts=120, first_wait=0.05, longest_wait=5.0)
BATCHES_AT_ONCE = 16
# In JSON; the service accepts 16 MB.
BATCH_BYTES = 4_000_000
SAVE_EVERY_ROWS = 5_000
# Rows that expire before an import could have finished are compared by their number only, where expiry is on already.
EXPIRING_WITHIN_SECONDS = 7 * 24 * 3600

Json = dict[str, Any]
Progress = Callable[[float], None]


class CannotImport(Exception):
    """The export does not fit the store; the message says why."""


class Import:
    """The import of exported tables, each under the name that the suite gives it, into a store."""

    def __init__(
        self,
        store: Store,
        tables: MovedTables,
        exports: dict[str, TableExport],
        *,
        pace: Pace,
        writing: Progress,
        verifying: Progress,
    ) -> None:
        self._store = store
        self._tables = tables
        self._exports = exports
        self._pace = pace
        self._writing = writing
        self._verifying = verifying
        self._lease = Lease(store.engine, LEASE, tables.work_table)
        self._unfinished = UnfinishedImport(store, tables.work_table)
        self._items = max(1, sum(export.items for export in exports.values()))
        self._done = 0
        self.imported: dict[str, RowSum] = {}
        """What each table holds, once it was compared."""

    async def run(self) -> None:
        """Import everything, and compare it with the export."""
        await self._lease.run(self._run)

    async def _run(self) -> None:
        self._done = 0
        began = await self._begin()
        expected = {name: await self._import_table(name, began) for name in self._exports}
        verified = 0
        for name, rows in expected.items():
            verified = await self._compare(name, rows, began, verified)
        self.imported = {name: rows.whole for name, rows in expected.items()}
        await self._finish()

    # --- beginning and end --------------------------------------------------------------------------------------------

    async def _begin(self) -> int:
        """When the import began; it begins only on empty tables."""
        name = " ".join(sorted(f"{table}:{export.id}" for table, export in self._exports.items()))
        mark = await self._unfinished.mark()
        if mark is not None and mark["Export"]["S"] != name:
            raise CannotImport("an import of another export into this store has not finished: finish that one first")
        for table in self._tables.designs.values():
            await create_bare_table(self._store.source.sender, table)
        if mark is not None:
            return int(mark["At"]["N"])
        for table_name in self._tables.designs:
            await self._must_be_empty(table_name)
        await self._unfinished.begin(name, self._store.now)
        return self._store.now

    async def _must_be_empty(self, table: str) -> None:
        async for page in whole_table(self._store.repeat, f"import {table}", table, limit=BATCH_WRITE_REQUESTS):
            if not all(table == self._tables.work_table.table and self._unfinished.is_own(row) for row in page.rows):
                raise CannotImport(
                    f"the table {table} is not empty, and an import never overwrites anything: choose another data "
                    "folder, table prefix or region"
                )

    async def _finish(self) -> None:
        """Add streams and expiry, tell the consumers, and let the suite start."""
        await self._store.create_tables(*self._tables.designs.values())
        row = moved_mark(self._tables.work_table, self._store.now)
        await self._store.repeat(Request("PutItem", {"TableName": self._tables.work_table.table, "Item": row}))
        await self._unfinished.end(list(self._exports))

    # --- writing ------------------------------------------------------------------------------------------------------

    async def _import_table(self, name: str, began: int) -> TableSum:
        """Write the rows that are not there yet; the sum of all rows in the files."""
        export = self._exports[name]
        saved = await self._unfinished.progress(name)
        first, skipped, rows = 0, 0, TableSum.empty()
        if saved:
            first, skipped = int(saved["File"]["N"]), int(saved["Rows"]["N"])
            rows = TableSum(*(_sum_in(saved[part]) for part in ("Lasting", "Expiring")))
        self._advance(sum(file.items for file in export.files[:first]) + skipped)
        for number, file in enumerate(export.files[first:], first):
            await asyncio.to_thread(file.check)
            unread = file.rows(skipped)
            read = since = skipped
            # On a thread, because the lease is renewed meanwhile, and skipping rows may take long.
            while batches := await asyncio.to_thread(self._batches, name, unread, rows, began):
                await self._write_all(name, [batch for batch, _ in batches])
                read += sum(count for _, count in batches)
                self._advance(sum(count for _, count in batches))
                if read - since >= SAVE_EVERY_ROWS:
                    await self._unfinished.save(name, number, read, rows)
                    since = read
            await self._unfinished.save(name, number + 1, 0, rows)
            skipped = 0
        return rows

    def _batches(self, name: str, unread: Iterator[Json], rows: TableSum, began: int) -> list[tuple[list[Json], int]]:
        """The next batches of rows to write, each with the number of rows in the file that were read for it."""
        batches: list[tuple[list[Json], int]] = []
        while len(batches) < BATCHES_AT_ONCE:
            batch: list[Json] = []
            size = count = 0
            for row in islice(unread, BATCH_WRITE_REQUESTS):
                count += 1
                moved = self._tables.moved(name, row)
                if moved is not None:
                    size += len(self._add(name, moved, rows, began))
                    batch.append(moved)
                if size >= BATCH_BYTES:
                    break
            if not count:
                break
            batches.append((batch, count))
        return batches

    def _add(self, name: str, row: Json, rows: TableSum, began: int) -> bytes:
        try:
            encoded, _ = canonical_json(row)
        except DynamoError as error:
            raise ExportDamaged(f"a row of {name} is not an item of DynamoDB: {error.message}") from error
        attribute = self._tables.designs[name].ttl
        expires = row.get(attribute, {}).get("N") if attribute is not None else None
        passing = expires is not None and float(expires) < began + EXPIRING_WITHIN_SECONDS
        (rows.expiring if passing else rows.lasting).add(encoded)
        return encoded

    async def _write_all(self, table: str, batches: list[list[Json]]) -> None:
        if not self._lease.held:
            raise Deposed(LEASE)
        await all_done([self._write(table, batch) for batch in batches])
        await self._pace.keep(sum(map(len, batches)))

    async def _write(self, table: str, batch: list[Json]) -> None:
        waiting: list[Json] = [{"PutRequest": {"Item": row}} for row in batch]
        attempt = 0
        while waiting:
            answer = await self._store.repeat(Request("BatchWriteItem", {"RequestItems": {table: waiting}}))
            left = answer.get("UnprocessedItems", {}).get(table, [])
            attempt = await self._store.source.sender.after_batch(
                attempt, nothing_done=len(left) == len(waiting), some_left=bool(left)
            )
            waiting = left

    def _advance(self, rows: int) -> None:
        self._done += rows
        self._writing(min(1.0, self._done / self._items))

    # --- comparing ----------------------------------------------------------------------------------------------------

    async def _compare(self, name: str, expected: TableSum, began: int, verified: int) -> int:
        """Refuse a table that differs from the export; the number of rows compared so far."""
        rows = TableSum.empty()
        async for page in whole_table(self._store.repeat, f"import {name}", name):
            for row in page.rows:
                if name != self._tables.work_table.table or self._tables.moved(name, row) is not None:
                    self._add(name, row, rows, began)
            verified += len(page.rows)
            self._verifying(min(1.0, verified / self._items))
            await self._pace.keep(len(page.rows))
        if not expected.arrived_as(rows, expiry_runs=await self._expires(name)):
            raise CannotImport(
                f"the table {name} differs from the export: it has {rows.whole.count:,} rows and the checksum "
                f"{rows.whole.checksum}, the export {expected.whole.count:,} and {expected.whole.checksum}. Empty the "
                "tables, and import again"
            )
        return verified

    async def _expires(self, table: str) -> bool:
        if self._tables.designs[table].ttl is None:
            return False
        answer = await self._store.repeat(Request("DescribeTimeToLive", {"TableName": table}))
        return answer["TimeToLiveDescription"]["TimeToLiveStatus"] in ("ENABLED", "ENABLING")


def _sum_in(written: Json) -> RowSum:
    return RowSum.from_json({"items": written["M"]["Count"]["N"], "checksum": written["M"]["Checksum"]["S"]})


def matched(exports: list[TableExport], tables: MovedTables) -> dict[str, TableExport]:
    """The exports by the suite's name of their table; the tables of the source may all have had the same prefix."""
    found: dict[str, TableExport] = {}
    prefixes: dict[str, str] = {}
    for export in exports:
        fitting = [name for name in tables.designs if export.table.endswith(name)]
        if not fitting:
            raise CannotImport(f"{export.folder}: no app has a table {export.table}")
        name = max(fitting, key=len)
        if name in found:
            raise CannotImport(f"there are two exports of {name}: {found[name].folder} and {export.folder}")
        found[name], prefixes[name] = export, export.table.removesuffix(name)
    if len(set(prefixes.values())) > 1:
        raise CannotImport(
            f"these tables have several prefixes: {', '.join(map(repr, sorted(set(prefixes.values()))))}"
        )
    missing = [name for name in tables.required if name not in found]
    if missing:
        raise CannotImport(f"it lacks the tables {', '.join(missing)}: export all tables, and import them together")
    return {name: found[name] for name in tables.designs if name in found}

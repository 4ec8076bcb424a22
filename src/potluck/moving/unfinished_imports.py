"""The rows in a store that say that an import into it has not finished, and how far it has come."""

from __future__ import annotations

from typing import Any

from potluck.dynamo.errors import StoreUnusable
from potluck.engines import DynamoError
from potluck.moving.row_sums import TableSum
from potluck.store import Store
from potluck.streams import WorkTable
from potluck.table.tables import Request

IMPORT = "IMPORT"
LEASE = "IMPORT"

Row = dict[str, Any]


class UnfinishedImport:
    """The rows about an import, in the store's work table."""

    def __init__(self, store: Store, work_table: WorkTable | None = None) -> None:
        self._store = store
        self._table = work_table or WorkTable()

    async def mark(self) -> Row | None:
        """The row that names the export that is being imported; None if none is."""
        try:
            return await self._get(self._table.key(IMPORT, IMPORT))
        except DynamoError as error:
            if error.code != "ResourceNotFoundException":
                raise
            return None

    async def begin(self, export: str, at: int) -> None:
        """Write the mark; one that is there already is a refusal."""
        row = {**self._table.key(IMPORT, IMPORT), "Export": {"S": export}, "At": {"N": str(at)}}
        absent = {"ConditionExpression": "attribute_not_exists(#key)"}
        names = {"ExpressionAttributeNames": {"#key": self._table.partition_key}}
        await self._call("PutItem", {"Item": row, **absent, **names})

    async def progress(self, table: str) -> Row:
        """How far the table's import has come; empty before it begins."""
        return await self._get(self._table.key(IMPORT, f"TABLE#{table}")) or {}

    async def save(self, table: str, file: int, rows: int, done: TableSum) -> None:
        """Everything before this row of this file has been written."""
        row: Row = {**self._table.key(IMPORT, f"TABLE#{table}"), "File": {"N": str(file)}, "Rows": {"N": str(rows)}}
        for part, of in (("Lasting", done.lasting), ("Expiring", done.expiring)):
            row[part] = {"M": {"Count": {"N": str(of.count)}, "Checksum": {"S": of.checksum}}}
        await self._call("PutItem", {"Item": row})

    async def end(self, tables: list[str]) -> None:
        """Delete the rows, the mark last."""
        sorts = [*(f"TABLE#{table}" for table in tables), IMPORT]
        for key in (*(self._table.key(IMPORT, sort) for sort in sorts), self._table.key(f"LEASE#{LEASE}", "LEASE")):
            await self._call("DeleteItem", {"Key": key})

    def is_own(self, row: Row) -> bool:
        """Whether a row of the work table is about an import."""
        return row[self._table.partition_key]["S"] in (IMPORT, f"LEASE#{LEASE}")

    async def _get(self, key: Row) -> Row | None:
        return (await self._call("GetItem", {"Key": key, "ConsistentRead": True})).get("Item")

    async def _call(self, operation: str, body: Row) -> Row:
        return await self._store.repeat(Request(operation, {"TableName": self._table.table, **body}))


UNFINISHED = "an import into this store has not finished: run `potluck import` again with the same folder"


async def must_be_whole(store: Store) -> None:
    """Refuse a store into which an import has not finished."""
    if await UnfinishedImport(store).mark() is not None:
        raise StoreUnusable(UNFINISHED)

"""Which tables are moved: those that designs declare, and the work table, of which only some rows are moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from potluck.streams import WorkTable
from potluck.streams.moved_rows import moved_row
from potluck.table.tables import Table


class MovedTables:
    """The tables of a store that are moved together."""

    def __init__(self, tables: Sequence[Table], work_table: WorkTable | None = None) -> None:
        self.work_table = work_table or WorkTable()
        self.designs = {table.name: table for table in (*tables, self.work_table.design)}
        self.required = [name for name in self.designs if name != self.work_table.table]
        """The work table may be missing: then nothing is known of any consumer."""

    def moved(self, table: str, row: dict[str, Any]) -> dict[str, Any] | None:
        """The row as it is moved; None if it is not."""
        return moved_row(self.work_table, row) if table == self.work_table.table else row

"""Exports the tables of a store to a folder. An export that was interrupted continues where it was.

What is done so far is in `unfinished.json`: the complete data files of each table, and the key after which its scan
continues. A data file counts once it is complete, on disk, and listed there; others are deleted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from potluck.engines import DynamoError
from potluck.moving.export_files import (
    DATA,
    EXPORTS,
    DataFileWriter,
    exports_in,
    new_export_id,
    write_durably,
    write_manifests,
)
from potluck.moving.moved_tables import MovedTables
from potluck.moving.pace import Pace
from potluck.moving.row_sums import RowSum, canonical_json
from potluck.store import Store
from potluck.store.scanning import whole_table
from potluck.table.tables import Request

UNFINISHED = "unfinished.json"
FILE_ROWS = 50_000
# As the service counts them; compressed they are a few megabytes.
FILE_BYTES = 32_000_000

Progress = Callable[[float], None]
Json = dict[str, Any]


class CannotExport(Exception):
    """The store cannot be exported to this folder; the message says why."""


class TableProgress(msgspec.Struct):
    """What has been exported of one table."""

    arn: str
    id: str
    """The table's own, which a new table of the same name does not have."""
    began: str
    files: list[Json] = []
    bytes: int = 0
    rows: Json = msgspec.field(default_factory=lambda: RowSum().as_json())
    position: Json | None = None
    """The last key that was read; None before the first page, and after the last."""
    done: bool = False


class ExportProgress(msgspec.Struct):
    """What has been exported, as it is written down."""

    id: str
    source: str
    tables: dict[str, TableProgress] = {}


class Export:
    """An export in a folder, new or unfinished."""

    def __init__(self, folder: Path, progress: ExportProgress) -> None:
        self.folder = folder
        self.progress = progress

    @classmethod
    def begin(cls, folder: Path, source: str) -> Export:
        """Begin an export in a new or empty folder, or continue one of the same source."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            written = (folder / UNFINISHED).read_bytes()
        except FileNotFoundError:
            if any(folder.iterdir()):
                raise CannotExport(
                    f"{folder} is not empty, and holds no unfinished export: choose a new folder"
                ) from None
            export = cls(folder, ExportProgress(new_export_id(_milliseconds()), source))
            export.save()
            return export
        progress = msgspec.json.decode(written, type=ExportProgress)
        if progress.source != source:
            raise CannotExport(f"{folder} holds an unfinished export of {progress.source}: choose another folder")
        return cls(folder, progress)

    def save(self) -> None:
        write_durably(self.folder / UNFINISHED, msgspec.json.encode(self.progress))

    def finish(self) -> dict[str, RowSum]:
        """Declare the export complete; what each table holds."""
        (self.folder / UNFINISHED).unlink()
        return {name: RowSum.from_json(table.rows) for name, table in self.progress.tables.items()}

    async def read(self, store: Store, tables: MovedTables, pace: Pace, progress: Progress) -> None:
        """Read every table that is there into data files."""
        described = {name: await _described(store, name) for name in tables.designs}
        there = {name: table for name, table in described.items() if table is not None}
        for name in tables.required:
            if name not in there:
                raise CannotExport(f"the store has no table {name}; `potluck serve` creates it")
        rows = max(1, sum(int(table["ItemCount"]) for table in there.values()))
        done = sum(table.rows["items"] for table in self.progress.tables.values())

        def read(more: int) -> None:
            nonlocal done
            done += more
            # Amazon counts the items of a table only every six hours.
            progress(min(1.0, done / rows))

        for name, table in there.items():
            await self._read_table(store, tables, name, table, pace, read)

    async def _read_table(
        self, store: Store, tables: MovedTables, name: str, described: Json, pace: Pace, read: Callable[[int], None]
    ) -> None:
        state = self.progress.tables.get(name)
        if state is None:
            began = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            state = TableProgress(described["TableArn"], described.get("TableId", ""), began)
            self.progress.tables[name] = state
        elif state.id != described.get("TableId", ""):
            raise CannotExport(f"the table {name} was created anew since this export began: choose another folder")
        data = self._folder_of(name) / DATA
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        listed = {str(entry["dataFileS3Key"]).rpartition("/")[2] for entry in state.files}
        for file in data.iterdir():
            if file.name not in listed:
                file.unlink()
        if not state.done:
            await self._scan(store, tables, name, state, pace, read)
        summary = {
            "exportArn": f"{state.arn}/export/{self.progress.id}",
            "startTime": state.began,
            "endTime": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "tableArn": state.arn,
            "tableId": state.id,
            "exportTime": state.began,
            "s3Bucket": self.folder.name,
            "s3Prefix": name,
            "s3SseAlgorithm": None,
            "s3SseKmsKeyId": None,
            "billedSizeBytes": state.bytes,
            "itemCount": state.rows["items"],
        }
        write_manifests(self._folder_of(name), self._key_prefix(name), summary, state.files)

    async def _scan(
        self,
        store: Store,
        tables: MovedTables,
        name: str,
        state: TableProgress,
        pace: Pace,
        read: Callable[[int], None],
    ) -> None:
        """Scan the table from its position to its end, and save the progress after each data file."""
        rows = RowSum.from_json(state.rows)
        writer: DataFileWriter | None = None
        try:
            async for page in whole_table(store.repeat, f"export {name}", name, state.position):
                for row in page.rows:
                    moved = tables.moved(name, row)
                    if moved is None:
                        continue
                    writer = writer or DataFileWriter(self._folder_of(name) / DATA)
                    encoded, size = canonical_json(moved)
                    writer.write(encoded, size)
                    rows.add(encoded)
                read(len(page.rows))
                await pace.keep(len(page.rows))
                last = page.position is None
                if last or (writer is not None and (writer.items >= FILE_ROWS or writer.bytes >= FILE_BYTES)):
                    if writer is not None:
                        entry = await asyncio.to_thread(writer.finish)
                        key = f"{self._key_prefix(name)}{DATA}/{writer.path.name}"
                        state.files.append({**entry, "dataFileS3Key": key})
                        state.bytes += writer.bytes
                        writer = None
                    state.position, state.done, state.rows = page.position, last, rows.as_json()
                    self.save()
        finally:
            if writer is not None:
                writer.discard()

    def _folder_of(self, table: str) -> Path:
        return self.folder / table / EXPORTS / self.progress.id

    def _key_prefix(self, table: str) -> str:
        return f"{table}/{EXPORTS}/{self.progress.id}/"

    def check(self, progress: Progress) -> None:
        """Read everything back from the files, and compare it with what was read from the store."""
        exports = exports_in(self.folder)
        items, done = max(1, sum(export.items for export in exports)), 0
        for export in exports:
            rows = RowSum()
            for file in export.files:
                file.check()
                for row in file.rows():
                    rows.add(canonical_json(row)[0])
                    done += 1
                    if done % 1000 == 0:
                        progress(done / items)
            name = export.folder.parent.parent.name
            if rows != RowSum.from_json(self.progress.tables[name].rows):
                raise CannotExport(f"the files of {name} differ from what was read: try again in another folder")


async def _described(store: Store, table: str) -> Json | None:
    """The table's description; None if the store has no such table."""
    try:
        described: Json = (await store.repeat(Request("DescribeTable", {"TableName": table})))["Table"]
    except DynamoError as error:
        if error.code != "ResourceNotFoundException":
            raise
        return None
    return described


def _milliseconds() -> int:
    return int(datetime.now(UTC).timestamp() * 1000)

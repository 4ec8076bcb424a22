"""The export: a zip of everything a person owns in every app, made without holding much of it in memory."""

import asyncio
import csv
import io
import zipfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from hashlib import sha256
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from uuid import UUID
from weakref import finalize

import msgspec
from msgspec import Struct
from starlette.responses import StreamingResponse

from potluck.people.errors import Throttled
from potluck.store import Clock
from potluck.validation.encoding import encode
from potluck.web.app import App
from potluck.web.csv_files import BYTE_ORDER_MARK, CsvColumns, inert
from potluck.web.downloads import attachment

ZIP = "application/zip"
FORMAT = 1

# Smaller ones stay in memory, larger ones go through an unnamed temporary file.
KEPT_IN_MEMORY = 1 << 20
# This many bytes are collected from an app before a thread writes them, and this many are read at once.
COLLECTED = 1 << 18
PIECE = 1 << 16
# Owner only.
FILE_MODE = 0o600
# Each takes a thread and disk space; others wait.
EXPORTS_AT_ONCE = 2
# Of one person, whether waiting, in progress or being fetched, so that no one blocks the others.
EXPORTS_OF_ONE = 2
RETRY_SECONDS = 30

Spooled = SpooledTemporaryFile[bytes]
Export = Callable[[UUID], AsyncIterator[tuple[str, Struct]]]
"""Yields everything a person owns: rows, each with the name of its table in the export, table after table."""

APOSTROPHES = (
    "In the CSV files, a text that a spreadsheet could take for a formula has an apostrophe in front. "
    "The JSON files have every value as it is."
)


class FileListed(Struct, rename="camel", frozen=True, kw_only=True):
    """A file of the export."""

    name: str
    bytes: int
    sha256: str
    rows: dict[str, int]
    """How many there are of each table."""
    made_inert: int = 0
    """How many cells have an apostrophe in front."""


class Manifest(Struct, rename="camel", frozen=True, kw_only=True):
    """What an export consists of."""

    format: str = "potluck-export"
    version: int = FORMAT
    exported_at: datetime
    user_id: UUID
    notes: list[str]
    files: list[FileListed]


@dataclass(slots=True, weakref_slot=True)
class ExportFile:
    """A finished export, which can be streamed once."""

    name: str
    size: int
    file: IO[bytes]
    let_go: Callable[[], None] = field(default=lambda: None, repr=False)
    """Called when it has been streamed; also when it is garbage collected unread."""

    def response(self) -> StreamingResponse:
        headers = {
            **attachment("zip", self.name),
            "content-length": str(self.size),
            "cache-control": "no-store",
        }
        return StreamingResponse(self.pieces(), headers=headers, media_type=ZIP)

    async def pieces(self) -> AsyncIterator[bytes]:
        try:
            while piece := await asyncio.to_thread(self.file.read, PIECE):
                yield piece
        finally:
            self.file.close()
            self.let_go()


class Exports:
    """Makes exports: people's own rows and those of every app."""

    def __init__(self, people: Export, apps: Sequence[App], clock: Clock) -> None:
        self._sources: list[tuple[str, Export]] = [("people", people), *((app.name, app.export) for app in apps)]
        self._clock = clock
        self._at_once = asyncio.Semaphore(EXPORTS_AT_ONCE)
        self._of_one: Counter[UUID] = Counter()

    async def make(self, user_id: UUID) -> ExportFile:
        """Everything they own, in a file that is removed once it is read or dropped; Throttled for too many at once."""
        if self._of_one[user_id] >= EXPORTS_OF_ONE:
            raise Throttled(RETRY_SECONDS)
        self._of_one[user_id] += 1
        try:
            export = await self._made(user_id)
        except BaseException:
            self._one_fewer(user_id)
            raise
        # Runs once, whichever comes first: it is read to its end, or garbage collected.
        export.let_go = finalize(export, self._one_fewer, user_id)
        return export

    def _one_fewer(self, user_id: UUID) -> None:
        self._of_one[user_id] -= 1
        if not self._of_one[user_id]:
            del self._of_one[user_id]

    async def _made(self, user_id: UUID) -> ExportFile:
        async with self._at_once:
            now = self._clock().replace(microsecond=0)
            with ExitStack() as on_failure:
                file = on_failure.enter_context(_spooled())
                with _Writing(file, now) as writing:
                    for app, export in self._sources:
                        with _Tables() as tables:
                            await tables.collect(export(user_id))
                            await asyncio.to_thread(writing.add_app, app, tables)
                    await asyncio.to_thread(writing.finish, user_id)
                size = file.seek(0, io.SEEK_END)
                file.seek(0)
                on_failure.pop_all()
            return ExportFile(f"potluck-{now:%Y-%m-%d}", size, file)


# --- the rows of an app, table by table ------------------------------------------------------------------------------


@dataclass(slots=True)
class _Table:
    """Rows as lines of JSON, in the order in which they came."""

    name: str
    lines: Spooled
    rows: int = 0
    columns: dict[str, Any] = field(default_factory=dict)
    """CsvColumns of all kinds of its rows."""

    def __iter__(self) -> Iterator[bytes]:
        self.lines.seek(0)
        return iter(self.lines)

    def add(self, kind: type[Struct], line: bytes) -> None:
        self.lines.write(line + b"\n")
        self.columns.update(_columns(kind))
        self.rows += 1


class _Tables:
    """The data of an app, each table in a separate file until it is written into the zip."""

    def __init__(self) -> None:
        self._tables: dict[str, _Table] = {}

    def __enter__(self) -> "_Tables":
        return self

    def __exit__(self, *_: object) -> None:
        for table in self._tables.values():
            table.lines.close()

    def __iter__(self) -> Iterator[_Table]:
        return iter(self._tables.values())

    async def collect(self, rows: AsyncIterator[tuple[str, Struct]]) -> None:
        waiting: list[tuple[str, type[Struct], bytes]] = []
        size = 0
        async for name, row in rows:
            line = encode(row)
            waiting.append((name, type(row), line))
            size += len(line)
            if size >= COLLECTED:
                await asyncio.to_thread(self._add, waiting)
                waiting, size = [], 0
        await asyncio.to_thread(self._add, waiting)

    def _add(self, rows: Iterable[tuple[str, type[Struct], bytes]]) -> None:
        for name, kind, line in rows:
            table = self._tables.get(name)
            if table is None:
                table = self._tables[name] = _Table(name, _spooled())
            table.add(kind, line)


def _spooled() -> Spooled:
    return SpooledTemporaryFile(KEPT_IN_MEMORY)


@cache
def _columns(kind: type[Struct]) -> CsvColumns:
    """The columns that the kind declares as `csv_columns`; else one for each of its fields."""
    declared: CsvColumns | None = getattr(kind, "csv_columns", None)
    return declared or {info.encode_name: info.encode_name for info in msgspec.structs.fields(kind)}


def _at(row: Any, path: str) -> Any:
    """The value at a path such as sessionMetrics.tags; a nested list of texts is one text."""
    *parents, last = path.split(".")
    for name in parents:
        row = row.get(name) or {}
    value = row.get(last)
    if parents and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return value


# --- the zip ---------------------------------------------------------------------------------------------------------


class _Writing:
    """A zip that is being written, one file after the other."""

    def __init__(self, file: IO[bytes], now: datetime) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
        self._now = now
        self._files: list[FileListed] = []

    def __enter__(self) -> "_Writing":
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def add_app(self, app: str, tables: _Tables) -> None:
        """Everything as JSON, and each table as CSV."""
        with self._member(f"{app}.json") as member:
            member.rows = {table.name: table.rows for table in tables}
            member.write(b"{")
            for number, table in enumerate(tables):
                member.write(b"%s%s: [" % (b",\n" if number else b"\n", msgspec.json.encode(table.name)))
                for row, line in enumerate(table):
                    member.write((b",\n" if row else b"\n") + line.rstrip(b"\n"))
                member.write(b"\n]")
            member.write(b"\n}\n")
        for table in tables:
            with self._member(f"{app}/{table.name}.csv") as member:
                member.rows = {table.name: table.rows}
                self._write_csv(member, table)

    def finish(self, user_id: UUID) -> None:
        """Write the manifest, which comes last."""
        manifest = Manifest(exported_at=self._now, user_id=user_id, notes=[APOSTROPHES], files=self._files)
        with self._zip.open(self._info("manifest.json"), "w") as opened:
            opened.write(msgspec.json.format(encode(manifest), indent=2) + b"\n")

    @staticmethod
    def _write_csv(member: "_Member", table: _Table) -> None:
        columns = list(table.columns)
        member.write(BYTE_ORDER_MARK)
        text = io.StringIO(newline="")
        # RFC 4180: commas, quotes doubled, lines that end in CR LF.
        rows = csv.writer(text)
        rows.writerow(columns)
        for line in table:
            row: dict[str, Any] = msgspec.json.decode(line)
            values = [_at(row, column) if isinstance(column, str) else column(row) for column in table.columns.values()]
            cells = [*map(_cell, values)]
            member.made_inert += sum(
                isinstance(value, str) and cell != value for value, cell in zip(values, cells, strict=True)
            )
            rows.writerow(cells)
            if text.tell() >= PIECE:
                member.write(text.getvalue().encode())
                text.seek(0)
                text.truncate()
        member.write(text.getvalue().encode())

    @contextmanager
    def _member(self, name: str) -> Iterator["_Member"]:
        with self._zip.open(self._info(name), "w", force_zip64=True) as opened:
            member = _Member(opened)
            yield member
        self._files.append(
            FileListed(
                name=name,
                bytes=member.bytes,
                sha256=member.hash.hexdigest(),
                rows=member.rows,
                made_inert=member.made_inert,
            )
        )

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = zipfile.ZipInfo(name, self._now.timetuple()[:6])
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = FILE_MODE << 16
        return info


class _Member:
    """A file inside the zip, and what the manifest says of it."""

    def __init__(self, opened: IO[bytes]) -> None:
        self._opened = opened
        self.bytes = 0
        self.hash = sha256()
        self.rows: dict[str, int] = {}
        self.made_inert = 0

    def write(self, piece: bytes) -> None:
        self._opened.write(piece)
        self.hash.update(piece)
        self.bytes += len(piece)


# --- cells -----------------------------------------------------------------------------------------------------------


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return inert(value)
    # Numbers, true and false as JSON has them; so are lists and objects, which begin with a bracket.
    return msgspec.json.encode(value).decode()

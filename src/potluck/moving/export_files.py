"""The files of one table's export, as DynamoDB exports a table to S3:

    AWSDynamoDB/ID/manifest-summary.json    which table, how many items
    AWSDynamoDB/ID/manifest-files.json      one line per data file: how many items, its MD5
    AWSDynamoDB/ID/data/NAME.json.gz        one item per line: {"Item": {"PK": {"S": "..."}, ...}}

The MD5 of each manifest is in a file next to it, in base64. Amazon's import reads the folder `data`.
"""

from __future__ import annotations

import gzip
import os
import zlib
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO

import msgspec

from potluck.dynamo.storage.private_files import FILE_MODE, sync_folder

VERSION = "2020-06-30"
FORMAT = "DYNAMODB_JSON"
EXPORTS = "AWSDynamoDB"
SUMMARY, FILES, DATA = "manifest-summary", "manifest-files", "data"
PARTIAL = ".partial"
# The higher levels take several times as long for a few per cent.
COMPRESSION = 4
READ_BYTES = 1 << 20

Json = dict[str, Any]


class ExportDamaged(Exception):
    """A file of an export is not as it was written, or not an export at all; the message says which."""


def new_export_id(milliseconds: int) -> str:
    return f"{milliseconds:014}-{token_hex(4)}"


class DataFileWriter:
    """Writes rows to a new data file, which has its name only once it is complete and on disk."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{token_hex(13)}.json.gz"
        self.items = 0
        self.bytes = 0
        """As the service counts them."""
        self._partial = self.path.with_name(self.path.name + PARTIAL)
        descriptor = os.open(self._partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE)
        self._file = _Hashing(os.fdopen(descriptor, "wb"))
        # Without a name and a time, the same rows make the same file.
        self._gzip = gzip.GzipFile("", "wb", COMPRESSION, self._file, 0)

    def write(self, encoded: bytes, size: int) -> None:
        self._gzip.write(b'{"Item":' + encoded + b"}\n")
        self.items += 1
        self.bytes += size

    def finish(self) -> Json:
        """Move the file to its name, and return its entry for the manifest, without its key."""
        self._gzip.close()
        self._file.to.flush()
        os.fsync(self._file.to.fileno())
        self._file.to.close()
        self._partial.rename(self.path)
        sync_folder(self.path.parent)
        digest = self._file.md5
        return {
            "itemCount": self.items,
            "md5Checksum": b64encode(digest.digest()).decode(),
            "etag": f"{digest.hexdigest()}-1",
        }

    def discard(self) -> None:
        self._file.to.close()
        self._partial.unlink(missing_ok=True)


class _Hashing:
    """A file that is hashed while it is written."""

    def __init__(self, to: BinaryIO) -> None:
        self.to = to
        self.md5 = md5(usedforsecurity=False)

    def write(self, content: bytes) -> int:
        self.md5.update(content)
        return self.to.write(content)

    def flush(self) -> None:
        self.to.flush()


def write_manifests(folder: Path, key_prefix: str, summary: Json, files: list[Json]) -> None:
    """Write both manifests of a table; the summary last, because an import begins with it."""
    lines = b"".join(msgspec.json.encode(entry) + b"\n" for entry in files)
    _write_with_md5(folder, FILES, lines)
    whole = {"version": VERSION, **summary, "manifestFilesS3Key": f"{key_prefix}{FILES}.json", "outputFormat": FORMAT}
    _write_with_md5(folder, SUMMARY, msgspec.json.encode(whole))


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file atomically; after a crash it is the old one or the new one."""
    partial = path.with_name(path.name + PARTIAL)
    with os.fdopen(os.open(partial, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, FILE_MODE), "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
    partial.replace(path)
    sync_folder(path.parent)


def _write_with_md5(folder: Path, name: str, content: bytes) -> None:
    write_durably(folder / f"{name}.md5", _md5_of(content).encode())
    write_durably(folder / f"{name}.json", content)


def _md5_of(content: bytes) -> str:
    return b64encode(md5(content, usedforsecurity=False).digest()).decode()


# --- reading ----------------------------------------------------------------------------------------------------------


class _Line(msgspec.Struct):
    Item: dict[str, dict[str, Any]]


_decode_line = msgspec.json.Decoder(_Line).decode


@dataclass(frozen=True, slots=True)
class DataFile:
    """One data file, as the manifest describes it."""

    path: Path
    items: int
    md5: str

    def check(self) -> None:
        """Refuse a file that is missing or has changed since it was exported."""
        digest = md5(usedforsecurity=False)
        try:
            with self.path.open("rb") as opened:
                while content := opened.read(READ_BYTES):
                    digest.update(content)
        except FileNotFoundError:
            raise ExportDamaged(f"{self.path} is missing") from None
        if b64encode(digest.digest()).decode() != self.md5:
            raise ExportDamaged(f"{self.path} is damaged: its MD5 is not the one in the manifest")

    def rows(self, skipped: int = 0) -> Iterator[Json]:
        """The items after the first ones, which are skipped; the number of lines is compared with the manifest."""
        number = 0
        try:
            with gzip.open(self.path, "rb") as lines:
                for line in lines:
                    number += 1
                    if number > skipped:
                        yield _decode_line(line).Item
        except (EOFError, zlib.error, gzip.BadGzipFile, msgspec.DecodeError) as error:
            raise ExportDamaged(f"{self.path}, line {number}: {error}") from error
        if number != self.items:
            raise ExportDamaged(f"{self.path} has {number} items, and the manifest says {self.items}")


@dataclass(frozen=True, slots=True)
class TableExport:
    """One table's export: the real name of the table, and its data files."""

    id: str
    table: str
    folder: Path
    items: int
    files: list[DataFile]

    @property
    def compressed_bytes(self) -> int:
        return sum(file.path.stat().st_size for file in self.files if file.path.exists())


def exports_in(folder: Path) -> list[TableExport]:
    """Every table's export in a folder, ours or Amazon's, wherever in it they are."""
    return [_read_export(summary) for summary in sorted(folder.rglob(f"{SUMMARY}.json"))]


def _read_export(file: Path) -> TableExport:
    folder = file.parent
    try:
        summary = msgspec.json.decode(_checked(file), type=Json)
        if summary.get("exportType", "FULL_EXPORT") != "FULL_EXPORT":
            raise ExportDamaged(f"{file} describes an incremental export, which has only what changed: export it all")
        if summary["outputFormat"] != FORMAT:
            raise ExportDamaged(f"{file} describes an export as {summary['outputFormat']}: export it as {FORMAT}")
        lines = _checked(folder / f"{FILES}.json").splitlines()
        files = [_data_file(folder, msgspec.json.decode(line, type=Json)) for line in lines if line.strip()]
        table, items = str(summary["tableArn"]).rpartition(":table/")[2], int(summary["itemCount"])
    except (KeyError, ValueError, TypeError, FileNotFoundError) as error:
        raise ExportDamaged(f"{file} is not a manifest of a DynamoDB export: {error!r}") from error
    if sum(data.items for data in files) != items:
        raise ExportDamaged(f"{folder}: the manifests disagree on how many items there are")
    return TableExport(folder.name, table, folder, items, files)


def _data_file(folder: Path, entry: Json) -> DataFile:
    # Only the name: the key is that of the bucket, and no manifest should lead elsewhere.
    name = str(entry["dataFileS3Key"]).rpartition("/")[2]
    return DataFile(folder / DATA / name, int(entry["itemCount"]), str(entry["md5Checksum"]))


def _checked(file: Path) -> bytes:
    content = file.read_bytes()
    expected = file.with_suffix(".md5")
    if expected.exists() and expected.read_text().strip() != _md5_of(content):
        raise ExportDamaged(f"{file} is damaged: its MD5 is not the one in {expected.name}")
    return content

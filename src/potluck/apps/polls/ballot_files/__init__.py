"""Ballot files: reads and writes JSON, CSV and BLT, reads PrefLib's; errors say what is wrong, and where."""

import gc
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Literal

from potluck.apps.polls.ballot_files.blt_ballots import read_blt, write_blt
from potluck.apps.polls.ballot_files.contents import BallotFile, Progress, UnreadableBallots
from potluck.apps.polls.ballot_files.csv_ballots import read_csv, write_csv
from potluck.apps.polls.ballot_files.json_ballots import read_json, write_json
from potluck.apps.polls.ballot_files.preflib_ballots import KINDS, is_preflib, read_preflib
from potluck.apps.polls.ballot_files.source import BallotSource

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "BallotFile",
    "Format",
    "ReadFormat",
    "UnreadableBallots",
    "format_of",
    "read",
    "write",
]

Format = Literal["json", "csv", "blt"]
ReadFormat = Literal["json", "csv", "blt", "preflib"]
FORMATS: tuple[ReadFormat, ...] = ("json", "csv", "blt", "preflib")
# Formats by file name suffix.
SUFFIXES: dict[str, ReadFormat] = {"json": "json", "csv": "csv", "blt": "blt", **dict.fromkeys(KINDS, "preflib")}

READERS = {"json": read_json, "csv": read_csv, "blt": read_blt, "preflib": read_preflib}
WRITERS = {"json": write_json, "csv": write_csv, "blt": write_blt}

# Enough characters for a header.
START = 20_000


def read(data: bytes | IO[bytes], format: ReadFormat | None = None, progress: Progress | None = None) -> BallotFile:
    """Reads the ballots of a seekable file; without a format, it is detected from the start of the file."""
    source = BallotSource(io.BytesIO(data) if isinstance(data, bytes) else data, progress)
    start = _start(source)
    if not start.strip():
        raise UnreadableBallots("", "the file is empty")
    with _no_garbage():
        return READERS[format or format_of(start)](source)


def write(file: BallotFile, format: Format) -> str:
    return WRITERS[format](file)


def format_of(start: str) -> ReadFormat:
    if start.lstrip()[:1] in "{[":
        return "json"
    if is_preflib(start):
        return "preflib"
    for line in start.splitlines():
        words = line.split("#")[0].split()
        if words:
            return "blt" if len(words) == 2 and all(word.isascii() and word.isdigit() for word in words) else "csv"
    return "csv"


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Disables garbage collection: rankings form no reference cycles, and looking for some among hundreds of thousands
    takes a fifth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _start(source: BallotSource) -> str:
    """The start of the file from its first non-blank line, long enough to detect the format."""
    start = ""
    for line in source.lines():
        start += line if start.strip() else line.lstrip() or line
        if len(start) > START:
            break
    return start

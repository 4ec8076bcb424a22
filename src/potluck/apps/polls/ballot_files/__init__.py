"""Ballot files in and out: JSON, CSV and BLT. What cannot be counted is refused, saying where and why."""

from typing import Literal

from potluck.apps.polls.ballot_files.blt_ballots import read_blt, write_blt
from potluck.apps.polls.ballot_files.contents import BallotFile, Progress, UnreadableBallots
from potluck.apps.polls.ballot_files.csv_ballots import read_csv, write_csv
from potluck.apps.polls.ballot_files.json_ballots import read_json, write_json

__all__ = ["FORMATS", "BallotFile", "Format", "UnreadableBallots", "format_of", "read", "write"]

Format = Literal["json", "csv", "blt"]
FORMATS: tuple[Format, ...] = ("json", "csv", "blt")

READERS = {"json": read_json, "csv": read_csv, "blt": read_blt}
WRITERS = {"json": write_json, "csv": write_csv, "blt": write_blt}


def read(data: bytes, format: Format | None = None, progress: Progress | None = None) -> BallotFile:
    """The ballots of a file; without a format it is told from what the file starts with."""
    text = _decoded(data)
    if not text.strip():
        raise UnreadableBallots("", "the file is empty")
    return READERS[format or format_of(text)](text, progress)


def write(file: BallotFile, format: Format) -> str:
    return WRITERS[format](file)


def format_of(text: str) -> Format:
    start = text.lstrip()[:1]
    if start in "{[":
        return "json"
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words:
            return "blt" if len(words) == 2 and all(word.isascii() and word.isdigit() for word in words) else "csv"
    return "csv"


def _decoded(data: bytes) -> str:
    try:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return data.decode("utf-16")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        # Spreadsheets of old still write Windows' own encoding.
        try:
            return data.decode("cp1252")
        except UnicodeDecodeError:
            line = data.count(b"\n", 0, problem.start) + 1
            raise UnreadableBallots(f"line {line}", "the text is neither UTF-8 nor Windows-1252") from problem

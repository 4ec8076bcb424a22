"""The recording as files: one for each chapter, compressed, one line of JSON for each step."""

import json
import lzma
from pathlib import Path
from typing import Any

__all__ = ["FOLDER", "Entry", "load", "save"]

FOLDER = Path(__file__).parent / "recording"

Entry = dict[str, Any]


def save(chapter: str, entries: list[Entry], folder: Path = FOLDER) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{chapter}.jsonl.xz"
    lines = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in _without_repeats(entries))
    path.write_bytes(lzma.compress(lines.encode(), preset=9))
    return path


def load(chapter: str, folder: Path = FOLDER) -> list[Entry]:
    path = folder / f"{chapter}.jsonl.xz"
    if not path.exists():
        return []
    entries = [json.loads(line) for line in lzma.decompress(path.read_bytes()).decode().splitlines()]
    shared: dict[str, list[Any]] = {}
    for entry in entries:
        for part in SHARED:
            match entry.get(part):
                case int(number):
                    entry[part] = shared[part][number]
                case list() | dict() as value:
                    shared.setdefault(part, []).append(value)
    return entries


# What surrounds the main part of a page, and the headers of every response: after the first time, a number.
SHARED = ("around", "guards")


def _without_repeats(entries: list[Entry]) -> list[Entry]:
    shared: dict[str, list[Any]] = {part: [] for part in SHARED}
    shortened = []
    for entry in entries:
        entry = dict(entry)
        for part, values in shared.items():
            value = entry.get(part)
            if value is None:
                continue
            if value in values:
                entry[part] = values.index(value)
            else:
                values.append(value)
        shortened.append(entry)
    return shortened

"""The recording as files: one for each chapter, one entry for each call, what many entries share said once."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

__all__ = ["FOLDER", "load", "save"]

FOLDER = Path(__file__).parent / "recording"
# Parts of an entry that many entries have alike; they are kept beside the entries, under a number of their content.
SHARED = ("around", "guards")

Entry = dict[str, Any]


def save(chapter: str, entries: list[Entry], folder: Path = FOLDER) -> Path:
    shared: dict[str, dict[str, Any]] = {part: {} for part in SHARED}
    written = []
    for entry in entries:
        entry = dict(entry)
        for part in SHARED:
            if entry.get(part) is not None:
                number = sha256(json.dumps(entry[part], sort_keys=True).encode()).hexdigest()[:8]
                shared[part][number] = entry[part]
                entry[part] = number
        written.append(entry)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{chapter}.json"
    text = json.dumps({"steps": written, **shared}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def load(chapter: str, folder: Path = FOLDER) -> list[Entry]:
    path = folder / f"{chapter}.json"
    if not path.exists():
        return []
    found = json.loads(path.read_text(encoding="utf-8"))
    for entry in found["steps"]:
        for part in SHARED:
            if entry.get(part) is not None:
                entry[part] = found[part][entry[part]]
    entries: list[Entry] = found["steps"]
    return entries

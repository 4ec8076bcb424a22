"""A disk that can lose power, run full, or be slow to sync, as an SQLite VFS."""

import os
import random
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import apsw

SECTOR_BYTES = 512
KEPT_FILES = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL
JOURNALS = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL


@dataclass
class Platter:
    """What of one file is safe, and what the drive was told since the last sync."""

    safe: bytearray = field(default_factory=bytearray)
    unsafe: list[tuple[int, bytes] | int] = field(default_factory=list)  # a write, or the size after a truncate
    entry_safe: bool = False  # the directory that names the file has been synced
    syncs_directory: bool = False  # SQLite's unix VFS syncs the directory with a new journal's first sync

    def settle(self) -> None:
        for change in self.unsafe:
            apply_change(self.safe, change)
        self.unsafe.clear()


def apply_change(content: bytearray, change: tuple[int, bytes] | int) -> None:
    if isinstance(change, int):
        del content[change:]
        return
    offset, data = change
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


class FaultyDisk(apsw.VFS):
    """Passes everything on to the real disk, and knows what a disk would hold if the power went now.

    SQLite's shared memory stays with the real VFS and is never part of what survives.
    """

    def __init__(self, seed: int = 0, sync_seconds: float = 0.0, *, default: bool = False) -> None:
        """With `default`, every connection of this process that names no VFS is on this disk."""
        self.vfs_name = f"faulty-{uuid4().hex}"
        self.real_vfs = apsw.vfs_names()[0]
        super().__init__(self.vfs_name, self.real_vfs, default)
        self.random = random.Random(seed)
        self.sync_seconds = sync_seconds
        self.is_cut = threading.Event()
        self.operations = 0
        self.cut_mode = ""
        self.refused_writes = 0
        self.room: int | None = None  # bytes that all files together may hold
        self.refuse_one_in: int | None = None  # refuse writes at random
        self._cut_at: int | None = None
        self._lock = threading.RLock()
        self._platters: dict[str, Platter] = {}
        self._ghosts: dict[str, bytes] = {}  # deleted, but the directory was not synced: may come back
        self._survivors: dict[str, bytes] = {}

    def __enter__(self) -> "FaultyDisk":
        return self

    def __exit__(self, *_: object) -> None:
        self.unregister()
        apsw.set_default_vfs(self.real_vfs)

    # The plan.

    def cut_after(self, operations: int) -> None:
        """Lose power that many writes, truncations, syncs and deletions from now."""
        with self._lock:
            self._cut_at = self.operations + operations

    def cut(self) -> None:
        """Lose power now; whatever is written from here on never reaches the survivors."""
        with self._lock:
            if not self.is_cut.is_set():
                self._survivors = self._what_survives()
                self.is_cut.set()

    def restore(self, directory: Path) -> None:
        """Write the files that survived the cut."""
        assert self.is_cut.is_set()
        for path, content in self._survivors.items():
            (directory / os.path.basename(path)).write_bytes(content)

    # What the files below tell.

    def count_operation(self) -> None:
        self.operations += 1
        if self._cut_at is not None and self.operations >= self._cut_at:
            self.cut()

    def platter(self, path: str) -> Platter:
        if path not in self._platters:
            exists = os.path.exists(path)
            self._platters[path] = Platter(bytearray(Path(path).read_bytes() if exists else b""), entry_safe=exists)
        return self._platters[path]

    def sync_directory(self) -> None:
        for platter in self._platters.values():
            platter.entry_safe = True
        self._ghosts.clear()

    def used(self) -> int:
        return sum(os.path.getsize(path) for path in self._platters if os.path.exists(path))

    # SQLite's side.

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        if name is None or not flags[0] & KEPT_FILES:
            return apsw.VFSFile(self.real_vfs, name, flags)
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        with self._lock:
            platter = self.platter(path)
            platter.syncs_directory |= bool(flags[0] & JOURNALS) and not platter.entry_safe
            return FaultyFile(self, platter, name, flags)

    def xDelete(self, name: str, sync_directory: bool) -> None:
        with self._lock:
            self.count_operation()
            platter = self._platters.pop(name, None)
            if platter is not None and platter.entry_safe:
                self._ghosts[name] = bytes(platter.safe)
            super().xDelete(name, sync_directory)
            if sync_directory:
                self.sync_directory()

    def _what_survives(self) -> dict[str, bytes]:
        self.cut_mode = self.random.choice(["nothing", "everything", "beginning", "sectors", "sectors", "newest"])
        survivors = {path: content for path, content in self._ghosts.items() if self.random.random() < 0.5}
        for path, platter in self._platters.items():
            if not platter.entry_safe and self.random.random() < 0.5:
                continue
            content = bytearray(platter.safe)
            for change in self._changes_that_survive(platter.unsafe):
                apply_change(content, change)
            survivors[path] = bytes(content)
        return survivors

    def _changes_that_survive(self, unsafe: list[tuple[int, bytes] | int]) -> list[tuple[int, bytes] | int]:
        match self.cut_mode:
            case "nothing":
                return []
            case "everything":
                return list(unsafe)
            case "beginning":
                kept = unsafe[: self.random.randint(0, len(unsafe))]
                if kept and isinstance(kept[-1], tuple):
                    offset, data = kept[-1]
                    kept[-1] = (offset, data[: self.random.randint(0, len(data))])
                return kept
            case "newest":  # the drive wrote its queue from the back
                return unsafe[self.random.randint(0, len(unsafe)) :]
            case _:
                chance = self.random.random()
                return [part for change in unsafe for part in sectors(change) if self.random.random() < chance]


def sectors(change: tuple[int, bytes] | int) -> list[tuple[int, bytes] | int]:
    if isinstance(change, int):
        return [change]
    offset, data = change
    edges = [offset, *range((offset // SECTOR_BYTES + 1) * SECTOR_BYTES, offset + len(data), SECTOR_BYTES)]
    ends = [*edges[1:], offset + len(data)]
    return [(start, data[start - offset : end - offset]) for start, end in zip(edges, ends, strict=True)]


class FaultyFile(apsw.VFSFile):
    """A database, log or journal file on a FaultyDisk."""

    def __init__(self, disk: FaultyDisk, platter: Platter, name: Any, flags: list[int]) -> None:
        super().__init__(disk.real_vfs, name, flags)
        self.disk = disk
        self.platter = platter

    def xWrite(self, data: bytes, offset: int) -> None:
        disk = self.disk
        with disk._lock:
            disk.count_operation()
            room = len(data) if disk.room is None else self._room_for(offset, len(data))
            if disk.refuse_one_in is not None and disk.random.randrange(disk.refuse_one_in) == 0:
                room = disk.random.randrange(len(data))
            written = bytes(data[:room])
            if written:
                super().xWrite(written, offset)
                self.platter.unsafe.append((offset, written))
            if len(written) < len(data):
                disk.refused_writes += 1
                raise apsw.FullError("no room on the faulty disk")

    def _room_for(self, offset: int, length: int) -> int:
        size = self.xFileSize()
        growth = max(0, offset + length - size)
        free = max(0, (self.disk.room or 0) - self.disk.used())
        return length - max(0, growth - free) if growth > free else length

    def xTruncate(self, size: int) -> None:
        with self.disk._lock:
            self.disk.count_operation()
            super().xTruncate(size)
            self.platter.unsafe.append(size)

    def xSync(self, flags: int) -> None:
        # The real disk is not asked to sync: only what this disk remembers as safe counts.
        if self.disk.sync_seconds:
            time.sleep(self.disk.sync_seconds)
        with self.disk._lock:
            self.disk.count_operation()
            self.platter.settle()
            self.platter.entry_safe |= self.platter.syncs_directory
            if self.platter.syncs_directory:
                self.disk.sync_directory()
                self.platter.syncs_directory = False


class SlowSyncDisk(apsw.VFS):
    """The real disk with a fixed time added to every sync."""

    def __init__(self, sync_seconds: float) -> None:
        self.vfs_name = f"slow-{uuid4().hex}"
        self.sync_seconds = sync_seconds
        self.syncs = 0
        super().__init__(self.vfs_name, "")

    def __enter__(self) -> "SlowSyncDisk":
        return self

    def __exit__(self, *_: object) -> None:
        self.unregister()

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return SlowSyncFile(self, name, flags)


class SlowSyncFile(apsw.VFSFile):
    def __init__(self, disk: SlowSyncDisk, name: Any, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self.disk = disk

    def xSync(self, flags: int) -> None:
        self.disk.syncs += 1
        time.sleep(self.disk.sync_seconds)
        super().xSync(flags)

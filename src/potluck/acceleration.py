"""Accelerations: they make answers faster without changing them, and one switch turns them off.

The plain path is the specification: with POTLUCK_PLAIN=1 every request takes it, and all tests pass. What each
acceleration is worth is in benchmarks/results/accelerations.md.
"""

import os
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Accelerations:
    packed_rows: bool
    """Packed rows are read directly from the embedded engine and decoded once, instead of by calls."""
    cached_answers: bool
    """Answers are cached until something is written where they were read; this needs packed rows."""
    wal_index: bool
    """Commits are seen in the index of SQLite's write-ahead log, with what they touched, not by PRAGMA data_version."""
    fast_path: bool
    """A cached answer is sent where its request was parsed, without a task."""


ALL = Accelerations(packed_rows=True, cached_answers=True, wal_index=True, fast_path=True)
PLAIN = Accelerations(packed_rows=False, cached_answers=False, wal_index=False, fast_path=False)


def chosen_by(plain: str | None) -> Accelerations:
    """The accelerations for a value of POTLUCK_PLAIN; `potluck.settings` refuses any but 1 and 0."""
    return PLAIN if plain == "1" else ALL


BY_ENVIRONMENT = chosen_by(os.environ.get("POTLUCK_PLAIN"))
"""For an engine or a store that is opened without settings."""

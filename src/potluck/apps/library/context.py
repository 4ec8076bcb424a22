"""What the library's rules use in addition to the core."""

from dataclasses import dataclass

from potluck.apps.library.covers import Covers
from potluck.apps.library.lookup import Lookup
from potluck.apps.library.searching import Indexes


@dataclass(frozen=True, slots=True)
class LibraryContext:
    indexes: Indexes
    lookup: Lookup
    covers: Covers

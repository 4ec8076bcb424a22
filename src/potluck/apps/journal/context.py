"""What the rules of the journal work with besides the core: `at.context`."""

from dataclasses import dataclass

__all__ = ["JournalContext"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalContext:
    """Nothing yet."""

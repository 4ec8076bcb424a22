"""The store: reads and writes entities on an engine."""

from potluck.store.read_tracking import Clock
from potluck.store.reading import QueryPage
from potluck.store.sending import Patience
from potluck.store.store import Store, all_done

__all__ = ["Clock", "Patience", "QueryPage", "Store", "all_done"]

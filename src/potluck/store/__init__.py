"""The store: reads and writes entities on an engine. The one place below the apps that does I/O on them."""

from potluck.store.read_tracking import Clock
from potluck.store.reading import Page
from potluck.store.sending import Patience
from potluck.store.store import Store, all_done

__all__ = ["Clock", "Page", "Patience", "Store", "all_done"]

"""How seldom Python looks for objects that only refer to each other: looking at all of them keeps everybody waiting."""

import gc

__all__ = ["collect_seldom"]

# Of a program that keeps the last changes of its tables in memory, a full collection takes a tenth of a second; at
# Python's own numbers there are several of them in each second in which much is written. Nearly everything that a
# request makes is freed without one.
NEW_OBJECTS = 20_000
YOUNG_COLLECTIONS, OLD_COLLECTIONS = 20, 20


def collect_seldom() -> None:
    """Once everything is made that stays: leave it out of every collection, and have fewer of them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, YOUNG_COLLECTIONS, OLD_COLLECTIONS)

"""Makes Python's garbage collector run rarely: a full collection keeps every request waiting."""

import gc

# With the last changes of all tables in memory, a full collection takes a tenth of a second, and with Python's default
# thresholds there are several in every second of heavy writing. Reference counting alone frees nearly everything that
# a request allocates.
NEW_OBJECTS = 20_000
YOUNG_COLLECTIONS, OLD_COLLECTIONS = 20, 20


def tune_garbage_collector() -> None:
    """Exempt everything allocated so far from collection, and collect less often; to be called after start-up."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, YOUNG_COLLECTIONS, OLD_COLLECTIONS)

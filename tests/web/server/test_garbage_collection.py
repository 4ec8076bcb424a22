"""What is made once and stays is left out of collections, and there are fewer of them; garbage is still found."""

import subprocess
import sys

LOOKED_AT = """
import gc, weakref
from potluck.web.server.garbage_collection import NEW_OBJECTS, tune_garbage_collector

class Knot: ...

def tied():
    knot = Knot()
    knot.itself = knot
    return weakref.ref(knot)

tune_garbage_collector()
there = gc.get_freeze_count(), gc.get_threshold()[0]
knot = tied()
held = [[] for _ in range(NEW_OBJECTS - 5_000)]
before = knot() is not None
held += [[] for _ in range(10_000)]
print(there[0] > 1_000, there[1] == NEW_OBJECTS, before, knot() is None)
"""


def test_a_server_looks_for_garbage_seldom_and_finds_it():
    # In a process of its own: it is set for all that runs there.
    done = subprocess.run([sys.executable, "-c", LOOKED_AT], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["True"] * 4

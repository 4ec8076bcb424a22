"""What the rules of polls need besides the core, as `at.context`."""

import time
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random, SystemRandom
from typing import Any

from potluck.apps.polls.count_records import Records, Stopwatch
from potluck.apps.polls.crowded_rows import CrowdedRows
from potluck.apps.polls.keys import VoterIds
from potluck.store import Store


@dataclass(frozen=True, slots=True)
class ReadersWait:
    """How long a reader of an open poll waits for newer votes to be counted before getting the last count."""

    until_due: timedelta = timedelta(seconds=1)
    """The longest wait until a recount is due; if it is due later, the reader does not wait at all."""
    for_count: timedelta = timedelta(seconds=2)
    """The longest wait for a running count; past that it finishes in the background, for the next reader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PollsContext:
    store: Store
    voters: VoterIds
    records: Records
    crowded: CrowdedRows
    random: Random = field(default_factory=SystemRandom)
    readers_wait: ReadersWait = ReadersWait()
    shared: bool = False
    """Serve only the polls that belong to shareables, whose passcodes protect them."""


def polls_context(
    store: Store, key: bytes, *, stopwatch: Stopwatch = time.perf_counter, **options: Any
) -> PollsContext:
    """`key` derives the ids of votes: anyone who has it can link votes to their voters."""
    records, crowded = Records(store, stopwatch), CrowdedRows(Random())
    return PollsContext(store=store, voters=VoterIds(key), records=records, crowded=crowded, **options)

"""What the rules of polls work with besides the core: `at.context`."""

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from potluck.apps.polls.keys import VoterIds
from potluck.apps.polls.records import Records, Stopwatch
from potluck.people.secrets import Random, system_random
from potluck.store import Clock, Store

__all__ = ["PollsContext", "ReadersWait", "polls_context"]


@dataclass(frozen=True, slots=True)
class ReadersWait:
    """How long a reader of an open poll waits for votes that came in since the last count, and then sees that."""

    until_due: timedelta = timedelta(seconds=1)
    """Until it may be counted again; where that takes longer, not at all."""
    for_count: timedelta = timedelta(seconds=2)
    """For a count that is under way; it goes on without them, and whoever looks next sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PollsContext:
    store: Store
    clock: Clock
    voters: VoterIds
    records: Records
    random: Random = system_random
    readers_wait: ReadersWait = ReadersWait()
    shared: bool = False
    """Serve the polls that shareables made, and no others; their passcodes then guard them."""


def polls_context(
    store: Store, clock: Clock, key: bytes, *, stopwatch: Stopwatch = time.perf_counter, **options: Any
) -> PollsContext:
    """`key` makes the ids of votes: whoever has it can tell voters by their votes."""
    records = Records(store, clock, stopwatch)
    return PollsContext(store=store, clock=clock, voters=VoterIds(key), records=records, **options)

"""Rows that very many votes add to at once: which of several each vote takes.

A row that is in another transaction refuses a vote. What a process learns from that it keeps in memory: the counts of
favourite rankings are spread over more rows, and polls get more shards. Most polls never need either.
"""

from collections import OrderedDict
from datetime import datetime, timedelta
from random import Random
from uuid import UUID

from potluck.apps.polls.entities import MOST_PARTS_OF_COUNT, MOST_SHARDS, SHARDS, Count, CountPart, Poll, Ranking
from potluck.table import the, upsert
from potluck.web import Outcome, or_retry

# How many rows count a ranking: one, and after each conflict in them the next number.
SPREADS = (1, 8, MOST_PARTS_OF_COUNT)
# While one vote adds shards to a poll, the others of this process do not try as well.
ADDING_LASTS = timedelta(seconds=1)
# Of rankings, and of polls; the least recently learned is forgotten, and learned again from a few conflicts.
MOST_REMEMBERED = 10_000


class CrowdedRows:
    """What this process has learned about where votes meet."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._spreads: OrderedDict[tuple[UUID, Ranking], int] = OrderedDict()
        # From when on a vote may add shards to these polls.
        self._crowded: OrderedDict[UUID, datetime] = OrderedDict()

    def add_to_count(self, poll_id: UUID, ranking: Ranking, amount: int) -> Outcome:
        """Adds to one of the rows that count this ranking."""
        spread = self._spreads.get((poll_id, ranking), 0)
        part = self._random.randrange(SPREADS[spread])
        if part:
            write = upsert(CountPart.one(poll_id, ranking, part), the(CountPart.count).add(amount))
        else:
            write = upsert(Count.one(poll_id, ranking), the(Count.count).add(amount))
        return or_retry(write, contended=lambda: self._spread(poll_id, ranking, spread + 1))

    def _spread(self, poll_id: UUID, ranking: Ranking, spread: int) -> None:
        if spread < len(SPREADS):
            self._spreads[poll_id, ranking] = spread
            self._spreads.move_to_end((poll_id, ranking))
            if len(self._spreads) > MOST_REMEMBERED:
                self._spreads.popitem(last=False)

    def some_shard(self, poll: Poll) -> int:
        return self._random.randrange(poll.shards or SHARDS)

    def note_crowded(self, poll: Poll, now: datetime) -> None:
        """Votes met in the shards of this poll."""
        self._crowded.setdefault(poll.poll_id, now)
        if len(self._crowded) > MOST_REMEMBERED:
            self._crowded.popitem(last=False)

    def must_add_shards(self, poll: Poll, now: datetime) -> bool:
        """Whether this vote should add shards: the first one after votes met, and another one if that failed."""
        since = None if poll.shards == MOST_SHARDS else self._crowded.get(poll.poll_id)
        if since is None or since > now:
            return False
        self._crowded[poll.poll_id] = now + ADDING_LASTS
        return True

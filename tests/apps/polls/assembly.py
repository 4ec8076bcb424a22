"""Polls as the suite assembles them, on any engine, with a clock that is moved and people who cost no password."""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID, uuid4

from potluck.apps.polls.access import ToPoll
from potluck.apps.polls.app import PollsApp
from potluck.apps.polls.context import ReadersWait, polls_context
from potluck.apps.polls.entities import CountRow, Shard, Vote, ranked_choice_polls
from potluck.apps.polls.keys import VoterKeys
from potluck.apps.polls.polls import PollMade, create_poll
from potluck.apps.polls.results import poll_audit
from potluck.apps.polls.votes import VoteCast, cast_vote
from potluck.engines import Engine
from potluck.engines.recording import Recording
from potluck.people.entities import accounts as accounts_table
from potluck.store import Store
from potluck.web.access import Visitor, read_together
from potluck.web.direct_calls import Direct
from tests.apps.rule_calls import Rules
from tests.apps.worlds import Meanwhile, by_key, meanwhile, outcomes, registered
from tests.patience import PATIENCE_SECONDS
from tests.people.assembly import Clock
from tests.stores import NOW, recorded_store
from tests.web.cores import core_on

__all__ = [
    "CANDIDATES",
    "FOR_COUNT",
    "KEY",
    "NOBODY",
    "NOW",
    "Booth",
    "Meanwhile",
    "Polls",
    "admin_of",
    "assembled",
    "outcomes",
    "voter",
]

KEY = b"a key that only the suite has..."
NOBODY = VoterKeys()
# However long a count takes on a busy machine: past its time a reader would be shown the one before.
FOR_COUNT = ReadersWait(for_count=timedelta(seconds=PATIENCE_SECONDS))
# Nobody waits until it is time for the next count: by a clock that stands still it never is.
AT_ONCE = replace(FOR_COUNT, until_due=timedelta())
CANDIDATES = ("Ada", "Ben", "Cyd")

A = TypeVar("A", bound=ToPoll)


def voter(key: str) -> VoterKeys:
    """Whoever has this key in an open poll."""
    return VoterKeys(voter_key=key)


class Stopwatch:
    """Every count takes as long as it is told to."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._read = 0.0

    def __call__(self) -> float:
        # Read twice a count.
        self._read += self.seconds
        return self._read


class Polls:
    """The rules of polls as one process runs them; `options` are those of their context."""

    def __init__(self, store: Store, key: bytes, **options: Any) -> None:
        self.context = polls_context(store, key, **options)
        self.core = core_on(store, store.clock)
        self.rules = Rules(Direct(self.core, PollsApp.subjects, self.context))

    async def do(self, rule: Callable[..., Any], by: VoterKeys, /, *ids: Any, **sent: Any) -> Any:
        """What a rule answers, called with these credentials as tests/apps/rule_calls.py says."""
        if rule is cast_vote:
            sent |= {"voter_key": by.voter_key, "code": by.code}
        keys = {"X-Admin-Key": by.admin_key, "X-Edit-Key": by.edit_key}
        headers = {name: key for name, key in keys.items() if key is not None}
        return await self.rules.do(rule, Visitor(principal=by.principal, headers=headers), *ids, **sent)

    async def admitted(self, access: type[A], by: VoterKeys, poll_id: UUID) -> A:
        """A caller who presents all of these credentials, as only a browser can."""
        at = access(self.core, self.context, Visitor(principal=by.principal), {"poll_id": poll_id})
        at.keys = by
        await at.admit(*await read_together(self.context.store, at.reads()))
        return at


@dataclass
class Booth:
    many: int
    """How many do something at once."""
    store: Store
    recording: Recording
    clock: Clock
    stopwatch: Stopwatch
    polls: Polls

    def elsewhere(self) -> Polls:
        """The same rules as another process runs them."""
        return Polls(self.store, KEY, stopwatch=self.stopwatch, readers_wait=AT_ONCE)

    async def do(self, rule: Callable[..., Any], by: VoterKeys, /, *ids: Any, **sent: Any) -> Any:
        return await self.polls.do(rule, by, *ids, **sent)

    def meanwhile(self, first: Callable[[], Awaitable[Any]]) -> None:
        """Do this before the next transaction."""
        meanwhile(self.store, first)

    async def person(self, name: str = "Ada") -> VoterKeys:
        """Someone with an account, signed in."""
        email = f"{name.lower()}-{uuid4().hex[:6]}@example.org"
        return VoterKeys(principal=await registered(self.store, name, email))

    async def poll(self, candidates: Sequence[str] = CANDIDATES, by: VoterKeys = NOBODY, **settings: Any) -> PollMade:
        settings.setdefault("title", "Who?")
        poll: PollMade = await self.do(create_poll, by, candidates=candidates, **settings)
        return poll

    async def cast(self, poll: PollMade, *rankings: str, key: str | None = None) -> VoteCast:
        vote: VoteCast = await self.do(cast_vote, VoterKeys(voter_key=key), poll.id, rankings=rankings)
        return vote

    async def counts(self, poll_id: UUID) -> dict[tuple[int, ...], int]:
        """How many votes each ranking has by the counts; none that has none."""
        counted: dict[tuple[int, ...], int] = {}
        for each in await self.store.all(CountRow.of_poll(poll_id)):
            counted[each.ranking] = counted.get(each.ranking, 0) + each.count
        return {ranking: count for ranking, count in counted.items() if count}

    async def agree(self, poll: PollMade) -> int:
        """That votes, counts, shards and audit say the same; how many votes there are."""
        numbers = {name: number for number, name in enumerate(poll.candidates, 1)}
        votes = await self.store.all(Vote.of_poll(poll.id))
        said = Counter(tuple(numbers[name] for name in vote.rankings) for vote in votes)
        assert await self.counts(poll.id) == said
        shards = await self.store.all(Shard.of_poll(poll.id))
        assert sum(each.votes for each in shards) == len(votes)
        audit = await self.do(poll_audit, admin_of(poll), poll.id)
        assert (audit.equal, audit.votes, audit.counted) == (True, len(votes), len(votes))
        return len(votes)

    async def dump(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Every row of the table by its key."""
        return await by_key(self.recording, ranked_choice_polls)


def admin_of(poll: PollMade) -> VoterKeys:
    return VoterKeys(admin_key=poll.admin_key)


@contextlib.asynccontextmanager
async def assembled(
    engine: str, folder: Path, *, wrap: Callable[[Engine], Engine] | None = None, many: int = 200
) -> AsyncIterator[Booth]:
    async with recorded_store(engine, folder, accounts_table, ranked_choice_polls, wrap=wrap) as (wrapped, recording):
        clock, stopwatch = Clock(), Stopwatch()
        store = Store(wrapped.engine, clock)
        polls = Polls(store, KEY, stopwatch=stopwatch, readers_wait=AT_ONCE)
        yield Booth(many, store, recording, clock, stopwatch, polls)

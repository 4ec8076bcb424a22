"""Storms: very many votes on one poll at once, where transactions that overlap on a row are cancelled.

Time is virtual, and four processes take the calls: nothing here depends on the machine.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from potluck.apps.polls.deletion import Deletions, PollKey
from potluck.apps.polls.entities import (
    MOST_SHARDS,
    CountRow,
    Poll,
    PollRow,
    Shard,
    Vote,
    ranked_choice_polls,
)
from potluck.apps.polls.keys import VoterKeys
from potluck.apps.polls.polls import (
    PollMade,
    VotesBegun,
    change_poll,
    close_poll,
    create_poll,
    delete_poll,
    reopen_poll,
)
from potluck.apps.polls.results import poll_audit, poll_results
from potluck.apps.polls.shards import PollClosed
from potluck.apps.polls.votes import AlreadyVoted, VoteCast, cast_vote, change_vote, withdraw_vote
from potluck.engines import open_engine
from potluck.engines.colliding import Colliding
from potluck.people.entities import accounts
from potluck.store import Store
from potluck.web.errors import Conflict
from potluck.web.errors import NotFound as NoSuchPoll
from tests import virtual_time
from tests.apps.polls.assembly import KEY, NOBODY, NOW, Polls, admin_of, voter

CANDIDATES = ["Ada", "Ben", "Cyd"]
A_SECOND = 1_000
PROCESSES = 4


class Storm:
    """A poll on an engine of colliding transactions, and four processes that take votes."""

    def __init__(self, engine: Any, loop: virtual_time.VirtualLoop, seconds: float) -> None:
        self.loop = loop
        keys = {table.name: table.key_names for table in (accounts, ranked_choice_polls)}
        self.collide = Colliding(virtual_time.OutOfTime(engine, loop), keys, seconds, read_seconds=0.003)
        self.store = Store(self.collide, self.clock)
        self.processes = [Polls(Store(self.collide, self.clock), KEY) for _ in range(PROCESSES)]
        self.random = random.Random(1)
        self.acknowledged: list[tuple[float, VoteCast]] = []
        self.refused: Counter[type] = Counter()

    def clock(self) -> datetime:
        return NOW + timedelta(seconds=self.loop.now)

    async def do(self, rule: Callable[..., Any], by: VoterKeys, *ids: Any, **sent: Any) -> Any:
        return await self.random.choice(self.processes).do(rule, by, *ids, **sent)

    async def poll(self, **settings: Any) -> PollMade:
        poll: PollMade = await self.do(create_poll, NOBODY, title="Who?", candidates=CANDIDATES, **settings)
        return poll

    async def one(self, poll: PollMade, number: int, candidates: list[str]) -> None:
        ranking = candidates if number % 2 else self.random.sample(candidates, self.random.randint(1, len(candidates)))
        try:
            cast = await self.do(cast_vote, voter(f"voter {number}"), poll.id, rankings=ranking)
        except Exception as refusal:
            self.refused[type(refusal)] += 1
        else:
            self.acknowledged.append((self.loop.now, cast))

    async def votes(self, poll: PollMade, number: int, candidates: list[str] | None = None) -> None:
        """This many votes, a thousand a second."""
        async with asyncio.TaskGroup() as group:
            for each in range(number):
                await asyncio.sleep(self.random.expovariate(A_SECOND))
                group.create_task(self.one(poll, each, candidates or CANDIDATES))

    async def must_agree(self, poll: PollMade) -> None:
        """That the votes are those acknowledged, and that they, the counts, the shards and the results say the same."""
        votes = await self.store.all(Vote.of_poll(poll.id))
        assert {vote.vote_id for vote in votes} == {cast.id for _, cast in self.acknowledged}
        audit = await self.do(poll_audit, admin_of(poll), poll.id)
        assert (audit.equal, audit.votes, audit.counted) == (True, len(votes), len(votes))
        assert sum(shard.votes for shard in await self.store.all(Shard.of_poll(poll.id))) == len(votes)
        assert (await self.do(poll_results, NOBODY, poll.id)).votes == len(votes)


@pytest.fixture
def storm(tmp_path: Path) -> Callable[..., None]:
    """Runs a coroutine function on a storm, whose transactions last as long as is said."""

    def run(of: Callable[[Storm], Coroutine[Any, Any, None]], seconds: float = 0.01) -> None:
        async def on_a_store() -> None:
            loop = asyncio.get_running_loop()
            assert isinstance(loop, virtual_time.VirtualLoop)
            engine = await open_engine(path=str(tmp_path / "store.db"))
            try:
                made = Storm(engine, loop, seconds)
                await Store(engine, made.clock).create_tables(accounts, ranked_choice_polls)
                await of(made)
            finally:
                await engine.close()

        virtual_time.run(on_a_store())

    return run


@pytest.mark.parametrize("seconds", [0.005, 0.02])
def test_a_thousand_votes_a_second_are_all_accepted(storm, seconds):
    async def votes(at: Storm) -> None:
        poll = await at.poll()
        await at.votes(poll, 200)
        assert at.refused == {}
        await at.must_agree(poll)
        # Half of them vote alike, so that their count was spread.
        rows = await at.store.all(CountRow.of_poll(poll.id))
        assert len(rows) > len({row.ranking for row in rows})
        assert (await at.store.one(Poll.one(poll.id))).shards == MOST_SHARDS

    storm(votes, seconds)


def test_after_the_first_votes_nothing_meets_in_the_poll_s_own_row(storm):
    async def votes(at: Storm) -> None:
        poll = await at.poll()
        await at.votes(poll, 120)
        at.collide.collisions.clear()
        at.acknowledged.clear()
        await at.votes(await at.poll(), 0)
        for number in range(120, 200):
            at.loop.create_task(at.one(poll, number, CANDIDATES))
        await asyncio.sleep(10)
        assert (len(at.acknowledged), at.refused) == (80, {})
        assert not [item for item in at.collide.collisions if item[-1] == "METADATA"]

    storm(votes)


@pytest.mark.parametrize("after", [0.002, 0.08])
def test_closed_in_a_storm_no_vote_is_acknowledged_later_and_each_one_before_is_counted(storm, after):
    async def closing(at: Storm) -> None:
        poll = await at.poll()
        votes = asyncio.create_task(at.votes(poll, 150))
        await asyncio.sleep(after)
        closed = await at.do(close_poll, admin_of(poll), poll.id)
        closed_at = at.loop.now
        final = await at.do(poll_results, NOBODY, poll.id)
        assert (closed.status, final.status) == ("closed", "final")
        await votes
        assert set(at.refused) == {PollClosed}
        assert all(acknowledged_at <= closed_at for acknowledged_at, _ in at.acknowledged)
        assert final.votes == len(at.acknowledged)
        await at.must_agree(poll)

    storm(closing)


def test_closed_and_reopened_in_a_storm_every_vote_that_was_acknowledged_is_counted(storm):
    async def reopening(at: Storm) -> None:
        poll = await at.poll()
        votes = asyncio.create_task(at.votes(poll, 150))
        for _ in range(2):
            await asyncio.sleep(0.02)
            await at.do(close_poll, admin_of(poll), poll.id)
            await asyncio.sleep(0.02)
            await at.do(reopen_poll, admin_of(poll), poll.id)
        await votes
        assert set(at.refused) <= {PollClosed}
        assert at.acknowledged
        await at.must_agree(poll)

    storm(reopening)


@pytest.mark.parametrize("after", [0.004, 0.08])
def test_deleted_in_a_storm_nothing_is_left_of_it(storm, after):
    async def deleting(at: Storm) -> None:
        poll = await at.poll()
        votes = asyncio.create_task(at.votes(poll, 120))
        await asyncio.sleep(after)
        await at.do(delete_poll, admin_of(poll), poll.id)
        await votes
        assert set(at.refused) == {NoSuchPoll}
        await Deletions(at.store).rows.of(PollKey(poll.id)).completed(at.store)
        assert await at.store.all(PollRow.of_poll(poll.id)) == []

    storm(deleting)


@pytest.mark.parametrize("after", [0.001, 0.006, 0.012])
def test_an_edit_as_a_storm_begins_comes_before_the_first_vote_or_not_at_all(storm, after):
    async def editing(at: Storm) -> None:
        poll = await at.poll()
        votes = asyncio.create_task(at.votes(poll, 50))
        await asyncio.sleep(after)
        others = ["Cyd", "Ada", "Ben"]
        try:
            await at.do(change_poll, admin_of(poll), poll.id, version=1, candidates=others)
        except (VotesBegun, Conflict):
            others = CANDIDATES
        await votes
        assert at.refused == {}
        await at.must_agree(poll)
        assert (await at.store.one(Poll.one(poll.id))).candidates == others

    storm(editing)


def test_of_many_votes_with_one_key_at_once_in_a_storm_one_is_made(storm):
    async def twice(at: Storm) -> None:
        poll = await at.poll()
        async with asyncio.TaskGroup() as group:
            for _ in range(30):
                group.create_task(at.one(poll, 1, CANDIDATES))
            group.create_task(at.votes(poll, 40))
        assert set(at.refused) == {AlreadyVoted}
        await at.must_agree(poll)

    storm(twice)


def test_votes_changed_and_withdrawn_in_a_storm_are_counted_once(storm):
    async def changing(at: Storm) -> None:
        poll = await at.poll()
        await at.votes(poll, 60)
        cast = [vote for _, vote in at.acknowledged]

        async def other(number: int, vote: VoteCast) -> None:
            by = VoterKeys(edit_key=vote.edit_key)
            if number % 3:
                await at.do(change_vote, by, poll.id, vote.id, rankings=["Cyd", "Ben"])
            else:
                await at.do(withdraw_vote, by, poll.id, vote.id)
                at.acknowledged = [pair for pair in at.acknowledged if pair[1].id != vote.id]

        async with asyncio.TaskGroup() as group:
            for number, vote in enumerate(cast):
                await asyncio.sleep(0.001)
                group.create_task(other(number, vote))
        await at.must_agree(poll)

    storm(changing)

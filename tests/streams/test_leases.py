"""Leases: one owner, judged by what is seen to change and never by comparing clocks."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from potluck.engines import ANSWER_LOST, DynamoError, Engine
from potluck.engines.conflicting import Conflicting
from potluck.streams import leases
from potluck.streams.leases import LEASE_SECONDS, Deposed, Lease, LeaseTerms, WorkTable
from tests.engine_targets import BOTH, opened, table
from tests.patience import PATIENCE_SECONDS, until

WORK = WorkTable("Work")


@pytest.fixture(autouse=True)
def released_at_any_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RELEASE_SECONDS", PATIENCE_SECONDS)


@pytest.fixture(params=BOTH)
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    async with opened(request.param, tmp_path) as engine:
        await WORK.create_if_missing(engine)
        yield engine


class Worker(Lease):
    """A lease with a clock of its own, as far from the others' as one likes."""

    def __init__(self, engine: Engine, now: float) -> None:
        self.now = now
        super().__init__(engine, "sweeper", WORK, monotonic=lambda: self.now)


async def test_one_owner_at_a_time_and_the_next_when_it_lets_go(engine: Engine) -> None:
    first, second = Worker(engine, 0), Worker(engine, 1_000_000)
    assert await first.try_acquire()
    assert not await second.try_acquire()
    assert (first.held, second.held) == (True, False)
    await first.release()
    assert not first.held
    assert await second.try_acquire()


async def test_it_is_taken_only_after_no_change_was_seen_for_its_whole_time(engine: Engine) -> None:
    owner, waiting = Worker(engine, 0), Worker(engine, 1_000_000)
    assert await owner.try_acquire()
    assert not await waiting.try_acquire()
    waiting.now += LEASE_SECONDS - 0.1
    assert not await waiting.try_acquire()
    await owner.renew()
    waiting.now += 0.2
    assert not await waiting.try_acquire()  # it has changed since
    waiting.now += LEASE_SECONDS - 0.1
    assert not await waiting.try_acquire()
    waiting.now += 0.2
    assert await waiting.try_acquire()
    with pytest.raises(Deposed):
        await owner.renew()
    assert not owner.held


async def test_a_newcomer_does_not_take_a_lease_it_has_only_just_seen(engine: Engine) -> None:
    assert await Worker(engine, 0).try_acquire()
    assert not await Worker(engine, 10_000_000).try_acquire()


async def test_the_owner_stops_believing_before_anyone_may_take_it(engine: Engine) -> None:
    owner, waiting = Worker(engine, 0), Worker(engine, 0)
    assert await owner.try_acquire()
    assert not await waiting.try_acquire()
    owner.now = waiting.now = LEASE_SECONDS
    assert not owner.held
    assert await waiting.try_acquire()


async def test_of_many_who_reach_for_it_one_gets_it(engine: Engine) -> None:
    workers = [Worker(engine, 0) for _ in range(8)]
    assert sum(await asyncio.gather(*(worker.try_acquire() for worker in workers))) == 1


async def test_of_many_who_saw_the_owner_die_one_takes_over(engine: Engine) -> None:
    assert await Worker(engine, 0).try_acquire()
    workers = [Worker(engine, 0) for _ in range(8)]
    for worker in workers:
        assert not await worker.try_acquire()
        worker.now += LEASE_SECONDS
    assert sum(await asyncio.gather(*(worker.try_acquire() for worker in workers))) == 1


async def test_a_taking_whose_answer_was_lost_is_found_out_at_the_next_look(engine: Engine) -> None:
    troubled = Conflicting(engine, 1, lost_answers=1.0)
    worker = Worker(troubled, 0)
    with pytest.raises(DynamoError) as lost:
        await worker.try_acquire()
    assert lost.value.code == ANSWER_LOST
    assert not worker.held
    troubled.lost_answers = 0.0
    assert await worker.try_acquire()
    assert worker.held


async def test_it_is_given_back_however_often_its_owner_is_cancelled_while_it_ends(engine: Engine) -> None:
    owner, waiting = Lease(engine, "sweeper", WORK), Worker(engine, 0)
    at_work, ending, may_end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        at_work.set()
        try:
            await asyncio.Event().wait()
        finally:
            ending.set()
            await may_end.wait()

    running = asyncio.create_task(owner.run(work))
    async with asyncio.timeout(PATIENCE_SECONDS):
        await at_work.wait()
        running.cancel()
        await ending.wait()
        running.cancel()
        # It is woken by that before anything else happens to it.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert await waiting.try_acquire()


async def test_a_transaction_with_the_check_is_cancelled_once_deposed(engine: Engine) -> None:
    await engine.call("CreateTable", table("Things"))
    first, second = Worker(engine, 0), Worker(engine, 0)
    assert await first.try_acquire()
    put = {"Put": {"TableName": "Things", "Item": {"PK": {"S": "a"}, "SK": {"S": "b"}}}}
    actions: list[dict[str, Any]] = [put, first.check()]
    await engine.call("TransactWriteItems", {"TransactItems": actions})
    await second.try_acquire()
    second.now += LEASE_SECONDS
    assert await second.try_acquire()
    with pytest.raises(DynamoError) as cancelled:
        await engine.call("TransactWriteItems", {"TransactItems": actions})
    assert [reason["Code"] for reason in cancelled.value.reasons or ()] == ["None", "ConditionalCheckFailed"]


async def test_work_runs_while_the_lease_is_held_and_again_after_it_was_lost(engine: Engine) -> None:
    now = 0.0
    lease = Lease(
        engine, "sweeper", WORK, seconds=PATIENCE_SECONDS, renew_every=0.1, look_every=0.05, monotonic=lambda: now
    )
    started: list[str | None] = []
    stopped: list[str] = []

    async def work() -> None:
        started.append(lease.owner)
        try:
            if len(started) == 1:
                await asyncio.sleep(3600)
        except asyncio.CancelledError:
            stopped.append("cancelled")
            raise

    async def row() -> dict[str, Any]:
        answer = await engine.call("GetItem", {"TableName": "Work", "Key": lease.key, "ConsistentRead": True})
        return answer["Item"]  # type: ignore[no-any-return]

    async def renewed() -> None:
        """By a renewal that began after this was called: one may be under way."""
        before = int((await row())["Renewals"]["N"])

        async def twice() -> bool:
            return int((await row())["Renewals"]["N"]) >= before + 2

        await until(twice)

    async def begun() -> bool:
        return bool(started)

    async def over() -> bool:
        nonlocal now
        now += PATIENCE_SECONDS
        return running.done()

    running = asyncio.create_task(lease.run(work))
    await until(begun)
    for _ in range(3):
        now += 0.5 * PATIENCE_SECONDS
        await renewed()
    assert lease.held  # longer than it lasts without being renewed
    robbed = {"TableName": "Work", "Item": {**lease.key, "Owner": {"S": "somebody"}, "Renewals": {"N": "1"}}}
    await engine.call("PutItem", robbed)
    await until(over)
    await running
    assert stopped == ["cancelled"]
    assert len(set(started)) == 2
    assert "Owner" not in await row()  # given up when the work was done


async def test_failing_work_gives_the_lease_up_and_fails_the_run(engine: Engine) -> None:
    async def work() -> None:
        raise RuntimeError("broken")

    lease = Lease(engine, "sweeper", WORK)
    with pytest.raises(RuntimeError, match="broken"):
        await asyncio.wait_for(lease.run(work), PATIENCE_SECONDS)
    assert await Worker(engine, 0).try_acquire()


async def test_a_group_of_tasks_that_was_deposed_starts_again(engine: Engine) -> None:
    lease = Lease(engine, "sweeper", WORK, look_every=0.05)
    rounds: list[int] = []

    async def one() -> None:
        if len(rounds) == 1:
            raise Deposed("sweeper")

    async def work() -> None:
        rounds.append(1)
        async with asyncio.TaskGroup() as group:
            group.create_task(one())

    await asyncio.wait_for(lease.run(work), PATIENCE_SECONDS)
    assert len(rounds) == 2


@pytest.mark.parametrize("seconds", [5, 20, 600])
def test_the_terms_of_a_lease_leave_time_to_renew_it_twice_and_to_take_it_over(seconds: int) -> None:
    terms = LeaseTerms.for_takeover_within(seconds)
    assert terms.renew_every + 2.0 <= terms.seconds
    # A look before the last renewal was seen, the lease, a look after it, and time for the writes.
    assert 2 * terms.look_every + terms.seconds <= 0.9 * seconds
    if seconds >= 20:
        assert terms.renew_every >= 10.0


@pytest.mark.soak
@pytest.mark.parametrize("target", BOTH)
async def test_who_died_is_replaced_within_the_takeover_time(target: str, tmp_path: Path) -> None:
    async with opened(target, tmp_path) as engine:
        rows, terms = WorkTable("Work"), LeaseTerms.for_takeover_within(20)
        await rows.create_if_missing(engine)
        owner, other = (Lease(engine, "work", rows, **terms._asdict()) for _ in range(2))
        await owner.acquire()
        waiting = asyncio.create_task(other.acquire())
        await asyncio.sleep(terms.renew_every)
        await owner.renew()
        died = time.monotonic()
        await waiting
        print(f"{target}: taken over {time.monotonic() - died:.1f} s after the last renewal")
        assert terms.seconds <= time.monotonic() - died <= 20

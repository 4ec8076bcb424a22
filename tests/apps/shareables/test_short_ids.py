"""The pool of short ids: each is issued once, and there is always one."""

import asyncio
from random import Random

import pytest

from potluck.apps.shareables import short_ids
from potluck.apps.shareables.entities import Shareable, ShortIdPoolEntry
from potluck.apps.shareables.fields import spelled
from potluck.apps.shareables.short_ids import PoolRefill, ShortIdPool
from potluck.engines.throttling import Throttling
from potluck.people.secrets import SYSTEM_RANDOM
from potluck.store import Store
from potluck.table import WriteRefused, absent, delete
from tests.apps.shareables.doors import calls_on, data, problem
from tests.apps.shareables.test_entities import checklist, new  # noqa: F401
from tests.patience import PATIENCE_SECONDS, until
from tests.people.assembly import WRAPPERS
from tests.web.cores import core_on

# In 800 places; test_killed.py has the pool as it is, in 4000. So deep that no partition is empty when 200 were taken.
POOL_PARTITIONS, POOL_DEPTH = 20, 40
FULL = POOL_PARTITIONS * POOL_DEPTH


@pytest.fixture(autouse=True)
def small_pool(monkeypatch):
    """Here the whole pool is waited for."""
    monkeypatch.setattr(short_ids, "REST_SECONDS", 0)
    monkeypatch.setattr(short_ids, "POOL_PARTITIONS", POOL_PARTITIONS)
    monkeypatch.setattr(short_ids, "POOL_DEPTH", POOL_DEPTH)


@pytest.fixture
def refilled(monkeypatch):
    """Set when the pool was filled: a batch whose answer is lost is written again, also what was claimed meanwhile."""
    ended, refill = asyncio.Event(), ShortIdPool.refill

    async def noted(pool):
        await refill(pool)
        ended.set()

    monkeypatch.setattr(ShortIdPool, "refill", noted)
    return ended


async def filled(calls, least=FULL):
    async def enough():
        return len(await calls.pool()) >= least

    await until(enough)
    return set(await calls.pool())


async def emptied(calls, *, but=()):
    store = Store(calls.engine, calls.clock)
    for partition in range(POOL_PARTITIONS):
        found = await store.all(ShortIdPoolEntry.in_partition(partition))
        await store.write_each(delete(each) for each in found if each not in but)
    return store


@pytest.mark.parametrize("wrapper", ["plain", "conflicting"])
async def test_two_hundred_at_once_get_two_hundred_ids_and_leave_the_pool_so_much_smaller(tmp_path, wrapper, refilled):
    async with calls_on(tmp_path, wrap=WRAPPERS[wrapper] or (lambda engine: engine)) as calls:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await refilled.wait()
        before = await filled(calls)
        made = await asyncio.gather(*(calls.made((), name=f"List {number}") for number in range(200)))
        ids = {each["shortId"] for each in made}
        after = set(await calls.pool())
        assert len(ids) == 200
        assert after < before
        assert {each.lower() for each in before - after} == ids
        assert {(await calls.seen(each))["name"] for each in made} == {f"List {number}" for number in range(200)}


async def test_whoever_loses_a_race_for_an_id_gets_another(calls, monkeypatch):
    before = await filled(calls)
    # All pick the same, until somebody was faster.
    picks = ShortIdPool.pick
    first = []

    async def the_same(self):
        if len(first) < 10:
            first.append(first[0] if first else await picks(self))
            return first[-1]
        return await picks(self)

    monkeypatch.setattr(ShortIdPool, "pick", the_same)
    made = await asyncio.gather(*(calls.made(()) for _ in range(10)))
    assert len({each["shortId"] for each in made}) == 10
    assert len(before - set(await calls.pool())) == 10


async def test_an_entry_that_has_become_another_id_is_not_claimed(new):  # noqa: F811
    store, _, _ = new
    pool = ShortIdPool(store, SYSTEM_RANDOM)
    seen = ShortIdPoolEntry(partition=1, bucket=0, id="AAA-AAA-00000")
    another = ShortIdPoolEntry(partition=1, bucket=0, id="BBB-BBB-00000")
    await store.put(another)
    mine = Shareable(**{**_fields(checklist), "short_id": "aaa-aaa-00000"})
    with pytest.raises(WriteRefused):
        await store.transact(*(each.operation for each in pool.claim(seen, mine)))
    assert await store.all(ShortIdPoolEntry.in_partition(1)) == [another]
    assert await store.get(Shareable.one("aaa-aaa-00000")) is None


async def test_an_empty_pool_is_filled_at_once(calls):
    await filled(calls)
    await emptied(calls)
    made = await asyncio.gather(*(calls.made(()) for _ in range(20)))
    assert len({each["shortId"] for each in made}) == 20
    # And in the background, to the brim but for what was taken meanwhile.
    await filled(calls, FULL - 20)


async def test_where_no_id_can_be_had_it_is_told_to_come_back(tmp_path):
    throttling = []

    def wrap(engine):
        throttling.append(Throttling(engine, seed=7, refused=0.0))
        return throttling[0]

    async with calls_on(tmp_path, wrap=wrap) as calls:
        await filled(calls)
        rows = len(await calls.rows())
        throttling[0].refused = 1.0
        refused = await calls.ask("POST", "/shareables", {"entity": "checklist", "name": "A"})
        throttling[0].refused = 0.0
        problem(refused, 503, "busy")
        assert refused.headers["retry-after"]
        assert len(await calls.rows()) == rows


async def test_an_id_that_is_in_use_is_not_issued_again(calls):
    await filled(calls)
    taken = await calls.made(())
    bad = ShortIdPoolEntry(partition=7, bucket=0, id=taken["shortId"].upper())
    store = await emptied(calls)
    for partition in range(POOL_PARTITIONS):
        await store.put(ShortIdPoolEntry(partition=partition, bucket=0, id=bad.id))
    made = await asyncio.gather(*(calls.made(()) for _ in range(5)))
    assert taken["shortId"] not in {each["shortId"] for each in made}
    assert (await calls.seen(taken))["name"] == "Packing"


async def test_new_ids_are_none_that_somebody_has(new):  # noqa: F811
    store, _, _ = new
    # The first id that this randomness makes is taken, also while it is kept for its admins.
    zeros, made = [bytes(8)] * 13, iter(range(1, 10**9))

    class Rigged(Random):
        def randbytes(self, n):
            return zeros.pop() if zeros else next(made).to_bytes(n, "big")

    await store.put(Shareable(**{**_fields(checklist), "short_id": "aaa-aaa-00000", "ttl": 2**32}), when=absent)
    pool = ShortIdPool(store, Rigged())
    entries = await pool._fill([(0, bucket) for bucket in range(3)])
    assert [(each.bucket, each.id == "AAA-AAA-00000") for each in entries] == [(1, False), (2, False)]


def _fields(entity):
    return {name: getattr(entity, name) for name in entity.__struct_fields__}


async def test_a_create_that_is_cut_off_takes_no_id(tmp_path):
    """Whatever is done of a transaction is done as a whole: the entry goes and the shareable comes, or neither."""

    class Cut:
        def __init__(self, engine):
            self.engine, self.cut = engine, False

        async def call(self, operation, request):
            if self.cut and operation == "TransactWriteItems":
                raise ConnectionError("killed")
            return await self.engine.call(operation, request)

        async def changed(self, table, timeout):
            return await self.engine.changed(table, timeout)

        async def close(self):
            await self.engine.close()

    async with calls_on(tmp_path, wrap=Cut) as calls:
        before = await filled(calls)
        calls.engine.cut = True
        answer = await calls.ask("POST", "/shareables", {"entity": "checklist", "name": "A"})
        calls.engine.cut = False
        assert answer.status_code == 500
        assert set(await calls.pool()) == before
        assert await calls.rows() == []


async def test_of_several_processes_one_fills_the_pool_at_a_time(new):  # noqa: F811
    store, _, _ = new
    pools = [ShortIdPool(store, SYSTEM_RANDOM) for _ in range(3)]
    at_once, most = 0, 0

    async def refill(pool):
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        try:
            await ShortIdPool.refill(pool)
            done.append(pool)
        finally:
            # Whoever loses the lease in the middle of it begins anew, when it is theirs again.
            at_once -= 1

    done: list[ShortIdPool] = []
    for pool in pools:
        pool.refill = lambda pool=pool: refill(pool)
    running = [asyncio.create_task(PoolRefill(core_on(store, store.clock), pool).run()) for pool in pools]
    try:

        async def all_have():
            return len(done) == 3

        await until(all_have)
    finally:
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    assert most == 1


@pytest.mark.parametrize(
    "written",
    [
        "abc-def-12345",
        "ABC-DEF-12345",
        "abcdef12345",
        " Abc Def 12345 ",
        "abc–def–12345",
        "abc.def.12345",
        "ABCDEF12345",
        "https://potluck.example/shareables/abc-def-12345",
        "http://127.0.0.1:8000/shareables/ABC-DEF-12345/?a=b#c",
        "potluck.example/shareables/abcdef12345#unlock",
    ],
)
def test_any_spelling_of_an_id_is_that_id(written):
    assert spelled(written) == "abc-def-12345"


@pytest.mark.parametrize("written", ["", "abc-def-1234", "abc-def-123456", "ab1-def-12345", "äbc-def-12345", "12345"])
def test_what_is_no_id_stays_as_it_is(written):
    assert spelled(written) == written


async def test_any_spelling_of_an_id_opens_it(calls):
    made = await calls.made()
    one, two, number = made["shortId"].split("-")
    for written in (f"{one}{two}{number}", f"{one} {two} {number}", made["shortId"].upper(), f"{one}-{two}{number}"):
        assert data(await calls.ask("GET", f"/shareables/{written}"))["shortId"] == made["shortId"]
    wrong = problem(await calls.ask("GET", f"/shareables/{one}-{two}"), 422, "invalid-fields")
    assert wrong["errors"] == [
        {"field": "shortId", "message": "A short id has three letters, three letters and five digits"}
    ]
    problem(await calls.ask("GET", "/shareables/aaa-aaa-00000"), 404, "not-found")

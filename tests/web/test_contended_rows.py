"""Rules whose writes may go to another row, and work that must be done before a write is answered."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID, uuid4

import pytest
from msgspec import Meta, Struct

from potluck.engines import ANSWER_LOST, DynamoError
from potluck.engines.conflicting import ONGOING
from potluck.people.entities import accounts
from potluck.people.idempotency import IdempotencyKey
from potluck.store import Patience, Store
from potluck.table import Counter, Entity, KeyOnly, Table, Unavailable, get, the, upsert
from potluck.web.access import Anyone, Visitor
from potluck.web.actions import Actions
from potluck.web.direct_calls import Direct
from potluck.web.writes import Writes, or_retry
from tests.engine_targets import EMBEDDED
from tests.stores import NOW, recorded_store
from tests.web.cores import core_on

rows_table = Table("Rows", "PK", "SK")


class Tally(Entity, table=rows_table, key=("TALLY#{tally_id}", "PART#{part:02}")):
    tally_id: Annotated[UUID, KeyOnly]
    part: Annotated[int, Meta(ge=0, lt=100), KeyOnly]
    number: Counter = 0

    @get(consistent=True)
    def one(tally_id: UUID, part: int) -> None:
        """How many here?"""


class Added(Struct):
    part: int


class Context:
    """Where the next rule adds, and what is done after its commit."""

    def __init__(self) -> None:
        self.part = 0
        self.done: list[int] = []
        self.fails = False


TALLY = UUID(int=1)
tally: Actions[Any] = Actions(Anyone, api="/tally", tag="Tally")


@tally.action("POST", "/add")
async def add(at: Anyone) -> Writes[Added]:
    """Add to some part."""
    context: Context = at.context
    part = context.part

    def elsewhere() -> None:
        context.part += 1

    write = upsert(Tally.one(TALLY, part), the(Tally.number).add(1))
    return Writes(Added(part), or_retry(write, contended=elsewhere))


@tally.action("POST", "/wait")
async def wait_for_it(at: Anyone) -> Writes[Added]:
    """Add to a part that cannot be another one."""
    return Writes(Added(0), upsert(Tally.one(TALLY, 0), the(Tally.number).add(1)))


@tally.action("POST", "/then")
async def add_and_then(at: Anyone) -> Writes[Added]:
    """Add once, and do something before it is answered, each time."""
    context: Context = at.context
    stored = await at.store.get(Tally.one(TALLY, 0))

    async def then() -> None:
        now = await at.store.one(Tally.one(TALLY, 0))
        if context.fails:
            raise Unavailable("the engine is gone")
        context.done.append(now.number)

    writes = [] if stored else [upsert(Tally.one(TALLY, 0), the(Tally.number).add(1))]
    return Writes(Added(0), *writes, then=then)


class Held:
    """An engine where other transactions hold some rows; an answer may be lost first."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.held: dict[str, int] = {}
        self.lost = 0

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation == "TransactWriteItems":
            sort_keys = [self._sort_key(action) for action in request["TransactItems"]]
            conflicts = [self.held.get(key, 0) > 0 for key in sort_keys]
            if self.lost:
                self.lost -= 1
                await self.engine.call(operation, request)
                raise DynamoError(ANSWER_LOST, "the connection was closed")
            if any(conflicts):
                for key in sort_keys:
                    self.held[key] = self.held.get(key, 0) - 1
                reasons = [{"Code": "TransactionConflict" if conflict else "None"} for conflict in conflicts]
                raise DynamoError("TransactionCanceledException", ONGOING, reasons=reasons)
        answer: dict[str, Any] = await self.engine.call(operation, request)
        return answer

    @staticmethod
    def _sort_key(action: dict[str, Any]) -> str:
        (body,) = action.values()
        return str((body.get("Key") or body["Item"])["SK"]["S"])

    async def changed(self, table: str, timeout: float) -> bool:
        return False

    async def close(self) -> None: ...


class World:
    def __init__(self, store: Store, held: Held) -> None:
        self.store, self.held, self.context = store, held, Context()
        self.direct = Direct(core_on(store, store.clock), [tally], self.context)

    async def numbers(self) -> dict[int, int]:
        parts = await self.store.get_many([Tally.one(TALLY, part) for part in range(5)])
        return {part.part: part.number for part in parts if part is not None}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with recorded_store(EMBEDDED, tmp_path, rows_table, accounts) as (_, recording):
        held = Held(recording)
        yield World(Store(held, lambda: NOW, Patience(first_wait=0.0)), held)


async def test_a_write_that_meets_another_transaction_goes_to_another_row(world):
    world.held.held = {"PART#00": 100, "PART#01": 100}
    assert (await world.direct.do(add, None)).part == 2
    assert await world.numbers() == {2: 1}


async def test_a_write_that_cannot_go_elsewhere_waits_for_its_row(world):
    world.held.held = {"PART#00": 3}
    await world.direct.do(wait_for_it, None)
    assert (await world.numbers(), world.held.held) == ({0: 1}, {"PART#00": 0})


async def test_a_write_whose_answer_was_lost_goes_nowhere_else_and_is_made_once(world):
    world.held.lost, world.held.held = 1, {"PART#00": 2}
    assert (await world.direct.do(add, None)).part == 0
    assert await world.numbers() == {0: 1}


def key() -> IdempotencyKey:
    return IdempotencyKey.by_nobody(str(uuid4()), "0" * 64)


async def test_what_must_be_done_first_is_done_after_the_commit_and_before_the_answer_is_stored(world):
    known = key()
    await world.direct.do(add_and_then, None, key=known)
    assert (world.context.done, await world.numbers()) == ([1], {0: 1})
    # A repeat gets the stored answer, and nothing is done.
    repeated = await world.direct.runner.perform(world.direct.declared(add_and_then), Visitor(), {}, key=known)
    assert repeated.response.body == b'{"part":0}'
    assert world.context.done == [1]


async def test_if_it_fails_the_request_fails_and_a_repeat_does_it_again(world):
    known = key()
    world.context.fails = True
    with pytest.raises(Unavailable):
        await world.direct.do(add_and_then, None, key=known)
    assert (world.context.done, await world.numbers()) == ([], {0: 1})
    world.context.fails = False
    await world.direct.do(add_and_then, None, key=known)
    assert (world.context.done, await world.numbers()) == ([1], {0: 1})

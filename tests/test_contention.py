"""Fifty writers at once: names stay unique, versions have no gap, counters lose nothing, whatever the engine does."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from potluck.engines import ANSWER_LOST, DynamoError, Engine
from potluck.engines.conflicting import Conflicting
from potluck.engines.lagging import Lagging
from potluck.engines.throttling import Throttling
from potluck.store import Patience, Store
from potluck.table import (
    AlreadyExists,
    Changed,
    NotUnique,
    OutcomeUnknown,
    VersionConflict,
    absent,
    check,
    delete,
    present,
    put,
    the,
    update,
)
from tests.engine_targets import BOTH, EMBEDDED
from tests.stores import NOW, recorded_store
from tests.table.clubs import Club, Meeting, Member, clubs

WRITERS = 50
CLUB = UUID(int=1)
MEMBER = UUID(int=2)

WRAPPERS: dict[str, Callable[[Engine], Engine] | None] = {
    "plain": None,
    "conflicting": lambda engine: Conflicting(engine, seed=7, conflicts=0.2, single_writes=0.1),
    "lagging": lambda engine: Lagging(engine, writes=20, eventual=True, seed=7),
    "throttling": lambda engine: Throttling(engine, seed=7, refused=0.2),
}


# Every wrapper on the embedded engine and DynamoDB Local as it is; the rest takes minutes, and is the long form.
ENGINES = [
    pytest.param(
        (engine, wrapper),
        id=f"{engine}-{wrapper}",
        marks=[pytest.mark.soak] if engine != EMBEDDED and wrapper != "plain" else [],
    )
    for engine in BOTH
    for wrapper in WRAPPERS
]


@pytest.fixture(params=ENGINES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    engine, wrapper = request.param
    async with recorded_store(engine, tmp_path, clubs, wrap=WRAPPERS[wrapper]) as (store, _):
        yield store


def member(**values: object) -> Member:
    return Member(**{"club_id": CLUB, "member_id": MEMBER, "name": "Ada", **values})  # type: ignore[arg-type]


def elsewhere(store: Store, number: int) -> Store:
    """One of five stores on the same engine, as five processes would have."""
    if not hasattr(store, "others"):
        store.others = [Store(store.engine, store.clock) for _ in range(5)]  # type: ignore[attr-defined]
    return store.others[number % 5]  # type: ignore[attr-defined, no-any-return]


async def counted(*attempts: object) -> dict[type, int]:
    """How many attempts ended how."""
    ended: dict[type, int] = {}
    for outcome in await asyncio.gather(*attempts, return_exceptions=True):  # type: ignore[call-overload]
        kind = type(outcome) if isinstance(outcome, BaseException) else object
        if isinstance(outcome, BaseException) and not isinstance(
            outcome, AlreadyExists | NotUnique | VersionConflict | Changed
        ):
            raise outcome
        ended[kind] = ended.get(kind, 0) + 1
    return ended


async def test_of_fifty_equal_creations_one_is_done(store: Store) -> None:
    ended = await counted(*(store.put(member(owes=each), when=absent) for each in range(WRITERS)))
    assert ended == {object: 1, AlreadyExists: WRITERS - 1}


async def test_of_fifty_equal_names_one_is_given(store: Store) -> None:
    names = ("Chess", "chess", " CHESS ")
    ended = await counted(
        *(store.put(Club(club_id=uuid4(), name=names[each % 3]), when=absent) for each in range(WRITERS))
    )
    assert ended == {object: 1, NotUnique: WRITERS - 1}


async def test_a_name_that_is_passed_on_is_never_held_by_two(store: Store) -> None:
    made = [Club(club_id=uuid4(), name=f"club {each}") for each in range(10)]
    for club in made:
        await store.put(club, when=absent)

    async def take(club: Club) -> None:
        taken = await store.update(club, the(Club.name).becomes("wanted"))
        assert taken.name == "wanted"
        await store.delete(taken)

    for _ in range(3):
        ended = await counted(*(take(club) for club in made))
        assert ended.get(object, 0) >= 1
        left = await store.get_many([Club.one(club.club_id) for club in made])
        made = [club for club in left if club is not None]
        assert all(club.name != "wanted" for club in made)
    await store.put(Club(club_id=uuid4(), name="Wanted"), when=absent)


async def test_fifty_edits_raise_the_version_by_one_each(store: Store) -> None:
    await store.put(member(), when=absent)

    async def edit(number: int) -> int:
        change = [the(Member.name).becomes(f"name {number}")]
        edited = await elsewhere(store, number).modify(Member.one(CLUB, MEMBER), lambda _: change)
        return edited.version

    versions = await asyncio.gather(*(edit(number) for number in range(WRITERS)))
    assert sorted(versions) == list(range(2, WRITERS + 2))


async def test_one_version_is_edited_once_and_every_refusal_tells_what_is_there(store: Store) -> None:
    seen = await store.put(member(), when=absent)
    outcomes = await asyncio.gather(
        *(store.update(seen, the(Member.name).becomes(f"name {each}")) for each in range(WRITERS)),
        return_exceptions=True,
    )
    (done,) = [each for each in outcomes if isinstance(each, Member)]
    refusals = [each for each in outcomes if isinstance(each, VersionConflict)]
    assert len(refusals) == WRITERS - 1
    assert all(each.current == done for each in refusals)


async def test_fifty_steps_of_an_indexed_number_all_count(store: Store) -> None:
    await store.put(member(), when=absent)

    async def step(number: int) -> None:
        one_more = elsewhere(store, number)
        await one_more.modify(Member.one(CLUB, MEMBER), lambda seen: [the(Member.owes).becomes(seen.owes + 1)])

    await asyncio.gather(*(step(number) for number in range(WRITERS)))
    stepped = await store.one(Member.one(CLUB, MEMBER))
    assert (stepped.owes, stepped.version) == (WRITERS, WRITERS + 1)


async def test_fifty_lines_of_a_text_without_a_version_are_all_there(store: Store) -> None:
    meeting = Meeting(club_id=CLUB, meeting_id=MEMBER, begins=NOW, title="Evening")
    ref = Meeting.one(CLUB, NOW, MEMBER)
    await store.put(meeting)

    async def write_down(number: int) -> None:
        await elsewhere(store, number).modify(
            ref, lambda seen: [the(Meeting.minutes).becomes(f"{seen.minutes or ''}{number}\n")]
        )

    await asyncio.gather(*(write_down(number) for number in range(WRITERS)))
    written = (await store.one(ref.consistently())).minutes
    assert sorted((written or "").split(), key=int) == [str(number) for number in range(WRITERS)]


async def test_fifty_steps_that_keep_the_version_all_count(store: Store) -> None:
    await store.put(member(), when=absent)

    async def step(number: int) -> None:
        await elsewhere(store, number).modify(
            Member.one(CLUB, MEMBER), lambda seen: [the(Member.team).becomes(f"{seen.team or ''}x")], keep_version=True
        )

    await asyncio.gather(*(step(number) for number in range(WRITERS)))
    stepped = await store.one(Member.one(CLUB, MEMBER))
    assert (stepped.team, stepped.version) == ("x" * WRITERS, 1)


async def test_fifty_additions_to_a_counter_all_count_and_leave_the_version(store: Store) -> None:
    await store.put(member(), when=absent)
    await asyncio.gather(*(store.update(Member.one(CLUB, MEMBER), the(Member.visits).add(1)) for _ in range(WRITERS)))
    counted_up = await store.one(Member.one(CLUB, MEMBER))
    assert (counted_up.visits, counted_up.version) == (WRITERS, 1)


async def test_members_join_and_leave_in_transactions_and_the_count_is_theirs(store: Store) -> None:
    await store.put(Club(club_id=CLUB, name="Chess"), when=absent)

    async def join_and_perhaps_leave(number: int) -> None:
        joining = member(member_id=UUID(int=100 + number), name=f"member {number}")
        await store.transact(put(joining, when=absent), update(Club.one(CLUB), the(Club.members).add(1)))
        if number % 2:
            await store.transact(delete(joining), update(Club.one(CLUB), the(Club.members).add(-1)))

    await asyncio.gather(*(join_and_perhaps_leave(number) for number in range(WRITERS)))
    club = await store.one(Club.one(CLUB))
    members = await store.all(Member.of_club(CLUB).consistently())
    assert club.members == len(members) == WRITERS // 2
    assert club.version == 1


async def test_versions_hold_inside_transactions(store: Store) -> None:
    await store.put(Club(club_id=CLUB, name="Chess"), when=absent)
    seen = await store.put(member(), when=absent)

    async def edit(number: int) -> None:
        await store.transact(
            update(seen, the(Member.name).becomes(f"name {number}")),
            update(Club.one(CLUB), the(Club.members).add(1)),
        )

    ended = await counted(*(edit(number) for number in range(WRITERS)))
    assert ended == {object: 1, VersionConflict: WRITERS - 1}
    assert (await store.one(Member.one(CLUB, MEMBER))).version == 2
    assert (await store.one(Club.one(CLUB))).members == 1


async def test_names_are_unique_inside_transactions(store: Store) -> None:
    async def found(number: int) -> None:
        club = Club(club_id=UUID(int=100 + number), name="Chess")
        await store.transact(put(club, when=absent), put(member(club_id=club.club_id), when=absent))

    ended = await counted(*(found(number) for number in range(WRITERS)))
    assert ended == {object: 1, NotUnique: WRITERS - 1}
    founded = await store.get_many([Member.one(UUID(int=100 + number), MEMBER) for number in range(WRITERS)])
    assert sum(each is not None for each in founded) == 1


class Losing:
    """An engine that loses the answers to some writes, done or not; all choices come from the seed."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self.engine = engine
        self._random = random.Random(seed)

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        chance = self._random.random() if operation in {"UpdateItem", "TransactWriteItems"} else 1.0
        await asyncio.sleep(0)
        if chance < 0.15:
            raise DynamoError(ANSWER_LOST, "it was not done")
        answer = await self.engine.call(operation, request)
        await asyncio.sleep(0)
        if chance < 0.3:
            raise DynamoError("InternalServerError", "it was done")
        return answer

    async def changed(self, table: str, timeout: float) -> bool:
        return False

    async def close(self) -> None:
        pass


STEPS: dict[str, Callable[[Store], Awaitable[Any]]] = {
    "versioned": lambda store: store.modify(ADA, lambda seen: [the(Member.owes).becomes(seen.owes + 1)]),
    "version kept": lambda store: store.modify(
        ADA, lambda seen: [the(Member.team).becomes(f"{seen.team or ''}x")], keep_version=True
    ),
    "without a version": lambda store: store.modify(
        EVENING, lambda seen: [the(Meeting.minutes).becomes(f"{seen.minutes or ''}x")]
    ),
    "counted": lambda store: store.update(ADA, the(Member.visits).add(1)),
    "in a transaction": lambda store: store.transact(update(CHESS, the(Club.members).add(1)), check(ADA, present)),
}
CHESS, ADA, EVENING = Club.one(CLUB), Member.one(CLUB, MEMBER), Meeting.one(CLUB, NOW, MEMBER)


@pytest.mark.parametrize("seed", range(10))
async def test_whatever_answers_are_lost_a_step_is_made_once_or_its_outcome_is_unknown(
    tmp_path: Path, seed: int
) -> None:
    async with recorded_store(EMBEDDED, tmp_path, clubs) as (store, recording):
        await store.put(Club(club_id=CLUB, name="Chess"), when=absent)
        await store.put(member(), when=absent)
        await store.put(Meeting(club_id=CLUB, meeting_id=MEMBER, begins=NOW, title="Evening"))
        # So many that no transaction, which may be sent again, runs out of them by chance.
        patience = Patience(attempts=60, first_wait=0.0)
        stores = [Store(Losing(recording, seed * 3 + number), store.clock, patience) for number in range(3)]
        made = dict.fromkeys(STEPS, 0)
        unknown = dict.fromkeys(STEPS, 0)

        async def step(kind: str, number: int) -> None:
            try:
                await STEPS[kind](stores[number % 3])
                made[kind] += 1
            except OutcomeUnknown:
                unknown[kind] += 1

        await asyncio.gather(*(step(kind, number) for number in range(12) for kind in STEPS))
        chess, ada, evening = await store.one(CHESS), await store.one(ADA), await store.one(EVENING)
        there = {
            "versioned": ada.owes,
            "version kept": len(ada.team or ""),
            "without a version": len(evening.minutes or ""),
            "counted": ada.visits,
            "in a transaction": chess.members,
        }
        assert unknown["in a transaction"] == 0
        for kind, steps in there.items():
            assert made[kind] <= steps <= made[kind] + unknown[kind], kind

"""An accelerated store reads like a plain one, whoever writes and however the clock goes."""

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Annotated, Any
from uuid import UUID

import apsw
import pytest
from msgspec import Meta, field

from potluck.acceleration import ALL, PLAIN, Accelerations
from potluck.dynamo.database import Database
from potluck.dynamo.storage import touches
from potluck.people.authentication import Authenticator
from potluck.people.entities import Account, ApiToken, Session, accounts
from potluck.people.secrets import SecretKind, hash_of, new_secret
from potluck.people.sessions import opening
from potluck.store import Store
from potluck.table import (
    Entity,
    Range,
    StartsWith,
    Table,
    absent,
    delete,
    put,
    query,
    the,
    update,
)
from tests.faults.test_two_processes import second_process
from tests.people.assembly import Clock
from tests.stores import NOW
from tests.table.clubs import Listed, Meeting, Member, clubs

CLUB = UUID(int=1)
NUMBERS = range(6)
STEPS = 120

BY_DATA_VERSION = replace(ALL, wal_index=False)
cached = pytest.mark.parametrize("accelerations", [ALL, BY_DATA_VERSION], ids=["wal index", "data version"])
in_every_mode = pytest.mark.parametrize(
    "accelerations", [ALL, BY_DATA_VERSION, PLAIN], ids=["wal index", "data version", "plain"]
)

shelves = Table("Shelves", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")}, type_attribute="kind", names="camel")
Text = Annotated[str, Meta(min_length=1, max_length=100)]


class Box(Entity, table=shelves, type="Box", key=("SHELF", "BOX#{name}")):
    """What holds something that its reader can change."""

    name: Text
    contents: list[str] = field(default_factory=list)

    @query(consistent=True)
    def all() -> None:
        """Which boxes are there?"""


class Pair(
    Entity,
    table=shelves,
    type="Pair",
    key=("SHELF", "PAIR#{number}"),
    GSI1=("PAIRS", "{left:folded 20}#{right:folded 20}"),
):
    """Two texts, of which the index has no more than their beginnings."""

    number: UUID
    left: Text
    right: Text

    @query("GSI1")
    def of(left: str, right: str) -> None:
        """Which pairs are these two?"""


class Counted(Database):
    """A database that counts what it is asked."""

    asked = 0

    async def query_rows(self, request: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        return await super().query_rows(request)

    def row(self, table: str, key: dict[str, Any]) -> bytes | None:
        self.asked += 1
        return super().row(table, key)

    def rows_of(self, table: str, keys: list[dict[str, Any]]) -> dict[int, bytes]:
        self.asked += 1
        return super().rows_of(table, keys)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def accelerations():
    return ALL


@pytest.fixture
async def database(path, accelerations):
    database = await Counted.open(path, accelerations=accelerations)
    await Store(database, lambda: NOW).create_tables(clubs, shelves, accounts)
    yield database
    await database.close()


@pytest.fixture
async def elsewhere(database, path, accelerations):
    """The same file opened again, which is to SQLite as another process is."""
    opened = await Counted.open(path, accelerations=accelerations)
    yield opened
    await opened.close()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(database, clock, accelerations):
    return Store(database, clock, accelerations=accelerations)


def member(number: int, **values: Any) -> Member:
    return Member(**{"club_id": CLUB, "member_id": UUID(int=number), "name": f"member {number}", **values})


def meeting(number: int, **values: Any) -> Meeting:
    begins = datetime(2040, 1, 1, tzinfo=UTC) + timedelta(days=number)
    return Meeting(**{"club_id": CLUB, "meeting_id": UUID(int=number), "begins": begins, "title": "Evening", **values})


async def written(engine: Any, *operations: Any) -> None:
    """As whoever writes without asking what is there."""
    for each in operations:
        request = each.request(0)
        body = {key: request.body[key] for key in ("TableName", "Item", "Key") if key in request.body}
        await engine.call(request.operation, body)


def over(entity: Entity) -> Any:
    """The entity, in place of whatever is there."""
    return put(entity, when=absent)


async def test_rows_of_one_table_are_read_at_once(store, database, clock):
    soon = int(clock().timestamp()) + 5
    await written(database, over(member(1)), over(meeting(1)), over(meeting(2, ttl=soon)))
    refs = [
        *(Meeting.one(CLUB, meeting(number).begins, UUID(int=number)) for number in (2, 3, 1)),
        Member.one(CLUB, UUID(int=1)),
        Meeting.one(CLUB, meeting(1).begins, UUID(int=1)),
    ]
    for _ in range(2):
        asked = database.asked
        found = await store.get_many(refs)
        assert database.asked == asked + 1
        assert found == [await store.get(ref) for ref in refs]
        assert [each is None for each in found] == [clock().timestamp() >= soon, True, False, False, False]
        clock.now += timedelta(seconds=5)


# --- a walk ----------------------------------------------------------------------------------------------------------

# What can be asked, and whether its answer is one that is kept.
QUESTIONS = [
    (lambda: Member.of_club(CLUB), True),
    (lambda: Member.of_club(CLUB).reversed(), True),
    (lambda: Member.of_club(UUID(int=2)), True),
    (lambda: Member.by_name(CLUB), True),
    (lambda: Member.called(CLUB, StartsWith("a")), True),
    (lambda: Member.called(CLUB, StartsWith("A" * 30 + "b")), True),
    (lambda: Member.owing(CLUB), True),
    (lambda: Member.owing_between(CLUB, Range(1, 3)), True),
    (lambda: Member.owing_between(CLUB, Range(2)), True),
    (lambda: Member.in_team(CLUB, "red"), False),
    (lambda: Member.of_club(CLUB).where(the(Member.visits) > 1), False),
    (lambda: Meeting.of_club(CLUB), True),
    (lambda: Meeting.of_club(CLUB).reversed(), True),
    (lambda: Meeting.of_club(CLUB).consistently(), True),
    (lambda: Meeting.within(CLUB, Range(meeting(1).begins, meeting(3).begins)), True),
    (lambda: Listed.of_club(CLUB), False),
]


def something_written(chance: random.Random, clock: Clock) -> Any:
    number = chance.choice(NUMBERS)
    match chance.randrange(5):
        case 0:
            return delete(Member.one(CLUB, UUID(int=number)))
        case 1:
            return delete(meeting(number))
        case 2:
            ttl = chance.choice([None, int(clock().timestamp()) + chance.randint(-3, 6)])
            return over(meeting(number, ttl=ttl, title=chance.choice(["Evening", "Ale"])))
        case _:
            return over(
                member(
                    number,
                    name=chance.choice(["Ada", "ada", "Ben", "A" * 30 + "b", "a" * 30 + "C"]),
                    team=chance.choice([None, "red"]),
                    owes=chance.randrange(4),
                    visits=chance.randrange(4),
                )
            )


async def read(store: Store, asked: Any, how: int) -> Any:
    """All of it, its pages of so many, or how many there are; what was given is spoilt afterwards."""
    if how == 0:
        given = await store.all(asked)
        found = [*given]
        given.clear()
        return found
    if how < 0:
        return await store.count(asked), await store.first(asked)
    pages, after = [], None
    while len(pages) <= len(NUMBERS):
        page = await store.page(asked, how, after)
        after = page.next
        pages.append(([*page.items], after))
        page.items.clear()
        if after is None:
            break
    return pages


class Another:
    """The engine of the second process."""

    def __init__(self, process: Any) -> None:
        self.call = process.call


@cached
async def test_every_read_is_as_a_plain_store_would_have_it(
    database, elsewhere, path, clock, accelerations: Accelerations
):
    chance = random.Random(20401)
    plain = Store(database, clock, accelerations=PLAIN)
    async with second_process(path) as process:
        engines = [database, elsewhere, Another(process)]
        remembering = [(Store(engine, clock, accelerations=accelerations), engine) for engine in (database, elsewhere)]
        for number in NUMBERS:
            await written(database, over(member(number)), over(meeting(number, ttl=int(NOW.timestamp()) + number)))
        known = 0
        for step in range(STEPS):
            if chance.random() < 0.5:
                await written(chance.choice(engines), something_written(chance, clock))
            else:
                clock.forward(seconds=chance.randint(-4, 4))
            for ask, kept in chance.sample(QUESTIONS, 4):
                how = chance.choice([-1, 0, 0, 1, 2, 3, 100])
                expected = await read(plain, ask(), how)
                for store, engine in remembering:
                    # What is read once is not worth remembering.
                    for _ in range(2):
                        assert await read(store, ask(), how) == expected, (step, ask().pattern, how)
                    before = engine.asked
                    assert await read(store, ask(), how) == expected, (step, ask().pattern, how)
                    if kept and how >= 0:
                        assert engine.asked == before, "it was not known"
                        known += 1
        assert known > STEPS


@cached
@pytest.mark.parametrize("answers", [500, pytest.param(20_000, marks=pytest.mark.soak)])
async def test_beside_three_processes_that_write_no_answer_is_of_yesterday(database, store, path, clock, answers):
    """An answer that is the same in a plain store before and after is the same here: no value comes back."""
    chance, numbers = random.Random(54), count()
    plain = Store(database, clock, accelerations=PLAIN)
    places = [UUID(int=number) for number in range(1, 5)]
    stopping = False

    def next_write() -> Any:
        number, club = next(numbers), chance.choice(places)
        who = chance.choice(NUMBERS)
        if chance.random() < 0.2:
            return delete(Member.one(club, UUID(int=who)))
        return over(member(who, club_id=club, name=f"member {number}", owes=number % 3, visits=number))

    async def write(engine: Any) -> None:
        while not stopping:
            await written(engine, next_write())
            await asyncio.sleep(chance.random() * 0.004)

    async def everything(store: Store, club: UUID) -> Any:
        """What several partitions and an index say, remembered as one."""

        async def work() -> tuple[Any, int]:
            whom = await store.get(Member.one(club, UUID(int=1)))
            return (whom, await store.all(Member.by_name(club)), await store.all(Member.owing(places[0]))), 100

        return await store.cache_answer(("everything", club), work)

    asked = [
        lambda store, club: store.all(Member.of_club(club)),
        lambda store, club: store.all(Member.by_name(club)),
        lambda store, club: store.page(Member.owing(club), 2),
        lambda store, club: store.get(Member.one(club, UUID(int=1))),
        everything,
    ]
    compared = known = 0
    async with second_process(path) as a, second_process(path) as b, second_process(path) as c:
        writing = [asyncio.create_task(write(each)) for each in (database, Another(a), Another(b), Another(c))]
        try:
            while compared < answers:
                ask, club = chance.choice(asked), chance.choice(places)
                before = await ask(plain, club)
                asked_before = database.asked
                found = await ask(store, club)
                known += database.asked == asked_before
                if await ask(plain, club) == before:
                    assert found == before, (compared, club)
                    compared += 1
                if chance.random() < 0.2:
                    await asyncio.sleep(0)
        finally:
            stopping = True
            await asyncio.gather(*writing)
    assert next(numbers) > answers / 100
    assert known > answers / 10, "nothing was remembered"


# --- what is kept, and how long --------------------------------------------------------------------------------------


async def answers_known(store: Store, database: Counted, asked: Any) -> bool:
    for _ in range(2):
        await store.all(asked)
    before = database.asked
    await store.all(asked)
    return database.asked == before


@cached
async def test_what_expires_is_read_again_at_its_second(store, database, clock):
    now = int(clock().timestamp())
    await store.write_each([put(meeting(1, ttl=now + 2)), put(meeting(2, ttl=now + 4)), put(meeting(3))])

    async def seen() -> list[int]:
        both = [each.meeting_id.int for each in await store.all(Meeting.of_club(CLUB))]
        assert both == [each.meeting_id.int for each in (await store.page(Meeting.of_club(CLUB), 9)).items]
        return both

    for seconds, expected in ((0, [1, 2, 3]), (1, [1, 2, 3]), (1, [2, 3]), (1, [2, 3]), (1, [3]), (-3, [1, 2, 3])):
        clock.forward(seconds=seconds)
        for _ in range(2):
            assert await seen() == expected
        before = database.asked
        assert await seen() == expected
        assert database.asked == before


async def test_only_a_write_to_what_was_read_makes_it_be_read_again(store, database, elsewhere, clock):
    """Whoever writes: the partition counts, of the table or of an index, before the write and after it."""
    await written(database, over(member(1)), over(member(2, name="Ben")))
    asked = [Member.of_club(CLUB), Member.by_name(CLUB), Member.of_club(UUID(int=2)), Member.owing(CLUB)]

    async def forgotten(*operations: Any, by: Any) -> list[bool]:
        for each in asked:
            assert await answers_known(store, database, each)
        await written(by, *operations)
        outcome = []
        for each in asked:
            before = database.asked
            await store.all(each)
            outcome.append(database.asked > before)
        return outcome

    for by in (database, elsewhere):
        assert await forgotten(put(Box(name="a", contents=[f"{by}"])), by=by) == [False] * 4
        assert await forgotten(over(member(3, club_id=UUID(int=2), name=f"{by}")), by=by) == [False, False, True, False]
        assert await forgotten(over(member(1, name=f"{by}")), by=by) == [True, True, False, False]
        assert await forgotten(over(member(1, owes=2)), by=by) == [True, True, False, True]
        assert await forgotten(delete(Member.one(CLUB, UUID(int=1))), by=by) == [True, True, False, True]
    assert await forgotten(over(member(1)), by=database) == [True, True, False, False]


async def test_what_cannot_be_told_apart_is_forgotten(store, database, elsewhere, monkeypatch):
    """A table without a log, a log that others filled, a definition that changed."""
    monkeypatch.setattr(touches, "MOST_RECORDS", 20)
    unlogged = {"StreamEnabled": False}
    await database.call("UpdateTable", {"TableName": shelves.name, "StreamSpecification": unlogged})
    await store.put(Box(name="a"))
    await written(database, over(member(1)))

    async def known_after(write: Any, asked: Any) -> bool:
        assert await answers_known(store, database, asked)
        await write
        before = database.asked
        await store.all(asked)
        return database.asked == before

    pairs, club = Pair.of(left="a", right="b"), Member.of_club(CLUB)
    await store.put(Pair(number=UUID(int=1), left="a", right="b"))
    assert not await known_after(written(elsewhere, put(Box(name="b"))), pairs)
    assert await known_after(written(elsewhere, put(Box(name="c"))), club)
    many = [over(member(number, club_id=UUID(int=2))) for number in range(41)]
    assert await known_after(written(elsewhere, *many[:20]), club)
    assert not await known_after(written(elsewhere, *many[20:]), club)
    tagged = {"TableName": shelves.name, "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}}
    assert not await known_after(elsewhere.call("UpdateTable", tagged), club)
    assert not await known_after(written(elsewhere, put(Box(name="d"))), pairs)


@cached
async def test_what_was_written_while_it_was_read_is_not_taken_for_what_was_before(store, database, monkeypatch):
    """The answer of a read that a write came into is not given again."""
    await written(database, *(over(member(number)) for number in NUMBERS))
    query_rows = Counted.query_rows

    async def interrupted(self, request):
        answer = await query_rows(self, request)
        monkeypatch.setattr(Counted, "query_rows", query_rows)
        await store.delete(Member.one(CLUB, UUID(int=0)))
        return answer

    await store.all(Member.of_club(CLUB).reversed())
    monkeypatch.setattr(Counted, "query_rows", interrupted)
    assert len(await store.all(Member.of_club(CLUB))) == len(NUMBERS)
    assert len(await store.all(Member.of_club(CLUB))) == len(NUMBERS) - 1


async def test_a_commit_that_was_looked_up_does_not_stand_for_one_of_another_process(
    store, database, elsewhere, monkeypatch
):
    """Another process commits twice, each time seen by a reader, before the writer says that its own is made."""
    ended = touches.Touches.ended
    seen: list[int] = []

    def late(self, *, committed):
        monkeypatch.setattr(self, "ended", partial(ended, self))
        for number in (1, 2):
            asyncio.run(written(elsewhere, over(member(number))))
            # What is read again is kept.
            seen.extend(len(asyncio.run(store.all(Member.of_club(CLUB)))) for _ in range(3))
        ended(self, committed=committed)

    await store.all(Member.of_club(CLUB))
    monkeypatch.setattr(database.file.commits, "ended", partial(late, database.file.commits))
    await written(database, over(member(3, club_id=UUID(int=2))))
    assert seen == [1, 1, 1, 2, 2, 2]
    assert len(await store.all(Member.of_club(CLUB))) == 2


async def test_a_transaction_that_wrote_nothing_does_not_stand_for_a_commit_of_another_process(
    store, database, elsewhere, monkeypatch
):
    """Another process commits between the end of a transaction that changed nothing and the writer's saying so."""
    ended = touches.Touches.ended

    def late(self, *, committed):
        monkeypatch.setattr(self, "ended", partial(ended, self))
        asyncio.run(written(elsewhere, over(member(1))))
        ended(self, committed=committed)

    assert await store.all(Member.of_club(CLUB)) == []
    monkeypatch.setattr(database.file.commits, "ended", partial(late, database.file.commits))
    await written(database, delete(Member.one(CLUB, UUID(int=2))))
    assert len(await store.all(Member.of_club(CLUB))) == 1


async def test_no_thread_is_told_of_a_commit_before_it_is_noted_what_that_touched(database, monkeypatch):
    """A thread that has just compared the header asks for the count while another is at accounting for a commit."""
    known, index, touch = database.state(), database.file.commits._index, touches.Touches._touch
    header = index.first()
    told: list[int] = []

    def while_touching(self, places):
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(type(index), "first", lambda self: header)
            told.append(self.count())
        touch(self, places)

    monkeypatch.setattr(touches.Touches, "_touch", while_touching)
    await written(database, over(member(1)))
    assert told == [known]
    assert database.state() == known + 1


@in_every_mode
async def test_what_its_reader_can_change_is_made_anew(store):
    await store.put(Box(name="a", contents=["string"]))
    for read in (store.all, lambda asked: store.page(asked, 5)):
        for _ in range(3):
            found = await read(Box.all())
            (box,) = found if isinstance(found, list) else found.items
            assert box.contents == ["string"]
            box.contents.append("buttons")


@in_every_mode
async def test_two_questions_that_look_alike_in_the_key_are_two(store):
    """The index has the beginnings of both texts, which are the same; the rest is compared, whichever came first."""
    one, other = "x" * 40 + "1", "x" * 40 + "2"
    await store.put(Pair(number=UUID(int=1), left=one, right=other))
    for _ in range(3):
        assert len(await store.all(Pair.of(left=one, right=other))) == 1
        assert await store.all(Pair.of(right=one, left=other)) == []
        assert len(await store.all(Pair.of(right=other, left=one))) == 1


@in_every_mode
async def test_what_only_some_of_the_rows_answer_is_asked_each_time(store, database):
    await written(database, over(member(1, team="red")), over(member(2, team="blue", visits=3)))
    everyone = Member.of_club(CLUB)
    expected = [
        (everyone, [1, 2]),
        (everyone.where(the(Member.visits) > 1), [2]),
        (everyone.where(the(Member.visits) < 1), [1]),
        (Member.in_team(CLUB, "red"), [1]),
        (Member.in_team(CLUB, "blue"), [2]),
    ]
    for _ in range(3):
        for asked, numbers in expected:
            assert [each.member_id.int for each in await store.all(asked)] == numbers
            assert [each.member_id.int for each in (await store.page(asked, 5)).items] == numbers


@cached
async def test_a_table_that_was_made_anew_has_nothing_of_the_one_before(store, elsewhere, clock):
    there, beside = Store(elsewhere, clock), Store(store.engine, clock, accelerations=PLAIN)
    await written(store.engine, over(member(1)))
    for number in (2, 3):
        assert await answers_known(store, store.engine, Member.of_club(CLUB))
        await elsewhere.call("DeleteTable", {"TableName": clubs.name})
        for each in (beside, store):
            with pytest.raises(Exception, match="not found"):
                await each.all(Member.of_club(CLUB))
        await there.create_tables(clubs)
        assert await store.all(Member.of_club(CLUB)) == []
        await written(elsewhere, over(member(number)))
        assert [each.member_id.int for each in await store.all(Member.of_club(CLUB))] == [number]


@cached
async def test_a_closed_store_answers_nothing_that_it_knew(store, database):
    await written(store.engine, over(member(1)))
    assert await answers_known(store, database, Member.of_club(CLUB))
    await database.close()
    for read in (store.all(Member.of_club(CLUB)), store.page(Member.of_club(CLUB), 5)):
        with pytest.raises(Exception, match="closed"):
            await read


@in_every_mode
async def test_a_store_may_be_read_from_several_threads(store, elsewhere):
    def seen() -> int:
        return len(asyncio.run(store.all(Member.of_club(CLUB))))

    for number in range(6):
        await written((store.engine, elsewhere)[number % 2], over(member(number)))
        for _ in range(3):
            counts = await asyncio.gather(*(asyncio.to_thread(seen) for _ in range(3)))
            assert [*counts, len(await store.all(Member.of_club(CLUB)))] == [number + 1] * 4


@in_every_mode
async def test_what_one_thread_knows_another_does_not_take_for_its_own(store):
    """Each has a connection of its own, and all of them begin to count changes at the same number."""

    def seen() -> list[int]:
        return [len(asyncio.run(store.all(Member.of_club(CLUB)))) for _ in range(3)]

    for number in range(3):
        await written(store.engine, over(member(number)))
        with ThreadPoolExecutor(1) as thread:
            found = await asyncio.get_running_loop().run_in_executor(thread, seen)
        assert found == [number + 1] * 3


# --- the state -------------------------------------------------------------------------------------------------------


@cached
async def test_the_state_is_another_after_every_commit_and_only_then(database, elsewhere, store, clock):
    there = Store(elsewhere, clock)
    seen = [database.state()]
    for number, writer in enumerate((store, there, store, there)):
        assert database.state() == seen[-1]
        await writer.all(Member.of_club(CLUB))
        await writer.get(Member.one(CLUB, UUID(int=9)))
        assert database.state() == seen[-1]
        await written(writer.engine, over(member(number)))
        seen.append(database.state())
    assert len(set(seen)) == len(seen)


LARGE = "x" * 90_000
READS: dict[str, dict[str, Any]] = {
    "a page": {"op": "Query", "Limit": 2},
    "everything": {"op": "Query"},
    "backwards": {"op": "Query", "ScanIndexForward": False, "Limit": 1},
    "a filter": {
        "op": "Query",
        "FilterExpression": "title = :title",
        "ExpressionAttributeValues": {":title": {"S": "Evening"}},
    },
    "an index": {"op": "Query", "IndexName": "GSI1"},
    "a count": {"op": "Query", "Select": "COUNT"},
    "a scan": {"op": "Scan"},
    "a part of a scan": {"op": "Scan", "Limit": 3},
}


@pytest.mark.parametrize("read", READS)
async def test_no_read_leaves_an_old_view_of_the_file_behind_it(database, store, read):
    """A statement that was not read to its end would hold the state as it was, and the answers with it."""
    await store.write_each(put(meeting(number, minutes=LARGE)) for number in range(15))
    request = {key: value for key, value in READS[read].items() if key != "op"}
    if READS[read]["op"] == "Query":
        partition = "PK" if "IndexName" not in request else "GSI1PK"
        value = f"CLUB#{CLUB}" if partition == "PK" else f"CLUB#{CLUB}#MEMBERS"
        request["KeyConditionExpression"] = f"{partition} = :of"
        request["ExpressionAttributeValues"] = {**request.get("ExpressionAttributeValues", {}), ":of": {"S": value}}
    answer = await database.call(READS[read]["op"], {"TableName": clubs.name, **request})
    assert answer["Count"] > 0
    assert at_rest(database)


async def test_nor_does_any_other_read(database, store):
    await store.write_each(put(meeting(number, minutes=LARGE)) for number in range(15))
    keys = [delete(meeting(number)).key for number in range(15)]
    await database.call("GetItem", {"TableName": clubs.name, "Key": keys[0]})
    await database.call("BatchGetItem", {"RequestItems": {clubs.name: {"Keys": keys}}})
    gets = [{"Get": {"TableName": clubs.name, "Key": key}} for key in keys]
    await database.call("TransactGetItems", {"TransactItems": gets})
    database.row(clubs.name, keys[0])
    for operation in ("DescribeTable", "DescribeTimeToLive"):
        await database.call(operation, {"TableName": clubs.name})
    await database.call("ListTables", {"Limit": 1})
    assert at_rest(database)
    stream = (await database.call("DescribeTable", {"TableName": clubs.name}))["Table"].get("LatestStreamArn")
    if stream is None:
        enabled = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        await database.call("UpdateTable", {"TableName": clubs.name, "StreamSpecification": enabled})
        await store.write_each(put(meeting(number, minutes=LARGE.upper())) for number in range(15))
        stream = (await database.call("DescribeTable", {"TableName": clubs.name}))["Table"]["LatestStreamArn"]
    (shard,) = (await database.call("DescribeStream", {"StreamArn": stream}))["StreamDescription"]["Shards"]
    asked = {"StreamArn": stream, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
    iterator = (await database.call("GetShardIterator", asked))["ShardIterator"]
    # More than a megabyte, so that it stops on the way.
    records = (await database.call("GetRecords", {"ShardIterator": iterator}))["Records"]
    assert 0 < len(records) < 15
    with pytest.raises(Exception, match="not found"):
        await database.call("Scan", {"TableName": "Nowhere"})
    assert at_rest(database)


def at_rest(database: Database) -> bool:
    return database.file.reader.connection.txn_state("main") == apsw.SQLITE_TXN_NONE


# --- who is calling --------------------------------------------------------------------------------------------------


@pytest.fixture
async def signed_in(store, clock):
    """Somebody, the secret of their session, and what knows it."""
    account = Account(
        user_id=UUID(int=7), email="ada@example.org", name="Ada", password_hash="-", created_at=NOW, updated_at=NOW
    )
    opened, rows = opening(account.user_id, account.session_epoch, clock())
    await store.transact(put(account, when=absent), *rows)
    return account, opened.secret, Authenticator(store, clock)


@cached
async def test_whoever_calls_again_is_known_without_a_look(signed_in, database):
    _, secret, authenticator = signed_in
    first = await authenticator.authenticate(secret)
    before = database.asked
    assert await authenticator.authenticate(secret) == first
    assert database.asked == before
    assert await authenticator.authenticate(secret[:-1] + ("0" if secret[-1] != "0" else "1")) is None


@in_every_mode
async def test_what_another_process_does_to_a_caller_is_seen_by_the_next_call(signed_in, store, clock, path):
    """A name, an epoch, and the end of a session and of an account."""
    account, secret, authenticator = signed_in
    token = new_secret(SecretKind.API_TOKEN)
    await store.put(ApiToken(hash=hash_of(token), user_id=account.user_id, token_id=UUID(int=8)), when=absent)
    by_id = Account.by_id(account.user_id)
    active = the(Account.status).still("active")
    async with second_process(path) as process:
        there = Store(Another(process), clock)

        async def known() -> tuple[str | None, str | None]:
            both = [await authenticator.authenticate(secret), await authenticator.authenticate(token)]
            assert both == [await authenticator.authenticate(secret), await authenticator.authenticate(token)]
            return tuple(each and each.name for each in both)

        assert await known() == ("Ada", "Ada")
        await there.write_each([update(by_id, the(Account.name).becomes("Augusta"), active, keep_version=True)])
        assert await known() == ("Augusta", "Augusta")
        await there.write_each([update(by_id, the(Account.session_epoch).becomes(2), keep_version=True)])
        assert await known() == (None, "Augusta")
        await there.write_each([update(by_id, the(Account.session_epoch).becomes(1), keep_version=True)])
        assert await known() == ("Augusta", "Augusta")
        await there.delete(Session.by_hash((await authenticator.authenticate(secret)).hash))
        assert await known() == (None, "Augusta")
        await there.delete(by_id)
        assert await known() == (None, None)


@in_every_mode
async def test_a_known_session_is_extended_and_ends_as_an_unknown_one(signed_in, store, clock):
    _, secret, authenticator = signed_in
    await authenticator.authenticate(secret)
    begun = clock.now

    async def ends() -> datetime | None:
        first, second = await authenticator.authenticate(secret), await authenticator.authenticate(secret)
        assert first == second
        return first and first.expires_at

    assert await ends() == begun + timedelta(days=30)
    clock.forward(days=1, seconds=-1)
    assert await ends() == begun + timedelta(days=30)
    clock.forward(seconds=1)
    assert await ends() == begun + timedelta(days=31)
    # A clock that is set back takes nothing away.
    clock.forward(days=-1)
    assert await ends() == begun + timedelta(days=31)
    clock.forward(days=31, seconds=-1)
    clock.forward(seconds=1)
    assert await ends() is None
    clock.forward(days=-1)
    assert await ends() == begun + timedelta(days=60)

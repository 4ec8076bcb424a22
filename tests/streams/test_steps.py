"""Long work in steps: other changes are handled in between, and it ends, whatever happens on the way."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from potluck.engines import ANSWER_LOST, DynamoError
from potluck.store import Store
from potluck.streams import (
    Consumer,
    ConsumerGroup,
    LeaseTerms,
    Record,
    StepDone,
    Steps,
    Work,
    WorkTable,
    changed,
    created,
    deleted,
    handing_over,
)
from potluck.table import DesignError, Operation, absent, put, the
from tests.engine_targets import BOTH, EMBEDDED, opened
from tests.patience import PATIENCE_SECONDS, stopped, until
from tests.streams.shards import Sharded
from tests.web.live.boards import Board, Card, boards, clock

WORK = WorkTable("Work")
CARDS = 40
PER_STEP = 4
TERMS = LeaseTerms(PATIENCE_SECONDS, renew_every=1.0, look_every=0.02)


class BoardKey(NamedTuple):
    board: str


class Titles:
    """Copies the title of a board to its cards, a few at a time, and counts how many it has copied."""

    def __init__(self, store: Store, name: str = "titles") -> None:
        self.store = store
        self.done: list[str] = []
        """Each step and each record that was handled, in order."""
        self.failing = 0
        self.held: asyncio.Event | None = None
        self.boards = Steps("board", BoardKey, self.follow_some)
        self.scan = Steps("scan", str, self.begin_all)
        self.consumer = Consumer(
            name,
            changed(Board, Board.title, do=self.renamed),
            deleted(Board, do=self.gone),
            created(Card, do=self.noted),
            lost=self.scan.of(""),
            steps=[self.boards, self.scan],
        )

    async def renamed(self, before: Board, after: Board) -> Work[BoardKey]:
        self.done.append(f"renamed {after.board}")
        return self.boards.of(BoardKey(after.board))

    async def gone(self, board: Board) -> Work[BoardKey]:
        return self.boards.of(BoardKey(board.board))

    async def noted(self, card: Card) -> None:
        self.done.append(f"card {card.board}/{card.card}")

    async def follow_some(self, key: BoardKey, after: dict[str, Any] | None) -> StepDone:
        self.done.append(f"step {key.board}")
        if self.held is not None:
            await self.held.wait()
        if self.failing:
            self.failing -= 1
            raise RuntimeError("for the test")
        board = await self.store.get(Board.by_name(key.board))
        text = "gone" if board is None else board.title
        page = await self.store.page(Card.on_board(key.board), PER_STEP, after)
        writes: list[Operation] = [put(Card(board=key.board, card=card.card, text=text)) for card in page.items]
        return StepDone(page.next, writes)

    async def begin_all(self, _: str, after: int | None) -> StepDone:
        return StepDone(also=[self.boards.of(BoardKey("large")), self.boards.of(BoardKey("small"))])

    async def texts(self, board: str) -> set[str]:
        return {card.text for card in await self.store.all(Card.on_board(board))}

    async def followed(self, board: str, title: str) -> None:
        async def all_follow() -> bool:
            return await self.texts(board) == {title}

        await until(all_follow)

    async def left(self) -> list[dict[str, Any]]:
        """The rows of work that is not done yet."""
        rows = (await self.store.engine.call("Scan", {"TableName": WORK.table, "ConsistentRead": True}))["Items"]
        return [row for row in rows if row["SK"]["S"].startswith("STEPS#")]

    async def ended(self) -> None:
        async def nothing_left() -> bool:
            return not await self.left()

        await until(nothing_left)

    @contextlib.asynccontextmanager
    async def running(self, engine: Any = None, terms: LeaseTerms = TERMS, **options: Any) -> AsyncIterator[None]:
        group = ConsumerGroup(engine or self.store.engine, "group", WORK, terms, discover_seconds=0.05)
        store = self.store if engine is None else Store(engine, clock)
        consumer = self.consumer.bind(store, WORK, idle_seconds=0.02, **options)
        task = asyncio.create_task(group.run([consumer]))
        try:
            yield
        finally:
            await stopped(task)
        assert await self.consumer.bind(self.store, WORK).parked() == []


@pytest.fixture(params=BOTH)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with opened(request.param, tmp_path) as engine:
        yield await filled(Store(engine, clock))


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[Store]:
    async with opened(EMBEDDED, tmp_path) as engine:
        yield await filled(Store(engine, clock))


async def filled(store: Store) -> Store:
    await store.create_tables(boards)
    await WORK.create_if_missing(store.engine)
    for board, count in (("large", CARDS), ("small", PER_STEP - 1)):
        await store.put(Board(board=board, title="before"))
        for number in range(count):
            await store.put(Card(board=board, card=f"{number:03}", text="before"))
    return store


async def rename(store: Store, board: str, title: str) -> None:
    await store.update(Board.by_name(board), the(Board.title).becomes(title))


async def test_others_are_handled_between_the_steps_of_long_work(store: Store) -> None:
    titles = Titles(store)
    titles.held = asyncio.Event()
    async with titles.running():
        await rename(store, "large", "after")

        async def begun() -> bool:
            return "step large" in titles.done

        await until(begun)
        await rename(store, "small", "after")
        await store.put(Card(board="elsewhere", card="new", text=""))
        titles.held.set()
        await titles.followed("small", "after")
        await titles.followed("large", "after")
        await titles.ended()
    begun_at = titles.done.index("step large")
    # At most what one page of the log had before them.
    for other in ("renamed small", "step small", "card elsewhere/new"):
        assert titles.done[begun_at : titles.done.index(other)].count("step large") <= 2
    assert titles.done.count("step large") == -(-CARDS // PER_STEP)
    assert titles.done.count("step small") == 1


async def test_work_that_one_step_does_is_saved_nowhere(embedded: Store) -> None:
    titles = Titles(embedded)
    seen: list[Any] = []
    titles.done = seen
    async with titles.running():
        await rename(embedded, "small", "after")
        await titles.followed("small", "after")
        assert await titles.left() == []


async def test_work_that_begins_again_supersedes_what_was_left_of_it(embedded: Store) -> None:
    titles = Titles(embedded)
    titles.held = asyncio.Event()
    async with titles.running():
        await rename(embedded, "large", "second")

        async def begun() -> bool:
            return "step large" in titles.done

        await until(begun)
        await rename(embedded, "large", "third")
        await embedded.delete(Board.by_name("large"))
        titles.held.set()
        await titles.followed("large", "gone")
        await titles.ended()
    # The first step of each, and then all of them once: not three times everything.
    assert titles.done.count("step large") <= CARDS // PER_STEP + 4


async def test_steps_go_on_while_changes_keep_coming(embedded: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handing_over, "RECORDS_PER_STEP", 10)
    titles = Titles(embedded)
    await rename(embedded, "large", "after")
    for number in range(200):
        await embedded.put(Card(board="elsewhere", card=f"{number:03}", text=""))
    async with titles.running():
        await titles.followed("large", "after")
        await titles.ended()
    steps = [place for place, what in enumerate(titles.done) if what == "step large"]
    last = max(place for place, what in enumerate(titles.done) if what.startswith("card elsewhere"))
    assert sum(place < last for place in steps) >= CARDS // PER_STEP - 1


class Dying:
    """An engine that stops answering at one request: the process is gone, and what it was doing with it."""

    def __init__(self, engine: Any, at: int) -> None:
        self.engine = engine
        self.at = at
        self.asked = 0
        self.dead = asyncio.Event()

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation in ("TransactWriteItems", "UpdateItem", "PutItem"):
            self.asked += 1
            # Every other one dies after the write was carried out, before it is known.
            if self.asked == self.at and self.at % 2:
                await self.engine.call(operation, request)
        if self.asked >= self.at:
            self.dead.set()
            await asyncio.Event().wait()
        return await self.engine.call(operation, request)

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)

    async def close(self) -> None: ...


@pytest.mark.parametrize(
    "at", [pytest.param(at, marks=[] if at in (8, 9, 12, 13, 17) else pytest.mark.soak) for at in range(1, 34)]
)
async def test_work_goes_on_where_it_was_whenever_its_process_dies(
    embedded: Store, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is copied is noted in the transaction that saves where to go on: each card exactly once."""
    monkeypatch.setattr(handing_over, "LAST_SAVE_SECONDS", 0.01)
    monkeypatch.setattr("potluck.streams.leases.RELEASE_SECONDS", 0.01)

    class Counted(Titles):
        async def follow_some(self, key: BoardKey, after: dict[str, Any] | None) -> StepDone:
            step = await super().follow_some(key, after)
            copied = [operation.key["SK"]["S"].removeprefix("CARD#") for operation in step.writes]
            # Refused the second time, so that the work would be parked.
            notes = [put(Card(board="copied", card=card), when=absent) for card in copied]
            return StepDone(step.then, [*step.writes, *notes])

    dying = Dying(embedded.engine, at)
    first, second = Counted(embedded), Counted(embedded)
    await rename(embedded, "large", "after")
    async with first.running(dying):
        ended = asyncio.create_task(first.followed("large", "after"))
        await asyncio.wait({asyncio.create_task(dying.dead.wait()), ended}, return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
    # It takes over when it has seen no heartbeat for so long.
    async with second.running(terms=LeaseTerms(1.0, renew_every=0.1, look_every=0.02)):
        await second.followed("large", "after")
        await second.ended()
    assert await embedded.count(Card.on_board("copied")) == CARDS


class Delayed:
    """The engine of a process that is cut off at the write that begins long work, which arrives much later."""

    def __init__(self, engine: Any, sort: str) -> None:
        self.engine = engine
        self.sort = sort
        self.delayed: dict[str, Any] | None = None
        self.cut_off = asyncio.Event()

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        puts = (action.get("Put") for action in request.get("TransactItems", ()))
        if any(put and put["Item"]["SK"]["S"].startswith(self.sort) for put in puts) and self.delayed is None:
            self.delayed = request
            self.cut_off.set()
        if self.cut_off.is_set():
            await asyncio.Event().wait()
        return await self.engine.call(operation, request)  # type: ignore[no-any-return]

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)  # type: ignore[no-any-return]

    async def close(self) -> None: ...


class Claiming(Delayed):
    """The engine of its successor: the delayed write arrives just before this one claims what it would change."""

    def __init__(self, engine: Any, former: Delayed, sort: str) -> None:
        super().__init__(engine, sort)
        self.former = former

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        updated = [action["Update"]["Key"] for action in request.get("TransactItems", ()) if "Update" in action]
        keys = [(key["PK"]["S"], key["SK"]["S"]) for key in updated]
        claims = any(partition == "CONSUMER#titles" and sort.startswith(self.sort) for partition, sort in keys)
        if claims and not self.cut_off.is_set():
            self.cut_off.set()
            assert self.former.delayed is not None
            await self.engine.call("TransactWriteItems", self.former.delayed)
        return await self.engine.call(operation, request)  # type: ignore[no-any-return]


async def test_work_that_a_deposed_process_begins_at_the_last_moment_is_done(
    embedded: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its successor has looked for work already, but has not claimed the position yet."""
    monkeypatch.setattr(handing_over, "LAST_SAVE_SECONDS", 0.01)
    monkeypatch.setattr("potluck.streams.leases.RELEASE_SECONDS", 0.01)
    delayed = Delayed(embedded.engine, "STEPS#")
    first, second = Titles(embedded), Titles(embedded)
    await rename(embedded, "large", "after")
    async with first.running(delayed):
        await delayed.cut_off.wait()
    claiming = Claiming(embedded.engine, delayed, "SHARD#")
    async with second.running(claiming, terms=LeaseTerms(1.0, renew_every=0.1, look_every=0.02)):
        await second.followed("large", "after")
        await second.ended()
    assert claiming.cut_off.is_set()


async def test_further_work_that_a_deposed_process_begins_at_the_last_moment_is_done(
    embedded: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its successor has found the work that it follows from, but has not claimed it yet."""
    monkeypatch.setattr(handing_over, "LAST_SAVE_SECONDS", 0.01)
    monkeypatch.setattr("potluck.streams.leases.RELEASE_SECONDS", 0.01)
    delayed = Delayed(embedded.engine, "STEPS#board")
    first, second = Titles(embedded), Titles(embedded)
    async with first.running():
        await rename(embedded, "small", "first")
        await first.followed("small", "first")
    await rename(embedded, "large", "after")
    enabled = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    for specification in ({"StreamEnabled": False}, enabled):
        await embedded.engine.call("UpdateTable", {"TableName": boards.name, "StreamSpecification": specification})
    # The last step of the scan begins the work on both boards.
    async with first.running(delayed):
        await delayed.cut_off.wait()
    claiming = Claiming(embedded.engine, delayed, "STEPS#scan")
    async with second.running(claiming, terms=LeaseTerms(1.0, renew_every=0.1, look_every=0.02)):
        await second.followed("large", "after")
        await second.ended()
    assert claiming.cut_off.is_set()


@pytest.mark.parametrize("seed", range(3))
async def test_failures_that_pass_and_answers_that_are_lost_do_not_stop_it(embedded: Store, seed: int) -> None:
    class Troubled(Dying):
        async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
            self.asked += 1
            if operation == "TransactWriteItems" and self.asked % 3 == self.at:
                raise DynamoError("ThrottlingException", "for the test")
            answer = await self.engine.call(operation, request)
            if operation == "TransactWriteItems" and self.asked % 5 == self.at:
                raise DynamoError(ANSWER_LOST, "for the test")
            return answer  # type: ignore[no-any-return]

    titles = Titles(embedded)
    await rename(embedded, "large", "after")
    async with titles.running(Troubled(embedded.engine, seed)):
        await titles.followed("large", "after")
        await titles.ended()


async def test_a_step_that_fails_now_and_then_is_tried_again(embedded: Store) -> None:
    titles = Titles(embedded)
    titles.failing = 3
    async with titles.running():
        await rename(embedded, "large", "after")
        await titles.followed("large", "after")
        await titles.ended()


async def test_work_that_cannot_be_done_is_parked_and_others_go_on(embedded: Store) -> None:
    class Failing(Titles):
        async def follow_some(self, key: BoardKey, after: dict[str, Any] | None) -> StepDone:
            if key.board == "large" and after is not None:
                raise RuntimeError("for the test")
            return await super().follow_some(key, after)

    titles = Failing(embedded)
    consumer = titles.consumer.bind(embedded, WORK)
    group = ConsumerGroup(embedded.engine, "group", WORK, TERMS)
    await rename(embedded, "large", "after")
    await rename(embedded, "small", "after")
    task = asyncio.create_task(group.run([titles.consumer.bind(embedded, WORK, attempts=2)]))
    try:
        await titles.followed("small", "after")
        await until(consumer.parked)
        await titles.ended()
    finally:
        await stopped(task)
    (parked,) = await consumer.parked()
    assert parked["Work"]["S"] == "board"
    assert "for the test" in parked["Error"]["S"]


async def test_work_outlives_the_shard_that_it_began_in(embedded: Store) -> None:
    """The shard's children are read meanwhile; a change of the subject there supersedes it."""
    sharded = Sharded(embedded.engine)
    titles = Titles(embedded)
    titles.held = asyncio.Event()
    async with titles.running(sharded):
        await rename(embedded, "large", "second")

        async def begun() -> bool:
            return "step large" in titles.done

        await until(begun)
        await sharded.split(boards.name)
        await rename(embedded, "small", "after")
        await rename(embedded, "large", "third")
        titles.held.set()
        await titles.followed("small", "after")
        await titles.followed("large", "third")
        await titles.ended()


async def test_what_was_missed_is_made_up_for_in_steps(embedded: Store) -> None:
    titles = Titles(embedded)
    async with titles.running():
        await rename(embedded, "small", "first")
        await titles.followed("small", "first")
    await rename(embedded, "large", "after")
    enabled = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    for specification in ({"StreamEnabled": False}, enabled):
        await embedded.engine.call("UpdateTable", {"TableName": boards.name, "StreamSpecification": specification})
    async with titles.running():
        await titles.followed("large", "after")
        await titles.ended()


async def test_work_of_undeclared_steps_is_a_mistake(embedded: Store) -> None:
    async def nothing(key: str, after: None) -> StepDone:
        return StepDone()

    steps = Steps("other", str, nothing)

    async def begin(card: Card) -> Work[str]:
        return steps.of("x")

    with pytest.raises(DesignError, match="add other to its steps"):
        Consumer("c", created(Card, do=begin), lost=steps.of("x"))
    with pytest.raises(DesignError, match="same name"):
        Consumer("c", created(Card, do=begin), lost=None, steps=[steps, Steps("other", str, nothing)])
    with pytest.raises(DesignError, match="shorter `key`"):
        steps.of("x" * 2000)
    consumer = Consumer("c", created(Card, do=begin), lost=None)
    image = put(Card(board="b", card="c")).request(0).body["Item"]
    with pytest.raises(DesignError, match="add other to its steps"):
        await consumer.handle(embedded, Record(boards.name, {"dynamodb": {"NewImage": image}}))


async def test_completed_does_all_of_it_for_a_caller_who_waits(embedded: Store) -> None:
    titles = Titles(embedded)
    await rename(embedded, "large", "after")
    await rename(embedded, "small", "after")
    await titles.scan.of("").completed(embedded)
    assert await titles.texts("large") == await titles.texts("small") == {"after"}

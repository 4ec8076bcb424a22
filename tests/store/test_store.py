"""What a store promises: whole pages, nothing expired, nothing left out, and patience with a busy engine."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from potluck.engines import ANSWER_LOST, DynamoError, Engine
from potluck.engines.conflicting import Conflicting
from potluck.engines.recording import Recording
from potluck.engines.throttling import Throttling
from potluck.store import Patience, Store
from potluck.store.store import WRITES_AT_ONCE
from potluck.table import (
    AlreadyExists,
    Change,
    Entity,
    ItemCollection,
    NotFound,
    OutcomeUnknown,
    Range,
    StartsWith,
    Table,
    Unavailable,
    VersionConflict,
    absent,
    delete,
    put,
    query,
    the,
    update,
)
from tests.engine_targets import BOTH, EMBEDDED
from tests.stores import NOW, recorded_store
from tests.table.clubs import Club, ClubWithMembers, Listed, Meeting, Member, clubs

CLUB = UUID(int=1)
OTHER = UUID(int=2)


@pytest.fixture(params=BOTH)
async def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Recording]]:
    async with recorded_store(request.param, tmp_path, clubs) as opened:
        yield opened


@pytest.fixture
def store(recorded: tuple[Store, Recording]) -> Store:
    return recorded[0]


@pytest.fixture
def recording(recorded: tuple[Store, Recording]) -> Recording:
    return recorded[1]


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[Engine]:
    async with recorded_store(EMBEDDED, tmp_path, clubs) as (_, recording):
        yield recording


def member(number: int, **values: Any) -> Member:
    return Member(**{"club_id": CLUB, "member_id": UUID(int=number), "name": f"member {number:04}", **values})


def meeting(number: int, **values: Any) -> Meeting:
    begins = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=number)
    return Meeting(**{"club_id": CLUB, "meeting_id": UUID(int=number), "begins": begins, "title": "Evening", **values})


def moment(number: int) -> datetime:
    return meeting(number).begins


class TestPages:
    async def test_a_page_is_full_unless_it_is_the_last_and_the_last_says_so(self, store: Store) -> None:
        await store.write_each([put(meeting(number)) for number in range(10)])
        first = await store.page(Meeting.of_club(CLUB), 4)
        second = await store.page(Meeting.of_club(CLUB), 4, first.next)
        third = await store.page(Meeting.of_club(CLUB), 4, second.next)
        assert [len(page.items) for page in (first, second, third)] == [4, 4, 2]
        assert third.next is None
        assert [*first.items, *second.items, *third.items] == [meeting(number) for number in range(10)]

    async def test_a_page_that_ends_with_the_last_item_has_no_next(self, store: Store) -> None:
        await store.write_each([put(meeting(number)) for number in range(4)])
        assert (await store.page(Meeting.of_club(CLUB), 4)).next is None

    async def test_expired_rows_do_not_thin_a_page(self, store: Store) -> None:
        gone = int(NOW.timestamp())
        await store.write_each([put(meeting(number, ttl=gone if number % 5 else gone + 1)) for number in range(60)])
        page = await store.page(Meeting.of_club(CLUB), 10)
        assert [each.meeting_id.int for each in page.items] == list(range(0, 50, 5))
        rest = await store.page(Meeting.of_club(CLUB), 10, page.next)
        assert ([each.meeting_id.int for each in rest.items], rest.next) == ([50, 55], None)

    async def test_a_filtered_page_is_full_too(self, store: Store) -> None:
        await store.write_each(
            [put(member(number, team="A" if number % 50 == 0 else "B"), when=absent) for number in range(230)]
        )
        page = await store.page(Member.in_team(CLUB, "A"), 3)
        assert [each.member_id.int for each in page.items] == [0, 50, 100]
        rest = await store.page(Member.in_team(CLUB, "A"), 3, page.next)
        assert ([each.member_id.int for each in rest.items], rest.next) == ([150, 200], None)

    async def test_pages_of_an_index_go_on_where_they_ended(self, store: Store) -> None:
        await store.write_each([put(member(number, name="same"), when=absent) for number in range(7)])
        found, after = [], None
        while True:
            page = await store.page(Member.by_name(CLUB), 3, after)
            found += [each.member_id for each in page.items]
            after = page.next
            if after is None:
                break
        assert sorted(found) == [UUID(int=number) for number in range(7)]

    async def test_everything_is_read_though_one_answer_ends_at_a_megabyte(
        self, recorded: tuple[Store, Recording]
    ) -> None:
        store, recording = recorded
        await store.write_each([put(meeting(number, minutes="x" * 90_000)) for number in range(15)])
        with recording.scope() as calls:
            assert len(await store.all(Meeting.of_club(CLUB))) == 15
        assert calls.operations == ["Query", "Query"]
        assert await store.count(Meeting.of_club(CLUB)) == 15


class TestReading:
    async def test_what_expired_is_gone_at_its_second(self, recorded: tuple[Store, Recording]) -> None:
        store, recording = recorded
        expiring = meeting(1, ttl=int(NOW.timestamp()) + 60)
        await store.put(expiring)
        ref = Meeting.one(CLUB, expiring.begins, expiring.meeting_id)
        before = Store(recording, lambda: NOW + timedelta(seconds=59))
        at = Store(recording, lambda: NOW + timedelta(seconds=60))
        assert await before.get(ref) == expiring
        assert await before.all(Meeting.of_club(CLUB)) == [expiring]
        assert await at.get(ref) is None
        assert await at.get_many([ref]) == [None]
        assert await at.snapshot(ref) == (None,)
        assert await at.all(Meeting.of_club(CLUB)) == []
        assert await at.count(Meeting.of_club(CLUB)) == 0
        assert await at.first(Meeting.of_club(CLUB)) is None
        with pytest.raises(NotFound):
            await at.update(expiring, the(Meeting.state).becomes("held"))
        with pytest.raises(AlreadyExists):
            await before.put(expiring, when=absent)
        again = meeting(1)
        await at.put(again, when=absent)
        assert await at.get(ref) == again

    async def test_many_are_read_in_batches_and_in_the_order_asked_for(self, recorded: tuple[Store, Recording]) -> None:
        store, recording = recorded
        await store.write_each([put(member(number), when=absent) for number in range(0, 250, 2)])
        refs = [Member.one(CLUB, UUID(int=number)) for number in reversed(range(250))]
        with recording.scope() as calls:
            found = await store.get_many([*refs, refs[0]])
        assert calls.operations == ["BatchGetItem"] * 3
        assert [each and each.member_id.int for each in found] == [
            *(number if number % 2 == 0 else None for number in reversed(range(250))),
            None,
        ]

    async def test_several_kinds_are_read_by_one_request(self, recorded: tuple[Store, Recording]) -> None:
        store, recording = recorded
        await store.put(member(1), when=absent)
        await store.put(meeting(1))
        refs = Member.one(CLUB, UUID(int=1)), Meeting.one(CLUB, moment(1), UUID(int=1)), Club.one(CLUB)
        with recording.scope() as calls:
            assert await store.get_together(*refs) == (member(1), meeting(1), None)
            assert await store.snapshot(*refs) == (member(1), meeting(1), None)
        assert calls.operations == ["BatchGetItem", "TransactGetItems"]

    async def test_a_row_of_another_kind_in_the_same_range_is_not_returned(self, store: Store) -> None:
        await store.put(meeting(1))
        await store.put(member(1, name="Zoe"), when=absent)
        listed = await store.all(Listed.of_club(CLUB))
        assert [type(each) for each in listed] == [Meeting, Member]
        assert [type(each) for each in await store.all(Member.by_name(CLUB))] == [Member]

    async def test_a_collection_is_one_request_with_each_kind_in_its_bucket(
        self, recorded: tuple[Store, Recording]
    ) -> None:
        store, recording = recorded
        club = Club(club_id=CLUB, name="Chess")
        assert await store.gather(ClubWithMembers.of(CLUB)) is None
        await store.put(club, when=absent)
        await store.put(member(2), when=absent)
        await store.put(member(1), when=absent)
        with recording.scope() as calls:
            together = await store.gather(ClubWithMembers.of(CLUB))
        assert together == ClubWithMembers(club=club, members=[member(1), member(2)])
        assert calls.operations == ["Query"]

    async def test_ranges_compare_as_values_do(self, store: Store) -> None:
        await store.write_each([put(meeting(number)) for number in range(10)])

        async def numbers(wanted: Any) -> list[int]:
            return [each.meeting_id.int for each in await store.all(Meeting.within(CLUB, wanted))]

        assert await numbers(Range(moment(2), moment(4))) == [2, 3, 4]
        assert await numbers(Range(moment(7), low_open=True)) == [8, 9]
        assert await numbers(Range(moment(7))) == [7, 8, 9]
        assert await numbers(Range(high=moment(2), high_open=True)) == [0, 1]

    async def test_names_are_found_by_how_they_begin_whatever_their_accents(self, store: Store) -> None:
        for number, name in enumerate(["Émile", "emil", "Emma", "Esther"]):
            await store.put(member(number, name=name), when=absent)
        found = await store.all(Member.called(CLUB, StartsWith("ÉM")))
        assert [each.name for each in found] == ["emil", "Émile", "Emma"]

    async def test_a_row_leaves_a_sparse_index_when_its_condition_ends(self, store: Store) -> None:
        owing = await store.put(member(1, owes=5), when=absent)
        assert await store.all(Member.owing(CLUB)) == [owing]
        paid = await store.update(owing, the(Member.owes).becomes(0))
        assert await store.all(Member.owing(CLUB)) == []
        await store.update(paid, the(Member.owes).becomes(3))
        assert [each.owes for each in await store.all(Member.owing_between(CLUB, Range(1, 3)))] == [3]

    async def test_a_page_behind_many_expired_rows_takes_few_requests(self, recorded: tuple[Store, Recording]) -> None:
        store, recording = recorded
        gone = int(NOW.timestamp())
        await store.write_each([put(meeting(number, ttl=gone if number < 600 else None)) for number in range(603)])
        with recording.scope() as calls:
            page = await store.page(Meeting.of_club(CLUB), 2)
        assert [each.meeting_id.int for each in page.items] == [600, 601]
        assert page.next is not None
        assert len(calls) < 10

    async def test_many_empty_answers_ask_for_no_more_rows_than_the_service_counts(self, embedded: Engine) -> None:
        sparse = Answering(embedded, "Query", answers=60, empty={"Items": [], "Count": 0})
        store = Store(sparse, lambda: NOW)
        assert (await store.page(Member.in_team(CLUB, "A"), 5)).items == []
        assert (await store.page(Meeting.of_club(CLUB), 10**10)).items == []
        assert await store.first(Member.in_team(CLUB, "A")) is None
        assert max(body["Limit"] for _, body in sparse.sent) <= 2**31 - 1

    async def test_of_two_references_to_one_item_the_consistent_one_decides(
        self, recorded: tuple[Store, Recording]
    ) -> None:
        store, recording = recorded
        ref = Meeting.one(CLUB, moment(1), UUID(int=1))
        for refs in ([ref, ref.consistently()], [ref.consistently(), ref]):
            with recording.scope() as calls:
                assert await store.get_many(refs) == [None, None]
            assert calls[0].request["RequestItems"]["Clubs"]["ConsistentRead"] is True

    async def test_a_snapshot_may_name_an_item_twice(self, store: Store) -> None:
        await store.put(meeting(1))
        ref = Meeting.one(CLUB, moment(1), UUID(int=1))
        assert await store.snapshot(ref, ref) == (meeting(1), meeting(1))

    async def test_kinds_of_one_name_have_their_own_buckets(self, embedded: Engine) -> None:
        def kind(type: str) -> Any:
            class Row(Entity, table=rows, type=type, key=("ROWS", f"{type}#{{number:03}}")):
                number: int

            return Row

        rows = Table("Rows", "PK", "SK", type_attribute="entityType")
        Left, Right = kind("Left"), kind("Right")

        class Both(ItemCollection):
            left: list[Left]
            right: list[Right]

            @query()
            def all() -> None:
                """What is there?"""

        store = Store(embedded, lambda: NOW)
        await store.create_tables(rows)
        await store.write_each([put(Left(number=1)), put(Right(number=2))])
        assert await store.gather(Both.all()) == Both(left=[Left(number=1)], right=[Right(number=2)])


class TestTransactions:
    async def test_all_or_nothing_and_the_refusal_tells_which_and_what_is_there(self, store: Store) -> None:
        there = await store.put(member(2), when=absent)
        with pytest.raises(AlreadyExists) as refused:
            await store.transact(put(member(1), when=absent), put(member(2, name="new"), when=absent))
        assert refused.value.position == 1
        assert refused.value.current == there
        assert await store.get(Member.one(CLUB, UUID(int=1))) is None

    async def test_more_than_a_transaction_takes_is_written_each_on_its_own(
        self, recorded: tuple[Store, Recording]
    ) -> None:
        store, recording = recorded
        with recording.scope() as calls:
            await store.write_each([put(meeting(number)) for number in range(120)])
        assert calls.operations == ["BatchWriteItem"] * 5
        await store.write_each([delete(meeting(number)) for number in range(120)])
        assert await store.count(Meeting.of_club(CLUB)) == 0

    async def test_one_item_is_not_written_twice_in_no_order(self, store: Store) -> None:
        twice = [*(put(meeting(number)) for number in range(40)), delete(meeting(3))]
        with pytest.raises(ValueError, match=r"put Meeting .* and delete Meeting .* write the same item"):
            await store.write_each(twice)
        assert await store.count(Meeting.of_club(CLUB)) == 0

    async def test_the_first_that_is_refused_is_raised_when_those_beside_it_are_done(self, store: Store) -> None:
        await store.put(member(3), when=absent)
        with pytest.raises(AlreadyExists) as refused:
            await store.write_each(put(member(number), when=absent) for number in range(40))
        assert refused.value.current == member(3)
        # Those that were sent along with it are there, and nothing was begun after it.
        assert await store.count(Member.of_club(CLUB)) == WRITES_AT_ONCE

    async def test_calls_are_recorded_under_the_pattern_they_were_made_for(
        self, recorded: tuple[Store, Recording]
    ) -> None:
        store, recording = recorded
        await store.put(meeting(1))
        await store.all(Meeting.of_club(CLUB))
        assert recording.totals["Meeting.of_club", "Query"].read_units == 0.5
        assert recording.totals["put Meeting", "PutItem"].write_units == 2.0


class Failing:
    """An engine that fails so often before, or after, it does what it is asked."""

    def __init__(self, engine: Engine, *codes: str, done: bool = False) -> None:
        self.engine = engine
        self.codes = list(codes)
        self.done = done
        self.sent: list[tuple[str, dict[str, Any]]] = []

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        self.sent.append((operation, request))
        if self.codes:
            code = self.codes.pop(0)
            if self.done:
                await self.engine.call(operation, request)
            raise DynamoError(code, "as the test wants it")
        return await self.engine.call(operation, request)

    async def changed(self, table: str, timeout: float) -> bool:
        return False

    async def close(self) -> None:
        pass


class Answering(Failing):
    """An engine that answers one operation itself, so often as if more were to come."""

    def __init__(self, engine: Engine, operation: str, answers: int, empty: dict[str, Any]) -> None:
        super().__init__(engine)
        self.operation = operation
        self.answers = answers
        self.empty = empty

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation != self.operation:
            return await self.engine.call(operation, request)
        self.sent.append((operation, request))
        if len(self.sent) % self.answers == 0:
            return self.empty
        return {**self.empty, "LastEvaluatedKey": {"PK": {"S": "x"}, "SK": {"S": "x"}}}


class Meddling(Failing):
    """An engine on which somebody else comes before the first update, or between its being done and its lost answer."""

    def __init__(
        self, engine: Engine, meanwhile: Callable[[], Awaitable[Any]], *, lost: bool = False, done: bool = False
    ) -> None:
        super().__init__(engine, done=done)
        self.meanwhile: Callable[[], Awaitable[Any]] | None = meanwhile
        self.lost = lost

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation == "UpdateItem" and self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            if self.done:
                await self.engine.call(operation, request)
            await meanwhile()
            if self.lost:
                raise DynamoError(ANSWER_LOST, "as the test wants it")
        return await self.engine.call(operation, request)


SOON = Patience(attempts=4, first_wait=0.0)


class TestPatience:
    async def test_a_throttled_call_is_made_again(self, embedded: Engine) -> None:
        failing = Failing(embedded, "ThrottlingException", "ProvisionedThroughputExceededException")
        await Store(failing, lambda: NOW, SOON).put(member(1), when=absent)
        assert len(failing.sent) == 3

    async def test_patience_ends_and_says_that_nothing_was_written(self, embedded: Engine) -> None:
        failing = Failing(embedded, *["ThrottlingException"] * 10)
        with pytest.raises(Unavailable):
            await Store(failing, lambda: NOW, SOON).put(member(1), when=absent)
        assert len(failing.sent) == SOON.attempts

    async def test_a_creation_whose_answer_was_lost_is_recognised_as_its_own(self, embedded: Engine) -> None:
        store = Store(Failing(embedded, ANSWER_LOST, done=True), lambda: NOW, SOON)
        await store.put(member(1), when=absent)
        assert await store.get(Member.one(CLUB, UUID(int=1))) == member(1)

    async def test_someone_elses_item_is_not_taken_for_ones_own(self, embedded: Engine) -> None:
        await Store(embedded, lambda: NOW).put(member(1, name="other"), when=absent)
        with pytest.raises(AlreadyExists):
            await Store(Failing(embedded, ANSWER_LOST), lambda: NOW, SOON).put(member(1), when=absent)

    async def test_an_edit_whose_answer_was_lost_is_done_once(self, embedded: Engine) -> None:
        seen = await Store(embedded, lambda: NOW).put(member(1), when=absent)
        store = Store(Failing(embedded, ANSWER_LOST, done=True), lambda: NOW, SOON)
        edited = await store.update(seen, the(Member.name).becomes("new"))
        assert (edited.name, edited.version) == ("new", 2)

    async def test_an_edit_that_another_overtook_is_a_conflict_though_an_answer_was_lost(
        self, embedded: Engine
    ) -> None:
        plain = Store(embedded, lambda: NOW)
        seen = await plain.put(member(1), when=absent)
        await plain.update(seen, the(Member.name).becomes("theirs"))
        with pytest.raises(VersionConflict):
            await Store(Failing(embedded, ANSWER_LOST), lambda: NOW, SOON).update(
                seen, the(Member.name).becomes("mine")
            )

    @pytest.mark.parametrize("done", [True, False])
    async def test_a_step_whose_answer_was_lost_is_not_made_again_on_top_of_somebody_elses(
        self, embedded: Engine, done: bool
    ) -> None:
        plain = Store(embedded, lambda: NOW)
        await plain.put(member(1), when=absent)
        ref = Member.one(CLUB, UUID(int=1))

        def step(seen: Member) -> list[Change]:
            return [the(Member.owes).becomes(seen.owes + 1)]

        store = Store(Meddling(embedded, lambda: plain.modify(ref, step), lost=True, done=done), lambda: NOW, SOON)
        # The other step looks just like this one, so nobody can tell whose it was.
        with pytest.raises(OutcomeUnknown):
            await store.modify(ref, step)
        assert (await plain.one(ref)).owes == 1 + done

    async def test_an_edit_that_somebody_edited_on_is_not_called_a_conflict(self, embedded: Engine) -> None:
        plain = Store(embedded, lambda: NOW)
        seen = await plain.put(member(1), when=absent)
        ref = Member.one(CLUB, UUID(int=1))

        async def edit_on() -> None:
            await plain.modify(ref, lambda _: [the(Member.name).becomes("theirs")])

        store = Store(Meddling(embedded, edit_on, lost=True, done=True), lambda: NOW, SOON)
        with pytest.raises(OutcomeUnknown):
            await store.update(seen, the(Member.name).becomes("mine"))

    @pytest.mark.parametrize("done", [True, False])
    async def test_what_only_one_may_do_is_not_taken_for_done_when_somebody_may_have_been_first(
        self, embedded: Engine, done: bool
    ) -> None:
        plain = Store(embedded, lambda: NOW)
        await plain.put(meeting(1))
        ref = Meeting.one(CLUB, moment(1), UUID(int=1))

        async def hold(store: Store) -> None:
            await store.update(ref, the(Meeting.state).becomes("held"), when=the(Meeting.state) == "planned")

        async def meanwhile() -> None:
            if not done:
                await hold(plain)

        with pytest.raises(OutcomeUnknown):
            await hold(Store(Meddling(embedded, meanwhile, lost=True, done=done), lambda: NOW, SOON))

    async def test_counting_on_a_condition_is_not_done_when_it_no_longer_holds(self, embedded: Engine) -> None:
        plain = Store(embedded, lambda: NOW)
        seen = await plain.put(member(1), when=absent)

        def visit(seen: Member) -> list[Change]:
            return [the(Member.visits).add(1)] if seen.team is None else []

        banning = Meddling(embedded, lambda: plain.update(seen, the(Member.team).becomes("banned")))
        visited = await Store(banning, lambda: NOW, SOON).modify(Member.one(CLUB, UUID(int=1)), visit)
        assert (visited.team, visited.visits) == ("banned", 0)

    async def test_a_batch_whose_answers_were_lost_may_be_written(self, embedded: Engine) -> None:
        store = Store(Failing(embedded, *[ANSWER_LOST] * 10, done=True), lambda: NOW, SOON)
        with pytest.raises(OutcomeUnknown):
            await store.write_each([put(meeting(1))])
        with pytest.raises(Unavailable):
            await store.get(Meeting.one(CLUB, moment(1), UUID(int=1)))

    async def test_a_count_whose_answer_was_lost_is_not_made_twice(self, embedded: Engine) -> None:
        await Store(embedded, lambda: NOW).put(member(1), when=absent)
        failing = Failing(embedded, ANSWER_LOST, done=True)
        with pytest.raises(OutcomeUnknown):
            await Store(failing, lambda: NOW, SOON).update(Member.one(CLUB, UUID(int=1)), the(Member.visits).add(1))
        assert len(failing.sent) == 1

    async def test_a_transaction_whose_answer_was_lost_is_done_once(self, embedded: Engine) -> None:
        await Store(embedded, lambda: NOW).put(member(1), when=absent)
        failing = Failing(embedded, ANSWER_LOST, ANSWER_LOST, done=True)
        store = Store(failing, lambda: NOW, SOON)
        await store.transact(update(Member.one(CLUB, UUID(int=1)), the(Member.visits).add(1)), put(meeting(1)))
        assert len(failing.sent) == 3
        assert (await store.one(Member.one(CLUB, UUID(int=1)))).visits == 1

    async def test_what_a_batch_leaves_undone_is_done_in_the_end(self, embedded: Engine) -> None:
        throttling = Throttling(embedded, seed=3, refused=0.2, partial=0.6)
        store = Store(throttling, lambda: NOW)
        await store.write_each([put(meeting(number)) for number in range(100)])
        refs = [Meeting.one(CLUB, moment(number), UUID(int=number)) for number in range(100)]
        assert await store.get_many(refs) == [meeting(number) for number in range(100)]
        assert throttling.batches_cut > 0

    async def test_conflicts_are_met_again_until_they_pass(self, embedded: Engine) -> None:
        conflicting = Conflicting(embedded, seed=5, conflicts=0.7)
        store = Store(conflicting, lambda: NOW, Patience(attempts=50, first_wait=0.0))
        for number in range(10):
            await store.transact(put(member(number), when=absent), put(meeting(number)))
        assert conflicting.conflicts_met > 0
        assert await store.count(Member.of_club(CLUB)) == 10


class TestTables:
    async def test_making_them_again_changes_nothing(self, recorded: tuple[Store, Recording]) -> None:
        store, _recording = recorded
        await store.put(meeting(1))
        await store.create_tables(clubs)
        assert await store.count(Meeting.of_club(CLUB)) == 1

    async def test_an_index_that_was_added_to_the_design_is_added_to_the_table(self, tmp_path: Path) -> None:
        async with recorded_store(EMBEDDED, tmp_path, clubs) as (store, recording):
            drop = {"TableName": "Clubs", "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "GSI2"}}]}
            await recording.call("UpdateTable", drop)
            await store.create_tables(clubs)
            await store.put(member(1, owes=5), when=absent)
            assert len(await store.all(Member.owing(CLUB))) == 1

"""Reading a whole table: every row of a kind once, nothing expired, and nothing of other kinds."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from potluck.dynamo.limits import PAGE_BYTES
from potluck.engines.recording import Recording
from potluck.store import Store
from potluck.table import AnyOf, DesignError, Entity, ExpiresAt, Table, put, scan
from potluck.table.design import markdown
from potluck.table.lint import lint
from tests.engine_targets import BOTH
from tests.stores import NOW, recorded_store

typed = Table("Typed", "PK", "SK", type_attribute="entityType", ttl="expiresAt")
untyped = Table("Untyped", "PK", "SK")


class Left(Entity, table=typed, type="Left", key=("LEFT#{number:03}", "ROW")):
    number: int
    text: str = ""
    expires_at: ExpiresAt | None = None

    @scan
    def every() -> None:
        """What is on the left?"""


class Right(Entity, table=typed, type="Right", key=("RIGHT#{number:03}", "ROW")):
    number: int

    @scan
    def every() -> None:
        """What is on the right?"""


class Side(AnyOf[Left | Right]):
    @scan(consistent=True)
    def every() -> None:
        """What is on either side?"""


class Plain(Entity, table=untyped, key=("PLAIN#{number:03}", "ROW")):
    number: int

    @scan
    def every() -> None:
        """What is plain?"""


class Other(Entity, table=untyped, key=("OTHER#{number:03}", "ROW")):
    number: int


@pytest.fixture(params=BOTH)
async def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Recording]]:
    async with recorded_store(request.param, tmp_path, typed, untyped) as opened:
        yield opened


async def test_every_row_of_the_kind_is_read_once_over_many_pages(recorded: tuple[Store, Recording]) -> None:
    store, recording = recorded
    large = "x" * (PAGE_BYTES // 10)
    await store.write_each([put(Left(number=each, text=large)) for each in range(25)])
    await store.write_each([put(Right(number=each)) for each in range(25)])
    with recording.scope() as calls:
        numbers = [row.number async for row in store.each(Left.every())]
    assert sorted(numbers) == list(range(25))
    assert len(calls.operations) > 2
    assert set(calls.operations) == {"Scan"}
    assert {call.pattern for call in calls} == {"Left.every"}


async def test_expired_rows_are_left_out(recorded: tuple[Store, Recording]) -> None:
    store, _ = recorded
    for number, seconds in enumerate((-1, 0, 1)):
        await store.put(Left(number=number, expires_at=int(NOW.timestamp()) + seconds))
    assert [row.number async for row in store.each(Left.every())] == [2]


async def test_several_kinds_are_read_in_one_scan(recorded: tuple[Store, Recording]) -> None:
    store, recording = recorded
    await store.write_each([put(Left(number=1)), put(Right(number=2))])
    with recording.scope() as calls:
        rows = [row async for row in store.each(Side.every())]
    assert sorted(rows, key=lambda row: type(row).__name__) == [Left(number=1), Right(number=2)]
    assert calls.operations == ["Scan"]
    assert [row async for row in store.each(Right.every())] == [Right(number=2)]


async def test_kinds_that_only_their_keys_tell_apart(recorded: tuple[Store, Recording]) -> None:
    store, _ = recorded
    await store.write_each([put(Plain(number=1)), put(Other(number=2))])
    assert [row async for row in store.each(Plain.every())] == [Plain(number=1)]


def test_kinds_of_two_tables_are_refused() -> None:
    with pytest.raises(DesignError, match="Plain is in table Untyped, not in Typed"):

        class Both(AnyOf[Left | Plain]):
            @scan
            def every() -> None:
                """What is there?"""


def test_a_scan_takes_no_arguments() -> None:
    with pytest.raises(DesignError, match="a scan takes no arguments"):

        class Some(AnyOf[Left | Right]):
            @scan
            def every(number: int) -> None:
                """What is there?"""


def test_a_scan_is_in_the_design_with_its_cost_and_lint_asks_for_the_reason() -> None:
    assert "| What is on either side?<br>`Side.every()` | Scan, consistent | the whole table: 1 unit" in markdown(
        [typed]
    )
    findings = {finding.label: finding for finding in lint(typed)}
    assert findings["scan: Side.every"].severity == "warning"
    assert "it reads the whole table" in str(findings["scan: Left.every"])


async def test_only_a_consistent_scan_asks_for_one(recorded: tuple[Store, Recording]) -> None:
    store, recording = recorded
    with recording.scope() as calls:
        assert [row async for row in store.each(Left.every())] == []
        assert [row async for row in store.each(Left.every().consistently())] == []
    assert ["ConsistentRead" in call.request for call in calls] == [False, True]

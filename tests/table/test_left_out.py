"""A default that is left out of the row is there for every reader and every condition."""

from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from msgspec import Meta, field

from potluck.table import (
    Changed,
    Condition,
    ConditionFailed,
    DesignError,
    Entity,
    InvalidValue,
    LeftOut,
    Table,
    Version,
    VersionConflict,
    absent,
    get,
    query,
    the,
)
from potluck.table.entity import plan_of
from tests.engine_targets import EMBEDDED
from tests.stores import recorded_store

polls = Table("Polls", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")})
ID = UUID(int=1)


class Poll(Entity, table=polls, key=("POLL#{poll_id}", "POLL"), GSI1=("POLLS", "BY#{policy}#{seats:03}")):
    poll_id: UUID
    policy: Annotated[Literal["open", "codes"], LeftOut] = "open"
    seats: Annotated[int, Meta(ge=1, le=100), LeftOut] = 1
    order: Annotated[list[int], LeftOut] = field(default_factory=list)
    version: Annotated[Version, LeftOut] = 1

    @get
    def one(poll_id: UUID) -> None:
        """One poll."""

    @query("GSI1")
    def by_policy(policy: Literal["open", "codes"]) -> None:
        """Which polls are of this kind?"""


def test_defaults_are_not_written_and_read_all_the_same() -> None:
    coding = plan_of(Poll).coding
    row = coding.encode(Poll(poll_id=ID))
    assert row == {
        "PK": {"S": f"POLL#{ID}"},
        "SK": {"S": "POLL"},
        "GSI1PK": {"S": "POLLS"},
        "GSI1SK": {"S": "BY#open#001"},
        "pollId": {"S": str(ID)},
    }
    assert coding.decode(row) == Poll(poll_id=ID)
    # A row from before the default was left out.
    written = row | {"policy": {"S": "open"}, "seats": {"N": "1"}, "order": {"L": []}, "version": {"N": "1"}}
    assert coding.decode(written) == Poll(poll_id=ID)
    other = Poll(poll_id=ID, policy="codes", seats=3, order=[2, 1], version=4)
    assert coding.decode(coding.encode(other)) == other


CONDITIONS: list[tuple[Condition, Any]] = [
    (the(Poll.seats) == 1, lambda seats: seats == 1),
    (the(Poll.seats) == 2, lambda seats: seats == 2),
    (the(Poll.seats) != 1, lambda seats: seats != 1),
    (the(Poll.seats) != 2, lambda seats: seats != 2),
    (the(Poll.seats) < 2, lambda seats: seats < 2),
    (the(Poll.seats) <= 1, lambda seats: seats <= 1),
    (the(Poll.seats) > 1, lambda seats: seats > 1),
    (the(Poll.seats) >= 1, lambda seats: seats >= 1),
    (the(Poll.seats).among(1, 5), lambda seats: seats in (1, 5)),
    (the(Poll.seats).among(2, 3), lambda seats: seats in (2, 3)),
    (the(Poll.seats).between(1, 2), lambda seats: 1 <= seats <= 2),
    (the(Poll.seats).between(2, 3), lambda seats: 2 <= seats <= 3),
    (the(Poll.seats).still(1), lambda seats: seats == 1),
    (the(Poll.seats).still(2), lambda seats: seats == 2),
]


@pytest.mark.parametrize("seats", [1, 2, 3])
@pytest.mark.parametrize("written_out", [False, True])
async def test_conditions_mean_what_a_reader_finds(tmp_path: Path, seats: int, written_out: bool) -> None:
    async with recorded_store(EMBEDDED, tmp_path, polls) as (store, recording):
        await store.put(Poll(poll_id=ID, seats=seats), when=absent)
        if written_out:
            key = Poll.one(ID).key
            values = {":seats": {"N": str(seats)}}
            change = {"TableName": "Polls", "Key": key, "UpdateExpression": "SET seats = :seats"}
            await recording.call("UpdateItem", {**change, "ExpressionAttributeValues": values})
        for wanted in [*CONDITIONS, *((~asked, lambda seats, m=means: not m(seats)) for asked, means in CONDITIONS)]:
            asked, means = wanted
            try:
                await store.update(Poll.one(ID), the(Poll.order).becomes([1]), when=asked, keep_version=True)
                held = True
            except (ConditionFailed, Changed):
                held = False
            assert held == means(seats), asked


async def test_updates_to_and_from_the_default_keep_the_index_and_the_version(tmp_path: Path) -> None:
    async with recorded_store(EMBEDDED, tmp_path, polls) as (store, recording):
        poll = await store.put(Poll(poll_id=ID), when=absent)
        poll = await store.update(poll, the(Poll.policy).becomes("codes"), the(Poll.seats).becomes(5))
        assert (poll.version, await store.all(Poll.by_policy("codes"))) == (2, [poll])
        poll = await store.update(poll, the(Poll.policy).becomes("open"), the(Poll.seats).becomes(1))
        assert (poll.version, await store.all(Poll.by_policy("open"))) == (3, [poll])
        item = (await recording.call("GetItem", Poll.one(ID).request().body))["Item"]
        assert item.keys() == {"PK", "SK", "GSI1PK", "GSI1SK", "pollId", "version"}
        with pytest.raises(VersionConflict):
            await store.update(Poll(poll_id=ID), the(Poll.seats).becomes(2))


def test_it_is_never_none_and_compared_with_values_only() -> None:
    for asked in (the(Poll.seats).is_none(), the(Poll.seats).is_there(), the(Poll.seats) == the(Poll.version)):
        with pytest.raises(InvalidValue, match="its default is not stored"):
            Poll.by_policy("open").where(asked)


@pytest.mark.parametrize("annotation", [Annotated[int | None, LeftOut], Annotated[frozenset[str], LeftOut]])
def test_only_an_attribute_with_a_value_for_a_default_can_leave_it_out(annotation: Any) -> None:
    with pytest.raises(DesignError, match="LeftOut is for an attribute with a default"):

        class Thing(Entity, table=Table("Things", "PK"), key="T#{thing_id}"):
            thing_id: UUID
            other: annotation = None if "None" in str(annotation) else frozenset()

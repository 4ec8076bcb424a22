"""Rows that count or collect are made by whoever comes first, and never half."""

import asyncio
from pathlib import Path
from typing import Annotated
from uuid import UUID

import pytest
from msgspec import Meta

from potluck.table import (
    ComponentsNeeded,
    ConditionFailed,
    Counter,
    Entity,
    ExpiresAt,
    InvalidValue,
    KeyOnly,
    NotFound,
    Request,
    Table,
    Unique,
    Version,
    absent,
    get,
    query,
    the,
    upsert,
)
from tests.engine_targets import BOTH
from tests.stores import NOW, recorded_store

things = Table("Things", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")}, ttl="ttl", type_attribute="entityType")
NOW_SECONDS = int(NOW.timestamp())
POLL = UUID(int=1)


class Tally(
    Entity, table=things, type="Tally", key=("POLL#{poll_id}", "TALLY#{choice}"), GSI1=("TALLIES#{poll_id}", "{choice}")
):
    poll_id: UUID
    choice: Annotated[str, Meta(min_length=1, max_length=20), KeyOnly]
    votes: Annotated[int, Meta(ge=0, le=60)] = 0
    seen: Counter = 0
    voters: frozenset[str] = frozenset()

    @get
    def one(poll_id: UUID, choice: str) -> None:
        """One tally."""

    @query("GSI1")
    def of_poll(poll_id: UUID) -> None:
        """All tallies."""


class Attempts(Entity, table=things, type="Attempts", key=("WHO#{who}", "ATTEMPTS")):
    who: Annotated[str, Meta(min_length=1, max_length=20)]
    attempts: Counter = 0
    ttl: ExpiresAt

    @get
    def one(who: str) -> None:
        """How often has this one tried?"""


class Named(Entity, table=things, type="Named", key=("NAMED#{who}", "NAMED"), GSI1=("NAMED", "N#{name}")):
    who: UUID
    name: Annotated[str, Meta(max_length=20)]
    visits: Counter = 0

    @get
    def one(who: UUID) -> None:
        """One."""


class Versioned(Entity, table=things, type="Versioned", key=("V#{who}", "V")):
    who: UUID
    version: Version = 1

    @get
    def one(who: UUID) -> None:
        """One."""


class Only(Entity, table=things, type="Only", key=("O#{who}", "O")):
    who: UUID
    name: Annotated[str, Meta(max_length=20), Unique("NAMES", "N#{name}")] = "x"
    visits: Counter = 0

    @get
    def one(who: UUID) -> None:
        """One."""


def test_the_request_writes_all_that_a_new_row_needs() -> None:
    assert upsert(Tally.one(POLL, "a"), the(Tally.seen).add(1)).request() == Request(
        "UpdateItem",
        {
            "TableName": "Things",
            "Key": {"PK": {"S": f"POLL#{POLL}"}, "SK": {"S": "TALLY#a"}},
            "UpdateExpression": "SET #entityType = :entityType, #pollId = :pollId, #GSI1PK = :GSI1PK, "
            "#GSI1SK = :GSI1SK ADD #seen :seen",
            "ExpressionAttributeNames": {
                "#entityType": "entityType",
                "#pollId": "pollId",
                "#GSI1PK": "GSI1PK",
                "#GSI1SK": "GSI1SK",
                "#seen": "seen",
            },
            "ExpressionAttributeValues": {
                ":entityType": {"S": "Tally"},
                ":pollId": {"S": str(POLL)},
                ":GSI1PK": {"S": f"TALLIES#{POLL}"},
                ":GSI1SK": {"S": "a"},
                ":seen": {"N": "1"},
            },
            "ReturnValues": "ALL_NEW",
        },
    )


@pytest.mark.parametrize("engine", BOTH)
async def test_fifty_who_come_at_once_make_one_row_that_has_counted_them_all(engine: str, tmp_path: Path) -> None:
    async with recorded_store(engine, tmp_path, things) as (store, _):
        await asyncio.gather(
            *(
                store.upsert(Tally.one(POLL, "a"), the(Tally.seen).add(1), the(Tally.voters).include(f"v{number}"))
                for number in range(50)
            )
        )
        (tally,) = await store.all(Tally.of_poll(POLL))
        assert (tally.seen, len(tally.voters)) == (50, 50)
        # The row is the one that putting the entity would have made.
        assert await store.get(Tally.one(POLL, "a")) == tally


@pytest.mark.parametrize("engine", BOTH)
async def test_bounds_hold_for_the_first_as_for_the_last(engine: str, tmp_path: Path) -> None:
    async with recorded_store(engine, tmp_path, things) as (store, _):
        one = Tally.one(POLL, "a")
        with pytest.raises(ConditionFailed):
            await store.upsert(one, the(Tally.votes).add(-1))
        assert await store.get(one) is None
        assert (await store.upsert(one, the(Tally.votes).add(60))).votes == 60
        with pytest.raises(ConditionFailed):
            await store.upsert(one, the(Tally.votes).add(1))


@pytest.mark.parametrize("engine", BOTH)
async def test_an_expired_row_is_not_counted_on_but_made_anew(engine: str, tmp_path: Path) -> None:
    async with recorded_store(engine, tmp_path, things) as (store, _):
        one = Attempts.one("me")
        until = the(Attempts.ttl).becomes(NOW_SECONDS + 60)
        assert (await store.upsert(one, the(Attempts.attempts).add(1), until)).attempts == 1
        assert (await store.upsert(one, the(Attempts.attempts).add(1), until)).attempts == 2
        await store.upsert(one, the(Attempts.ttl).becomes(NOW_SECONDS))
        with pytest.raises(NotFound):
            await store.transact(upsert(one, the(Attempts.attempts).add(1), until))
        again = await asyncio.gather(*(store.upsert(one, the(Attempts.attempts).add(1), until) for _ in range(5)))
        assert sorted(each.attempts for each in again) == [1, 2, 3, 4, 5]


def test_a_row_that_could_not_be_read_is_not_made() -> None:
    with pytest.raises(ValueError, match="a new item would lack ttl"):
        upsert(Attempts.one("me"), the(Attempts.attempts).add(1))
    with pytest.raises(ValueError, match="would lack name"):
        upsert(Named.one(POLL), the(Named.visits).add(1))
    with pytest.raises(InvalidValue):
        upsert(Tally.one(POLL, "x" * 21), the(Tally.seen).add(1))


def test_what_needs_care_is_not_upserted() -> None:
    with pytest.raises(ValueError, match="has a version"):
        upsert(Versioned.one(POLL), the(Versioned.version).add(1))
    with pytest.raises(ValueError, match="has a unique field"):
        upsert(Only.one(POLL), the(Only.visits).add(1))
    with pytest.raises(ValueError, match="so that condition is pointless"):
        upsert(Tally.one(POLL, "a"), the(Tally.seen).add(1), when=absent)


def test_an_index_key_must_be_known_for_a_row_that_may_be_new() -> None:
    optional = Table("Other", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")})

    class Kept(Entity, table=optional, key=("K#{who}", "K"), GSI1=("KEPT", "S#{state}")):
        who: UUID
        state: Annotated[str, Meta(max_length=20)] = "new"
        visits: Counter = 0

        @get
        def one(who: UUID) -> None:
            """One."""

    with pytest.raises(ComponentsNeeded, match="state"):
        upsert(Kept.one(POLL), the(Kept.visits).add(1))

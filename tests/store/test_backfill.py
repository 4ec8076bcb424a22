"""A changed design reaches the rows that were there before it, however often it is interrupted."""

import asyncio
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import pytest
from msgspec import Meta

from potluck.commands.main import main
from potluck.engines import ANSWER_LOST, DynamoError, Engine, open_engine
from potluck.engines.throttling import Throttling
from potluck.store import Store
from potluck.store.backfill import Progress, backfill
from potluck.table import (
    AlreadyExists,
    Counter,
    Entity,
    ExpiresAt,
    KeyOnly,
    NotUnique,
    Table,
    Unique,
    Version,
    absent,
    get,
    put,
    query,
    the,
)
from tests.engine_targets import BOTH, EMBEDDED
from tests.stores import NOW, recorded_store

Name = Annotated[str, Meta(max_length=50)]


def table() -> Table:
    return Table("Plants", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")}, ttl="ttl", type_attribute="entityType")


before = table()
after = table()
SHELF = UUID(int=1)


class PlantBefore(
    Entity,
    table=before,
    type="Plant",
    key=("SHELF#{shelf}", "{pot:04}#{species}"),
    GSI1=("SPECIES#{species}", "{pot:04}"),
):
    """A plant as it was stored once."""

    shelf: UUID
    pot: Annotated[int, Meta(ge=0, le=9999)]
    species: Annotated[Name, KeyOnly]
    litres: int = 0
    version: Version = 1


class Plant(
    Entity,
    table=after,
    type="Plant",
    key=("SHELF#{shelf}", "PLANT#{pot:04}#{species}"),
    formerly=[("SHELF#{shelf}", "{pot:04}#{species}")],
    GSI1=("THIRSTY#{shelf}", "{pot:04}", lambda litres: litres > 5),
):
    """A plant as it is stored now."""

    shelf: UUID
    pot: Annotated[int, Meta(ge=0, le=9999)]
    species: Annotated[Name, KeyOnly]
    litres: int = 0
    watered: bool = False
    visits: Counter = 0
    version: Version = 1

    @get
    def one(shelf: UUID, pot: int, species: str) -> None:
        """One plant."""

    @query()
    def on(shelf: UUID) -> None:
        """What stands on this shelf?"""

    @query("GSI1")
    def thirsty(shelf: UUID) -> None:
        """What needs much water?"""


class Shelf(Entity, table=after, type="Shelf", key=("SHELF#{shelf}", "SHELF")):
    """Another kind of row in the same partition."""

    shelf: UUID
    name: Name

    @get
    def one(shelf: UUID) -> None:
        """One shelf."""


def old(pot: int) -> PlantBefore:
    return PlantBefore(shelf=SHELF, pot=pot, species=f"aloë #{pot}", litres=pot % 10)


def new(pot: int, **values: Any) -> Plant:
    return Plant(**{"shelf": SHELF, "pot": pot, "species": f"aloë #{pot}", "litres": pot % 10, **values})


async def to_the_end(store: Store, position: dict[str, Any] | None = None) -> Progress:
    *_, last = [told async for told in backfill(store, Plant, position)]
    assert last.position is None
    return last


@pytest.mark.parametrize("engine", BOTH)
async def test_rows_move_to_their_new_keys_and_leave_nothing_behind(engine: str, tmp_path: Path) -> None:
    async with recorded_store(engine, tmp_path, before) as (store, recording):
        await store.write_each([put(old(pot), when=absent) for pot in range(30)])
        await store.put(Shelf(shelf=SHELF, name="window"))
        assert await store.all(Plant.on(SHELF)) == []
        done = await to_the_end(store)
        assert done.rewritten == 30
        assert await store.all(Plant.on(SHELF)) == [new(pot) for pot in range(30)]
        assert [each.pot for each in await store.all(Plant.thirsty(SHELF))] == [
            pot for pot in range(30) if pot % 10 > 5
        ]
        assert (await recording.call("Scan", {"TableName": "Plants", "Select": "COUNT"}))["Count"] == 31
        assert (await to_the_end(store)).rewritten == 0


async def test_it_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    async with recorded_store(EMBEDDED, tmp_path, before) as (store, _):
        await store.write_each([put(old(pot), when=absent) for pot in range(250)])
        async for told in backfill(store, Plant):
            stopped = told
            break
        assert stopped.position is not None
        assert 0 < stopped.rewritten <= 100
        await to_the_end(store, stopped.position)
        assert await store.all(Plant.on(SHELF)) == [new(pot) for pot in range(250)]


async def test_index_keys_alone_are_rewritten_in_place(tmp_path: Path) -> None:
    async with recorded_store(EMBEDDED, tmp_path, after) as (store, recording):
        plant = await store.put(new(7), when=absent)
        key = Plant.one(SHELF, 7, plant.species).key
        for broken in ("REMOVE GSI1PK, GSI1SK", "SET GSI1SK = PK"):
            await recording.call("UpdateItem", {"TableName": "Plants", "Key": key, "UpdateExpression": broken})
            assert (await to_the_end(store)).rewritten == 1
            assert await store.all(Plant.thirsty(SHELF)) == [plant]
        dry = await store.update(plant, the(Plant.litres).becomes(1))
        stale = "SET GSI1PK = :pk, GSI1SK = :sk"
        values = {":pk": {"S": f"THIRSTY#{SHELF}"}, ":sk": {"S": "0007"}}
        request = {"TableName": "Plants", "Key": key, "UpdateExpression": stale, "ExpressionAttributeValues": values}
        await recording.call("UpdateItem", request)
        assert await store.all(Plant.thirsty(SHELF)) == [dry]
        await to_the_end(store)
        assert await store.all(Plant.thirsty(SHELF)) == []


class Meddling:
    """An engine on which somebody waters a plant just before it is moved."""

    def __init__(self, engine: Engine, change: str) -> None:
        self.engine = engine
        self.change = change
        self.meddled: set[str] = set()

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation == "TransactWriteItems":
            key = request["TransactItems"][1]["Delete"]["Key"]
            if str(key) not in self.meddled:
                self.meddled.add(str(key))
                values = {":one": {"N": "1"}}
                body = {"TableName": "Plants", "Key": key, "UpdateExpression": self.change}
                await self.engine.call("UpdateItem", {**body, "ExpressionAttributeValues": values})
        return await self.engine.call(operation, request)

    async def changed(self, table: str, timeout: float) -> bool:
        return False

    async def close(self) -> None:
        pass


WATERED = "SET litres = litres + :one, version = version + :one"
WATERED_UNSEEN = "SET litres = litres + :one"
SEEN = "SET visits = :one"


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        (WATERED, lambda plant: {"litres": plant.litres + 1, "version": 2}),
        (WATERED_UNSEEN, lambda plant: {"litres": plant.litres + 1}),
        (SEEN, lambda plant: {"visits": 1}),
    ],
    ids=["with a version", "without one", "what was not there"],
)
async def test_what_someone_writes_meanwhile_is_not_lost(tmp_path: Path, change: str, changed: Any) -> None:
    async with recorded_store(EMBEDDED, tmp_path, before) as (store, recording):
        await store.write_each([put(old(pot), when=absent) for pot in range(20)])
        meddled = Store(Meddling(recording, change), lambda: NOW)
        assert (await to_the_end(meddled)).rewritten == 20
        assert await store.all(Plant.on(SHELF)) == [new(pot, **changed(new(pot))) for pot in range(20)]


async def test_a_row_of_another_kind_stays_though_its_key_looks_like_an_old_one(tmp_path: Path) -> None:
    async with recorded_store(EMBEDDED, tmp_path, before) as (store, recording):
        await store.put(old(1), when=absent)
        row = {**put(old(2), when=absent).request().body["Item"], "entityType": {"S": "Stone"}}
        await recording.call("PutItem", {"TableName": "Plants", "Item": row})
        assert (await to_the_end(store)).rewritten == 1
        key = {name: row[name] for name in ("PK", "SK")}
        assert (await recording.call("GetItem", {"TableName": "Plants", "Key": key}))["Item"] == row


async def test_a_row_whose_new_place_is_taken_is_named(tmp_path: Path) -> None:
    async with recorded_store(EMBEDDED, tmp_path, before) as (store, _):
        await store.put(old(1), when=absent)
        there = await store.put(new(1, litres=9), when=absent)
        with pytest.raises(AlreadyExists, match="PLANT#0001") as refused:
            await to_the_end(store)
        assert refused.value.current == there


class Cutting(Entity, table=before, type="Cutting", key=("CUTTING#{number}", "CUTTING")):
    """A cutting as it was stored once."""

    number: UUID
    label: Annotated[Name, Unique("LABEL#{label}", "UNIQUE")]
    ttl: ExpiresAt | None = None
    version: Version = 1


class Seedling(
    Entity,
    table=after,
    type="Cutting",
    key=("SEEDLING#{number}", "SEEDLING"),
    formerly=[("CUTTING#{number}", "CUTTING")],
):
    """The same with another key."""

    number: UUID
    label: Annotated[Name, Unique("LABEL#{label}", "UNIQUE")]
    ttl: ExpiresAt | None = None
    version: Version = 1

    @get
    def one(number: UUID) -> None:
        """Which seedling is this?"""


async def test_unique_values_move_with_their_rows(tmp_path: Path) -> None:
    async with recorded_store(EMBEDDED, tmp_path, before) as (store, recording):
        await store.put(Cutting(number=UUID(int=1), label="mint"), when=absent)
        async for _ in backfill(store, Seedling):
            pass
        with pytest.raises(NotUnique):
            await store.put(Seedling(number=UUID(int=2), label="mint"), when=absent)
        moved = await store.one(Seedling.one(UUID(int=1)))
        renamed = await store.update(moved, the(Seedling.label).becomes("thyme"))
        await store.delete(renamed)
        assert (await recording.call("Scan", {"TableName": "Plants", "Select": "COUNT"}))["Count"] == 0


async def test_the_command_moves_unique_values_and_says_which_is_taken(tmp_path: Path, capsys: Any) -> None:
    engine = await open_engine(path=tmp_path / "potluck.db")
    try:
        store = Store(engine, lambda: NOW)
        await store.create_tables(before)
        arguments = ["backfill", "tests.store.test_backfill", "Seedling", "--data", str(tmp_path)]
        await store.put(Cutting(number=UUID(int=1), label="mint"), when=absent)
        assert await asyncio.to_thread(main, arguments) == 0
        moved = await store.one(Seedling.one(UUID(int=1)))
        # Its guard names the new key, else it would stay behind here.
        await store.delete(moved)
        assert (await engine.call("Scan", {"TableName": "Plants", "Select": "COUNT"}))["Count"] == 0
        await store.put(Seedling(number=UUID(int=2), label="mint"), when=absent)
        row = put(Cutting(number=UUID(int=1), label="mint"), when=absent).request(0).body["TransactItems"][0]["Put"]
        await engine.call("PutItem", {"TableName": "Plants", "Item": row["Item"]})
        capsys.readouterr()
        assert await asyncio.to_thread(main, arguments) == 1
        assert capsys.readouterr().err == "potluck: a row of Seedling cannot be rewritten: label 'mint' is taken\n"
    finally:
        await engine.close()


async def test_what_has_expired_stays_behind(tmp_path: Path) -> None:
    async with recorded_store(EMBEDDED, tmp_path, before) as (store, _):
        await store.put(Cutting(number=UUID(int=1), label="mint", ttl=int(NOW.timestamp())), when=absent)
        # Its label is free, and taken.
        await store.put(Seedling(number=UUID(int=2), label="mint"), when=absent)
        assert [told.rewritten async for told in backfill(store, Seedling)] == [0]


async def test_a_unique_value_that_another_row_has_is_named(tmp_path: Path) -> None:
    async with recorded_store(EMBEDDED, tmp_path, before) as (store, recording):
        await store.put(Seedling(number=UUID(int=2), label="mint"), when=absent)
        row = put(Cutting(number=UUID(int=1), label="mint"), when=absent).request(0).body["TransactItems"][0]["Put"]
        await recording.call("PutItem", {"TableName": "Plants", "Item": row["Item"]})
        with pytest.raises(NotUnique, match="'mint' is taken"):
            async for _ in backfill(store, Seedling):
                pass


class Forgetful(Meddling):
    """An engine that loses the first answer to each move that it does."""

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        answer = await self.engine.call(operation, request)
        if operation == "TransactWriteItems":
            key = str(request["TransactItems"][1]["Delete"]["Key"])
            if key not in self.meddled:
                self.meddled.add(key)
                raise DynamoError(ANSWER_LOST, "as the test wants it")
        return answer


async def test_a_row_that_was_moved_counts_though_the_answer_was_lost(tmp_path: Path) -> None:
    async with recorded_store(EMBEDDED, tmp_path, before) as (store, recording):
        await store.write_each([put(old(pot), when=absent) for pot in range(5)])
        assert (await to_the_end(Store(Forgetful(recording, ""), lambda: NOW))).rewritten == 5
        assert await store.all(Plant.on(SHELF)) == [new(pot) for pot in range(5)]


async def test_a_busy_engine_only_makes_it_slower(tmp_path: Path) -> None:
    async with recorded_store(EMBEDDED, tmp_path, before) as (store, recording):
        await store.write_each([put(old(pot), when=absent) for pot in range(120)])
        await to_the_end(Store(Throttling(recording, seed=4, refused=0.3), lambda: NOW))
        assert await store.count(Plant.on(SHELF)) == 120

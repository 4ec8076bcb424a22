"""Rows to the byte: each as its design writes it, from the entity and back, through a store on both engines.

A test file lists the rows and inherits the tests:

    RECORDS = {"a family": Golden(family, Family.by_id(FAMILY), {"PK": OF_FAMILY, ...}), ...}
    unswept = unswept_store(inventory)


    class TestRows(GoldenRows):
        tables = (inventory,)
        records = RECORDS
"""

import base64
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, NamedTuple

import pytest
import pytest_asyncio

from potluck.engines.recording import Recording
from potluck.store import Store
from potluck.table import Entity, Table, absent
from potluck.table.entity import plan_of
from tests.access_cases import AnyQuery, ask, rows_of
from tests.engine_targets import BOTH, opened
from tests.store_fixtures import Opened

__all__ = ["Golden", "GoldenRows", "unswept_store", "wire_item"]

# Before any record of the designs expires.
EARLY = datetime(2024, 12, 1, tzinfo=UTC)


class Golden(NamedTuple):
    """An entity, the question that finds it, its record as plain values, and what we add to the design's record."""

    entity: Entity
    found_by: AnyQuery
    record: Mapping[str, Any]
    ours: Mapping[str, Any] = {}
    whole: bool = True
    """Whether the record alone, without what we add, reads as the same entity."""


def wire(value: Any) -> dict[str, Any]:
    """A value as DynamoDB's API writes it."""
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case str():
            return {"S": value}
        case bytes():
            return {"B": base64.b64encode(value).decode()}
        case list():
            return {"L": [wire(each) for each in value]}
        case set():
            return {"SS": sorted(value)}
        case dict():
            return {"M": wire_item(value)}
    raise TypeError(f"{value!r} is not in any record")


def wire_item(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: wire(value) for name, value in record.items()}


def unswept_store(*tables: Table) -> Any:
    """A fixture: one store whose clock stands early and whose engine deletes nothing, whatever has expired by now."""

    @pytest_asyncio.fixture(params=BOTH, scope="module", loop_scope="module")
    async def unswept(
        request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
    ) -> AsyncIterator[Opened]:
        async with opened(request.param, tmp_path_factory.mktemp("unswept")) as engine:
            recording = Recording(engine)
            for table in tables:
                create, *_ = table.creation()
                await recording.call(*create)
            yield Opened(Store(recording, lambda: EARLY), recording, request.param)

    return unswept


def _reads_otherwise(alone: Entity, entity: Entity) -> str:
    names = [name for name in entity.__struct_fields__ if getattr(alone, name) != getattr(entity, name)]
    return "\n".join(
        [
            "the record alone reads otherwise: put what it lacks into the record, or say whole=False",
            *(f"{name}: {getattr(alone, name)!r}, and not {getattr(entity, name)!r}" for name in names),
        ]
    )


class GoldenRows:
    """Every row is written to the byte, read back equal, stored so, found again, and gone at the second it expires."""

    tables: ClassVar[Sequence[Table]]
    records: ClassVar[Mapping[str, Golden]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "row" in metafunc.fixturenames:
            metafunc.parametrize("row", self.records.values(), ids=self.records)

    def test_every_entity_has_a_row(self) -> None:
        entities = {plan.name for table in self.tables for plan in table.entities}
        shown = {plan_of(row.entity).name for row in self.records.values()}
        assert shown == entities, f"add a Golden row for each of {sorted(entities - shown)} to the records"

    def test_every_row_has_a_key_of_its_own(self) -> None:
        by_key: dict[str, list[str]] = {}
        for name, row in self.records.items():
            table, stored = plan_of(row.entity).table, row.record | row.ours
            by_key.setdefault(repr([table.name, *(stored[part] for part in table.key_names)]), []).append(name)
        shared = [names for names in by_key.values() if len(names) > 1]
        assert shared == [], f"all rows are in one store: give each of {shared} a key of its own"

    def test_a_row_is_written_and_read_to_the_byte(self, row: Golden) -> None:
        record, ours = wire_item(row.record), wire_item(row.ours)
        coding = plan_of(row.entity).coding
        assert coding.encode(row.entity) == record | ours
        assert coding.decode(record | ours) == row.entity
        if row.whole and (alone := coding.decode(record)) != row.entity:
            pytest.fail(_reads_otherwise(alone, row.entity), pytrace=False)

    def test_its_fields_are_declared_in_the_order_of_the_record(self, row: Golden) -> None:
        attributes = [field.attribute for field in plan_of(row.entity).fields.values() if not field.key_only]
        assert [name for name in attributes if name in row.record] == [
            name for name in row.record if name in attributes
        ]

    @pytest.mark.asyncio(loop_scope="module")
    async def test_a_row_is_stored_to_the_byte_and_found_until_it_expires(self, row: Golden, unswept: Opened) -> None:
        store, recording, _ = unswept
        plan = plan_of(row.entity)
        table, record = plan.table.name, wire_item(row.record)
        stored = record | wire_item(row.ours)
        key = {name: stored[name] for name in plan.table.key_names}
        await store.put(row.entity, when=absent)
        answer = await recording.call("GetItem", {"TableName": table, "Key": key, "ConsistentRead": True})
        assert answer["Item"] == stored
        assert row.entity in rows_of(await ask(store, row.found_by))
        if row.whole:
            await recording.call("PutItem", {"TableName": table, "Item": record})
            assert row.entity in rows_of(await ask(store, row.found_by))
        if plan.expiry is not None and (ttl := getattr(row.entity, plan.expiry.name)) is not None:
            then = Store(recording, lambda: datetime.fromtimestamp(ttl, UTC))
            assert row.entity not in rows_of(await ask(then, row.found_by))

"""Stores with rows of every kind, and their export and import without the command line."""

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from potluck.dynamo.values import checked_item
from potluck.engines import Engine
from potluck.moving.export_files import exports_in
from potluck.moving.exporting import Export
from potluck.moving.importing import Import, matched
from potluck.moving.moved_tables import MovedTables
from potluck.moving.pace import Pace
from potluck.moving.row_sums import RowSum
from potluck.store import Store
from potluck.streams import WorkTable
from potluck.table import Table
from tests.stores import rows_in

__all__ = [
    "ODD",
    "PLAIN",
    "TABLES",
    "WORK",
    "Dead",
    "Dying",
    "Paged",
    "contents",
    "exported",
    "filled",
    "imported",
    "things",
]

things = Table("Things", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")}, ttl="ttl")
WORK = WorkTable()
TABLES = MovedTables([things])

Row = dict[str, Any]


def _odd(name: str, **attributes: Any) -> Row:
    return {"PK": {"S": name}, "SK": {"S": "odd"}, **attributes}


ODD = [
    _odd("numbers", N={"N": "1234567890123456789012345678901234567.8"}, small={"N": "0." + "0" * 129 + "1"}),
    _odd("more numbers", large={"N": "9" * 38 + "0" * 88}, negative={"N": "-0.5"}, zero={"N": "0"}),
    _odd("empty", text={"S": ""}, binary={"B": ""}, map={"M": {}}, list={"L": []}),
    _odd("binary", B={"B": "AP8AgA=="}, BS={"BS": ["AA==", "/w=="]}),
    _odd("sets", SS={"SS": ["a", "ä", "🥘"]}, NS={"NS": ["3", "2.5", "-1"]}),
    _odd('text "quoted"\n\t\\ \u2028 \x01 ä 🥘', text={"S": "line\r\nline\x7f"}),
    _odd("nested", map={"M": {"Item": {"L": [{"M": {"S": {"S": "S"}}}, {"NULL": True}, {"BOOL": False}]}}}),
    _odd("indexed", GSI1PK={"S": "x"}, GSI1SK={"S": "y"}),
    _odd("lasts", ttl={"N": "4102444800"}),
    _odd("large", text={"S": "x" * 409_000}),
    _odd("large binary", binary={"B": "AAAA" * 136_000}),
]
PLAIN = [
    {"PK": {"S": f"K{number % 17}"}, "SK": {"S": f"{number:06}"}, "number": {"N": str(number)}} for number in range(700)
]


async def filled(engine: Engine, rows: Collection[Row]) -> Store:
    """A store with these rows in its one table."""
    store = Store(engine, lambda: datetime.now(UTC))
    await store.create_tables(things)
    await WORK.create_if_missing(engine)
    waiting = [*rows]
    while waiting:
        batch, waiting = waiting[:20], waiting[20:]
        puts = [{"PutRequest": {"Item": row}} for row in batch]
        await engine.call("BatchWriteItem", {"RequestItems": {things.name: puts}})
    return store


async def exported(engine: Engine, folder: Path, tables: MovedTables = TABLES) -> dict[str, RowSum]:
    export = Export.begin(folder, "a test")
    await export.read(Store(engine, lambda: datetime.now(UTC)), tables, Pace(None), _unseen)
    export.check(_unseen)
    return export.finish()


async def imported(engine: Engine, folder: Path, tables: MovedTables = TABLES) -> dict[str, RowSum]:
    exports = matched(exports_in(folder), tables)
    store = Store(engine, lambda: datetime.now(UTC))
    running = Import(store, tables, exports, pace=Pace(None), writing=_unseen, verifying=_unseen)
    await running.run()
    return running.imported


def _unseen(part: float) -> None:
    assert 0.0 <= part <= 1.0


async def contents(engine: Engine, table: str = things.name) -> dict[tuple[str, str], Row]:
    """The rows by their key, with sets in one order: they have none, and DynamoDB Local returns them in any."""
    return {(row["PK"]["S"], row["SK"]["S"]): checked_item(row)[0] for row in await rows_in(engine, table)}


class Dead(Exception):
    """The process was killed."""


class Dying:
    """An engine in a process that is killed in its last read or write of rows: before it, or before its answer."""

    def __init__(self, engine: Engine, calls: int, *, answered: bool) -> None:
        self.engine = engine
        self.calls = calls
        self.answered = answered

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation in ("Scan", "BatchWriteItem", "PutItem"):
            self.calls -= 1
        if self.calls < 0 or (self.calls == 0 and not self.answered):
            self.calls = -1
            raise Dead
        answer = await self.engine.call(operation, request)
        if self.calls <= 0:
            raise Dead
        return answer

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)

    async def close(self) -> None:
        pass


class Paged:
    """An engine whose pages are small, so that there are many."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        return await self.engine.call(operation, {**request, "Limit": 40} if operation == "Scan" else request)

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)

    async def close(self) -> None:
        pass

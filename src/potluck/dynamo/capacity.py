"""Capacity units as the service counts them, and how responses report them."""

from typing import Any

from potluck.dynamo.limits import READ_UNIT_BYTES, WRITE_UNIT_BYTES
from potluck.dynamo.storage.rows import ItemRow
from potluck.dynamo.tables import Index, Table
from potluck.dynamo.values import item_size


def read_units(size: int, consistent: bool) -> float:
    units = max(1, -(-size // READ_UNIT_BYTES))
    return float(units) if consistent else units / 2


def write_units(size: int) -> float:
    return float(max(1, -(-size // WRITE_UNIT_BYTES)))


class Consumed:
    """The capacity that one call consumed on one table and its indexes."""

    __slots__ = ("factor", "global_indexes", "local_indexes", "name", "reads", "table", "writes")

    def __init__(self, name: str, factor: int = 1) -> None:
        self.name = name
        self.factor = factor  # transactions cost double
        self.table = 0.0
        self.global_indexes: dict[str, float] = {}
        self.local_indexes: dict[str, float] = {}
        self.reads = False
        self.writes = False

    def read(self, units: float, index: Index | None = None) -> None:
        self.reads = True
        self._add(units * self.factor, index)

    def write(self, table: Table, old: ItemRow | None, new: ItemRow | None) -> None:
        """Add the write of one item to the table, and to each index whose entry changes."""
        self.writes = True
        self._add(write_units(max(old.size if old else 0, new.size if new else 0)) * self.factor)
        nowhere: list[bytes | None] = [None] * len(table.indexes)
        before = old.places(table) if old else nowhere
        after = new.places(table) if new else nowhere
        for at, index in enumerate(table.indexes):
            units = index_units(index, old, new, before[at], after[at])
            if units:
                self._add(units * self.factor, index)

    def _add(self, units: float, index: Index | None = None) -> None:
        if index is None:
            self.table += units
        else:
            indexes = self.global_indexes if index.is_global else self.local_indexes
            indexes[index.name] = indexes.get(index.name, 0.0) + units

    def report(self, asked: str) -> dict[str, Any]:
        """The response's ConsumedCapacity, for TOTAL or INDEXES."""
        total = self.table + sum(self.global_indexes.values()) + sum(self.local_indexes.values())
        report: dict[str, Any] = {"TableName": self.name, "CapacityUnits": total}
        if self.factor > 1:
            report |= self._kinds(total)
        if asked == "INDEXES":
            report["Table"] = self._units(self.table)
            if self.local_indexes:
                report["LocalSecondaryIndexes"] = {name: self._units(n) for name, n in self.local_indexes.items()}
            if self.global_indexes:
                report["GlobalSecondaryIndexes"] = {name: self._units(n) for name, n in self.global_indexes.items()}
        return report

    def _units(self, units: float) -> dict[str, float]:
        counted = {"CapacityUnits": units}
        return counted | self._kinds(units) if self.factor > 1 else counted

    def _kinds(self, units: float) -> dict[str, float]:
        # The service reports reads and writes separately only for transactions.
        kinds = {}
        if self.reads:
            kinds["ReadCapacityUnits"] = units
        if self.writes:
            kinds["WriteCapacityUnits"] = units
        return kinds


def index_units(
    index: Index, old: ItemRow | None, new: ItemRow | None, before: bytes | None, after: bytes | None
) -> float:
    if before is None and after is None:
        return 0.0
    shown_before = index.show(old.item) if old and before is not None else None
    shown_after = index.show(new.item) if new and after is not None else None
    if before == after:
        if shown_before == shown_after:
            return 0.0
        return write_units(max(item_size(shown_before or {}), item_size(shown_after or {})))
    units = 0.0
    if shown_before is not None:
        units += write_units(item_size(shown_before))
    if shown_after is not None:
        units += write_units(item_size(shown_after))
    return units

"""What a table holds, in a few numbers that do not depend on the order of its rows: two tables are compared by them."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec

from potluck.dynamo.values import Item, checked_item

DIGEST_BYTES = 16
MODULUS = 1 << 8 * DIGEST_BYTES

_encode = msgspec.json.Encoder(order="deterministic").encode


def canonical_json(item: Item) -> tuple[bytes, int]:
    """The item as JSON, the same for equal items on every engine, and its size as the service counts it."""
    canonical, size = checked_item(item)
    return _encode(canonical), size


@dataclass(slots=True)
class RowSum:
    """How many rows, and the sum of their digests."""

    count: int = 0
    total: int = 0

    def add(self, encoded: bytes) -> None:
        """Add a row, as canonical JSON."""
        self.count += 1
        self.total = (self.total + int.from_bytes(blake2b(encoded, digest_size=DIGEST_BYTES).digest())) % MODULUS

    @property
    def checksum(self) -> str:
        return f"{self.total:0{2 * DIGEST_BYTES}x}"

    def as_json(self) -> dict[str, Any]:
        return {"items": self.count, "checksum": self.checksum}

    @classmethod
    def from_json(cls, written: dict[str, Any]) -> RowSum:
        return cls(int(written["items"]), int(written["checksum"], 16))


@dataclass(slots=True)
class TableSum:
    """The rows of a table: those that last, and those that expire soon, which the service may delete meanwhile."""

    lasting: RowSum
    expiring: RowSum

    @classmethod
    def empty(cls) -> TableSum:
        return cls(RowSum(), RowSum())

    @property
    def whole(self) -> RowSum:
        return RowSum(self.lasting.count + self.expiring.count, (self.lasting.total + self.expiring.total) % MODULUS)

    def as_json(self) -> dict[str, Any]:
        return {"lasting": self.lasting.as_json(), "expiring": self.expiring.as_json()}

    @classmethod
    def from_json(cls, written: dict[str, Any]) -> TableSum:
        return cls(RowSum.from_json(written["lasting"]), RowSum.from_json(written["expiring"]))

    def arrived_as(self, target: TableSum, *, expiry_runs: bool) -> bool:
        """Whether the target has the same rows, or has lost only rows that expire."""
        if expiry_runs:
            return target.lasting == self.lasting and target.expiring.count <= self.expiring.count
        return target == self

"""The records of a table's stream."""

import time
from collections.abc import Callable
from typing import Any

import msgspec


# A struct, not a dataclass: one is created for every write, and a frozen dataclass takes five times as long.
class Record(msgspec.Struct, frozen=True):
    """One change of one item, in wire form."""

    table: str
    wire: dict[str, Any]

    @property
    def kind(self) -> str:
        """INSERT, MODIFY or REMOVE."""
        return str(self.wire["eventName"])

    @property
    def key(self) -> dict[str, Any]:
        key: dict[str, Any] = self.wire["dynamodb"]["Keys"]
        return key

    @property
    def old(self) -> dict[str, Any] | None:
        image: dict[str, Any] | None = self.wire["dynamodb"].get("OldImage")
        return image

    @property
    def new(self) -> dict[str, Any] | None:
        image: dict[str, Any] | None = self.wire["dynamodb"].get("NewImage")
        return image

    @property
    def sequence_number(self) -> str:
        return str(self.wire["dynamodb"]["SequenceNumber"])

    @property
    def created_at(self) -> float:
        """When the change was made, in whole seconds."""
        return float(self.wire["dynamodb"].get("ApproximateCreationDateTime") or time.time())

    @property
    def expired(self) -> bool:
        """Whether the service deleted the item because it had expired."""
        by = self.wire.get("userIdentity") or {}
        # The Streams API writes the name with a capital letter; the same record in a Lambda function has none.
        return "dynamodb.amazonaws.com" in (by.get("PrincipalId"), by.get("principalId"))


Concerns = Callable[[Record], bool]
"""Whether a consumer wants a record."""

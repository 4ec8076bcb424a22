"""The row that gives a caller access to a list, and its changes in the log: whether access was lost or restored."""

from collections.abc import Callable
from typing import Any, NamedTuple

from potluck.dynamo.values import Item
from potluck.streams.buffer import BufferedRecord, TopicKey, partition_text
from potluck.table.access import Ref
from potluck.table.errors import UnreadableItem
from potluck.table.membership import Membership
from potluck.table.tables import Table


class Grant(NamedTuple):
    """The row of a followed table that gives a caller access, while `entitles` is true of it."""

    row: Ref[Any]
    entitles: Callable[[Any], bool]


class GrantHistory:
    """Tells from changes of the grant's row whether the caller's access was interrupted."""

    __slots__ = ("_entitles", "_row")

    def __init__(self, grant: Grant) -> None:
        self._row = Membership(grant.row)
        self._entitles = grant.entitles

    @property
    def table(self) -> Table:
        return self._row.table

    @property
    def topic(self) -> TopicKey:
        return self._row.index, partition_text(self._row.partition)

    def interrupted_by(self, record: BufferedRecord) -> bool:
        """Whether the change takes access away, or gives it back."""
        if record.old is None:
            # Someone who gets access for the first time has no earlier position of their own. Someone who gets it
            # again lost it first, and that was a change as well.
            return False
        return self._holds(record.old, record.decoded_old) != self._holds(record.new, record.decoded_new)

    def _holds(self, row: Item | None, decoded: dict[Any, Any]) -> bool:
        if row is None:
            return False
        try:
            entity = self._row.entity(row, 0, decoded)
        except UnreadableItem:
            return False
        return entity is not None and self._entitles(entity)

"""What another process has read of a log and passed on, and whether it follows what was read here."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from potluck.streams.log import is_marker
from potluck.streams.records import Record

# Beyond this, the log has the rest.
MOST_KEPT = 1000


class Passed(NamedTuple):
    """Records of one shard that follow each other, and the number of the one before; None at the shard's beginning."""

    shard: str
    previous: int | None
    records: Sequence[Record]

    def after(self, last: int | None) -> list[Record] | None:
        """The records after the last one that was read here; None if there may be others in between."""
        new = [record for record in self.records if last is None or int(record.sequence_number) > last]
        if not new or self._follows(last):
            return new
        return None

    def _follows(self, last: int | None) -> bool:
        if self.previous is None or last is None or is_marker(self.previous) or is_marker(last):
            # Two markers that differ are places of which it is not known which is first.
            return self.previous == last or (self.previous is None and not is_marker(last))
        return self.previous <= last


class Unconnected:
    """What was passed on while this process read the log itself, by shard."""

    def __init__(self) -> None:
        self._kept: dict[str, deque[Passed]] = {}

    def keep(self, passed: Passed) -> None:
        self._kept.setdefault(passed.shard, deque(maxlen=MOST_KEPT)).append(passed)

    def has(self, shard: str) -> bool:
        return bool(self._kept.get(shard))

    def take_after(self, shard: str, last: int | None) -> list[Record] | None:
        """The next records that follow the last one read here; None if there are none."""
        kept = self._kept.get(shard)
        while kept:
            records = kept[0].after(last)
            if records is None:
                return None
            kept.popleft()
            if records:
                return records
        return None

    def forget(self, shard: str) -> None:
        self._kept.pop(shard, None)

"""The rows of the work table as they are moved to another store, whose tables have other streams.

Leases, processes, shards and positions mean nothing there. A consumer finds that it last read another stream, so it
makes up for what it may have missed (`lost`), goes on with its long work, and reads the new stream from its beginning.
"""

from typing import Any

from potluck.streams.leases import WorkTable

MOVED = "MOVED"
MOVED_FROM = "moved from "


def moved_row(work_table: WorkTable, row: dict[str, Any]) -> dict[str, Any] | None:
    """The row for another store; None for one that is not moved. A row that was moved before stays as it is."""
    partition, sort = (row[name]["S"] for name in (work_table.partition_key, work_table.sort_key))
    if not partition.startswith("CONSUMER#"):
        return None
    if sort == "STREAM":
        # Not a name that any stream can have, so that even a copy with equal streams notices.
        arn = row["StreamArn"]["S"].removeprefix(MOVED_FROM)
        return {**row, "StreamArn": {"S": MOVED_FROM + arn}}
    if sort.startswith("STEPS#"):
        # Whichever process notices the move goes on with it.
        return {**{name: value for name, value in row.items() if name != "Holder"}, "Shard": {"S": MOVED}}
    return row if sort.startswith("PARKED#") else None


def is_moved(stream: str | None) -> bool:
    """Whether this is what a moved row names in place of a stream."""
    return stream is not None and stream.startswith(MOVED_FROM)


def moved_mark(work_table: WorkTable, at: int) -> dict[str, Any]:
    """The row that tells consumers without a position that there are rows from before the streams."""
    return {**moved_key(work_table), "At": {"N": str(at)}}


def moved_key(work_table: WorkTable) -> dict[str, Any]:
    return work_table.key(MOVED, MOVED)

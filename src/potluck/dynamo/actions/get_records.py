"""GetRecords."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.actions.get_shard_iterator import check_kept
from potluck.dynamo.limits import PAGE_BYTES, STREAM_RECORDS
from potluck.dynamo.storage.rows import Rows
from potluck.dynamo.streams import Iterator, Stream, before_horizon, newest, record, sequence_of, stream_numbered

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

INLINE_RECORDS = 64


async def get_records(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    now, rows = database.clock(), database.rows
    iterator = Iterator.read(request["ShardIterator"], now)
    stream = stream_numbered(rows, database.namespace, iterator.stream, now)
    limit = request.get("Limit", STREAM_RECORDS)
    database.note_seen(stream.table_name)
    last = newest(rows, stream)
    if iterator.after < last:
        check_kept(iterator.after, before_horizon(rows, stream, now))
    if min(limit, last - iterator.after) > INLINE_RECORDS:
        records = await database.read_aside(lambda: read(database.rows, stream, iterator.after, limit))
    else:
        records = read(rows, stream, iterator.after, limit)
    after = sequence_of(records[-1]["dynamodb"]["SequenceNumber"]) if records else iterator.after
    answer: dict[str, Any] = {"Records": records}
    if stream.is_open or after < last:
        answer["NextShardIterator"] = Iterator.behind(iterator.stream, after, now).token()
    return answer


def read(rows: Rows, stream: Stream, after: int, limit: int) -> list[dict[str, Any]]:
    """The records after a position, up to a megabyte of them."""
    records: list[dict[str, Any]] = []
    size = 0
    cursor = rows.execute(
        f"SELECT sequence, at, kind, key, new, old FROM {stream.log} WHERE sequence > ? ORDER BY sequence LIMIT ?",
        (after, limit),
    )
    for row in cursor:
        described = record(stream, row)
        size += described["dynamodb"]["SizeBytes"]
        if size > PAGE_BYTES and records:
            cursor.close()
            break
        records.append(described)
    return records

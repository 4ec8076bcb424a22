"""GetShardIterator."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.streams import Iterator, before_horizon, find_stream, is_logged, newest, sequence_of

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def get_shard_iterator(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    now, rows = database.clock(), database.rows
    kind, number = request["ShardIteratorType"], request.get("SequenceNumber")
    stream = find_stream(rows, database.namespace, request["StreamArn"], now)
    if number is not None and kind in ("TRIM_HORIZON", "LATEST"):
        invalid(f"SequenceNumber must not be given for ShardIteratorType {kind}")
    if request["ShardId"] != stream.shard:
        raise DynamoError(
            "ResourceNotFoundException",
            f"Requested resource not found: Shard does not exist: {request['ShardId']}",
        )
    if kind == "TRIM_HORIZON":
        after = before_horizon(rows, stream, now)
    elif kind == "LATEST":
        after = newest(rows, stream)
    else:
        if number is None:
            invalid(f"SequenceNumber is required for ShardIteratorType {kind}")
        sequence = sequence_of(number)
        after = sequence - (kind == "AT_SEQUENCE_NUMBER")
        horizon = before_horizon(rows, stream, now)
        # After the horizon every number is in the log, except those skipped when a store was restored.
        if not -1 <= after <= newest(rows, stream) or (sequence > horizon and not is_logged(rows, stream, sequence)):
            invalid("Invalid SequenceNumber: it does not belong to the shard")
        check_kept(after, horizon)
    return {"ShardIterator": Iterator.behind(stream.definition.number, after, now).token()}


def check_kept(after: int, horizon: int) -> None:
    """Refuse a position before the trim horizon."""
    # -1 and 0 both mean the start of the shard, which is out of reach once the first change is gone.
    if max(after, 0) < horizon:
        raise DynamoError(
            "TrimmedDataAccessException",
            "The operation attempted to read past the oldest stream record in a shard: "
            "the records at that position are no longer kept",
        )

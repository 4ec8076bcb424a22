"""The change log as DynamoDB Streams: one stream per table, one shard per stream, retained for a day."""

import base64
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.limits import IDEMPOTENCY_SECONDS, ITERATOR_LIFETIME_SECONDS, STREAM_RETENTION_SECONDS
from potluck.dynamo.namespaces import Namespace, name_of, namespace_of
from potluck.dynamo.storage.catalog import key_schema
from potluck.dynamo.storage.rows import EXPIRED, INSERTED, MODIFIED, LoggedRow, Rows, unpack
from potluck.dynamo.tables import StreamDefinition, Table, TableDefinition
from potluck.dynamo.values import item_size

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

FIRST_SEQUENCE_NUMBER = 10**20
"""Sequence numbers are strings of at least 21 digits, like the service's."""

STREAM_ARN = re.compile(r"arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:[0-9]+:table/[^/]+/stream/.+")

SERVICE = {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}

decode_definition = msgspec.msgpack.Decoder(StreamDefinition).decode


class Stream:
    """A stream that can still be read, whether or not its table still exists."""

    def __init__(self, table_key: str, keys: list[list[str]], definition: StreamDefinition) -> None:
        self.table_name = name_of(table_key)
        self.namespace = namespace_of(table_key)
        self.keys = keys
        self.definition = definition
        self.log = f"changes_{definition.number}"
        self.arn = f"{self.namespace.arn(self.table_name)}/stream/{definition.label}"
        self.shard = f"shardId-{int(definition.created * 1000):020d}-{definition.number:08x}"

    @property
    def is_open(self) -> bool:
        return self.definition.ended is None


class Iterator(msgspec.Struct, array_like=True):
    """A shard iterator: the stream, the last record already read, and when the iterator expires."""

    stream: int
    after: int
    expires: float

    def token(self) -> str:
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).decode()

    @classmethod
    def read(cls, token: str, now: float) -> "Iterator":
        try:
            iterator = msgspec.json.decode(base64.urlsafe_b64decode(token), type=cls)
        except (ValueError, msgspec.DecodeError):
            invalid("Invalid ShardIterator")
        if iterator.expires < now:
            raise DynamoError(
                "ExpiredIteratorException", "Iterator expired. The iterator was created more than 15 minutes ago."
            )
        return iterator

    @classmethod
    def behind(cls, stream: int, after: int, now: float) -> "Iterator":
        return cls(stream, after, now + ITERATOR_LIFETIME_SECONDS)


def new_stream(rows: Rows, table: TableDefinition, view: str, now: float) -> StreamDefinition:
    """A stream that begins now, with a label that distinguishes it from the table's earlier ones."""
    number = rows.catalog.next_number(rows.connection, "stream")
    label = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
    taken = {stream.label for stream in table.streams}
    if label in taken:
        label = f"{label[:-3]}{number % 1000:03d}"
    return StreamDefinition(number, label, view, now)


def all_streams(rows: Rows, namespace: Namespace, now: float) -> list[Stream]:
    stored = rows.execute("SELECT table_name, keys, definition FROM streams ORDER BY number").fetchall()
    streams = [Stream(key, unpack(keys), decode_definition(blob)) for key, keys, blob in stored]
    return [stream for stream in streams if stream.namespace == namespace and not gone(stream.definition, now)]


def gone(definition: StreamDefinition, now: float) -> bool:
    return definition.ended is not None and definition.ended < now - STREAM_RETENTION_SECONDS


# Safe to cache: a changed definition makes a new Table.
@lru_cache(256)
def stream_of(table: Table) -> Stream | None:
    """The stream that the table writes to now."""
    return None if table.stream is None else Stream(table.key, key_schema(table), table.stream)


def check_arn(arn: str) -> None:
    if not STREAM_ARN.fullmatch(arn):
        invalid(f"Invalid StreamArn: {arn}")


def find_stream(rows: Rows, namespace: Namespace, arn: str, now: float) -> Stream:
    """The stream an ARN names."""
    check_arn(arn)
    for stream in all_streams(rows, namespace, now):
        if stream.arn == arn:
            return stream
    raise stream_not_found(arn)


def stream_not_found(arn: str) -> DynamoError:
    return DynamoError("ResourceNotFoundException", f"Requested resource not found: Stream: {arn} not found")


def stream_numbered(rows: Rows, namespace: Namespace, number: int, now: float) -> Stream:
    row = rows.execute("SELECT table_name, keys, definition FROM streams WHERE number=?", (number,)).get
    if row is not None:
        stream = Stream(row[0], unpack(row[1]), decode_definition(row[2]))
        if stream.namespace == namespace and not gone(stream.definition, now):
            return stream
    raise DynamoError("ResourceNotFoundException", "Requested resource not found: Stream not found")


def sequence_number(sequence: int) -> str:
    return str(FIRST_SEQUENCE_NUMBER + sequence)


def sequence_of(number: str) -> int:
    if not number.isdigit():
        invalid(f"Invalid SequenceNumber: {number}")
    return int(number) - FIRST_SEQUENCE_NUMBER


def newest(rows: Rows, stream: Stream) -> int:
    """The sequence of the last record; 0 if there is none."""
    return rows.execute(f"SELECT max(sequence) FROM {stream.log}").get or 0


def is_logged(rows: Rows, stream: Stream, sequence: int) -> bool:
    return rows.execute(f"SELECT 1 FROM {stream.log} WHERE sequence=?", (sequence,)).get is not None


def before_horizon(rows: Rows, stream: Stream, now: float) -> int:
    """The last sequence that is too old to be read; 0 if there is none."""
    first = rows.execute(
        f"SELECT sequence FROM {stream.log} WHERE at >= ? ORDER BY sequence LIMIT 1", (now - STREAM_RETENTION_SECONDS,)
    ).get
    return newest(rows, stream) if first is None else first - 1


def last_but(rows: Rows, stream: Stream, count: int, now: float) -> int | None:
    """The sequence after which this many records follow; None if no more than those can be read."""
    sequence: int | None = rows.execute(
        f"SELECT sequence FROM {stream.log} ORDER BY sequence DESC LIMIT 1 OFFSET ?", (count,)
    ).get
    return None if sequence is None or sequence < before_horizon(rows, stream, now) else sequence


def record(stream: Stream, row: LoggedRow, sizes: int | None = None) -> dict[str, Any]:
    """One change as GetRecords returns it; `sizes` is the total size of both images, if known."""
    sequence, at, kind, key, new, old = row
    images = {}
    if new is not None:
        images["NewImage"] = unpack(new)
    if old is not None:
        images["OldImage"] = unpack(old)
    if key is None:
        image = images["OldImage"] if new is None else images["NewImage"]
        keys = {name: image[name] for name, _ in stream.keys}
    else:
        keys = unpack(key)
    size = item_size(keys) + (sum(map(item_size, images.values())) if sizes is None else sizes)
    change: dict[str, Any] = {
        "ApproximateCreationDateTime": float(int(at)),
        "Keys": keys,
        **images,
        "SequenceNumber": sequence_number(sequence),
        "SizeBytes": size,
        "StreamViewType": stream.definition.view,
    }
    described: dict[str, Any] = {
        "eventID": f"{stream.definition.number:08x}{sequence:024x}",
        "eventName": "INSERT" if kind == INSERTED else "MODIFY" if kind == MODIFIED else "REMOVE",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": stream.namespace.region,
        "dynamodb": change,
    }
    if kind == EXPIRED:
        described["userIdentity"] = SERVICE
    return described


async def trim(database: "Database") -> None:
    """Delete records and idempotency tokens that have passed their retention."""
    now = database.clock()

    def forget(rows: Rows) -> None:
        known = [decode_definition(blob) for (blob,) in rows.execute("SELECT definition FROM streams").fetchall()]
        for definition in known:
            log = f"changes_{definition.number}"
            if gone(definition, now):
                rows.execute(f"DROP TABLE {log}")
                rows.execute("DELETE FROM streams WHERE number=?", (definition.number,))
                forget_in_table(rows, definition)
            else:
                # The newest record stays, whatever its age: the next sequence number continues from it.
                rows.execute(
                    f"DELETE FROM {log} WHERE sequence < (SELECT max(sequence) FROM {log}) AND sequence <"
                    f" coalesce((SELECT sequence FROM {log} WHERE at >= ? ORDER BY sequence LIMIT 1), 1 << 62)",
                    (now - STREAM_RETENTION_SECONDS,),
                )
        rows.execute("DELETE FROM tokens WHERE at < ?", (now - IDEMPOTENCY_SECONDS,))

    await database.write(forget)


def forget_in_table(rows: Rows, stream: StreamDefinition) -> None:
    for table in list(rows.catalog.tables.values()):
        remaining = tuple(other for other in table.definition.streams if other.number != stream.number)
        if len(remaining) != len(table.definition.streams):
            rows.catalog.save(
                rows.connection, type(table)(msgspec.structs.replace(table.definition, streams=remaining))
            )

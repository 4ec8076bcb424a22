"""Failures of a consumer: which are transient, and how a record that cannot be handled is stored."""

from typing import Any

import msgspec

from potluck.engines import DynamoError
from potluck.engines.transient import is_transient
from potluck.streams.records import Record
from potluck.table.errors import OutcomeUnknown, Unavailable

ATTEMPTS = 8
"""After this many failures that are not transient, a record is parked."""
PARKED_RECORD_BYTES = 300_000
PARKED_ERROR_LENGTH = 2000


def passes(error: Exception) -> bool:
    """Whether the failure is transient, reported by the engine or by the store."""
    return isinstance(error, Unavailable | OutcomeUnknown) or (isinstance(error, DynamoError) and is_transient(error))


def parked(record: Record, error: Exception, now: float) -> dict[str, Any]:
    """The attributes of a parked record: itself, without its images if it is too large, and why it is there."""
    encoded = msgspec.json.encode(record.wire)
    if len(encoded) > PARKED_RECORD_BYTES:
        small = {name: part for name, part in record.wire["dynamodb"].items() if not name.endswith("Image")}
        encoded = msgspec.json.encode({**record.wire, "dynamodb": small})
    return {"Record": {"S": encoded.decode()}, **reason(error, now)}


def reason(error: Exception, now: float) -> dict[str, Any]:
    """The attributes that say why something is parked."""
    return {"Error": {"S": repr(error)[:PARKED_ERROR_LENGTH]}, "At": {"N": f"{now:.3f}"}}

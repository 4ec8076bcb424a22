"""What may be asked: the types and constraints of every operation's parameters."""

import re
from itertools import islice
from typing import Any

from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.parameters.compounds import AttributeValue, MapOf
from potluck.dynamo.parameters.items import ITEM_OPERATIONS
from potluck.dynamo.parameters.names import TABLE_ARN
from potluck.dynamo.parameters.tables import NAMED_FIRST, STREAM_OPERATIONS, TABLE_OPERATIONS

__all__ = ["OPERATIONS", "STREAM_OPERATIONS", "check", "check_attribute_values", "check_whole", "table_name_of"]

FAULTS_TOLD = 10

OPERATIONS = TABLE_OPERATIONS | ITEM_OPERATIONS
SHAPES = OPERATIONS | STREAM_OPERATIONS
FITS = {
    operation: (lambda request, fits=shape.fits: "TableName" in request and fits(request))
    if operation in NAMED_FIRST
    else shape.fits
    for operation, shape in SHAPES.items()
}
ATTRIBUTE_VALUES = MapOf(AttributeValue())
ARN = re.compile(TABLE_ARN)


def check(operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """The request as the service reads it, or its error; inside attribute values only where it had to look closer."""
    try:
        if FITS[operation](request):
            return request
    except KeyError:
        raise DynamoError("UnknownOperationException", "") from None
    except TypeError:
        pass  # A list or a map where one of a few words belongs.
    return check_whole(operation, request)


def check_whole(operation: str, request: Any) -> dict[str, Any]:
    """The request as the service reads it, attribute values included, or the error of the service's first reading."""
    shape = SHAPES[operation]
    read: dict[str, Any] = shape.understood(request, True)
    if operation in NAMED_FIRST:
        if "TableName" not in read:
            invalid("The parameter 'TableName' is required but was not present in the request")
        name = read["TableName"]
        if not 3 <= len(name) <= 255 and not ARN.fullmatch(name):
            invalid("TableName must be at least 3 characters long and at most 255 characters long")
    faults = list(islice(shape.faults(read, ""), FAULTS_TOLD))
    if faults:
        plural = "" if len(faults) == 1 else "s"
        invalid(f"{len(faults)} validation error{plural} detected: {'; '.join(faults)}")
    return read


def check_attribute_values(part: Any) -> dict[str, Any]:
    """A map of attribute values as the service reads it, or its SerializationException."""
    read: dict[str, Any] = ATTRIBUTE_VALUES.understood(part, False)
    return read


def table_name_of(name_or_arn: str) -> str:
    """The table's name, where its ARN may stand in its place."""
    return name_or_arn.rpartition("/")[2] if ":" in name_or_arn else name_or_arn

"""Request validation: the types and constraints of every operation's parameters."""

import re
from itertools import islice
from typing import Any

from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.parameters.items import ITEM_OPERATIONS
from potluck.dynamo.parameters.names import TABLE_ARN, TABLE_NAME
from potluck.dynamo.parameters.scalars import at_least, fault
from potluck.dynamo.parameters.tables import (
    NAMED_FIRST,
    OPERATIONS_NOT_OFFERED,
    OPERATIONS_WITHOUT_EFFECT,
    PARAMETERS_NOT_OFFERED,
    STREAM_OPERATIONS,
    TABLE_OPERATIONS,
)

__all__ = [
    "OPERATIONS",
    "OPERATIONS_NOT_OFFERED",
    "OPERATIONS_WITHOUT_EFFECT",
    "PARAMETERS_NOT_OFFERED",
    "STREAM_OPERATIONS",
    "check",
    "check_whole",
    "refuse_not_offered",
    "table_name_of",
    "unknown_operation",
]

FAULTS_TOLD = 10

OPERATIONS = TABLE_OPERATIONS | ITEM_OPERATIONS
SHAPES = OPERATIONS | STREAM_OPERATIONS
FITS = {
    operation: (lambda request, fits=shape.fits: "TableName" in request and fits(request))
    if operation in NAMED_FIRST
    else shape.fits
    for operation, shape in SHAPES.items()
}
ARN = re.compile(TABLE_ARN)


def check(operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """The request as the service reads it, or its error; attribute values are only read if the fast check fails."""
    try:
        if FITS[operation](request):
            return request
    except KeyError:
        raise unknown_operation(operation) from None
    except TypeError:
        pass  # an unhashable list or map where an enum value belongs
    return check_whole(operation, request)


def check_whole(operation: str, request: Any) -> dict[str, Any]:
    """The request as the service reads it, attribute values included, or the error of its first validation."""
    shape = SHAPES[operation]
    read: dict[str, Any] = shape.understood(request, True)
    if operation in NAMED_FIRST:
        check_name(operation, read)
    elif read.get("TableName") == "":
        refuse([fault("''", "tableName", at_least(1))])
    elif read.get("RequestItems") == {}:
        invalid(f"The requestItems parameter is required for {operation}")
    refuse(list(islice(shape.faults(read, ""), FAULTS_TOLD)))
    return read


def refuse_not_offered(operation: str, request: dict[str, Any]) -> None:
    """Refuse table settings that this engine does not support."""
    for name in PARAMETERS_NOT_OFFERED[operation]:
        if request.get(name) not in (None, [], False):
            invalid(f"One or more parameter values were invalid: {name} is not supported by this engine")


def check_name(operation: str, read: dict[str, Any]) -> None:
    """Refuse a table name that is missing or of the wrong length, before anything else is checked."""
    name = read.get("TableName")
    if name is None:
        invalid("The parameter 'TableName' is required but was not present in the request")
    if 3 <= len(name) <= 255 or ARN.fullmatch(name):
        return
    if operation == "CreateTable":
        refuse(list(TABLE_NAME.faults(name, "tableName")))
    invalid("TableName must be at least 3 characters long and at most 255 characters long")


def refuse(faults: list[str]) -> None:
    """Refuse the request if there are any faults."""
    if faults:
        plural = "" if len(faults) == 1 else "s"
        invalid(f"{len(faults)} validation error{plural} detected: {'; '.join(faults)}")


def unknown_operation(name: str) -> DynamoError:
    """The error for an operation that this engine does not support; named only if the service knows it."""
    return DynamoError("UnknownOperationException", f"{name} is not an operation of this engine" if name else "")


def table_name_of(name_or_arn: str) -> str:
    """The table's name, from its name or its ARN."""
    return name_or_arn.rpartition("/")[2] if ":" in name_or_arn else name_or_arn

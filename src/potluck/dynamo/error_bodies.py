"""The body and the status that the service answers an error with."""

from typing import Any

from potluck.dynamo.errors import DAMAGED, FULL, DynamoError

MODEL = "com.amazonaws.dynamodb.v20120810#"
NAMESPACES = {
    "ValidationException": "com.amazon.coral.validate#",
    "ThrottlingException": "com.amazon.coral.availability#",
    "AccessDeniedException": "com.amazon.coral.service#",
    "IncompleteSignatureException": "com.amazon.coral.service#",
    "InvalidSignatureException": "com.amazon.coral.service#",
    "MissingAuthenticationTokenException": "com.amazon.coral.service#",
    "SerializationException": "com.amazon.coral.service#",
    "UnknownOperationException": "com.amazon.coral.service#",
}
# The service writes "Message" in these and "message" in all others.
CAPITAL_MESSAGE = frozenset(
    {
        "AccessDeniedException",
        "IdempotentParameterMismatchException",
        "SerializationException",
        "TransactionCanceledException",
        "TransactionInProgressException",
    }
)
STATUSES = {"InternalServerError": 500, "ServiceUnavailable": 503, DAMAGED: 500, FULL: 500}


def status_of(error: DynamoError) -> int:
    return STATUSES.get(error.code, 400)


def error_body(error: DynamoError) -> dict[str, Any]:
    body: dict[str, Any] = {"__type": NAMESPACES.get(error.code, MODEL) + error.code}
    if error.reasons is not None:
        body["CancellationReasons"] = error.reasons
    if error.message:
        body["Message" if error.code in CAPITAL_MESSAGE else "message"] = error.message
    if error.item is not None:
        body["Item"] = error.item
    return body

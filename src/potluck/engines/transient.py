"""Which failures are transient: the same request may succeed later."""

from potluck.engines import ANSWER_LOST, FULL, REQUEST_NOT_SENT, DynamoError

THROTTLED = frozenset({"ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded"})
NOT_EXECUTED = frozenset(
    {
        *THROTTLED,
        *("TransactionConflictException", "TransactionInProgressException", "LimitExceededException"),
        *(REQUEST_NOT_SENT, FULL),
    }
)
MAYBE_EXECUTED = frozenset({ANSWER_LOST, "InternalServerError", "ServiceUnavailable"})
# Reasons for cancelling a transaction that have nothing to do with its actions.
TRANSIENT_REASONS = frozenset({"None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})


def is_transient(error: DynamoError) -> bool:
    return error.code in NOT_EXECUTED or error.code in MAYBE_EXECUTED or is_transient_cancellation(error)


def is_throttled(error: DynamoError) -> bool:
    """Whether the service had too much to do, for this request or for a part of this transaction."""
    codes = {str(reason.get("Code")) for reason in error.reasons or ()}
    return error.code in THROTTLED or not codes.isdisjoint({"ThrottlingError", "ProvisionedThroughputExceeded"})


def is_transient_cancellation(error: DynamoError) -> bool:
    """Whether a transaction was cancelled only by conflicts with others, or because the engine was busy."""
    if error.code != "TransactionCanceledException" or not error.reasons:
        return False
    return all(reason.get("Code", "None") in TRANSIENT_REASONS for reason in error.reasons)

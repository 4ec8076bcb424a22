"""Why a transaction was cancelled: one reason for each of its actions, in order."""

from typing import Any

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.tables import EMPTY_KEY

NONE = {"Code": "None"}
REASONS = {
    "ConditionalCheckFailedException": "ConditionalCheckFailed",
    "DuplicateItemException": "DuplicateItem",
    "ValidationException": "ValidationError",
}
"""The reason codes for errors of a single action; any other error fails the whole call."""


def reason_of(failure: DynamoError) -> dict[str, Any]:
    """The cancellation reason for an action's error; raises the error if it fails the whole call."""
    code = REASONS.get(failure.code)
    if code is None:
        raise failure
    reason: dict[str, Any] = {"Code": code, "Message": failure.message}
    if failure.item is not None:
        reason["Item"] = failure.item
    return reason


def cancelled(reasons: list[dict[str, Any]]) -> DynamoError:
    codes = ", ".join(reason["Code"] for reason in reasons)
    return DynamoError(
        "TransactionCanceledException",
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
        reasons=reasons,
    )


def misfit(failure: DynamoError, position: int, count: int) -> DynamoError:
    """The error for the first of `count` actions that does not fit its table's schema: it cancels them all."""
    # Empty key values are found before any table is looked at, so they fail the call itself.
    if failure.message.startswith(EMPTY_KEY):
        return failure
    reasons = [dict(NONE) for _ in range(count)]
    reasons[position] = reason_of(failure)
    return cancelled(reasons)

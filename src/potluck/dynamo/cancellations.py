"""Why a transaction was cancelled: a reason for each of its actions, in their order."""

from typing import Any

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.tables import EMPTY_KEY

__all__ = ["cancelled", "misfit", "reason_of"]

NONE = {"Code": "None"}
REASONS = {
    "ConditionalCheckFailedException": "ConditionalCheckFailed",
    "ValidationException": "ValidationError",
}
"""The codes under which an action's own failure is told; any other fails the call."""


def reason_of(failure: DynamoError) -> dict[str, Any]:
    """What is told of an action that failed; raises the failure where it is the whole call's."""
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
    """What is raised for the first of so many actions that does not fit its table's schema: it cancels them all."""
    # What is empty is seen before any table is looked at, so the call fails with it.
    if failure.message.startswith(EMPTY_KEY):
        return failure
    reasons = [dict(NONE) for _ in range(count)]
    reasons[position] = reason_of(failure)
    return cancelled(reasons)

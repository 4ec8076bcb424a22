"""Why a transaction was cancelled: a reason for each of its actions, in their order."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.tables import EMPTY_KEY

__all__ = ["cancelled", "fitted", "reason_of"]

Given = TypeVar("Given")
Fitted = TypeVar("Fitted")

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


def fitted(fit: Callable[[Given], Fitted], actions: Iterable[Given]) -> list[Fitted]:
    """Each action held against its table's schema; the first that does not fit cancels the transaction."""
    given = list(actions)
    fits: list[Fitted] = []
    for action in given:
        try:
            fits.append(fit(action))
        except DynamoError as failure:
            # What is empty is seen before any table is looked at, so the call fails with it.
            if failure.message.startswith(EMPTY_KEY):
                raise
            reasons = [dict(NONE) for _ in given]
            reasons[len(fits)] = reason_of(failure)
            raise cancelled(reasons) from failure
    return fits

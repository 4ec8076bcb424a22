"""Which failures are transient."""

import pytest

from potluck.engines import DynamoError
from potluck.engines.transient import is_transient


@pytest.mark.parametrize(
    ("reasons", "transient"),
    [
        (["None", "TransactionConflict"], True),
        (["ProvisionedThroughputExceeded"], True),
        (["TransactionConflict", "ConditionalCheckFailed"], False),
        (["ValidationError"], False),
        ([], False),
    ],
)
def test_a_cancelled_transaction_may_succeed_later_if_all_its_reasons_pass(reasons: list[str], transient: bool) -> None:
    error = DynamoError("TransactionCanceledException", "", reasons=[{"Code": code} for code in reasons])
    assert is_transient(error) is transient


@pytest.mark.parametrize(
    ("code", "transient"),
    [
        ("ThrottlingException", True),
        ("AnswerLost", True),
        ("RequestNotSent", True),
        ("ConditionalCheckFailedException", False),
        ("ValidationException", False),
        ("ResourceNotFoundException", False),
    ],
)
def test_a_failure_is_transient_by_its_code(code: str, transient: bool) -> None:
    assert is_transient(DynamoError(code, "")) is transient

"""Conflicting: what conflicts writes nothing, what loses its answer wrote everything."""

from typing import Any

import pytest

from potluck.engines import ANSWER_LOST, DynamoError
from potluck.engines.conflicting import Conflicting


class Counting:
    """An engine that only counts what reaches it."""

    def __init__(self) -> None:
        self.operations: list[str] = []

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        self.operations.append(operation)
        return {}

    async def changed(self, table: str, timeout: float) -> bool:
        return True

    async def close(self) -> None: ...


TRANSACTION = {"TransactItems": [{"Put": {}}, {"Put": {}}, {"Put": {}}]}


async def outcomes(engine: Conflicting, operation: str, request: dict[str, Any], times: int) -> list[str]:
    codes = []
    for _ in range(times):
        try:
            await engine.call(operation, request)
            codes.append("done")
        except DynamoError as error:
            codes.append(error.code)
    return codes


async def test_transactions_conflict_before_anything_is_sent() -> None:
    counting = Counting()
    engine = Conflicting(counting, seed=1, conflicts=0.3)
    codes = await outcomes(engine, "TransactWriteItems", TRANSACTION, 100)
    assert 15 < codes.count("TransactionCanceledException") < 45
    assert codes.count("done") == len(counting.operations) == 100 - engine.conflicts_met


async def test_the_reasons_are_as_many_as_the_actions() -> None:
    engine = Conflicting(Counting(), seed=1, conflicts=1.0)
    for operation in ("TransactWriteItems", "TransactGetItems"):
        with pytest.raises(DynamoError) as refused:
            await engine.call(operation, TRANSACTION)
        codes = [reason["Code"] for reason in refused.value.reasons or ()]
        assert len(codes) == 3
        assert set(codes) <= {"None", "TransactionConflict"}
        assert "TransactionConflict" in codes
        assert refused.value.message.endswith(f"[{', '.join(codes)}]")


async def test_single_writes_conflict_only_when_chosen() -> None:
    assert set(await outcomes(Conflicting(Counting(), 1, conflicts=1.0), "PutItem", {}, 20)) == {"done"}
    chosen = Conflicting(Counting(), 1, conflicts=0, single_writes=1.0)
    assert set(await outcomes(chosen, "UpdateItem", {}, 20)) == {"TransactionConflictException"}
    assert set(await outcomes(chosen, "GetItem", {}, 20)) == {"done"}


async def test_a_lost_answer_is_of_a_write_that_was_done() -> None:
    counting = Counting()
    engine = Conflicting(counting, 1, conflicts=0, lost_answers=1.0)
    assert await outcomes(engine, "TransactWriteItems", TRANSACTION, 3) == [ANSWER_LOST] * 3
    assert await outcomes(engine, "DeleteItem", {}, 1) == [ANSWER_LOST]
    assert await outcomes(engine, "Query", {}, 1) == ["done"]
    assert len(counting.operations) == 5
    assert engine.answers_lost == 4


async def test_the_same_seed_makes_the_same_choices() -> None:
    def engine(seed: int) -> Conflicting:
        return Conflicting(Counting(), seed, conflicts=0.5, lost_answers=0.2)

    first = await outcomes(engine(1), "TransactWriteItems", TRANSACTION, 30)
    assert await outcomes(engine(1), "TransactWriteItems", TRANSACTION, 30) == first
    assert await outcomes(engine(2), "TransactWriteItems", TRANSACTION, 30) != first

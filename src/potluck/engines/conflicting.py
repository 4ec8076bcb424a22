"""An engine wrapper for tests: transaction conflicts and lost answers, as on a busy service.

Neither DynamoDB Local nor a single test ever produces them. All choices come from the seed, so a failing test fails
again.
"""

import random
from typing import Any

from potluck.engines import ANSWER_LOST, DynamoError, Engine

SINGLE_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem"})
TRANSACTIONS = frozenset({"TransactWriteItems", "TransactGetItems"})
WRITES = SINGLE_WRITES | {"TransactWriteItems", "BatchWriteItem"}
ONGOING = "Transaction is ongoing for the item"


class Conflicting:
    """An engine where calls conflict, or the answers of completed writes are lost, with the given probabilities.

    A conflict is raised before anything is sent, so nothing is written. A lost answer is raised after the engine has
    executed the write: retrying it shows whether the retry is safe.
    """

    def __init__(
        self,
        engine: Engine,
        seed: int,
        conflicts: float = 0.1,
        single_writes: float = 0.0,
        lost_answers: float = 0.0,
    ) -> None:
        self.engine = engine
        self.conflicts = conflicts
        self.single_writes = single_writes
        self.lost_answers = lost_answers
        self.conflicts_met = 0
        self.answers_lost = 0
        self._random = random.Random(seed)

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation in TRANSACTIONS and self._happens(self.conflicts):
            self.conflicts_met += 1
            raise self._cancelled(len(request.get("TransactItems") or [None]))
        if operation in SINGLE_WRITES and self._happens(self.single_writes):
            self.conflicts_met += 1
            raise DynamoError("TransactionConflictException", ONGOING)
        answer = await self.engine.call(operation, request)
        if operation in WRITES and self._happens(self.lost_answers):
            self.answers_lost += 1
            raise DynamoError(ANSWER_LOST, "the connection was closed before the answer came")
        return answer

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)

    async def close(self) -> None:
        await self.engine.close()

    def _happens(self, probability: float) -> bool:
        # Drawn even when it cannot happen, so that changing one probability does not change the other choices.
        return self._random.random() < probability

    def _cancelled(self, actions: int) -> DynamoError:
        conflicting = set(self._random.sample(range(actions), self._random.randint(1, min(actions, 3))))
        reasons: list[dict[str, Any]] = [
            {"Code": "TransactionConflict", "Message": ONGOING} if number in conflicting else {"Code": "None"}
            for number in range(actions)
        ]
        codes = ", ".join(reason["Code"] for reason in reasons)
        message = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
        return DynamoError("TransactionCanceledException", message, reasons=reasons)

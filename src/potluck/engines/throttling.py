"""An engine wrapper for tests: throttling, as on a busy table.

All choices come from the seed, so a failing test fails again.
"""

import random
from typing import Any

from potluck.engines import DynamoError, Engine

SINGLE = frozenset({"GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan"})
BATCHES = {"BatchGetItem": "UnprocessedKeys", "BatchWriteItem": "UnprocessedItems"}
TRANSACTIONS = frozenset({"TransactGetItems", "TransactWriteItems"})
EXCEEDED = (
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API."
)


class Throttling:
    """An engine that throttles calls, and processes only parts of batches, with the given probabilities."""

    def __init__(self, engine: Engine, seed: int, refused: float = 0.1, partial: float = 0.3) -> None:
        self.engine = engine
        self.refused = refused
        self.partial = partial
        self.calls_refused = 0
        self.batches_cut = 0
        self._random = random.Random(seed)

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation in SINGLE or operation in BATCHES or operation in TRANSACTIONS:
            refuse, cut = self._random.random() < self.refused, self._random.random() < self.partial
            if refuse:
                self.calls_refused += 1
                raise self._refusal(operation, request)
            if cut and operation in BATCHES:
                return await self._part(operation, request)
        return await self.engine.call(operation, request)

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)

    async def close(self) -> None:
        await self.engine.close()

    def _refusal(self, operation: str, request: dict[str, Any]) -> DynamoError:
        actions = len(request.get("TransactItems") or ())
        if operation not in TRANSACTIONS or not actions:
            return DynamoError("ProvisionedThroughputExceededException", EXCEEDED)
        throttled = self._random.randrange(actions)
        reasons: list[dict[str, Any]] = [{"Code": "None"} for _ in range(actions)]
        reasons[throttled] = {"Code": "ProvisionedThroughputExceeded", "Message": EXCEEDED}
        codes = ", ".join(reason["Code"] for reason in reasons)
        message = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
        return DynamoError("TransactionCanceledException", message, reasons=reasons)

    async def _part(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Send part of the batch, at least one item, and return the rest as unprocessed, as the service does."""
        writing = operation == "BatchWriteItem"
        asked: dict[str, list[Any]] = {
            table: list(what if writing else what["Keys"]) for table, what in request.get("RequestItems", {}).items()
        }
        places = [(table, number) for table, parts in asked.items() for number in range(len(parts))]
        if len(places) < 2:
            return await self.engine.call(operation, request)
        done = set(self._random.sample(places, self._random.randint(1, len(places) - 1)))
        now = {table: [p for n, p in enumerate(parts) if (table, n) in done] for table, parts in asked.items()}
        later = {table: [p for n, p in enumerate(parts) if (table, n) not in done] for table, parts in asked.items()}

        def batch(parts: dict[str, list[Any]]) -> dict[str, Any]:
            items = request["RequestItems"]
            return {t: part if writing else {**items[t], "Keys": part} for t, part in parts.items() if part}

        answer = await self.engine.call(operation, {**request, "RequestItems": batch(now)})
        self.batches_cut += 1
        unprocessed = batch(later)
        for table, what in answer.get(BATCHES[operation], {}).items():
            if table not in unprocessed:
                unprocessed[table] = what
            elif writing:
                unprocessed[table] = [*unprocessed[table], *what]
            else:
                unprocessed[table] = {**what, "Keys": [*unprocessed[table]["Keys"], *what["Keys"]]}
        return {**answer, BATCHES[operation]: unprocessed}

"""The embedded engine, throttled, lagging and in conflict like the service on a bad day. For `potluck dynamodb`."""

from typing import Any

from potluck.dynamo.database import Database
from potluck.dynamo.namespaces import DEFAULT, Namespace
from potluck.engines import Engine
from potluck.engines.conflicting import Conflicting
from potluck.engines.lagging import Lagging
from potluck.engines.throttling import Throttling


class Simulating:
    """A database whose callers are throttled, meet conflicts, and read stale data.

    The rates are probabilities. Each account and region has its own wrappers, all with the same seed.
    """

    def __init__(
        self, database: Database, *, throttle: float = 0.0, lag: float = 0.0, conflicts: float = 0.0, seed: int = 0
    ) -> None:
        self._database = database
        self._throttle = throttle
        self._lag = lag
        self._conflicts = conflicts
        self._seed = seed
        self._engines: dict[Namespace, Engine] = {}

    def within(self, namespace: Namespace) -> Engine:
        """The engine for callers of this account and region."""
        engine = self._engines.get(namespace)
        if engine is None:
            engine = self._engines[namespace] = self._wrapped(self._database.within(namespace))
        return engine

    def _wrapped(self, engine: Engine) -> Engine:
        if self._lag:
            engine = Lagging(engine, seconds=self._lag, eventual=True)
        if self._conflicts:
            engine = Conflicting(engine, self._seed, conflicts=self._conflicts, single_writes=self._conflicts)
        if self._throttle:
            engine = Throttling(engine, self._seed, refused=self._throttle, partial=self._throttle)
        return engine

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        return await self.within(DEFAULT).call(operation, request)

    def is_damaged(self) -> bool:
        return self._database.is_damaged()

    async def close(self) -> None:
        """Close the wrappers' replicas, and the database."""
        for engine in self._engines.values():
            await engine.close()
        await self._database.close()

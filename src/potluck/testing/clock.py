"""The clock of a test's store."""

from datetime import UTC, datetime, timedelta

from potluck.dynamo.memory import now


class StoreClock:
    """The system's clock, until a test freezes or moves it. Only the store goes by it."""

    def __init__(self) -> None:
        self._frozen: float | None = None
        self._ahead = 0.0

    def __call__(self) -> float:
        return (now() if self._frozen is None else self._frozen) + self._ahead

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self(), UTC)

    def freeze(self, at: datetime | None = None) -> datetime:
        """Stop the clock at this time, or at the present one."""
        if at is not None and at.tzinfo is None:
            raise ValueError("the time needs a time zone, such as datetime(2030, 1, 1, tzinfo=UTC)")
        self._frozen = self() if at is None else at.timestamp()
        self._ahead = 0.0
        return self.now

    def move(self, by: timedelta | None = None, **parts: float) -> datetime:
        """Go on by this much: `move(hours=2)`; the clock stays frozen if it was."""
        self._ahead += (by or timedelta(**parts)).total_seconds()
        return self.now

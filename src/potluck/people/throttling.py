"""Rate limits: attempts are counted by key in fixed windows, with one write each."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from potluck.metrics import RATE_LIMITED
from potluck.people.entities import Throttle
from potluck.people.errors import Throttled
from potluck.store import Clock, Store
from potluck.table import OutcomeUnknown, Ref, delete, the
from potluck.table.operations import Delete


def _one(_: Any) -> int:
    return 1


@dataclass(frozen=True, slots=True)
class RateLimit:
    """How much one caller may do in a given time.

    Requests are counted in the process by a token bucket: `amount` at once, and as much again over every `per`,
    refilled steadily. Attempts on a secret are counted in the store, by fixed windows aligned to the Unix epoch.
    """

    of: str
    """What is counted; actions that name the same share the limit."""
    amount: int
    per: timedelta = timedelta(hours=1)
    weight: Callable[[Any], int] = _one
    """How much an input counts for: one, unless it says how many things it makes."""

    def begin(self, now: datetime) -> datetime:
        """When the current window began."""
        seconds = int(self.per.total_seconds())
        return datetime.fromtimestamp(int(now.timestamp()) // seconds * seconds, UTC)


# From one client, to any accounts.
SIGN_INS_FROM = RateLimit("sign-in from", 20, timedelta(minutes=1))
# To one account, from anywhere. Reaching it does not lock the owner out: from then on, each client has the few attempts
# below, and the owner uses another client.
SIGN_INS_TO = RateLimit("sign-in to", 60, timedelta(minutes=15))
SIGN_INS_FROM_TO = RateLimit("sign-in from and to", 2, timedelta(minutes=5))
REGISTRATIONS = RateLimit("registration from", 60, timedelta(minutes=10))
# By someone who is signed in, and may have found the device unlocked.
PASSWORD_CHECKS = RateLimit("password of", 10, timedelta(minutes=5))


# How often counting is retried when its outcome is unknown.
COUNT_RETRIES = 4


class Throttles:
    """Counts attempts. Refused attempts count too, and success resets nothing."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def attempt(self, limit: RateLimit, who: str) -> int:
        """Count one, and say how many are left; Throttled, with the seconds until the window ends, if none was."""
        left = limit.amount - await self._counted(limit, who)
        if left < 0:
            RATE_LIMITED.add(limit.of)
            raise Throttled(self._seconds_left(limit))
        return left

    async def allows(self, limit: RateLimit, who: str) -> bool:
        """Count one, and say whether it was within the limit."""
        is_allowed = await self._counted(limit, who) <= limit.amount
        if not is_allowed:
            RATE_LIMITED.add(limit.of)
        return is_allowed

    async def forgive(self, limit: RateLimit, who: str, counted_at: datetime) -> None:
        """Take back an attempt that should not count, such as one with the right passcode."""
        if limit.begin(counted_at) == limit.begin(self._clock()):
            await self._counted(limit, who, -1)

    async def _counted(self, limit: RateLimit, who: str, attempts: int = 1) -> int:
        """Count these attempts; returns how many there were in this window."""
        begin = limit.begin(self._clock())
        row = _row(limit, who, begin)
        changes = (
            the(Throttle.attempts).add(attempts),
            the(Throttle.ttl).becomes(int((begin + limit.per).timestamp())),
        )
        for _ in range(COUNT_RETRIES):
            try:
                return (await self._store.upsert(row, *changes)).attempts
            except OutcomeUnknown:
                # It may have been counted: better twice than not at all.
                continue
        return (await self._store.upsert(row, *changes)).attempts

    def forgetting(self, limit: RateLimit, who: str) -> Delete:
        """Deletes the count of this window, for someone whose account is deleted."""
        return delete(_row(limit, who, limit.begin(self._clock())))

    def _seconds_left(self, limit: RateLimit) -> int:
        now = self._clock()
        return max(1, int((limit.begin(now) + limit.per).timestamp()) - int(now.timestamp()))


def _row(limit: RateLimit, who: str, begin: datetime) -> Ref[Throttle]:
    """The row of the count. It contains neither a person's address nor a client's."""
    hashed = sha256(who.encode("utf-8", "surrogatepass")).hexdigest()
    return Throttle.by_window(f"{limit.of} {hashed}", begin)

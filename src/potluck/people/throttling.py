"""Rate limits: attempts are counted by key in fixed windows, with one write each."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from potluck.people.entities import Throttle
from potluck.people.errors import Throttled
from potluck.store import Clock, Store
from potluck.table import OutcomeUnknown, Ref, delete, the
from potluck.table.operations import Delete


@dataclass(frozen=True, slots=True)
class Limit:
    """So many attempts in each window; windows are aligned to the Unix epoch."""

    of: str
    attempts: int
    window: timedelta

    def begin(self, now: datetime) -> datetime:
        """When the current window began."""
        seconds = int(self.window.total_seconds())
        return datetime.fromtimestamp(int(now.timestamp()) // seconds * seconds, UTC)


# From one client, to whatever account.
SIGN_INS_FROM = Limit("sign-in from", 20, timedelta(minutes=1))
# To one account, from anywhere. Reaching it locks nobody out: from then on each client has only the few attempts below,
# so the owner, at another client, still gets in.
SIGN_INS_TO = Limit("sign-in to", 60, timedelta(minutes=15))
SIGN_INS_FROM_TO = Limit("sign-in from and to", 2, timedelta(minutes=5))
REGISTRATIONS = Limit("registration from", 60, timedelta(minutes=10))
# By someone who is signed in, and may have found the device unlocked.
PASSWORD_CHECKS = Limit("password of", 10, timedelta(minutes=5))


# How often counting is retried when its outcome is unknown.
COUNT_RETRIES = 4


class Throttles:
    """Counts attempts. Refused attempts count too, and success resets nothing."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def attempt(self, limit: Limit, who: str) -> int:
        """Count one, and say how many are left; Throttled, with the seconds until the window ends, if none was."""
        left = limit.attempts - await self._counted(limit, who)
        if left < 0:
            raise Throttled(self._seconds_left(limit))
        return left

    async def allows(self, limit: Limit, who: str) -> bool:
        """Count one, and say whether it was within the limit."""
        return await self._counted(limit, who) <= limit.attempts

    async def forgive(self, limit: Limit, who: str, counted_at: datetime) -> None:
        """Take back an attempt that should not count, such as one with the right passcode."""
        if limit.begin(counted_at) == limit.begin(self._clock()):
            await self._counted(limit, who, -1)

    async def _counted(self, limit: Limit, who: str, attempts: int = 1) -> int:
        """Count these attempts; returns how many there were in this window."""
        begin = limit.begin(self._clock())
        row = _row(limit, who, begin)
        changes = (
            the(Throttle.attempts).add(attempts),
            the(Throttle.ttl).becomes(int((begin + limit.window).timestamp())),
        )
        for _ in range(COUNT_RETRIES):
            try:
                return (await self._store.upsert(row, *changes)).attempts
            except OutcomeUnknown:
                # It may have been counted: better twice than not at all.
                continue
        return (await self._store.upsert(row, *changes)).attempts

    def forgetting(self, limit: Limit, who: str) -> Delete:
        """Deletes the count of this window, for someone whose account is deleted."""
        return delete(_row(limit, who, limit.begin(self._clock())))

    def _seconds_left(self, limit: Limit) -> int:
        now = self._clock()
        return max(1, int((limit.begin(now) + limit.window).timestamp()) - int(now.timestamp()))


def _row(limit: Limit, who: str, begin: datetime) -> Ref[Throttle]:
    """The row of the count. It contains neither a person's address nor a client's."""
    hashed = sha256(who.encode("utf-8", "surrogatepass")).hexdigest()
    return Throttle.by_window(f"{limit.of} {hashed}", begin)

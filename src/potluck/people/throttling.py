"""How often something may be tried: attempts are counted per key in windows of fixed length, one write each."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from potluck.people.entities import Throttle
from potluck.people.errors import Throttled
from potluck.store import Clock, Store
from potluck.table import OutcomeUnknown, Ref, delete, the
from potluck.table.operations import Delete

__all__ = ["PASSWORD_CHECKS", "REGISTRATIONS", "SIGN_INS_FROM", "SIGN_INS_FROM_TO", "SIGN_INS_TO", "Limit", "Throttles"]


@dataclass(frozen=True, slots=True)
class Limit:
    """So many attempts in each window, counted from 1970 on."""

    of: str
    attempts: int
    window: timedelta

    def begin(self, now: datetime) -> datetime:
        """When the window began that it is now."""
        seconds = int(self.window.total_seconds())
        return datetime.fromtimestamp(int(now.timestamp()) // seconds * seconds, UTC)


# From one client, whomever it tries to be.
SIGN_INS_FROM = Limit("sign-in from", 20, timedelta(minutes=1))
# To one account, from everywhere. It is reached more slowly than any client's own limit, and reaching it locks nobody
# out: from then on each client has only the few attempts below, so its owner, elsewhere, still gets in.
SIGN_INS_TO = Limit("sign-in to", 60, timedelta(minutes=15))
SIGN_INS_FROM_TO = Limit("sign-in from and to", 2, timedelta(minutes=5))
REGISTRATIONS = Limit("registration from", 60, timedelta(minutes=10))
# By someone who is signed in and may have found the device unlocked.
PASSWORD_CHECKS = Limit("password of", 10, timedelta(minutes=5))


# How often an attempt is counted again because nobody knows whether it was.
COUNTED_AGAIN = 4


class Throttles:
    """Counts attempts. An attempt that is refused has counted too; success takes nothing back."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def attempt(self, limit: Limit, who: str) -> None:
        """Count one; Throttled, with the seconds until the window ends, when there were too many."""
        if not await self.allows(limit, who):
            raise Throttled(self._seconds_left(limit))

    async def allows(self, limit: Limit, who: str) -> bool:
        """Count one, and say whether it was within the limit."""
        begin = limit.begin(self._clock())
        row = _row(limit, who, begin)
        changes = (the(Throttle.attempts).add(1), the(Throttle.ttl).becomes(int((begin + limit.window).timestamp())))
        for _ in range(COUNTED_AGAIN):
            try:
                return (await self._store.upsert(row, *changes)).attempts <= limit.attempts
            except OutcomeUnknown:
                # Counted or not: rather twice than not at all.
                continue
        return (await self._store.upsert(row, *changes)).attempts <= limit.attempts

    def forgetting(self, limit: Limit, who: str) -> Delete:
        """What removes the count of this window, for someone who leaves."""
        return delete(_row(limit, who, limit.begin(self._clock())))

    def _seconds_left(self, limit: Limit) -> int:
        now = self._clock()
        return max(1, int((limit.begin(now) + limit.window).timestamp()) - int(now.timestamp()))


def _row(limit: Limit, who: str, begin: datetime) -> Ref[Throttle]:
    """Where attempts are counted. Neither a person's address nor a client's can be read there."""
    hashed = sha256(who.encode("utf-8", "surrogatepass")).hexdigest()
    return Throttle.by_window(f"{limit.of} {hashed}", begin)

"""Rate limits: how much one caller may do in a given time, counted in this process, without a write.

    CODES = RateLimit("codes", 5_000, per=timedelta(hours=1), weight=lambda new: new.count)

    @polls.action("POST", "/codes", rate_limit=CODES)
    async def make_codes(at: PollAdmin, poll: Poll, new: NewCodes) -> Writes[CodesMade]: ...

Anonymous callers are counted by client address, others by account with ten times the limit.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from datetime import timedelta
from math import ceil
from typing import TYPE_CHECKING, Any

from potluck.metrics import RATE_LIMITED
from potluck.people.errors import Throttled
from potluck.people.throttling import RateLimit
from potluck.store import Clock

if TYPE_CHECKING:
    from potluck.web.access import Visitor

SIGNED_IN_TIMES = 10
# Each is a key and one number, some 300 bytes. Beyond this, the least recently seen is forgotten.
MOST_COUNTED = 50_000
# The rounding error of adding up thousands of small parts.
ROUNDING_SECONDS = 0.001


# The default of every action. A school behind one address clicks less; a program that fills the store does not get far.
DEFAULT_LIMIT = RateLimit("anything else", 2_000)
# All POSTs to plain endpoints together.
FORMS = RateLimit("forms", 5_000)
# Ids, codes and links of nothing that exists. Mistyped ones are rarer, in a school behind one address too.
GUESSES = RateLimit("guesses", 100, per=timedelta(minutes=10))


class RateLimiter:
    """Counts what callers have used up, in this process alone."""

    def __init__(self, clock: Clock, most_counted: int = MOST_COUNTED) -> None:
        self._clock = clock
        self._most_counted = most_counted
        # When each would have its whole limit again. The least recently seen comes first.
        self._whole_at: OrderedDict[Hashable, float] = OrderedDict()

    def take(self, rate_limit: RateLimit, by: Visitor, sent: Any = None) -> None:
        """Count what was sent; over the limit, raise Throttled with the seconds to wait, and do not count it."""
        principal = by.principal
        who: Hashable = by.client if principal is None else principal.user_id
        amount = rate_limit.amount * (1 if principal is None else SIGNED_IN_TIMES)
        now, seconds = self._clock().timestamp(), rate_limit.per.total_seconds()
        key, share = (rate_limit.of, who), rate_limit.weight(sent) * seconds / amount
        # A clock that is set back must not lock anyone out.
        owed = min(max(self._whole_at.pop(key, now), now), now + seconds)
        whole_at = owed + share
        too_soon = whole_at - now - seconds
        refused = too_soon > ROUNDING_SECONDS
        # Popped above, so that it is now the most recently seen.
        self._whole_at[key] = owed if refused else whole_at
        if len(self._whole_at) > self._most_counted:
            self._whole_at.popitem(last=False)
        if refused:
            RATE_LIMITED.add(rate_limit.of)
            raise Throttled(ceil(too_soon))

"""How much one caller may do in a while: counted in this process, without a write.

    CODES = RateLimit("codes", 5_000, per=timedelta(hours=1), weight=lambda new: new.count)

    @polls.action("POST", "/codes", rate_limit=CODES)
    async def make_codes(at: PollAdmin, poll: Poll, wanted: NewCodes) -> Writes[CodesMade]: ...

A stranger is counted by the client they call from, somebody who is signed in by their account, with ten times as much.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import TYPE_CHECKING, Any

from potluck.people.errors import Throttled
from potluck.store import Clock

if TYPE_CHECKING:
    from potluck.web.access import Visitor

__all__ = ["DEFAULT_LIMIT", "FORMS", "SIGNED_IN_TIMES", "RateLimit", "RateLimiter"]

SIGNED_IN_TIMES = 10
# Of each the name and one number, some 300 bytes. Beyond, whoever was seen longest ago is forgotten.
MOST_COUNTED = 50_000
# What adding up thousands of small parts may be off by.
ROUNDING_SECONDS = 0.001


def _one(_: Any) -> int:
    return 1


@dataclass(frozen=True, slots=True)
class RateLimit:
    """So much at once, and so much again in every while: it comes back little by little, not when a window ends."""

    of: str
    """What is counted; actions that name the same share it."""
    amount: int
    per: timedelta = timedelta(hours=1)
    weight: Callable[[Any], int] = _one
    """How much an input is; each is one, unless it says how many it makes."""


# What an action allows that says nothing else. A school behind one address clicks less; a program that fills the store
# does not get far.
DEFAULT_LIMIT = RateLimit("anything else", 2_000)
# What plain endpoints of pages take, whatever they do with it.
FORMS = RateLimit("forms", 5_000)


class RateLimiter:
    """What callers have used up, in this process alone."""

    def __init__(self, clock: Clock, most_counted: int = MOST_COUNTED) -> None:
        self._clock = clock
        self._most_counted = most_counted
        # When each would have everything back. The longest unseen comes first.
        self._whole_at: OrderedDict[Hashable, float] = OrderedDict()

    def take(self, rate_limit: RateLimit, by: Visitor, sent: Any = None) -> None:
        """Count what was sent; Throttled, with the seconds until there is enough again, and then it does not count."""
        principal = by.principal
        who: Hashable = by.client if principal is None else principal.user_id
        amount = rate_limit.amount * (1 if principal is None else SIGNED_IN_TIMES)
        now, seconds = self._clock().timestamp(), rate_limit.per.total_seconds()
        key, share = (rate_limit.of, who), rate_limit.weight(sent) * seconds / amount
        # A clock that was set back must lock nobody out.
        owed = min(max(self._whole_at.pop(key, now), now), now + seconds)
        whole_at = owed + share
        too_soon = whole_at - now - seconds
        refused = too_soon > ROUNDING_SECONDS
        # Taken out above, so that it comes last again.
        self._whole_at[key] = owed if refused else whole_at
        if len(self._whole_at) > self._most_counted:
            self._whole_at.popitem(last=False)
        if refused:
            raise Throttled(ceil(too_soon))

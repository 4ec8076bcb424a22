"""As much of a core as rules need that are called without HTTP."""

from types import SimpleNamespace
from typing import Any

from potluck.people.idempotency import StoredAnswers
from potluck.people.invitations import InvitationRows
from potluck.settings import Settings
from potluck.store import Clock, Store
from potluck.web.app import Core
from potluck.web.count_limits import CountLimits
from potluck.web.rate_limits import RateLimiter
from potluck.web.storage_quota import StorageQuota

__all__ = ["core_on"]


def core_on(store: Store, clock: Clock, invitations: InvitationRows | None = None) -> Core:
    """A core on this store, without live updates and cursors."""
    people: Any = SimpleNamespace(
        invitations=invitations or InvitationRows(store, clock), answers=StoredAnswers(store, clock)
    )
    nothing: Any = None
    return Core(
        settings=Settings(),
        engine=store.engine,
        store=store,
        clock=clock,
        people=people,
        live=nothing,
        cursors=nothing,
        rate_limiter=RateLimiter(clock),
        count_limits=CountLimits(store),
        storage_quota=StorageQuota(0),
    )

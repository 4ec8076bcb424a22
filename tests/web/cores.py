"""As much of a core as rules need that are called without HTTP."""

from types import SimpleNamespace
from typing import Any

from potluck.people.idempotency import KeptAnswers
from potluck.people.invitations import Invitations
from potluck.store import Clock, Store
from potluck.web.allowances import Allowances
from potluck.web.app import Core
from potluck.web.bounds import Bounds
from potluck.web.room import Room

__all__ = ["core_on"]


def core_on(rows: Store, clock: Clock, invitations: Invitations | None = None) -> Core:
    """A core on this store, without settings, live updates and cursors."""
    people: Any = SimpleNamespace(invitations=invitations or Invitations(rows, clock), answers=KeptAnswers(rows, clock))
    nothing: Any = None
    return Core(
        settings=nothing,
        engine=rows.engine,
        store=rows,
        clock=clock,
        people=people,
        live=nothing,
        cursors=nothing,
        allowances=Allowances(clock),
        bounds=Bounds(rows),
        room=Room(0),
    )

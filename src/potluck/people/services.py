"""What the web needs to know of people, on one store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from potluck.people.authentication import Authenticator
from potluck.people.idempotency import StoredAnswers
from potluck.people.invitations import InvitationRows
from potluck.people.passwords import Passwords
from potluck.people.throttling import Throttles
from potluck.store import Clock, Store

if TYPE_CHECKING:
    from potluck.people.identity_provider import IdentityProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Who is calling, how passwords are verified and attempts counted, stored answers, and invitations."""

    invitations: InvitationRows
    answers: StoredAnswers
    authenticator: Authenticator
    passwords: Passwords
    throttles: Throttles
    provider: IdentityProvider | None = None
    """Where people can sign in instead of with a password, if the operator has configured it."""

    def close(self) -> None:
        """Stop the threads that hash passwords."""
        self.passwords.close()


def open_people(
    store: Store, clock: Clock, passwords: Passwords | None = None, provider: IdentityProvider | None = None
) -> People:
    """The services on this store."""
    return People(
        invitations=InvitationRows(store, clock),
        answers=StoredAnswers(store, clock),
        authenticator=Authenticator(store, clock, provider),
        passwords=passwords or Passwords(),
        throttles=Throttles(store, clock),
        provider=provider,
    )

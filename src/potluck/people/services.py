"""The services for people, wired together once for the suite and the command."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from potluck.people.accounts import Accounts, Registration, nobody_needs_them, nothing_to_forget
from potluck.people.authentication import Authenticator
from potluck.people.idempotency import KeptAnswers
from potluck.people.invitations import Invitations
from potluck.people.passwords import Passwords
from potluck.people.resets import Resets
from potluck.people.sessions import Sessions
from potluck.people.throttling import Throttles
from potluck.people.tokens import Tokens
from potluck.store import Clock, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Every service there is for people, on one store."""

    accounts: Accounts
    sessions: Sessions
    tokens: Tokens
    invitations: Invitations
    resets: Resets
    answers: KeptAnswers
    authenticator: Authenticator
    passwords: Passwords
    throttles: Throttles

    def close(self) -> None:
        """Stop the threads that hash passwords."""
        self.passwords.close()


def open_people(
    store: Store,
    clock: Clock,
    registration: Registration = "open",
    *,
    still_needed: Callable[[UUID], Awaitable[list[str]]] = nobody_needs_them,
    forget: Callable[[UUID], Awaitable[None]] = nothing_to_forget,
    indexes_lag: timedelta = timedelta(0),
    passwords: Passwords | None = None,
) -> People:
    """The services on this store; the two functions say what an account means to the apps.

    `indexes_lag` is how far the indexes that `forget` uses may be behind.
    """
    passwords = passwords or Passwords()
    throttles = Throttles(store, clock)
    sessions = Sessions(store, clock, passwords, throttles)
    tokens = Tokens(store, clock)
    return People(
        accounts=Accounts(
            store,
            clock,
            passwords,
            throttles,
            sessions,
            registration,
            still_needed=still_needed,
            forget=forget,
            indexes_lag=indexes_lag,
        ),
        sessions=sessions,
        tokens=tokens,
        invitations=Invitations(store, clock),
        resets=Resets(store, clock, passwords, sessions),
        answers=KeptAnswers(store, clock),
        authenticator=Authenticator(sessions, tokens),
        passwords=passwords,
        throttles=throttles,
    )

"""People as the suite assembles them, on any engine, with a clock that is moved and passwords that cost little."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from argon2 import PasswordHasher

from potluck.engines import Engine
from potluck.engines.conflicting import Conflicting
from potluck.engines.lagging import Lagging
from potluck.engines.recording import Recording
from potluck.engines.throttling import Throttling
from potluck.people.accounts import Accounts, Registration
from potluck.people.authentication import Authenticator, Principal
from potluck.people.entities import accounts as accounts_table
from potluck.people.idempotency import KeptAnswers
from potluck.people.invitations import Invitations
from potluck.people.passwords import Passwords
from potluck.people.resets import Resets
from potluck.people.sessions import Sessions
from potluck.people.throttling import Throttles
from potluck.people.tokens import Tokens
from potluck.store import Store
from potluck.validation.errors import Refusal
from tests.stores import NOW, recorded_store, rows_in

PASSWORD = "correct horse"
WRITERS = 50

WRAPPERS: dict[str, Callable[[Engine], Engine] | None] = {
    "plain": None,
    "conflicting": lambda engine: Conflicting(engine, seed=7, conflicts=0.2, single_writes=0.1, lost_answers=0.05),
    "lagging": lambda engine: Lagging(engine, writes=20, eventual=True, seed=7),
    "throttling": lambda engine: Throttling(engine, seed=7, refused=0.2),
}


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **by: float) -> None:
        self.now += timedelta(**by)


class CountingHasher:
    """Argon2 at its cheapest, and how often it was computed."""

    def __init__(self, passes: int = 1) -> None:
        self._argon2 = PasswordHasher(time_cost=passes, memory_cost=8, parallelism=1)
        self.computed: list[str] = []

    def hash(self, password: bytes) -> str:
        self.computed.append("hash")
        return self._argon2.hash(password)

    def verify(self, hash: str, password: bytes) -> Literal[True]:
        self.computed.append("verify")
        return self._argon2.verify(hash, password)

    def check_needs_rehash(self, hash: str) -> bool:
        return self._argon2.check_needs_rehash(hash)


@dataclass
class People:
    store: Store
    recording: Recording
    clock: Clock
    hasher: CountingHasher
    passwords: Passwords
    throttles: Throttles
    sessions: Sessions
    accounts: Accounts
    tokens: Tokens
    invitations: Invitations
    answers: KeptAnswers
    resets: Resets
    authenticator: Authenticator

    async def registered(self, email: str = "ada@example.org", name: str = "Ada") -> Principal:
        """Someone who has just registered, as the caller they are from then on."""
        made = await self.accounts.register(email, PASSWORD, name)
        return await self.known(made.session.secret)

    async def signed_in(self, email: str = "ada@example.org", password: str = PASSWORD) -> str:
        return (await self.sessions.open(email, password, None)).secret

    async def known(self, secret: str) -> Principal:
        caller = await self.authenticator.authenticate(secret)
        assert caller is not None
        return caller

    async def rows(self) -> list[dict[str, Any]]:
        """Everything that is in the table, expired or not."""
        return await rows_in(self.recording, accounts_table.name)

    async def kinds(self) -> list[str]:
        """What the rows in the table are, in order."""
        return sorted(row["entityType"]["S"] for row in await self.rows())


async def outcomes(*attempts: Awaitable[Any]) -> dict[Any, int]:
    """How many attempts ended how; what is no refusal of this domain is raised."""
    ended: dict[Any, int] = {}
    for outcome in await asyncio.gather(*attempts, return_exceptions=True):
        if isinstance(outcome, BaseException) and not isinstance(outcome, Refusal):
            raise outcome
        kind = type(outcome) if isinstance(outcome, Refusal) else "done"
        ended[kind] = ended.get(kind, 0) + 1
    return ended


@contextlib.asynccontextmanager
async def assembled(
    engine: str,
    folder: Path,
    *,
    wrap: Callable[[Engine], Engine] | None = None,
    registration: Registration = "open",
    still_needed: Callable[[UUID], Awaitable[list[str]]] | None = None,
    forget: Callable[[UUID], Awaitable[None]] | None = None,
) -> AsyncIterator[People]:
    hooks: dict[str, Any] = {"still_needed": still_needed, "forget": forget}
    async with recorded_store(engine, folder, accounts_table, wrap=wrap) as (wrapped, recording):
        clock, hasher = Clock(), CountingHasher()
        store = Store(wrapped.engine, clock)
        passwords = Passwords(hasher)
        hasher.computed.clear()
        throttles = Throttles(store, clock)
        sessions = Sessions(store, clock, passwords, throttles)
        tokens = Tokens(store, clock)
        given = {name: hook for name, hook in hooks.items() if hook is not None}
        try:
            yield People(
                store=store,
                recording=recording,
                clock=clock,
                hasher=hasher,
                passwords=passwords,
                throttles=throttles,
                sessions=sessions,
                accounts=Accounts(store, clock, passwords, throttles, sessions, registration, **given),
                tokens=tokens,
                invitations=Invitations(store, clock),
                answers=KeptAnswers(store, clock),
                resets=Resets(store, clock, passwords, sessions),
                authenticator=Authenticator(sessions, tokens),
            )
        finally:
            passwords.close()

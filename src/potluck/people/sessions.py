"""Sessions: signing in, authenticating by session, signing out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from msgspec.structs import replace

from potluck.people.authentication import Also, Principal, nothing_else
from potluck.people.email_addresses import account_with, move_address
from potluck.people.email_normal_form import normal_email
from potluck.people.entities import Account, Session, SessionOfUser
from potluck.people.errors import SessionOver, WrongCredentials
from potluck.people.passwords import Passwords
from potluck.people.secrets import Random, SecretKind, hash_of, kind_of, new_secret, system_random
from potluck.people.throttling import SIGN_INS_FROM, SIGN_INS_FROM_TO, SIGN_INS_TO, Throttles
from potluck.people.validation import checked_email
from potluck.store import Clock, Store
from potluck.table import (
    Change,
    Condition,
    ConditionFailed,
    NotFound,
    OutcomeUnknown,
    Unavailable,
    WriteRefused,
    absent,
    check,
    delete,
    put,
    the,
    update,
)
from potluck.table.operations import Operation

SESSION_LASTS = timedelta(days=30)
# A session is extended when it is used, but rarely, so that most uses only read.
SESSION_EXTENDED_AFTER = timedelta(days=1)

NOBODYS_EMAIL = "nobody"
# How often a change is retried because the account changed in between.
ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSession:
    """A new session with its secret, which is shown only once."""

    user_id: UUID
    secret: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSession:
    """A session as its owner finds it in a list."""

    hash: str
    """Identifies it; not to be shown."""
    created_at: datetime
    expires_at: datetime
    current: bool


class Sessions:
    """Opens, finds and ends sessions. A session is valid only while its epoch is the account's."""

    def __init__(
        self, store: Store, clock: Clock, passwords: Passwords, throttles: Throttles, random: Random = system_random
    ) -> None:
        self._store = store
        self._clock = clock
        self._passwords = passwords
        self._throttles = throttles
        self._random = random

    async def open(
        self,
        email: str,
        password: str,
        client: str | None,
        also: Also[OpenedSession] = nothing_else,
    ) -> OpenedSession:
        """Sign in. `client` is where the attempt comes from; None, for an operator, is not throttled."""
        given = checked_email(email)
        address = given if isinstance(given, str) else NOBODYS_EMAIL
        await self._count_attempt(client, normal_email(address))
        for _ in range(ATTEMPTS):
            found = await account_with(self._store, address)
            account = found[0] if found is not None else None
            right = await self._passwords.verify(password, account.password_hash if account else None, client)
            if found is None or account is None or not right:
                raise WrongCredentials
            opened, rows = opening(account.user_id, account.session_epoch, self._clock(), self._random)
            try:
                await self._store.transact(await self._still_valid(account, password), *rows, *also(opened))
            except (ConditionFailed, NotFound) as refusal:
                if refusal.position != 0:
                    raise
                continue
            await move_address(self._store, found[1])
            return opened
        raise Unavailable("sign-in: the account was changed again and again")

    async def find(self, secret: str) -> Principal | None:
        """The principal of a session, by consistent reads; using a session extends it."""
        if kind_of(secret) is not SecretKind.SESSION:
            return None
        hash = hash_of(secret)
        return await self._store.cache_until_write((Session, hash), lambda: self._found(hash))

    async def _found(self, hash: str) -> tuple[Principal | None, float]:
        """The principal, and until which second this can be cached while nothing is written."""
        session = await self._store.get(Session.by_hash(hash))
        if session is None:
            return None, 0
        account = await self._store.get(Account.by_id(session.user_id))
        if account is not None and account.session_epoch != session.session_epoch:
            # If this very session changed the account between the two reads, it is still valid.
            session = await self._store.get(Session.by_hash(hash))
        if account is None or session is None or session.session_epoch < account.session_epoch:
            return None, 0
        until = await self._extended(session)
        caller = Principal(
            kind="session",
            user_id=account.user_id,
            name=account.name,
            hash=session.hash,
            session_epoch=session.session_epoch,
            expires_at=_time(until),
        )
        return caller, until - (SESSION_LASTS - SESSION_EXTENDED_AFTER).total_seconds()

    async def end(self, caller: Principal, also: Also[None] = nothing_else) -> None:
        """Sign out: the session ends at once. Not for API tokens."""
        caller.must_manage_account()
        await self._store.transact(*dropping(caller.user_id, caller.hash), *also(None))

    async def end_others(self, caller: Principal, also: Also[None] = nothing_else) -> None:
        """End every other session at once, by one transaction however many there are; their rows are deleted later."""
        caller.must_manage_account()
        for _ in range(ATTEMPTS):
            try:
                await self._store.transact(*next_epoch(caller), *also(None))
            except (ConditionFailed, NotFound) as refusal:
                if refusal.position not in (0, 1):
                    raise
                caller = await continued(self._store, caller)
                continue
            await self.tidy(caller.user_id, caller.session_epoch + 1)
            return
        raise Unavailable("end of other sessions: the account was changed again and again")

    async def all(self, caller: Principal) -> list[OpenSession]:
        """Where the person is signed in, the latest first."""
        return [
            OpenSession(
                hash=each.hash,
                created_at=each.created_at,
                expires_at=_time(each.ttl),
                current=each.hash == caller.hash,
            )
            for each in await self.valid(caller)
        ]

    async def valid(self, caller: Principal) -> list[Session]:
        """The person's sessions that are not over, the latest first."""
        caller.must_manage_account()
        # Read before the sessions: one that moves to the next epoch meanwhile must not look outdated.
        account = await self._store.get(Account.by_id(caller.user_id))
        listed = await self._store.all(SessionOfUser.all_of_user(caller.user_id))
        sessions = await self._store.get_many([Session.by_hash(each.hash) for each in listed])
        counting = [
            each
            for each in sessions
            if each is not None and account is not None and each.session_epoch >= account.session_epoch
        ]
        return sorted(counting, key=lambda each: (each.created_at, each.hash), reverse=True)

    async def tidy(self, user_id: UUID, epoch: int) -> None:
        """Delete the rows of sessions from before this epoch. They have ended already, so nothing depends on it."""
        try:
            listed = await self._store.all(SessionOfUser.all_of_user(user_id))
            sessions = await self._store.get_many([Session.by_hash(each.hash) for each in listed])
            over = [each for each in sessions if each is not None and each.session_epoch < epoch]
            await self._store.write_each(row for each in over for row in dropping(user_id, each.hash))
        except (Unavailable, OutcomeUnknown):
            return

    # --- signing in ---------------------------------------------------------------------------------------------

    async def _count_attempt(self, client: str | None, normal: str) -> None:
        if client is None:
            return
        await self._throttles.attempt(SIGN_INS_FROM, client)
        if not await self._throttles.allows(SIGN_INS_TO, normal):
            await self._throttles.attempt(SIGN_INS_FROM_TO, f"{client} {normal}")

    async def _still_valid(self, account: Account, password: str) -> Operation:
        """Checks that the password has not changed since; a hash with outdated parameters is replaced."""
        same_epoch = the(Account.session_epoch) == account.session_epoch
        if not self._passwords.outdated(account.password_hash):
            return check(Account.by_id(account.user_id), when=same_epoch)
        return update(
            Account.by_id(account.user_id),
            the(Account.password_hash).becomes(await self._passwords.hash(password)),
            when=same_epoch,
            keep_version=True,
        )

    async def _extended(self, session: Session) -> int:
        """Extend the session if it is time to; returns when it ends."""
        until = int((self._clock() + SESSION_LASTS).timestamp())
        if until - session.ttl < SESSION_EXTENDED_AFTER.total_seconds():
            return session.ttl
        try:
            await self._store.transact(
                update(Session.by_hash(session.hash), the(Session.ttl).becomes(until)),
                update(SessionOfUser.by_hash(session.user_id, session.hash), the(SessionOfUser.ttl).becomes(until)),
            )
        except (WriteRefused, Unavailable, OutcomeUnknown):
            # It was ended meanwhile, or the engine is busy; this request is authenticated all the same.
            return session.ttl
        return until


# --- the rows of a session -------------------------------------------------------------------------------------------


def opening(
    user_id: UUID, session_epoch: int, now: datetime, random: Random = system_random
) -> tuple[OpenedSession, list[Operation]]:
    """A new session and its rows, for a transaction that also checks the epoch."""
    secret = new_secret(SecretKind.SESSION, random)
    begun = now.replace(microsecond=0)
    until = begun + SESSION_LASTS
    ttl = int(until.timestamp())
    session = Session(hash=hash_of(secret), user_id=user_id, session_epoch=session_epoch, created_at=begun, ttl=ttl)
    of_user = SessionOfUser(user_id=user_id, hash=session.hash, created_at=begun, ttl=ttl)
    opened = OpenedSession(user_id=user_id, secret=secret, expires_at=until)
    return opened, [put(session, when=absent), put(of_user, when=absent)]


def dropping(user_id: UUID, hash: str) -> list[Operation]:
    """Deletes a session: both of its rows."""
    return [delete(Session.by_hash(hash)), delete(SessionOfUser.by_hash(user_id, hash))]


def next_epoch(caller: Principal, *changes: Change, when: Condition | None = None) -> list[Operation]:
    """Ends every session but the caller's, together with other changes of the account and their condition."""
    epoch = the(Account.session_epoch)
    same = epoch == caller.session_epoch
    return [
        update(
            Account.by_id(caller.user_id),
            epoch.becomes(caller.session_epoch + 1),
            *changes,
            when=same if when is None else same & when,
            keep_version=True,
        ),
        continuing(caller),
    ]


def continuing(caller: Principal) -> Operation:
    """Keeps the caller's session valid in the next epoch."""
    return update(Session.by_hash(caller.hash), the(Session.session_epoch).becomes(caller.session_epoch + 1))


async def continued(store: Store, caller: Principal) -> Principal:
    """The caller read again after the account refused their write; SessionOver if another session has ended theirs.

    If they changed the account themselves, in another window, their session has moved to the next epoch.
    """
    account = await store.get(Account.by_id(caller.user_id))
    # Read after the account: a session that moves to the next epoch meanwhile must not look outdated.
    session = await store.get(Session.by_hash(caller.hash))
    if account is None or session is None or session.session_epoch < account.session_epoch:
        raise SessionOver
    return replace(caller, session_epoch=session.session_epoch)


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
